package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"starling/internal/fhir"
	"starling/internal/interaction"
)

// What caches are told of every answer to a GET: which request headers it
// depends on, and that the client alone may keep it, asking again each time.
// Without the latter, Last-Modified would let them guess a lifetime.
var (
	vary         = []string{"Accept, Accept-Encoding, Origin"}
	cacheControl = []string{"private, no-cache"}
)

// statusClientGone is for the log and the metrics: the client hung up before it
// was answered, which is no failure of the server.
const statusClientGone = 499

// answer is the exchange of the API.
func (a *api) answer(ctx context.Context, in *incoming, out *outgoing) {
	if in.Method == http.MethodGet || in.Method == http.MethodHead {
		out.Header["Vary"], out.Header["Cache-Control"] = vary, cacheControl
	}
	defer out.place.leave()
	f, err := a.interact(ctx, in, out)
	if err != nil {
		out.fail(in, err)
		if errors.Is(ctx.Err(), context.Canceled) {
			out.Status = statusClientGone
		}
	}
	if f.Pretty && len(out.Body) > 0 && strings.HasSuffix(out.Header.Get("Content-Type"), "json") {
		out.keep(indented(out.Body))
	}
}

// interact carries out the interaction asked for and writes its answer. The
// format it gives is right also for an error.
func (a *api) interact(ctx context.Context, in *incoming, out *outgoing) (format, error) {
	f, unacceptable := negotiate(in.list("Accept"), in.RawQuery)
	path, ok := relative(in)
	if !ok {
		return f, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "Nothing is served at this address; the FHIR API is under "+BasePath+".")
	}
	method := in.Method
	switch method {
	case http.MethodHead:
		method = http.MethodGet
	case http.MethodOptions:
		return f, a.allowed(path, out)
	}
	request, err := a.service.Route(method, path, in.RawQuery)
	if err != nil {
		return f, err
	}
	out.Interaction, out.Type = request.Interaction, request.Type
	form := in.Method == http.MethodPost && searches(request.Interaction)
	if unacceptable != nil && !form && !readsRaw(request, f) {
		return f, unacceptable
	}
	if err := a.complete(ctx, request, in, out); err != nil {
		return f, err
	}
	if form {
		// The form of POST _search may hold _format, too.
		if f, err = negotiate(in.list("Accept"), request.RawQuery); err != nil {
			return f, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	response, err := a.service.Serve(ctx, request)
	if err != nil {
		return f, err
	}
	out.Err = response.Faults
	if readsRaw(request, f) && response.Resource != nil && !response.Resource.Deleted() {
		return f, out.raw(request, response)
	}
	out.show(request, response, f)
	return f, nil
}

func searches(name interaction.Name) bool {
	return name == interaction.SearchType || name == interaction.SearchSystem || name == interaction.SearchCompartment
}

// relative gives the path behind the base, without the slash between.
func relative(in *incoming) (string, bool) {
	path, ok := strings.CutPrefix(in.Path, BasePath)
	if !ok || path != "" && path[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(path, "/"), true
}
