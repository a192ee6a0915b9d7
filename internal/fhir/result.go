package fhir

// SortKey is one key of _sort (https://hl7.org/fhir/R4/search.html#sort).
// Resources without a value for it come last in either direction.
type SortKey struct {
	// Param is a parameter's code; all of the types searched have it. It is
	// empty for SortID and SortUpdated.
	Param      string
	Kind       SortKind
	Descending bool
	// Single says that a valid resource has at most one value for it.
	Single bool
	// Text, for SortText, reads the values from a resource: the least and the
	// greatest in the order of bytes. ok is false if there are none.
	Text func(resource *Resource) (least, greatest string, ok bool)
}

// SortKind says what a SortKey compares.
type SortKind uint8

// The kinds. Of several values the least counts ascending, the greatest
// descending.
const (
	SortID      SortKind = iota + 1 // by bytes
	SortUpdated                     // lastUpdated
	SortDate                        // DateValue: Low ascending, High descending
	SortNumber                      // NumberValue, QuantityValue: the value or the lower end, whatever the unit
	SortString                      // StringValue.Folded, its first 200 characters
	SortText                        // what SortKey.Text gives, its first 200 characters
)

// Include asks for resources that matches refer to (_include), or that refer
// to matches (_revinclude)
// (https://hl7.org/fhir/R4/search.html#revinclude).
type Include struct {
	Source ResourceType // of the resources that refer; empty: any
	Param  string       // their reference parameter; empty: any
	Target ResourceType // of the resources referred to; empty: any
	// Iterate applies it to included resources, too.
	Iterate bool
}

// VersionKey names a version of a resource; with VersionID 0 the current one.
type VersionKey struct {
	Key
	VersionID int64
}

// Link is a way in which resources refer to others.
type Link struct {
	Source ResourceType // of the resources that refer
	Param  string       // their reference parameter
	Target Key
}
