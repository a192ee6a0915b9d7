package fhir

// SearchQuery is a planned search: parameters resolved, values parsed. It holds
// no text of SQL and names no table.
type SearchQuery struct {
	Types    []ResourceType // at least one
	Criteria Criterion      // nil: all
	Count    int            // resources a page; 0 with Total for a count alone
	Total    TotalMode
	Cursor   string // SearchPage.Next of the page before
}

// TotalMode is _total.
type TotalMode uint8

// The values of _total.
const (
	TotalNone TotalMode = iota
	TotalEstimate
	TotalAccurate
)

// SearchPage is a page of matches, in a stable order.
type SearchPage struct {
	Matches []*Resource
	Next    string
	Total   int64 // -1 if not counted
}

// Criterion is a condition on a resource, a tree of the types below.
type Criterion interface{ criterion() }

// And holds when all do; empty, it holds always.
type And []Criterion

// Or holds when one does; empty, it never holds.
type Or []Criterion

// IDIn holds for resources with one of these ids.
type IDIn []string

// Updated holds when lastUpdated compares with a date as its prefix says.
type Updated struct {
	Prefix Prefix
	// Range is what the value's precision stands for: a day, a second.
	Range TimeRange
}

// Token holds when the resource has a matching TokenValue.
type Token struct {
	Param string
	// System nil: any system (`code`). Empty: none (`|code`).
	System *string
	// Code nil: any code of the system (`system|`).
	Code *string
	// FoldCase is set as in TokenValue, when known from the definition.
	FoldCase bool
}

// Missing is the modifier :missing.
type Missing struct {
	Param   string
	Missing bool
}

// ReferenceTo holds when the resource refers to the target.
type ReferenceTo struct {
	Param string
	Type  ResourceType // empty: any type
	ID    string
	URL   string // instead of Type and ID
}

// Prefix is a comparison prefix of search values.
type Prefix string

// The prefixes (https://hl7.org/fhir/R4/search.html#prefix).
const (
	PrefixEqual          Prefix = "eq"
	PrefixNotEqual       Prefix = "ne"
	PrefixGreater        Prefix = "gt"
	PrefixLess           Prefix = "lt"
	PrefixGreaterOrEqual Prefix = "ge"
	PrefixLessOrEqual    Prefix = "le"
	PrefixStartsAfter    Prefix = "sa"
	PrefixEndsBefore     Prefix = "eb"
	PrefixApproximate    Prefix = "ap"
)

func (And) criterion()         {}
func (Or) criterion()          {}
func (IDIn) criterion()        {}
func (Updated) criterion()     {}
func (Token) criterion()       {}
func (Missing) criterion()     {}
func (ReferenceTo) criterion() {}
