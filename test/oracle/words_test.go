package oracle

import (
	"html"
	"regexp"
	"strings"

	"starling/internal/fhir/element"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// wordsOf are the folded words of a resource: of its narrative, or of all its other
// texts.
func wordsOf(r *resource, narrative bool) string {
	div := r.root.Get("text").Get("div")
	bare := func(s string) string { return html.UnescapeString(tags.ReplaceAllString(s, " ")) }
	if narrative {
		return fold(bare(div.Str()))
	}
	var out []string
	var gather func(n element.Node)
	gather = func(n element.Node) {
		for child := range n.Children() {
			switch {
			case child.Same(div), child.Name() == "resourceType":
			case child.Kind() == element.String && child.Name() == "div":
				out = append(out, bare(child.Str()))
			case child.Kind() == element.String, child.Kind() == element.Number:
				out = append(out, child.Literal())
			default:
				gather(child)
			}
		}
	}
	gather(r.root)
	return fold(strings.Join(out, " "))
}

// askWords reads the few forms of _text and _content that are asked: words that are
// all wanted, "a phrase", `a or b` and `not a`.
func askWords(r *resource, name, value string) (bool, error) {
	has := func(words string, begins bool) bool {
		in := func(text string) bool {
			if begins {
				return strings.Contains(" "+text, " "+fold(words))
			}
			return strings.Contains(" "+text+" ", " "+fold(words)+" ")
		}
		return in(wordsOf(r, true)) || name == "_content" && in(wordsOf(r, false))
	}
	if phrase, ok := strings.CutPrefix(value, `"`); ok {
		return has(strings.TrimSuffix(phrase, `"`), false), nil
	}
	for choice := range strings.SplitSeq(value, " or ") {
		all, not := true, false
		for word := range strings.SplitSeq(choice, " ") {
			if word == "not" {
				not = true
				continue
			}
			all, not = all && has(word, true) != not, false
		}
		if all {
			return true, nil
		}
	}
	return false, nil
}
