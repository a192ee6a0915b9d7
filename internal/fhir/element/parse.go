package element

import (
	"fmt"
	"math"
	"slices"
)

// Parse reads one JSON document. The tree shares data, which must not change
// afterwards. The error is a *SyntaxError.
func Parse(data []byte, limits Limits) (*Tree, error) {
	if len(data) > limits.Size || uint64(len(data)) > 1<<32-1 {
		return nil, &SyntaxError{
			Line: 1, Column: 1, TooLarge: true,
			Message: fmt.Sprintf("the document has %d bytes; at most %d are accepted", len(data), limits.Size),
		}
	}
	if limits.Nodes == 0 {
		limits.Nodes = math.MaxInt
	}
	// A node for every 20 bytes fits nearly all resources in one go.
	p := parser{text: data, limits: limits, nodes: make([]node, 0, len(data)/20+8)}
	if !p.document() {
		return nil, p.err
	}
	return &Tree{text: data, names: p.names, nodes: p.nodes, spaced: p.spaced}, nil
}

// parser is a recursive descent. Its methods take the offset of what they
// parse and give the offset behind it; when they give false, err says why.
type parser struct {
	text   []byte
	nodes  []node
	names  []byte
	depth  int
	spaced bool
	limits Limits
	err    *SyntaxError
}

func (p *parser) document() bool {
	at, ok := p.value(p.space(0))
	if !ok {
		return false
	}
	if at = p.space(at); at < len(p.text) {
		p.expected(at, "the document's end")
		return false
	}
	return true
}

// space steps over white space.
func (p *parser) space(at int) int {
	if at < len(p.text) && p.text[at] > ' ' {
		return at
	}
	return p.someSpace(at)
}

func (p *parser) someSpace(at int) int {
	for at < len(p.text) && isSpace(p.text[at]) {
		p.spaced = true
		at++
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// is reports whether c stands at an offset, which may be the text's end.
func (p *parser) is(at int, c byte) bool { return at < len(p.text) && p.text[at] == c }

// value parses one value and appends its nodes.
func (p *parser) value(at int) (int, bool) {
	if at < len(p.text) {
		switch c := p.text[at]; c {
		case '"':
			end, flags, ok := p.string(at)
			return p.leaf(String, at, end, flags), ok
		case '{':
			return p.object(at)
		case '[':
			return p.array(at)
		case 't':
			return p.word(at, "true", True)
		case 'f':
			return p.word(at, "false", False)
		case 'n':
			return p.word(at, "null", Null)
		default:
			if c == '-' || isDigit(c) {
				end, ok := p.number(at)
				return p.leaf(Number, at, end, 0), ok
			}
		}
	}
	p.expected(at, "a value")
	return at, false
}

// push appends an empty node, to be filled in place.
func (p *parser) push() *node {
	n := len(p.nodes)
	if n == cap(p.nodes) {
		p.nodes = slices.Grow(p.nodes, p.more())
	}
	p.nodes = p.nodes[:n+1]
	return &p.nodes[n]
}

// more is how many nodes to make room for when there is none left: what the rest
// of the text takes if it is as crowded as the text so far, so that a large
// document is copied once, but no more than there are.
func (p *parser) more() int {
	n := len(p.nodes)
	rest := len(p.text) - int(p.nodes[n-1].start)
	expected := float64(n) * float64(rest) / float64(p.nodes[n-1].start+1)
	return min(n, max(n/8, int(expected*17/16))) + 8
}

// leaf appends the node of a value without children, and gives its end.
func (p *parser) leaf(kind Kind, start, end int, flags uint8) int {
	d := p.push()
	d.kind, d.flags = kind, flags
	d.start, d.end, d.next = uint32(start), uint32(end), uint32(len(p.nodes))
	return end
}

func (p *parser) word(at int, word string, kind Kind) (int, bool) {
	end := at + len(word)
	if end > len(p.text) || string(p.text[at:end]) != word {
		p.expected(at, "a value")
		return at, false
	}
	return p.leaf(kind, at, end, 0), true
}

// open appends a container's node and gives its index.
func (p *parser) open(kind Kind, at int) (index uint32, ok bool) {
	if p.depth++; p.depth > p.limits.Depth {
		p.fault(at, "nested more than %d levels deep", p.limits.Depth)
		return 0, false
	}
	index = uint32(len(p.nodes))
	d := p.push()
	d.kind, d.start = kind, uint32(at)
	return index, true
}

func (p *parser) close(index uint32, end int) {
	p.depth--
	d := &p.nodes[index]
	d.end, d.next = uint32(end), uint32(len(p.nodes))
}

// crowded reports whether there are more nodes than the limit.
func (p *parser) crowded(at int) bool {
	if len(p.nodes) <= p.limits.Nodes {
		return false
	}
	p.fault(at, "the document has more than %d values", p.limits.Nodes)
	p.err.TooLarge = true
	return true
}

func (p *parser) array(at int) (int, bool) {
	index, ok := p.open(Array, at)
	if !ok {
		return at, false
	}
	at = p.space(at + 1)
	if !p.is(at, ']') {
		for {
			if at, ok = p.value(at); !ok || p.crowded(at) {
				return at, false
			}
			if at = p.space(at); !p.is(at, ',') {
				break
			}
			at = p.space(at + 1)
		}
		if !p.is(at, ']') {
			p.expected(at, ", or ] in an array")
			return at, false
		}
	}
	at++
	p.close(index, at)
	return at, true
}

func (p *parser) object(at int) (int, bool) {
	index, ok := p.open(Object, at)
	if !ok {
		return at, false
	}
	names := nameSet{first: index + 1}
	at = p.space(at + 1)
	if !p.is(at, '}') {
		for {
			if at, ok = p.member(at, &names); !ok || p.crowded(at) {
				return at, false
			}
			if at = p.space(at); !p.is(at, ',') {
				break
			}
			at = p.space(at + 1)
		}
		if !p.is(at, '}') {
			p.expected(at, ", or } in an object")
			return at, false
		}
	}
	at++
	p.close(index, at)
	return at, true
}

// member parses `"name": value`.
func (p *parser) member(at int, names *nameSet) (int, bool) {
	if !p.is(at, '"') {
		p.expected(at, "a member name in quotes")
		return at, false
	}
	end, flags, ok := p.string(at)
	if !ok {
		return at, false
	}
	key, name := uint32(at+1), p.text[at+1:end-1]
	flags |= keyed
	if flags&escaped != 0 {
		flags |= decoded
		key = uint32(len(p.names))
		p.names = appendUnescaped(p.names, name)
		name = p.names[key:]
	}
	if len(name) > MaxNameLength {
		p.fault(at, "a member name of more than %d bytes", MaxNameLength)
		return at, false
	}
	if !names.isNew(nameBit(name)) && names.repeats(p, name) {
		p.fault(at, "the name %.80q stands twice in one object", name)
		return at, false
	}
	if at = p.space(end); !p.is(at, ':') {
		p.expected(at, ": after a member name")
		return at, false
	}
	value := len(p.nodes)
	if at, ok = p.value(p.space(at + 1)); !ok {
		return at, false
	}
	d := &p.nodes[value]
	d.key, d.keyLen = key, uint16(len(name))
	d.flags |= flags & (keyed | decoded)
	return at, true
}
