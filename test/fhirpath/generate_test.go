package fhirpath

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"starling/internal/fhir/definition"
)

// generator makes random expressions of FHIRPath's grammar about a type. The
// same seed makes the same expressions.
type generator struct {
	*rand.Rand
	reg *definition.Registry
}

// at is what is known of the items an expression gives: of an element or a
// type, or nothing.
type at struct{ element *definition.Element }

// members are the elements below.
func (g *generator) members(a at) []*definition.Element {
	e := a.element
	switch {
	case e == nil:
		return nil
	case e.Content != nil:
		return e.Content.Children
	case len(e.Children) > 0:
		return e.Children
	}
	types := slices.DeleteFunc(slices.Clone(e.Types), func(t definition.TypeRef) bool { return g.reg.Type(t.Code) == nil })
	if len(types) == 0 {
		return nil
	}
	return g.reg.Type(types[g.IntN(len(types))].Code).Root.Children
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// path is a walk from a place, of up to so many steps.
func (g *generator) path(from at, steps int) (string, at) {
	var names []string
	for range 1 + g.IntN(steps) {
		members := g.members(from)
		if len(members) == 0 {
			break
		}
		from = at{pick(g, members...)}
		names = append(names, quoted(from.element.Name))
	}
	if len(names) == 0 {
		return "$this", from
	}
	return strings.Join(names, "."), from
}

func (g *generator) literal() string {
	return pick(g, "true", "false", "0", "1", "2", "-3", "10", "1.5", "0.25", "100.0", "'a'", "'official'", "'final'", "'http'", "''", "'1'", "'2.50'", "'x y'", "{}",
		"@2012", "@2012-05", "@2012-05-01", "@2012-05-01T10:00:00Z", "@2012-05-01T10:00:00+02:00", "@T10:00", "@T10:30:00", "1 'mg'", "2 'kg'", "1 year", "3 days", "10 'cm'")
}

// expression is one of any type, with at most so many levels below it.
func (g *generator) expression(from at, depth int) string {
	if depth == 0 {
		if g.IntN(3) == 0 {
			return g.literal()
		}
		text, _ := g.path(from, 3)
		return text
	}
	switch g.IntN(10) {
	case 0, 1:
		return g.expression(from, depth-1) + pick(g, " = ", " != ", " ~ ", " !~ ", " < ", " > ", " <= ", " >= ") + g.expression(from, depth-1)
	case 2:
		return g.expression(from, depth-1) + pick(g, " + ", " - ", " * ", " / ", " div ", " mod ", " & ") + g.expression(from, depth-1)
	case 3:
		return "(" + g.boolean(from, depth-1) + ")" + pick(g, " and ", " or ", " xor ", " implies ") + "(" + g.boolean(from, depth-1) + ")"
	case 4:
		return g.expression(from, depth-1) + pick(g, " | ", " in ", " contains ") + g.expression(from, depth-1)
	case 5:
		return "(" + g.expression(from, depth-1) + ")" + g.call(from, depth-1)
	}
	path, there := g.path(from, 3)
	for range 1 + g.IntN(2) {
		path += g.call(there, depth-1)
	}
	return path
}

func (g *generator) boolean(from at, depth int) string {
	path, there := g.path(from, 2)
	if depth > 0 && g.IntN(6) == 0 {
		return path + ".all(" + g.condition(there, depth-1) + ")"
	}
	return path + pick(g, ".exists()", ".empty()", ".exists().not()", ".hasValue()", ".count() > 1", ".isDistinct()")
}

// condition is what where() and others take, of the items of a place.
func (g *generator) condition(from at, depth int) string {
	if depth <= 0 || g.IntN(2) == 0 {
		return g.boolean(from, depth-1)
	}
	path, _ := g.path(from, 2)
	return path + pick(g, " = ", " != ", " ~ ") + g.literal()
}

// call is a function on what is before it.
func (g *generator) call(from at, depth int) string {
	inner := func() string { return g.expression(from, max(depth-1, 0)) }
	number := func() string { return strconv.Itoa(g.IntN(5) - 1) }
	switch g.IntN(8) {
	case 0:
		return pick(g, ".where(", ".exists(", ".all(") + g.condition(from, depth-1) + ")"
	case 1:
		return pick(g, ".select(", ".union(", ".combine(", ".intersect(", ".exclude(", ".subsetOf(", ".supersetOf(") + inner() + ")"
	case 2:
		return pick(g, ".first()", ".last()", ".tail()", ".distinct()", ".isDistinct()", ".count()", ".empty()", ".exists()", ".not()", ".hasValue()", ".allTrue()", ".anyTrue()",
			".allFalse()", ".anyFalse()", ".single()", ".children().count()", ".descendants().count()", "["+strconv.Itoa(g.IntN(3))+"]", ".skip("+number()+")", ".take("+number()+")")
	case 3:
		return pick(g, ".toInteger()", ".toDecimal()", ".toString()", ".toBoolean()", ".toDate()", ".toDateTime()", ".toTime()", ".toQuantity()", ".convertsToInteger()", ".convertsToDecimal()",
			".convertsToString()", ".convertsToBoolean()", ".convertsToDate()", ".convertsToDateTime()", ".convertsToTime()", ".convertsToQuantity()")
	case 4:
		return pick(g, ".upper()", ".lower()", ".length()", ".trim()", ".toChars()", ".substring("+number()+")", ".substring("+number()+", "+number()+")", ".indexOf('e')", ".lastIndexOf('e')", ".startsWith('a')",
			".endsWith('e')", ".contains('i')", ".replace('a', 'bb')", ".matches('[a-z]+')", ".replaceMatches('[aeiou]', '_')", ".split('-')", ".join(',')", ".encode('base64')", ".encode('hex')", ".encode('urlbase64')")
	case 5:
		return pick(g, ".abs()", ".ceiling()", ".floor()", ".round()", ".round(1)", ".sqrt()", ".truncate()", ".exp()", ".ln()", ".log(2)", ".power(2)")
	case 6:
		return pick(g, ".ofType(", ".is(", ".where($this is ") + pick(g, "Quantity", "string", "code", "dateTime", "Coding", "HumanName", "Reference", "boolean", "Element", "integer", "decimal", "System.String", "FHIR.uri") + ")"
	}
	return pick(g, ".iif("+g.condition(from, 0)+", "+inner()+", "+g.literal()+")", ".aggregate($total + 1, 0)", ".aggregate($total & 'x', '')", ".repeat(extension).count()", ".type().name", ".extension.url",
		".extension('http://example.org').exists()", ".select($index)", ".select($this)", ".trace('x')", ".id")
}

// Random expressions of the grammar, on examples of many types.
func TestRandomExpressions(t *testing.T) {
	names, texts := examples(t)
	install(t)
	g := &generator{rand.New(rand.NewPCG(4, 1)), definition.R4()}
	var questions []question
	for _, name := range names {
		text := texts[name]
		root := g.reg.Type(string(typeOf(t, text))).Root
		if len(text) > 20_000 || g.IntN(4) > 0 {
			continue
		}
		for range 30 {
			questions = append(questions, question{text, g.expression(at{root}, 1+g.IntN(3))})
		}
	}
	if len(questions) < 3000 {
		t.Errorf("only %d expressions", len(questions))
	}
	compare(t, random, questions)
}
