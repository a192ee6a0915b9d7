package search

import (
	"html"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// TextSearch says which words of a resource are indexed.
type TextSearch uint8

// The ways to index words.
const (
	TextOff       TextSearch = iota
	TextNarrative            // those of text.div, for _text
	TextAll                  // and those of all other texts, for _content
)

// UseTextSearch says which words are indexed and so may be searched. It is called
// before the first resource.
func (s *Search) UseTextSearch(t TextSearch) { s.text = t }

// mostUnbroken is the length of a text without spaces from which on it is taken
// for data.
const mostUnbroken = 500

// texts takes a resource's words.
func (x *extraction) texts() *fhir.TextValue {
	if x.search.text == TextOff {
		return nil
	}
	var t fhir.TextValue
	div := x.root.Get("text").Get("div")
	if text := div.Str(); text != "" {
		t.Narrative = Fold(plainText(text))
	}
	if x.search.text == TextAll {
		var all strings.Builder
		gather(&all, x.root, div)
		t.Content = Fold(all.String())
	}
	if t.Narrative == "" && t.Content == "" {
		return nil
	}
	return &t
}

// gather writes all texts and numbers of a tree, but for one node.
func gather(out *strings.Builder, n, but element.Node) {
	switch n.Kind() {
	case element.Object, element.Array:
		for child := range n.Children() {
			gather(out, child, but)
		}
	case element.String:
		text := n.Str()
		if n.Same(but) || n.Name() == "resourceType" || len(text) > mostUnbroken && !strings.Contains(text[:mostUnbroken], " ") {
			return
		}
		if n.Name() == "div" {
			text = plainText(text)
		}
		out.WriteString(text)
		out.WriteByte(' ')
	case element.Number:
		out.WriteString(n.Literal())
		out.WriteByte(' ')
	}
}

// plainText takes the tags and entities out of XHTML.
func plainText(xhtml string) string {
	var out strings.Builder
	for xhtml != "" {
		text, tag, more := strings.Cut(xhtml, "<")
		out.WriteString(text)
		out.WriteByte(' ')
		if !more {
			break
		}
		if comment, ok := strings.CutPrefix(tag, "!--"); ok {
			_, xhtml, _ = strings.Cut(comment, "-->")
		} else {
			_, xhtml, _ = strings.Cut(tag, ">")
		}
	}
	return html.UnescapeString(out.String())
}

// planText reads _text or _content
// (https://hl7.org/fhir/R4/search.html#content): words, phrases in quotes, and,
// or, not and brackets. Words that stand together are all wanted.
func planText(_ *planning, q *queryParameter) (fhir.Criterion, error) {
	if strings.TrimSpace(q.value) == "" {
		return nil, nil
	}
	// Commas and backslashes are punctuation here.
	t := textQuery{parameter: q, rest: q.value}
	c, err := t.either(0)
	if err == nil && t.symbol() != "" {
		err = t.bad("its end")
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Bounds of a text query.
const mostTexts = 50

// textQuery is what is left to read of a text query.
type textQuery struct {
	parameter *queryParameter
	rest      string
	texts     int
}

func (t *textQuery) bad(expected string) error { return t.parameter.badValue(t.rest, expected) }

// symbol looks at what is next: a bracket, a quote, an operator in lower case, or
// "word"; "" is the end.
func (t *textQuery) symbol() string {
	t.rest = strings.TrimLeft(t.rest, " \t\r\n")
	if t.rest == "" {
		return ""
	}
	if strings.ContainsRune(`()"`, rune(t.rest[0])) {
		return t.rest[:1]
	}
	switch word := strings.ToLower(t.rest[:t.end()]); word {
	case "and", "or", "not":
		return word
	}
	return "word"
}

// end is that of the word which is next.
func (t *textQuery) end() int {
	if end := strings.IndexAny(t.rest, " \t\r\n()\""); end >= 0 {
		return end
	}
	return len(t.rest)
}

func (t *textQuery) either(depth int) (fhir.Criterion, error) {
	left, err := t.both(depth)
	choices := fhir.Or{left}
	for err == nil && t.symbol() == "or" {
		t.rest = t.rest[len("or"):]
		left, err = t.both(depth)
		choices = append(choices, left)
	}
	if err != nil || len(choices) > 1 {
		return choices, err
	}
	return choices[0], nil
}

func (t *textQuery) both(depth int) (fhir.Criterion, error) {
	var all fhir.And
	for {
		c, err := t.one(depth)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		switch t.symbol() {
		case "and":
			t.rest = t.rest[len("and"):]
		case "", ")", "or":
			return joined(all), nil
		}
	}
}

// one reads a word, a phrase, or a query in brackets, perhaps with not before it.
func (t *textQuery) one(depth int) (fhir.Criterion, error) {
	if t.texts++; t.texts > mostTexts || depth > maxNested {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The parameter "+quote(t.parameter.name)+" asks for too many words.")
	}
	switch t.symbol() {
	case "not":
		t.rest = t.rest[len("not"):]
		c, err := t.one(depth + 1)
		return fhir.Not{Criterion: c}, err
	case "(":
		t.rest = t.rest[1:]
		c, err := t.either(depth + 1)
		if err == nil && t.symbol() != ")" {
			err = t.bad("')'")
		}
		if err != nil {
			return nil, err
		}
		t.rest = t.rest[1:]
		return c, nil
	case `"`:
		phrase, rest, closed := strings.Cut(t.rest[1:], `"`)
		if !closed {
			return nil, t.bad(`'"' at the end of a phrase`)
		}
		t.rest = rest
		return t.text(phrase, false)
	case "word":
		end := t.end()
		word := t.rest[:end]
		t.rest = t.rest[end:]
		return t.text(word, true)
	}
	return nil, t.bad("a word")
}

// text wants words that follow each other; the last may be the beginning of one.
func (t *textQuery) text(text string, begins bool) (fhir.Criterion, error) {
	folded := Fold(text)
	if folded == "" {
		return nil, t.parameter.badValue(text, "a text with more than spaces and punctuation")
	}
	return fhir.Text{Narrative: t.parameter.code == "_text", Words: folded, Begins: begins}, nil
}
