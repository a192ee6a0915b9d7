package fhir

import "time"

// Index holds the values a resource has for its search parameters, extracted
// from the element tree by package search. How they become rows is the
// store's business. Param is a search parameter's code ("identifier"), unique
// for a resource type. Duplicates within one list have been removed.
//
// The value types follow https://hl7.org/fhir/R4/search.html#ptypes.
type Index struct {
	// Basis is what the index was made by: a version of DomainRouting; zero where
	// that is not known.
	Basis Basis
	// Base is the base URL whose references were taken to be local.
	Base string

	Tokens     []TokenValue
	References []ReferenceValue
	Strings    []StringValue
	Dates      []DateValue
	Numbers    []NumberValue
	Quantities []QuantityValue
	URIs       []URIValue
	Composites []CompositeValue
	Typed      []TypedIdentifier
	Positions  []PositionValue
	Names      []NameValue
	// Text is nil where no words are indexed.
	Text *TextValue
	// Contained are the resources it contains, at most MostContained of a type; of
	// those none contains another or has a Text.
	Contained []ContainedIndex
}

// MostContained is how many contained resources of one type in one resource are
// indexed.
const MostContained = 32

// ContainedIndex is what a contained resource is found by. References between
// those of one resource have the URL "#id" in either's index.
type ContainedIndex struct {
	Type  ResourceType
	ID    string
	Index *Index
}

// TypedIdentifier is an Identifier's value with a coding of its type, for
// :of-type.
type TypedIdentifier struct{ Param, System, Code, Value string }

// PositionValue is a place on Earth, in degrees: latitude from -90 to 90,
// longitude from -180 to 180.
type PositionValue struct {
	Param               string
	Latitude, Longitude float64
}

// CompositeValue is one element that a composite parameter looks at: what each
// of the parameter's parts finds in it, at least one value a part. The Param of
// those values is empty.
type CompositeValue struct {
	Param string
	Parts []*Index
}

// TokenValue is a code and the system it belongs to. An Identifier with
// neither, or a CodeableConcept with text alone, gives none.
type TokenValue struct {
	Param string
	// System is empty when the value has none, and for elements whose system
	// is implied by their binding it is that system.
	System string
	Code   string // as written
	// FoldCase says the code system's codes ignore case, or the element is a
	// string: codes are then compared as FoldCase gives them.
	FoldCase bool
}

// ReferenceValue is one reference. Exactly one of ID and URL is set, except for
// a logical reference, which has neither and only Identifier.
type ReferenceValue struct {
	Param string
	Type  ResourceType // of the target; empty if unknown
	// ID is the target's logical id, for a relative reference and for an
	// absolute one to this server.
	ID      string
	Version string // of a versioned reference, else ""
	// URL is an absolute reference elsewhere or a canonical, either without
	// its version, or "#id" of a contained resource, which only chains follow.
	URL string
	// Identifier is Reference.identifier, for :identifier.
	Identifier *TokenValue
}

// StringValue is a text.
type StringValue struct {
	Param string
	// Folded ignores case, accents, punctuation and repeated spaces; plain
	// and :contains searches match it. One value for each part (each word of
	// a family name) is the extractor's work.
	Folded string
	// Exact is the value as written, for :exact. It is empty when Folded is
	// not the whole value but begins at a later word of it: only plain
	// searches need that one.
	Exact string
}

// DateValue is the closed interval a date, dateTime, instant, Period or Timing
// stands for, in UTC. An open end is the zero time.
type DateValue struct {
	Param     string
	Low, High time.Time
}

// NumberValue is a number, or the ends of a Range: it has either Value or Low
// and High, of which an open end is "". Decimals are kept as text, exact.
type NumberValue struct {
	Param            string
	Value, Low, High string
}

// QuantityValue is an amount and its unit. Value, Low and High are as in
// NumberValue; a Quantity with a comparator is an open range: <5 has only
// High.
type QuantityValue struct {
	Param            string
	System, Code     string // Quantity.system and .code
	Unit             string // Quantity.unit, for searches by unit text
	Value, Low, High string
	// Canonical is the same in the canonical unit of the unit's dimension; nil
	// if the unit is none of UCUM.
	Canonical *CanonicalQuantity
}

// URIValue is a uri, url or canonical, compared exactly.
type URIValue struct {
	Param string
	URI   string
}

// TextValue is the words of a resource, folded as StringValue.Folded is: those of
// its narrative, and those of all its other texts.
type TextValue struct{ Narrative, Content string }

// NameValue is what a token is called, for :text: the display of a Coding, the
// text of a CodeableConcept or of an Identifier's type.
type NameValue struct {
	Param  string
	Folded string // as StringValue.Folded, and not empty
	// Code is a code that the resource has for the parameter beside the name,
	// and FoldCase as in its TokenValue; empty if there is none.
	Code     string
	FoldCase bool
}
