package oracle

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// How texts compare, as docs/search.md says it, in the order it says it.
var (
	accents  = regexp.MustCompile(`[\x{300}-\x{36f}]`)
	dropped  = regexp.MustCompile(`['.‘’]`)
	parts    = regexp.MustCompile(`[\s\p{P}\p{Cc}]+`)
	spelling = strings.NewReplacer("ø", "o", "ł", "l", "æ", "ae", "ß", "ss")
)

func fold(s string) string {
	s = accents.ReplaceAllString(norm.NFKD.String(s), "")
	s = spelling.Replace(strings.ToLower(s))
	s = dropped.ReplaceAllString(s, "")
	return strings.TrimSpace(norm.NFC.String(parts.ReplaceAllString(s, " ")))
}

// wordBegins holds if a folded text has a word, among its first so many, from
// which on it begins so.
func wordBegins(folded, with string, most int) bool {
	words := strings.Split(folded, " ")
	for i := range min(len(words), most) {
		if strings.HasPrefix(strings.Join(words[i:], " "), with) {
			return true
		}
	}
	return false
}
