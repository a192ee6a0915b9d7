package validation

import "strings"

// Many invariants only ask which elements exist, or ask it first: "low.exists()
// or high.exists()", "value.empty() or …". presence decides those from the
// members an object was seen to have, without evaluating anything.

// truth is a value of Kleene's logic: unknown is left to FHIRPath.
type truth uint8

const (
	unknown truth = iota
	isTrue
	isFalse
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

func (t truth) not() truth {
	switch t {
	case isTrue:
		return isFalse
	case isFalse:
		return isTrue
	}
	return unknown
}

// presence decides a condition on an object by the elements it has.
type presence func(has slotSet) truth

func never(slotSet) truth { return unknown }

// operators by precedence, the loosest first
// (http://hl7.org/fhirpath/N1/#operator-precedence).
var presenceOperators = []struct {
	words   []string
	combine func(word string, a, b truth) truth
}{
	{[]string{"implies"}, func(_ string, a, b truth) truth { return either(a.not(), b) }},
	{[]string{"or", "xor"}, func(word string, a, b truth) truth {
		if word == "or" {
			return either(a, b)
		}
		return differ(a, b)
	}},
	{[]string{"and"}, func(_ string, a, b truth) truth { return either(a.not(), b.not()).not() }},
	{[]string{"=", "!="}, func(word string, a, b truth) truth {
		if word == "=" {
			return differ(a, b).not()
		}
		return differ(a, b)
	}},
}

func either(a, b truth) truth {
	switch {
	case a == isTrue || b == isTrue:
		return isTrue
	case a == isFalse && b == isFalse:
		return isFalse
	}
	return unknown
}

func differ(a, b truth) truth {
	if a == unknown || b == unknown {
		return unknown
	}
	return truthOf(a != b)
}

// presenceOf compiles what an expression says about the elements of a shape,
// nil if it says nothing that helps; decides says that it always knows.
func presenceOf(s *shape, expression string) (p presence, decides bool) {
	var terms presenceTerms
	p = presenceAt(s, expression, 0, &terms)
	if terms.known == 0 {
		return nil, false
	}
	return p, terms.unknown == 0
}

// presenceTerms counts the parts of a condition.
type presenceTerms struct{ known, unknown int }

func presenceAt(s *shape, text string, level int, terms *presenceTerms) presence {
	text = unwrap(strings.TrimSpace(text))
	for ; level < len(presenceOperators); level++ {
		operator := &presenceOperators[level]
		left, word, right, found := splitLast(text, operator.words)
		if !found {
			continue
		}
		// Operators of one level group to the left.
		a, b := presenceAt(s, left, level, terms), presenceAt(s, right, level+1, terms)
		combine := operator.combine
		return func(has slotSet) truth { return combine(word, a(has), b(has)) }
	}
	return presenceTerm(s, text, terms)
}

// presenceTerm compiles `name.exists()` and `name.empty()`.
func presenceTerm(s *shape, text string, terms *presenceTerms) presence {
	text, negated := strings.CutSuffix(text, ".not()")
	name, exists := strings.CutSuffix(text, ".exists()")
	if !exists {
		var empty bool
		if name, empty = strings.CutSuffix(text, ".empty()"); !empty {
			terms.unknown++
			return never
		}
	}
	slot := s.slotOf(name)
	if slot == nil {
		terms.unknown++
		return never
	}
	terms.known++
	index, want := slot.index, exists != negated
	return func(has slotSet) truth { return truthOf(has.has(index) == want) }
}

// unwrap takes the parentheses off that enclose all of a text.
func unwrap(text string) string {
	for strings.HasPrefix(text, "(") && closing(text) == len(text)-1 {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	return text
}

// closing is the offset of what closes the parenthesis that begins a text.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\'', '`':
			i = behindQuoted(text, i) - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// behindQuoted is the offset behind the quoted text that begins at one.
func behindQuoted(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[at]:
			return i + 1
		}
	}
	return len(text)
}

// splitLast splits a text at its last operator outside of parentheses and
// quotes.
func splitLast(text string, words []string) (left, word, right string, found bool) {
	at := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '\'', '`':
			i = behindQuoted(text, i)
			continue
		case '(', '[', '{':
			i += closing(text[i:]) + 1
			continue
		}
		if w := wordAt(text, i, words); w != "" {
			at, word, found = i, w, true
			i += len(w)
			continue
		}
		i++
	}
	if !found {
		return "", "", "", false
	}
	return text[:at], word, text[at+len(word):], true
}

// wordAt is the operator that stands at an offset, "" for none.
func wordAt(text string, at int, words []string) string {
	for _, word := range words {
		if !strings.HasPrefix(text[at:], word) {
			continue
		}
		if word == "=" {
			if at > 0 && strings.IndexByte("!<>~", text[at-1]) >= 0 {
				continue
			}
			return word
		}
		if word == "!=" || at > 0 && boundary(text[at-1]) && at+len(word) < len(text) && boundary(text[at+len(word)]) {
			return word
		}
	}
	return ""
}

func boundary(c byte) bool { return isSpace(c) || c == '(' || c == ')' }
