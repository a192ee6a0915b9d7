package fhir

// SearchQuery is a planned search: parameters resolved, values parsed. It holds
// no text of SQL and names no table.
type SearchQuery struct {
	Types    []ResourceType // at least one; AnyType alone if Criteria are Contained
	Criteria Criterion      // nil: all
	Count    int            // resources a page; 0 with Total for a count alone
	Total    TotalMode
	// Sort is the order of the matches; those equal in it, and all of them
	// without any, stand in the order in which they were created.
	Sort []SortKey
	// Cursor is Next or Previous of another page of the same search.
	Cursor string
	// Includes and RevIncludes are for whoever writes the answer: the store
	// finds matches alone.
	Includes, RevIncludes []Include
	// AsContained asks of a search whose Criteria are Contained which contained
	// resources meet it, in SearchPage.Contained, and counts these.
	AsContained bool
	// Untyped are ids in it without a type that may be of several; it is for
	// whoever runs the search to see that they are not.
	Untyped []UntypedID
}

// AnyType stands for resources of all types.
const AnyType ResourceType = ""

// UntypedID is the value of a reference parameter that may be the id of resources
// of several types.
type UntypedID struct {
	Param string // as the query names it
	ID    string
	Types []ResourceType
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
	// Next and Previous are cursors of the neighbouring pages, empty where
	// there is none. Previous is also given where matches before this page
	// are only likely.
	Next, Previous string
	Total          int64 // -1 if not counted
	// Contained has for each match, if the query has AsContained, the contained
	// resources that meet the criteria: each by its place among those of its type
	// in the match, and Itself for the match.
	Contained [][]int
	// Estimated says that Total is the planner's estimate.
	Estimated bool
}

// Itself is the place of a match that meets a Contained itself.
const Itself = -1

// Criterion is a condition on a resource, a tree of the types below.
type Criterion interface{ criterion() }

// And holds when all do; empty, it holds always.
type And []Criterion

// Or holds when one does; empty, it never holds.
type Or []Criterion

// TypeIs holds for resources of that type: in searches of several types, where
// a condition concerns one of them (a compartment's parameters differ by type).
type TypeIs ResourceType

// IDIn holds for resources with one of these ids.
type IDIn []string

// Updated holds when lastUpdated compares with a date as its prefix says.
type Updated struct {
	Prefix Prefix
	// Range is what the value's precision stands for: a day, a second.
	Range TimeRange
}

// Not holds when its criterion does not, so also for resources that have no
// value at all.
type Not struct{ Criterion Criterion }

// Token holds when the resource has a matching TokenValue.
type Token struct {
	Param string
	// System nil: any system (`code`). Empty: none (`|code`).
	System *string
	// Code nil: any code of the system (`system|`).
	Code *string
	// FoldCase says which values are meant: with it those that have
	// TokenValue.FoldCase, their codes compared by FoldCase; without it the
	// others, compared exactly. Where both may match, the plan has an Or of
	// two. With Code nil it says nothing: values of either kind match.
	FoldCase bool
}

// String holds when the resource has a matching StringValue.
type String struct {
	Param string
	Match StringMatch
	// Value is folded as StringValue.Folded is; for StringExact as written.
	Value string
}

// StringMatch is how a String compares.
type StringMatch uint8

// The ways to compare strings: by default Folded begins with the value; with
// :contains Folded has it anywhere; with :exact it equals Exact; with the
// operator ew of _filter Folded, which has fewer than 200 characters, ends with it.
const (
	StringStarts StringMatch = iota
	StringContains
	StringExact
	StringEnds
)

// Date holds when the resource has a DateValue that compares with Range as
// Prefix says. With the value's interval [l, h] (open ends infinite) and
// Range [L, H):
//
//	eq  L <= l and h < H         ne  not eq
//	gt  h >= H                   lt  l < L
//	ge  gt or eq                 le  lt or eq
//	sa  l >= H                   eb  h < L
//	ap  l < H and h >= L, Range being widened already
type Date struct {
	Param  string
	Prefix Prefix
	Range  TimeRange
}

// Number holds when the resource has a NumberValue v that compares with the
// search value as Prefix says: eq and ap demand Low <= v < High (Low <= v <=
// High where they are equal), ne the contrary; the others compare v with
// Value. sa is gt, eb is lt.
type Number struct {
	Param            string
	Prefix           Prefix
	Value, Low, High string // decimals as text
}

