package cache

import (
	"context"

	"starling/internal/fhir"
)

// Transport brings word that versions were raised. It is a hint that makes
// things fast: it may drop, repeat, reorder and delay what it brings, or bring
// versions whose rows cannot be read yet. Nothing rests on it but speed.
type Transport interface {
	// Name is the value of --cache-sync it stands for.
	Name() string
	// Listen calls ready once changes committed from then on will be heard of, and
	// gives up if that fails. It calls heard for each one, until ctx ends or the
	// connection is lost; it is then called again. It must notice by itself that
	// its connection has gone silent. Its error is never nil, and is fhir.ErrUnheard if
	// it cannot work where it is.
	Listen(ctx context.Context, ready func() error, heard func(fhir.DomainVersions)) error
}
