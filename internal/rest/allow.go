package rest

import (
	"errors"
	"net/http"
	"strings"

	"starling/internal/fhir"
)

// allowed answers OPTIONS: the methods served at a path, in Allow. An address
// where nothing is served is an error.
func (a *api) allowed(path string, out *outgoing) error {
	// No interaction has this method, so the refusal names those there are.
	_, err := a.service.Route(http.MethodOptions, path, "")
	var known *fhir.Error
	if !errors.As(err, &known) || known.Kind != fhir.KindMethodNotAllowed {
		return err
	}
	out.set("Allow", strings.Join(append(known.Allow, http.MethodOptions), ", "))
	out.Status = http.StatusNoContent
	return nil
}
