package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold gives the form in which strings are compared
// (https://hl7.org/fhir/R4/search.html#string): lower case, without accents,
// full-width forms narrowed. Apostrophes and full stops go ("O'Brien" is
// "obrien", "U.S.A." is "usa"); other punctuation separates words, as space
// does; one space stands between words and none at the ends. Folding what is
// folded changes nothing.
func Fold(s string) string {
	// A byte that is no text keeps what follows it from being folded.
	s = strings.ToValidUTF8(s, "\uFFFD")
	if isFolded(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			out = appendFolded(out, r)
		case r < endOfLatin:
			for _, plain := range latin()[r-utf8.RuneSelf] {
				out = appendFolded(out, plain)
			}
		default:
			return foldUnicode(s)
		}
	}
	return trimmed(out)
}

// endOfLatin ends the letters of European names: Latin-1, Extended-A and -B.
const endOfLatin = 0x250

// latin is what each letter from 0x80 on folds to, so that a European name
// needs no normalizing.
var latin = sync.OnceValue(func() *[endOfLatin - utf8.RuneSelf]string {
	var table [endOfLatin - utf8.RuneSelf]string
	for r := rune(utf8.RuneSelf); r < endOfLatin; r++ {
		// Between letters, so that punctuation shows as a space.
		folded := foldUnicode("x" + string(r) + "x")
		table[r-utf8.RuneSelf] = folded[1 : len(folded)-1]
	}
	return &table
})

// isFolded recognises lower-case ASCII words, the commonest folded form.
func isFolded(s string) bool {
	space := true
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			space = false
		case c == ' ' && !space:
			space = true
		default:
			return false
		}
	}
	return !space || s == ""
}

func foldUnicode(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range norm.NFKD.String(s) {
		r = unicode.ToLower(r)
		switch {
		case isAccent(r):
		case plain[r] != "":
			out = append(out, plain[r]...)
		default:
			out = appendFolded(out, r)
		}
	}
	return norm.NFC.String(trimmed(out))
}

func appendFolded(out []byte, r rune) []byte {
	switch {
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		return append(out, byte(r))
	case r >= 'A' && r <= 'Z':
		return append(out, byte(r)+'a'-'A')
	case isDropped(r):
		return out
	case unicode.IsSpace(r), unicode.IsPunct(r), unicode.IsControl(r):
		if len(out) == 0 || out[len(out)-1] == ' ' {
			return out
		}
		return append(out, ' ')
	}
	return utf8.AppendRune(out, r)
}

func trimmed(out []byte) string { return strings.TrimSuffix(string(out), " ") }

// isDropped reports the punctuation that stands inside words.
func isDropped(r rune) bool {
	switch r {
	case '\'', '.', '\u2018', '\u2019', '\u02bb', '\u02bc', '\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff':
		return true
	}
	return false
}

// isAccent reports the marks that fold away. Marks that spell a sound of their
// own (Indic vowels, the Japanese voicing mark) stay.
func isAccent(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r <= 0x36f, r >= 0x1ab0 && r <= 0x1aff, r >= 0x1dc0 && r <= 0x1dff, r >= 0x20d0 && r <= 0x20ff, r >= 0xfe20 && r <= 0xfe2f:
		return true
	case r >= 0x591 && r <= 0x5c7, r >= 0x64b && r <= 0x65f, r == 0x670: // Hebrew and Arabic points
		return unicode.Is(unicode.Mn, r)
	}
	return false
}

// plain spells letters that Unicode does not take apart.
var plain = map[rune]string{
	'ß': "ss", 'ſ': "s", 'ς': "σ", 'ø': "o", 'ł': "l", 'đ': "d", 'ħ': "h", 'ŧ': "t", 'ı': "i", 'æ': "ae", 'œ': "oe", 'ð': "d", 'þ': "th", 'ŋ': "n",
}

// nextWord gives what follows the first word of a folded text, "" at the end.
func nextWord(folded string) string {
	_, rest, _ := strings.Cut(folded, " ")
	return rest
}
