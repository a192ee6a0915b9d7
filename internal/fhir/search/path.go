package search

import "strings"

// Most search parameters take an element by a plain path:
//
//	Patient.name.family
//	(Observation.value as Quantity)
//	Observation.subject.where(resolve() is Patient)
//	Library.relatedArtifact.where(type='depends-on').resource
//
// Those are understood here and compiled to one walk over the resource for all
// of a type's parameters. Any other expression is left to package fhirpath; a
// test holds the two to the same results.

// pathOp is one step of a path.
type pathOp struct {
	kind pathKind
	name string // the element, type or member
	text string // what the member must equal
}

type pathKind uint8

const (
	pathField   pathKind = iota + 1 // .name
	pathAs                          // as name, .as(name), .ofType(name)
	pathEquals                      // .where(name='text'), .extension('text')
	pathResolve                     // .where(resolve() is name)
)

// branches splits an expression at its outermost unions.
func branches(expression string) []string {
	var out []string
	depth, start := 0, 0
	quoted := false
	for i := range len(expression) {
		switch c := expression[i]; {
		case c == '\'' && (i == 0 || expression[i-1] != '\\'):
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			out = append(out, strings.TrimSpace(expression[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(expression[start:]))
}

// branchBegin is what may stand before a branch's first name.
const branchBegin = "( \t\r\n"

// branchType is the type whose resources a branch starts from: its first name; ""
// if it starts from something else, as %resource and $this do.
func branchType(branch string) string {
	p := pathText{strings.TrimLeft(branch, branchBegin)}
	name, _ := p.word()
	return name
}

// parsePath reads a plain path; ok is false for anything else.
func parsePath(branch string) (ops []pathOp, ok bool) {
	p := pathText{branch}
	ops, ok = p.as()
	return ops, ok && p.rest == ""
}

// pathText is what is left to read of a path.
type pathText struct{ rest string }

func (p *pathText) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take steps over a token, and space around it, if it is next.
func (p *pathText) take(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
		p.space()
	}
	return ok
}

func (p *pathText) word() (string, bool) {
	end := 0
	for end < len(p.rest) && isWord(p.rest[end]) {
		end++
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word, end > 0
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// as reads `path [as Type]`.
func (p *pathText) as() ([]pathOp, bool) {
	ops, ok := p.path()
	if !ok {
		return nil, false
	}
	if p.space(); strings.HasPrefix(p.rest, "as ") && p.take("as") {
		name, ok := p.word()
		return append(ops, pathOp{kind: pathAs, name: name}), ok
	}
	return ops, true
}

// path reads `(path)` or a name, and the steps that follow.
func (p *pathText) path() (ops []pathOp, ok bool) {
	if p.take("(") {
		if ops, ok = p.as(); !ok || !p.closing() {
			return nil, false
		}
	} else {
		name, ok := p.word()
		if !ok {
			return nil, false
		}
		ops = []pathOp{{kind: pathField, name: name}}
	}
	for strings.HasPrefix(p.rest, ".") {
		p.rest = p.rest[1:]
		op, ok := p.step()
		if !ok {
			return nil, false
		}
		ops = append(ops, op...)
	}
	return ops, true
}

// closing steps over a bracket; space behind it is left for what follows.
func (p *pathText) closing() bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, ")")
	p.rest = rest
	return ok
}

// step reads a name or one of the functions known here.
func (p *pathText) step() ([]pathOp, bool) {
	name, ok := p.word()
	if !ok || !strings.HasPrefix(p.rest, "(") {
		return []pathOp{{kind: pathField, name: name}}, ok
	}
	p.take("(")
	var ops []pathOp
	switch name {
	case "as", "ofType":
		name, ok = p.word()
		ops = []pathOp{{kind: pathAs, name: name}}
	case "extension":
		name, ok = p.literal()
		ops = []pathOp{{kind: pathField, name: "extension"}, {kind: pathEquals, name: "url", text: name}}
	case "where":
		var op pathOp
		op, ok = p.condition()
		ops = []pathOp{op}
	default:
		return nil, false
	}
	return ops, ok && p.closing()
}

// condition reads `resolve() is Type` or `name='text'`.
func (p *pathText) condition() (op pathOp, ok bool) {
	name, ok := p.word()
	if !ok {
		return op, false
	}
	if name == "resolve" {
		if !p.take("(") || !p.take(")") || !p.take("is ") {
			return op, false
		}
		name, ok = p.word()
		return pathOp{kind: pathResolve, name: name}, ok
	}
	if !p.take("=") {
		return op, false
	}
	text, ok := p.literal()
	return pathOp{kind: pathEquals, name: name, text: text}, ok
}

// literal reads a string without escapes.
func (p *pathText) literal() (string, bool) {
	rest, ok := strings.CutPrefix(p.rest, "'")
	if !ok {
		return "", false
	}
	text, rest, ok := strings.Cut(rest, "'")
	p.rest = rest
	return text, ok && !strings.Contains(text, `\`)
}
