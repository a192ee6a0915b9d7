package element

import (
	"iter"
	"unsafe"
)

// Kind is the JSON type of a node.
type Kind uint8

// The kinds of node.
const (
	Null Kind = iota + 1
	False
	True
	Number
	String
	Array
	Object
)

// String names the kind as error messages do.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case False, True:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "nothing"
}

// node is one value of the arena, in 20 bytes. A container's children follow it
// directly; next is the index behind the whole subtree, so siblings are a hop
// apart and the last child's next is its parent's.
type node struct {
	start  uint32 // of its text
	end    uint32
	next   uint32
	key    uint32 // where a member's name begins
	keyLen uint16
	kind   Kind
	flags  uint8
}

const (
	escaped uint8 = 1 << iota // a string with escapes
	keyed                     // a member
	decoded                   // the name had escapes: it is in Tree.names, not in the text
)

// Tree is a parsed document. It is immutable and safe for concurrent reading;
// nodes and strings obtained from it share the text it was parsed from.
type Tree struct {
	text  []byte
	names []byte // decoded member names that had escapes
	nodes []node
	// spaced says there is white space between the tokens.
	spaced bool
}

// Root is the document's value.
func (t *Tree) Root() Node { return Node{t, 0} }

// Text is the document as it was parsed.
func (t *Tree) Text() []byte { return t.text }

// Node is a value of a tree. The zero Node is no value: its Kind is 0 and every
// lookup on it gives no value again.
type Node struct {
	tree  *Tree
	index uint32
}

// Exists reports whether the node is a value.
func (n Node) Exists() bool { return n.tree != nil }

// Kind is the node's JSON type; 0 for no value.
func (n Node) Kind() Kind {
	if n.tree == nil {
		return 0
	}
	return n.tree.nodes[n.index].kind
}

// Index identifies the node within its tree, in document order: 0 is the root.
func (n Node) Index() int { return int(n.index) }

// Same reports whether both are the same place of the same tree.
func (n Node) Same(other Node) bool { return n == other }

// Contains reports whether other is the node or a part of it.
func (n Node) Contains(other Node) bool {
	return n.tree != nil && n.tree == other.tree && n.index <= other.index && other.index < n.tree.nodes[n.index].next
}

// Raw is the node's JSON text, quotes and brackets included. It must not be
// changed.
func (n Node) Raw() []byte {
	if n.tree == nil {
		return nil
	}
	d := &n.tree.nodes[n.index]
	return n.tree.text[d.start:d.end:d.end]
}

// Span is the offsets of Raw in the tree's text.
func (n Node) Span() (start, end int) {
	if n.tree == nil {
		return 0, 0
	}
	d := &n.tree.nodes[n.index]
	return int(d.start), int(d.end)
}

// Name is the name of the member that has this value, "" for an array's item
// and the root.
func (n Node) Name() string {
	if n.tree == nil {
		return ""
	}
	d := &n.tree.nodes[n.index]
	if d.flags&keyed == 0 {
		return ""
	}
	return text(n.tree.name(d))
}

// Len counts the members of an object or items of an array; 0 for any other.
func (n Node) Len() int {
	count := 0
	for range n.Children() {
		count++
	}
	return count
}

// IsEmpty reports whether Len is 0, without counting.
func (n Node) IsEmpty() bool { return n.tree == nil || n.tree.nodes[n.index].next == n.index+1 }

// Get is the member of that name; no value if there is none or n is no object.
func (n Node) Get(name string) Node {
	if n.Kind() != Object {
		return Node{}
	}
	nodes := n.tree.nodes
	for i, end := n.index+1, nodes[n.index].next; i < end; i = nodes[i].next {
		if string(n.tree.name(&nodes[i])) == name {
			return Node{n.tree, i}
		}
	}
	return Node{}
}

// At is the array's item i; no value if there is none.
func (n Node) At(i int) Node {
	if n.Kind() != Array || i < 0 {
		return Node{}
	}
	for item := range n.Children() {
		if i == 0 {
			return item
		}
		i--
	}
	return Node{}
}

// Children ranges over the members of an object or the items of an array, in
// document order. A member's name is Node.Name.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.tree == nil {
			return
		}
		nodes := n.tree.nodes
		for i, end := n.index+1, nodes[n.index].next; i < end; i = nodes[i].next {
			if !yield(Node{n.tree, i}) {
				return
			}
		}
	}
}

// Str is the decoded value of a string node, "" for any other. Without escapes
// it shares the tree's text.
func (n Node) Str() string {
	if n.Kind() != String {
		return ""
	}
	d := &n.tree.nodes[n.index]
	raw := n.tree.text[d.start+1 : d.end-1]
	if d.flags&escaped == 0 {
		return text(raw)
	}
	return text(appendUnescaped(make([]byte, 0, len(raw)), raw))
}

// Literal is the value of a primitive as text: a string decoded, a number with
// its digits, true or false. "" for containers and null.
func (n Node) Literal() string {
	switch n.Kind() {
	case String:
		return n.Str()
	case Number, True, False:
		return text(n.Raw())
	}
	return ""
}

func (t *Tree) name(d *node) []byte { return d.name(t.text, t.names) }

func (d *node) name(text, names []byte) []byte {
	if d.flags&decoded != 0 {
		text = names
	}
	return text[d.key : d.key+uint32(d.keyLen)]
}

// text views bytes as a string. The bytes belong to a Tree and never change.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
