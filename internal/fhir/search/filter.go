package search

import (
	"strings"

	"starling/internal/fhir"
)

// Bounds of a _filter.
const (
	maxNested      = 32
	maxComparisons = 200
)

// planFilter reads _filter (https://hl7.org/fhir/R4/search_filter.html): each
// comparison is planned as the parameter it could have been. and and or have no
// precedence, they are read from left to right.
func planFilter(p *planning, q *queryParameter) (fhir.Criterion, error) {
	if strings.TrimSpace(q.value) == "" {
		return nil, nil
	}
	f := filterText{planning: p, parameter: q, rest: q.value, comparisons: new(int)}
	c, err := f.filter(0)
	if err != nil {
		return nil, err
	}
	if f.space(); f.rest != "" {
		return nil, f.bad("its end")
	}
	return c, nil
}

// filterText is what is left to read of a filter.
type filterText struct {
	*planning
	parameter   *queryParameter
	rest        string
	comparisons *int // of the whole parameter
	// nested is how many brackets within paths are open.
	nested int
}

func (f *filterText) space() { f.rest = strings.TrimLeft(f.rest, " \t\r\n") }

func (f *filterText) bad(expected string) error {
	return f.parameter.badValue(f.rest, expected)
}

// take steps over a symbol if it is next.
func (f *filterText) take(symbol string) bool {
	f.space()
	rest, ok := strings.CutPrefix(f.rest, symbol)
	if ok {
		f.rest = rest
	}
	return ok
}

// word reads up to a space or bracket.
func (f *filterText) word() string {
	f.space()
	end := strings.IndexAny(f.rest, " \t\r\n()[]")
	if end < 0 {
		end = len(f.rest)
	}
	word := f.rest[:end]
	f.rest = f.rest[end:]
	return word
}

func (f *filterText) filter(depth int) (fhir.Criterion, error) {
	if depth > maxNested {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The parameter '_filter' is nested too deeply.")
	}
	left, err := f.operand(depth)
	for err == nil {
		at := f.rest
		switch f.word() {
		case "and":
			var right fhir.Criterion
			right, err = f.operand(depth)
			left = fhir.And{left, right}
		case "or":
			var right fhir.Criterion
			right, err = f.operand(depth)
			left = fhir.Or{left, right}
		default:
			f.rest = at
			return left, nil
		}
	}
	return nil, err
}

// operand reads `(filter)`, `not(filter)` or a comparison.
func (f *filterText) operand(depth int) (fhir.Criterion, error) {
	not := false
	if f.space(); strings.HasPrefix(f.rest, "not(") || strings.HasPrefix(f.rest, "not (") {
		not = f.take("not")
	}
	if !f.take("(") {
		return f.comparison()
	}
	c, err := f.filter(depth + 1)
	switch {
	case err != nil:
		return nil, err
	case !f.take(")"):
		return nil, f.bad("')'")
	case not:
		return fhir.Not{Criterion: c}, nil
	}
	return c, nil
}

// comparison reads `path operator value`, or `reference[filter].path operator
// value`.
func (f *filterText) comparison() (fhir.Criterion, error) {
	if *f.comparisons++; *f.comparisons > maxComparisons {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The parameter '_filter' has too many comparisons.")
	}
	at := f.rest
	path := f.word()
	if path == "" {
		return nil, f.bad("a parameter, or a chain of such,")
	}
	if strings.HasPrefix(f.rest, "[") {
		return f.conditioned(path)
	}
	operator := f.word()
	value, err := f.value()
	if err != nil {
		return nil, err
	}
	q := splitName(path)
	q.name, q.value = "_filter: "+path, value
	if q.code == "_filter" || strings.Contains(path, ":") {
		f.rest = at
		return nil, f.bad("a parameter without modifiers")
	}
	not, err := f.operator(&q, operator)
	if err != nil {
		return nil, err
	}
	p := *f.planning
	p.operator = operator
	c, known, err := p.criterion(&q)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, f.parameter.badValue(path, "a parameter of "+f.searched())
	case c == nil:
		return nil, f.bad("a value")
	case not:
		return fhir.Not{Criterion: c}, nil
	}
	return c, nil
}

// value reads a value, as a search parameter has it: commas do not separate.
func (f *filterText) value() (string, error) {
	var text strings.Builder
	if f.take(`"`) {
		end := 0
		for end < len(f.rest) && f.rest[end] != '"' {
			if f.rest[end] == '\\' && end+1 < len(f.rest) {
				end++
			}
			text.WriteByte(f.rest[end])
			end++
		}
		if end >= len(f.rest) {
			return "", f.bad(`'"' at the end of a text`)
		}
		f.rest = f.rest[end+1:]
	} else if text.WriteString(f.word()); text.Len() == 0 {
		return "", f.bad("a value")
	}
	return strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(text.String()), nil
}

// operator puts a comparison's operator into the parameter, as its modifier or
// its value's prefix; not says that the contrary is meant.
func (f *filterText) operator(q *queryParameter, operator string) (not bool, err error) {
	typ := f.lastType(f.types, q.code, q.chain, 0)
	ordered := typ == "date" || typ == "number" || typ == "quantity"
	modify := func(modifier string) {
		if q.chain != "" {
			q.chain += ":" + modifier
		} else {
			q.modifier = modifier
		}
	}
	switch {
	case operator == "pr":
		switch q.value {
		case "true":
			q.value = "false"
		case "false":
			q.value = "true"
		}
		modify("missing")
	case ordered && prefixes[operator] != "":
		q.value = operator + q.value
	case (operator == "eq" || operator == "ne") && typ == "string":
		modify("exact")
		return operator == "ne", nil
	case operator == "eq", operator == "re" && typ == "reference":
	case operator == "ne":
		return true, nil
	case operator == "co" && typ == "string":
		modify("contains")
	case operator == "sw" && typ == "string", operator == "ew" && typ == "string":
	case operator == "po" && typ == "date":
	case operator == "in" && typ == "token":
		modify("in")
	case operator == "ss" && typ == "token":
		modify("below")
	case operator == "sb" && typ == "token":
		modify("above")
	default:
		return false, f.parameter.badValue(operator, "an operator that "+quote(q.name)+" takes")
	}
	return false, nil
}

// lastType is the type of the parameter at the end of a chain, by the first of
// the types it may lead to that has it.
func (f *filterText) lastType(types []fhir.ResourceType, code, chain string, depth int) string {
	if code == "_lastUpdated" && chain == "" {
		return "date"
	}
	for _, t := range types {
		d := f.search.definition(t, code)
		switch {
		case d == nil || depth > maxDepth:
		case chain == "":
			return d.Type
		default:
			next := splitName(chain)
			if typ := f.lastType(d.Target, next.code, next.chain, depth+1); typ != "" {
				return typ
			}
		}
	}
	return ""
}
