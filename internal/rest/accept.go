package rest

import (
	"iter"
	"strings"
)

// mediaRange is one element of an Accept header
// (https://www.rfc-editor.org/rfc/rfc9110#field.accept), in lower case.
type mediaRange struct {
	Type, Subtype string // "*" for any
	FHIRVersion   string // parameter fhirVersion, "" if absent
	Charset       string // parameter charset, "" if absent
	Quality       int    // 0 to 1000
}

// mediaRanges reads an Accept header. Elements that break its grammar are left
// out, as RFC 9110 lets a recipient do.
func mediaRanges(header string) iter.Seq[mediaRange] {
	return func(yield func(mediaRange) bool) {
		for element := range elements(header, ',') {
			if r, ok := parseMediaRange(element); ok && !yield(r) {
				return
			}
		}
	}
}

// parseMediaRange reads `type/subtype;name=value;q=0.5`. It serves Content-Type
// as well.
func parseMediaRange(text string) (mediaRange, bool) {
	r := mediaRange{Quality: 1000}
	first := true
	for part := range elements(text, ';') {
		if first {
			first = false
			mediaType, subtype, ok := strings.Cut(strings.ToLower(part), "/")
			if !ok || !isToken(mediaType) || !isToken(subtype) {
				return r, false
			}
			r.Type, r.Subtype = mediaType, subtype
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		value = unquote(strings.TrimSpace(value))
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "q":
			quality, ok := parseQuality(value)
			if !ok {
				return r, false
			}
			r.Quality = quality
		case "fhirversion":
			r.FHIRVersion = value
		case "charset":
			r.Charset = strings.ToLower(value)
		}
	}
	return r, !first
}

// parseQuality reads a qvalue, 0 to 1 with at most three decimals, times 1000.
func parseQuality(text string) (int, bool) {
	whole, decimals, _ := strings.Cut(text, ".")
	if whole != "0" && whole != "1" || len(decimals) > 3 {
		return 0, false
	}
	quality := int(whole[0] - '0')
	for i := range 3 {
		quality *= 10
		if i < len(decimals) {
			if decimals[i] < '0' || decimals[i] > '9' {
				return 0, false
			}
			quality += int(decimals[i] - '0')
		}
	}
	return quality, quality <= 1000
}

// elements splits a header at separator outside quoted strings; the parts are
// trimmed, and empty ones left out.
func elements(text string, separator byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i <= len(text); i++ {
			if i < len(text) {
				switch c := text[i]; {
				case c == '"':
					quoted = !quoted
					continue
				case c == '\\' && quoted:
					i++
					continue
				case c != separator || quoted:
					continue
				}
			}
			if part := strings.Trim(text[start:min(i, len(text))], " \t"); part != "" && !yield(part) {
				return
			}
			start = i + 1
		}
	}
}

// unquote takes the quotes and escapes off a quoted string; any other text is
// given back as it is.
func unquote(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	text = text[1 : len(text)-1]
	if !strings.Contains(text, `\`) {
		return text
	}
	plain := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		plain = append(plain, text[i])
	}
	return string(plain)
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
