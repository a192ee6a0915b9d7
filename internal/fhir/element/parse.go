package element

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Limits bound what Parse accepts.
type Limits struct {
	Depth int // nested containers
	Size  int // bytes of text
}

// DefaultLimits are the limits for a request body.
var DefaultLimits = Limits{Depth: 100, Size: 64 << 20}

// MaxExponent is the largest exponent of a number, either sign: PostgreSQL's
// numeric has to hold it.
const MaxExponent = 1000

// SyntaxError says where a document is not acceptable JSON.
type SyntaxError struct {
	Offset       int // bytes before the fault
	Line, Column int // from 1; the column counts characters
	Message      string
	// TooLarge says the fault is a limit, not the grammar.
	TooLarge bool
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Parse reads one JSON document. The tree shares data, which must not change
// afterwards. The error is a *SyntaxError.
func Parse(data []byte, limits Limits) (*Tree, error) {
	p := parser{limits: limits}
	p.tree = &Tree{text: data}
	if len(data) > limits.Size || uint64(len(data)) > 1<<32-1 {
		return nil, &SyntaxError{Line: 1, Column: 1, TooLarge: true,
			Message: fmt.Sprintf("the document has %d bytes; at most %d are accepted", len(data), limits.Size)}
	}
	if !utf8.Valid(data) {
		p.at = invalidUTF8(data)
		return nil, p.fault("invalid UTF-8")
	}
	// A node for every twelve bytes fits nearly all resources in one go.
	p.tree.nodes = make([]node, 0, len(data)/24+8)
	if err := p.document(); err != nil {
		return nil, err
	}
	return p.tree, nil
}

func invalidUTF8(data []byte) int {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return at
}

type parser struct {
	tree   *Tree
	at     int
	depth  int
	limits Limits
}

func (p *parser) fault(format string, args ...any) error {
	before := p.tree.text[:min(p.at, len(p.tree.text))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &SyntaxError{Offset: p.at, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) document() error {
	p.space()
	if err := p.value(); err != nil {
		return err
	}
	p.space()
	if p.at < len(p.tree.text) {
		return p.fault("unexpected %s after the document's end", p.found())
	}
	return nil
}

func (p *parser) space() {
	text := p.tree.text
	for p.at < len(text) {
		switch text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// peek gives the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.tree.text) {
		return p.tree.text[p.at]
	}
	return 0
}

// found names what stands at the cursor, for a message.
func (p *parser) found() string {
	if p.at >= len(p.tree.text) {
		return "end of document"
	}
	r, _ := utf8.DecodeRune(p.tree.text[p.at:])
	return fmt.Sprintf("%q", r)
}

// value parses one value and appends its nodes.
func (p *parser) value() error {
	switch c := p.peek(); {
	case c == '"':
		start := p.at
		escaped, err := p.string()
		if err != nil {
			return err
		}
		p.leaf(String, start, escaped)
		return nil
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return p.word("true", True)
	case c == 'f':
		return p.word("false", False)
	case c == 'n':
		return p.word("null", Null)
	}
	return p.fault("expected a value, found %s", p.found())
}

func (p *parser) leaf(kind Kind, start int, escaped bool) {
	p.tree.nodes = append(p.tree.nodes, node{
		kind: kind, escaped: escaped, start: uint32(start), end: uint32(p.at), next: uint32(len(p.tree.nodes) + 1),
	})
}

func (p *parser) word(word string, kind Kind) error {
	if !bytes.HasPrefix(p.tree.text[p.at:], []byte(word)) {
		return p.fault("expected a value, found %s", p.found())
	}
	start := p.at
	p.at += len(word)
	p.leaf(kind, start, false)
	return nil
}

// open appends a container's node and steps behind its bracket.
func (p *parser) open(kind Kind) (uint32, error) {
	if p.depth++; p.depth > p.limits.Depth {
		return 0, p.fault("nested more than %d levels deep", p.limits.Depth)
	}
	index := uint32(len(p.tree.nodes))
	p.tree.nodes = append(p.tree.nodes, node{kind: kind, start: uint32(p.at)})
	p.at++
	p.space()
	return index, nil
}

func (p *parser) close(index, count uint32) {
	p.at++
	p.depth--
	d := &p.tree.nodes[index]
	d.end, d.next, d.count = uint32(p.at), uint32(len(p.tree.nodes)), count
}

func (p *parser) array() error {
	index, err := p.open(Array)
	if err != nil {
		return err
	}
	var count uint32
	if p.peek() != ']' {
		for {
			if err := p.value(); err != nil {
				return err
			}
			count++
			p.space()
			if p.peek() != ',' {
				break
			}
			p.at++
			p.space()
		}
		if p.peek() != ']' {
			return p.fault("expected , or ] in an array, found %s", p.found())
		}
	}
	p.close(index, count)
	return nil
}

func (p *parser) object() error {
	index, err := p.open(Object)
	if err != nil {
		return err
	}
	var count uint32
	var names nameSet
	if p.peek() != '}' {
		for {
			if err := p.member(index, count, &names); err != nil {
				return err
			}
			count++
			p.space()
			if p.peek() != ',' {
				break
			}
			p.at++
			p.space()
		}
		if p.peek() != '}' {
			return p.fault("expected , or } in an object, found %s", p.found())
		}
	}
	p.close(index, count)
	return nil
}

// member parses `"name": value` as child number count of the object.
func (p *parser) member(object, count uint32, names *nameSet) error {
	if p.peek() != '"' {
		return p.fault("expected a member name in quotes, found %s", p.found())
	}
	start := p.at
	escaped, err := p.string()
	if err != nil {
		return err
	}
	key := [2]uint32{uint32(start + 1), uint32(p.at - 1)}
	if escaped {
		from := len(p.tree.names)
		p.tree.names = appendUnescaped(p.tree.names, p.tree.text[start+1:p.at-1])
		key = [2]uint32{uint32(from), uint32(len(p.tree.names))}
	}
	value := uint32(len(p.tree.nodes))
	named := node{key: key, decoded: escaped}
	if names.repeats(p.tree, object, count, &named) {
		p.at = start
		return p.fault("the name %q stands twice in one object", p.tree.name(&named))
	}
	p.space()
	if p.peek() != ':' {
		return p.fault("expected : after a member name, found %s", p.found())
	}
	p.at++
	p.space()
	if err := p.value(); err != nil {
		return err
	}
	d := &p.tree.nodes[value]
	d.keyed, d.key, d.decoded = true, key, escaped
	return nil
}

// nameSet finds repeated names: by comparing with the few before, then, in an
// object of many, by a map.
type nameSet struct{ seen map[string]struct{} }

const namesCompared = 24

func (s *nameSet) repeats(t *Tree, object, count uint32, named *node) bool {
	name := t.name(named)
	if s.seen != nil {
		if _, ok := s.seen[string(name)]; ok {
			return true
		}
		s.seen[string(name)] = struct{}{}
		return false
	}
	for i, left := object+1, count; left > 0; left-- {
		d := &t.nodes[i]
		if bytes.Equal(t.name(d), name) {
			return true
		}
		i = d.next
	}
	if count >= namesCompared {
		s.seen = map[string]struct{}{string(name): {}}
		for i, left := object+1, count; left > 0; left-- {
			s.seen[string(t.name(&t.nodes[i]))] = struct{}{}
			i = t.nodes[i].next
		}
	}
	return false
}
