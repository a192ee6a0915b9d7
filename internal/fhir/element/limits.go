package element

// Limits bound what Parse accepts.
type Limits struct {
	Depth int // nested containers
	Size  int // bytes of text
	// Nodes bounds the values of a document, and by that the memory of its
	// tree: 20 bytes each. 0: no bound but Size.
	Nodes int
}

// DefaultLimits are the limits for a request body. Resources have a value in
// 24 bytes or so, even without white space: Nodes is met by hostile documents
// only.
var DefaultLimits = Limits{Depth: 100, Size: 64 << 20, Nodes: 8 << 20}

// What a number may be, so that PostgreSQL's numeric can hold it.
const (
	MaxExponent     = 1000 // either sign
	MaxNumberLength = 1000 // characters
)

// MaxNameLength is the most bytes of a member's name.
const MaxNameLength = 1<<16 - 1

// StoredLimits take whatever was stored: it passed narrower limits, which may
// have been those of another server or of a load.
var StoredLimits = Limits{Depth: 1 << 20, Size: 1 << 30}
