package rest

import (
	"net/url"
	"strings"

	"starling/internal/fhir"
)

// The media types a resource is answered as.
const (
	typeFHIRJSON = "application/fhir+json"
	typeJSON     = "application/json"
	typeTextJSON = "text/json"
)

// offers are the media types served, in order of preference.
var offers = [...]mediaRange{
	{Type: "application", Subtype: "fhir+json"},
	{Type: "application", Subtype: "json"},
	{Type: "text", Subtype: "json"},
}

var offerNames = [...]string{typeFHIRJSON, typeJSON, typeTextJSON}

// format is how the answer is to be written.
type format struct {
	ContentType string
	Pretty      bool
	// FHIR says the client asked for a FHIR format by name, served or not,
	// rather than for anything: a Binary is then no raw answer.
	FHIR bool
}

// negotiate decides the format by _format, which beats Accept
// (https://hl7.org/fhir/R4/http.html#mime-type). On failure the format given is
// the one for the outcome.
func negotiate(accept, rawQuery string) (format, error) {
	f := format{ContentType: typeFHIRJSON}
	// Both names are looked for only where they can be: parsing the query
	// twice costs more than all of the rest here.
	if strings.Contains(rawQuery, "_format") || strings.Contains(rawQuery, "_pretty") {
		// Errors are the router's to report.
		query, _ := url.ParseQuery(rawQuery)
		f.Pretty = query.Get("_pretty") == "true"
		if asked := query.Get("_format"); asked != "" {
			return f.byParameter(asked)
		}
	}
	return f.byAccept(accept)
}

func (f format) byParameter(asked string) (format, error) {
	f.FHIR = true
	// A + not escaped in a query is a space.
	switch text := strings.ReplaceAll(strings.TrimSpace(asked), " ", "+"); text {
	case "json":
		return f, nil
	default:
		r, ok := parseMediaRange(text)
		if !ok || !versionServed(r.FHIRVersion) {
			return f, notAcceptable("_format", asked)
		}
		for i, offer := range offers {
			if offer.Type == r.Type && offer.Subtype == r.Subtype {
				f.ContentType = offerNames[i]
				return f, nil
			}
		}
		return f, notAcceptable("_format", asked)
	}
}

func (f format) byAccept(accept string) (format, error) {
	switch accept {
	case "", "*/*":
		return f, nil
	case typeFHIRJSON, typeJSON:
		f.ContentType, f.FHIR = accept, true
		return f, nil
	}
	refused := excluded(accept)
	best, quality, specific, others := -1, 0, -1, 0
	for r := range mediaRanges(accept) {
		fits := -1
		for i := len(offers) - 1; i >= 0; i-- {
			if r.covers(offers[i]) && !refused[i] {
				fits = i
			}
		}
		if fits < 0 {
			others = max(others, r.Quality)
			continue
		}
		if s := r.specificity(); r.Quality > quality || r.Quality == quality && quality > 0 && s > specific {
			best, quality, specific = fits, r.Quality, s
		}
	}
	if best < 0 {
		f.FHIR = strings.Contains(strings.ToLower(accept), "fhir")
		return f, notAcceptable("Accept", accept)
	}
	f.ContentType = offerNames[best]
	f.FHIR = specific == 2 && quality >= others
	return f, nil
}

// covers reports whether the range includes a media type served.
func (r mediaRange) covers(offer mediaRange) bool {
	return (r.Type == "*" && r.Subtype == "*" || r.Type == offer.Type && (r.Subtype == "*" || r.Subtype == offer.Subtype)) &&
		versionServed(r.FHIRVersion)
}

// specificity orders ranges: */* 0, type/* 1, type/subtype 2.
func (r mediaRange) specificity() int {
	switch {
	case r.Type == "*":
		return 0
	case r.Subtype == "*":
		return 1
	}
	return 2
}

// excluded tells of each offer whether a range names it with q=0, which holds
// against any wildcard.
func excluded(accept string) (refused [len(offers)]bool) {
	for r := range mediaRanges(accept) {
		if r.Quality > 0 || r.specificity() < 2 {
			continue
		}
		for i, offer := range offers {
			refused[i] = refused[i] || r.covers(offer)
		}
	}
	return refused
}

// versionServed reports whether a fhirVersion parameter names R4
// (https://hl7.org/fhir/R4/http.html#version-parameter).
func versionServed(version string) bool {
	return version == "" || version == "4.0" || version == "4.0.1"
}

func notAcceptable(where, asked string) error {
	reason := "is not a format this server answers in"
	switch lower := strings.ToLower(asked); {
	case strings.Contains(lower, "fhirversion"):
		reason = "asks for another version than FHIR 4.0, the one served"
	case strings.Contains(lower, "xml"):
		reason = "asks for XML, which this server does not write"
	case strings.Contains(lower, "ttl"), strings.Contains(lower, "turtle"):
		reason = "asks for Turtle, which this server does not write"
	}
	return fhir.NewError(fhir.KindNotAcceptable, fhir.IssueNotSupported,
		where+" "+quoted(asked)+" "+reason+"; use application/fhir+json.")
}

// errorFormat is the media type of an outcome: what the request would have been
// answered as, where it can be.
func errorFormat(in *incoming) string {
	f, _ := negotiate(in.list("Accept"), in.RawQuery)
	return f.ContentType
}

// maxQuoted is how much of what a client sent a message repeats.
const maxQuoted = 100

func quoted(text string) string {
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return `"` + text + `"`
}
