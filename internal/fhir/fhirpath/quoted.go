package fhirpath

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string or a delimited identifier and decodes its escapes.
func (l *lexer) quoted(quote byte) (token, error) {
	start := l.at
	kind := tokenString
	if quote == '`' {
		kind = tokenDelimited
	}
	l.at++
	var b strings.Builder
	for l.at < len(l.text) {
		switch c := l.text[l.at]; c {
		case quote:
			l.at++
			return token{kind, start, b.String()}, nil
		case '\\':
			r, err := l.escape()
			if err != nil {
				return token{}, err
			}
			b.WriteRune(r)
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	return token{}, fault(start, "the text that begins here does not end")
}

func (l *lexer) escape() (rune, error) {
	start := l.at
	if start+1 >= len(l.text) {
		return 0, fault(start, "unfinished escape")
	}
	c := l.text[start+1]
	l.at += 2
	switch c {
	case '`', '\'', '"', '\\', '/':
		return rune(c), nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, ok := l.hex4()
		if ok && utf16.IsSurrogate(r) && strings.HasPrefix(l.text[l.at:], `\u`) {
			l.at += 2
			low, lowOK := l.hex4()
			r, ok = utf16.DecodeRune(r, low), lowOK
		}
		if !ok || utf16.IsSurrogate(r) || r == utf8.RuneError {
			return 0, fault(start, "\\u needs four hexadecimal digits of a character")
		}
		return r, nil
	}
	return 0, fault(start, "unknown escape \\%c", c)
}

func (l *lexer) hex4() (rune, bool) {
	if l.at+4 > len(l.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(l.text[l.at:l.at+4], 16, 16)
	l.at += 4
	return rune(n), err == nil
}
