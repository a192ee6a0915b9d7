package search

import "starling/internal/fhir/element"

// reader turns an element into values of a parameter.
type reader func(x *extraction, t *take, n element.Node)

// readers gives, for each type of search parameter, the data types it reads.
// Composite parameters have none of their own, but those of their parts.
var readers = map[string]map[string]reader{
	"token":     tokenReaders,
	"reference": referenceReaders,
	"string":    stringReaders,
	"date":      dateReaders,
	"number":    numberReaders,
	"quantity":  quantityReaders,
	"uri":       uriReaders,
	"special":   positionReaders,
}

func readerFor(parameterType, elementType string) reader {
	return readers[parameterType][elementType]
}

// indexedByStore reports the parameters whose values are the store's own.
func indexedByStore(code string) bool { return code == "_id" || code == "_lastUpdated" }

// notIndexed names parameters that have an expression but no values of their
// own in the index, and why.
var notIndexed = map[string]string{
	"phonetic": "it needs an algorithm for how names sound, which R4 leaves open",
}
