package rest

import (
	"strings"

	"starling/internal/fhir"
)

// bodyKind is what a request's Content-Type says its body is.
type bodyKind uint8

const (
	bodyNone      bodyKind = iota // no Content-Type
	bodyJSON                      // a resource
	bodyFHIRJSON                  // a resource, and said to be of FHIR
	bodyJSONPatch                 // RFC 6902
	bodyForm                      // the form of POST _search
	bodyFHIROther                 // FHIR in a format that is not served
	bodyOther
)

// classify reads a Content-Type. For JSON the error reports a charset or FHIR
// version that is not served; the kind is right nevertheless.
func classify(contentType string) (bodyKind, error) {
	switch contentType {
	case "":
		return bodyNone, nil
	case typeJSON:
		return bodyJSON, nil
	case typeFHIRJSON:
		return bodyFHIRJSON, nil
	}
	r, ok := parseMediaRange(contentType)
	if !ok {
		return bodyOther, nil
	}
	var kind bodyKind
	switch r.Type + "/" + r.Subtype {
	case typeFHIRJSON:
		kind = bodyFHIRJSON
	case typeJSON, typeTextJSON:
		kind = bodyJSON
	case "application/json-patch+json":
		kind = bodyJSONPatch
	case "application/x-www-form-urlencoded":
		kind = bodyForm
	case "application/fhir+xml", "application/fhir+turtle":
		return bodyFHIROther, nil
	default:
		return bodyOther, nil
	}
	switch {
	case r.Charset != "" && r.Charset != "utf-8" && r.Charset != "utf8" && r.Charset != "us-ascii":
		return kind, fhir.NewError(fhir.KindUnsupportedMedia, fhir.IssueNotSupported,
			"Content-Type names the charset "+quoted(r.Charset)+"; only utf-8 is read.")
	case !versionServed(r.FHIRVersion):
		return kind, fhir.NewError(fhir.KindUnsupportedMedia, fhir.IssueNotSupported,
			"Content-Type names FHIR version "+quoted(r.FHIRVersion)+"; this server speaks 4.0.")
	}
	return kind, nil
}

func unsupportedMedia(contentType, expected string) error {
	reason := "is not read here"
	switch lower := strings.ToLower(contentType); {
	case strings.Contains(lower, "xml"):
		reason = "is XML, which this server does not read"
	case strings.Contains(lower, "turtle"):
		reason = "is Turtle, which this server does not read"
	}
	return fhir.NewError(fhir.KindUnsupportedMedia, fhir.IssueNotSupported,
		"The Content-Type "+quoted(contentType)+" "+reason+"; send "+expected+".")
}
