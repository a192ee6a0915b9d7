package search

import (
	"strconv"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// https://hl7.org/fhir/R4/search.html#uri
var uriReaders = map[string]reader{
	"uri":       readURI,
	"url":       readURI,
	"oid":       readURI,
	"uuid":      readURI,
	"canonical": readCanonicalURI,
}

func readURI(x *extraction, t *take, n element.Node) {
	if uri := n.Str(); uri != "" {
		x.uris.add(fhir.URIValue{Param: t.param, URI: uri})
	}
}

// readCanonicalURI takes `url|version` as it is, and the url, so that a search
// for either finds it.
func readCanonicalURI(x *extraction, t *take, n element.Node) {
	readURI(x, t, n)
	if canonical := n.Str(); withoutVersion(canonical) != canonical {
		x.uris.add(fhir.URIValue{Param: t.param, URI: withoutVersion(canonical)})
	}
}

// planURI reads a uri, compared exactly
// (https://hl7.org/fhir/R4/search.html#uri).
func planURI(_ *planning, t *term, value string) (fhir.Criterion, error) {
	switch t.modifier {
	case "above":
		return urisAbove(t, unescape(value))
	case "below":
		return urisBelow(t, unescape(value))
	}
	return fhir.URI{Param: t.code, URI: unescape(value)}, nil
}

// hierarchical reports whether a URI has a path, whose parts are above each
// other. A urn has none.
func hierarchical(uri string) bool {
	scheme, rest, ok := strings.Cut(uri, "://")
	return ok && scheme != "" && rest != ""
}

// urisAbove plans :above: the URI and all that its path goes through.
func urisAbove(t *term, uri string) (fhir.Criterion, error) {
	if !hierarchical(uri) {
		return nil, t.badValue(uri, "a URL")
	}
	choices := fhir.Or{fhir.URI{Param: t.code, URI: uri}}
	least := strings.Index(uri, "://") + len("://")
	for at := strings.LastIndexByte(uri, '/'); at >= least; at = strings.LastIndexByte(uri[:at], '/') {
		choices = append(choices, fhir.URI{Param: t.code, URI: uri[:at]}, fhir.URI{Param: t.code, URI: uri[:at+1]})
		if len(choices) > maxChoices {
			return nil, t.tooMany()
		}
	}
	return choices, nil
}

// mostBelow bounds the URL of :below, since an index has only so much of a text.
const mostBelow = 190

// urisBelow plans :below: the URI and all whose path goes on from it.
func urisBelow(t *term, uri string) (fhir.Criterion, error) {
	if !hierarchical(uri) {
		return nil, t.badValue(uri, "a URL")
	}
	if len(uri) > mostBelow {
		return nil, t.badValue(uri, "a URL of at most "+strconv.Itoa(mostBelow)+" bytes")
	}
	return fhir.URIBelow{Param: t.code, URI: strings.TrimSuffix(uri, "/")}, nil
}
