package rest

import (
	"context"
	"net/http"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

// complete adds to a routed request what its headers and body say.
func (a *api) complete(ctx context.Context, request *interaction.Request, in *incoming, out *outgoing) error {
	request.Base = a.bases.of(in)
	request.IfMatch = in.header("If-Match")
	request.IfNoneMatch = in.list("If-None-Match")
	request.IfNoneExist = in.header("If-None-Exist")
	if request.IfNoneExist == "" && len(in.Header["If-None-Exist"]) > 0 {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "If-None-Exist needs criteria; none were given.")
	}
	if since := in.header("If-Modified-Since"); since != "" {
		// RFC 9110, section 13.1.3: a date that cannot be read is ignored.
		request.IfModifiedSince, _ = http.ParseTime(since)
	}
	request.Return, request.Handling, request.RespondAsync = preferences(in.Header["Prefer"])
	request.CacheVersion = in.header(cacheVersion)
	request.Operator = a.operators.sent(in)
	switch in.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		return a.takeBody(ctx, request, in, out)
	}
	return nil
}

// takeBody reads the body as what the interaction expects.
func (a *api) takeBody(ctx context.Context, request *interaction.Request, in *incoming, out *outgoing) error {
	contentType := in.header("Content-Type")
	kind, err := classify(contentType)
	switch {
	case searches(request.Interaction):
		return a.takeForm(ctx, request, kind, in, out)
	case request.Interaction == interaction.Patch || request.Interaction == interaction.ConditionalPatch:
		if kind != bodyJSONPatch && kind != bodyJSON && kind != bodyFHIRJSON {
			return unsupportedMedia(contentType, "application/json-patch+json or application/fhir+json")
		}
		request.ContentType = contentType
	default:
		if takesBinary(request) && (kind == bodyOther || kind == bodyForm || kind == bodyJSONPatch) {
			kind, err = bodyNone, nil
			request.ContentType = contentType
		}
		if kind > bodyFHIRJSON {
			return unsupportedMedia(contentType, "application/fhir+json")
		}
	}
	if err != nil {
		return err
	}
	if request.Body, err = a.readBody(ctx, in, out); err != nil {
		return err
	}
	if takesBinary(request) {
		takeBinary(request, kind, in)
	}
	return nil
}

// takeForm joins the form of POST _search to the URL's query
// (https://hl7.org/fhir/R4/http.html#search).
func (a *api) takeForm(ctx context.Context, request *interaction.Request, kind bodyKind, in *incoming, out *outgoing) error {
	body, err := a.readBody(ctx, in, out)
	if err != nil || len(body) == 0 {
		return err
	}
	if kind != bodyForm {
		return unsupportedMedia(in.header("Content-Type"), "application/x-www-form-urlencoded")
	}
	form := string(body)
	if request.RawQuery != "" {
		form = request.RawQuery + "&" + form
	}
	query, err := interaction.ParseQuery(form)
	if err != nil {
		return err
	}
	request.RawQuery, request.Query = form, query
	return nil
}

// takesBinary reports whether the body may be a Binary's raw content.
func takesBinary(request *interaction.Request) bool {
	return request.Type == "Binary" && request.Interaction != interaction.Operation
}

// takeBinary decides whether a Binary came as a resource or as its raw content:
// plain JSON is a resource only if it says so itself
// (https://hl7.org/fhir/R4/binary.html#rest).
func takeBinary(request *interaction.Request, kind bodyKind, in *incoming) {
	if kind == bodyJSON && !saysBinary(request.Body) {
		request.ContentType = in.header("Content-Type")
	}
	if request.ContentType != "" {
		request.SecurityContext = in.header("X-Security-Context")
	}
}

func saysBinary(body []byte) bool {
	tree, err := element.Parse(body, element.Limits{Depth: element.DefaultLimits.Depth, Size: len(body)})
	return err == nil && tree.Root().Get("resourceType").Str() == "Binary"
}