// Quantity is Number for a QuantityValue. Values that are ranges match eq when
// Low and High contain both ends, gt when the upper end is above Value, lt when
// the lower is below, sa and eb when the whole is, ap when they overlap.
type Quantity struct {
	Param            string
	Prefix           Prefix
	Value, Low, High string
	// System and Code, if not empty, must be the value's. With System empty
	// and Code not, the code may be the value's Code or its Unit.
	System, Code string
	// Canonical, if not nil, is what the search asks for in the canonical form
	// of Code's dimension: values match in whichever unit. System and Code say
	// nothing then.
	Canonical *CanonicalQuantity
}

// CanonicalQuantity is the number of a Quantity in a canonical unit.
type CanonicalQuantity struct{ Value, Low, High, Unit string }

// URI holds when the resource has that URIValue.
type URI struct {
	Param string
	URI   string
}

// URIBelow holds when the resource has a URIValue that is the URI or begins with
// it and a slash: the modifier :below.
type URIBelow struct {
	Param string
	URI   string
}

// Named holds when the resource has a NameValue that begins with the value, from
// its beginning or from the beginning of one of its first 50 words: the modifier
// :text of tokens.
type Named struct {
	Param string
	Value string // folded
}

// Text holds when the resource's TextValue has words that follow each other: in
// its narrative or, unless Narrative is set, in its other texts. Of a word the first
// 100 characters count, of a text the first 16,000 words.
type Text struct {
	Narrative bool
	Words     string // folded
	Begins    bool   // the last word may go on
}

// Missing is the modifier :missing.
type Missing struct {
	Param   string
	Missing bool
}

// ReferenceTo holds when the resource refers to the target, with Version empty
// whatever version of it the reference names.
type ReferenceTo struct {
	Param   string
	Type    ResourceType // empty: any type
	ID      string
	URL     string // instead of Type and ID
	Version string
}

// ReferenceBy holds when the resource has a reference with an identifier: the
// modifier :identifier. System nil: any. Empty: none.
type ReferenceBy struct {
	Param  string
	System *string
	Code   string
}

// OfType holds when the resource has that TypedIdentifier: the modifier
// :of-type.
type OfType TypedIdentifier

// TokenIn holds when the resource has a TokenValue that is one of Codes: a code
// of a value set, or one above or below another.
type TokenIn struct {
	Param string
	Codes []TokenValue // without Param
}

// Near holds when the resource has a position within a distance of a point, in
// degrees and metres, on a sphere of the Earth's mean radius.
type Near struct {
	Param                         string
	Latitude, Longitude, Distance float64
}

// Composite holds when the resource has a CompositeValue whose parts meet one
// criterion each. Those have no Param, and are Token, with a code, ReferenceTo,
// with a type or URL, String, Date, Number or Quantity, or an Or of such.
type Composite struct {
	Param string
	Parts []Criterion
}

// Chain holds when the resource refers by a parameter to a current resource of
// a type that meets a criterion of that type, or to one that is contained with
// it.
type Chain struct {
	Param string
	Type  ResourceType
	// Canonical says that the reference is the other's canonical URL: a
	// ReferenceValue.URL that is its URIValue for the parameter url and whose
	// Version, if it has one, is its TokenValue for the parameter version.
	Canonical bool
	// Outside says that contained resources are not looked at.
	Outside   bool
	Criterion Criterion
}

// Contained holds for resources that contain a resource of a type that meets a
// criterion of that type (nil: any), and with Itself for those that are of the
// type and meet it themselves. It is a search's only criterion. A contained
// resource has the id it has in its container, and nothing but chains in it may
// go to other resources.
type Contained struct {
	Type      ResourceType
	Criterion Criterion
	Itself    bool
}

// Has holds when a current resource of a type that meets a criterion of that
// type refers by its parameter to the resource, by its canonical as in Chain.
type Has struct {
	Type      ResourceType
	Param     string
	Canonical bool
	Criterion Criterion
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
func (TypeIs) criterion()      {}
func (IDIn) criterion()        {}
func (Updated) criterion()     {}
func (Not) criterion()         {}
func (Token) criterion()       {}
func (String) criterion()      {}
func (Date) criterion()        {}
func (Number) criterion()      {}
func (Quantity) criterion()    {}
func (URI) criterion()         {}
func (Missing) criterion()     {}
func (Named) criterion()       {}
func (Text) criterion()        {}
func (ReferenceTo) criterion() {}
func (Composite) criterion()   {}
func (ReferenceBy) criterion() {}
func (OfType) criterion()      {}
func (TokenIn) criterion()     {}
func (Near) criterion()        {}
func (URIBelow) criterion()    {}
func (Chain) criterion()       {}
func (Has) criterion()         {}
func (Contained) criterion()   {}
