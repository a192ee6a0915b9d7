package search

import (
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
	return fhir.URI{Param: t.code, URI: unescape(value)}, nil
}
