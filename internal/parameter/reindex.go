package parameter

import (
	"context"
	"errors"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// Reindex indexes the resources of types anew by the current parameters, whatever
// those come to be meanwhile.
func (x *Indexing) Reindex(ctx context.Context, store fhir.ReindexStore, types []fhir.ResourceType, base string, progress func(done, total int64)) error {
	for {
		basis, set := x.Current()
		err := store.Reindex(ctx, types, basis, func(r *fhir.Resource) (*fhir.Index, error) {
			root, err := element.ParseStored(r)
			if err != nil {
				return nil, err
			}
			return set.Search.Index(r.Type, root, base)
		}, progress)
		if !errors.Is(err, fhir.ErrStale) {
			return err
		}
		if err := x.renew(ctx, basis); err != nil {
			return err
		}
	}
}
