package fhirpath

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd       tokenKind = iota
	tokenName                // an identifier or keyword
	tokenDelimited           // `identifier`
	tokenString
	tokenNumber
	tokenDate     // @… : a date, dateTime or time literal
	tokenVariable // %name
	tokenSpecial  // $this
	tokenSymbol   // an operator or bracket
)

type token struct {
	kind tokenKind
	at   int    // offset in the expression
	text string // decoded: without quotes, @, % or $
}

// is reports whether the token is that symbol or keyword.
func (t token) is(text string) bool {
	return (t.kind == tokenSymbol || t.kind == tokenName) && t.text == text
}

// describe names the token in a message.
func (t token) describe() string {
	if t.kind == tokenEnd {
		return "the end"
	}
	return "'" + t.text + "'"
}

// lexer cuts an expression into tokens
// (http://hl7.org/fhirpath/N1/grammar.html).
type lexer struct {
	text string
	at   int
}

// next reads a token.
func (l *lexer) next() (token, error) {
	if err := l.space(); err != nil {
		return token{}, err
	}
	start := l.at
	if start >= len(l.text) {
		return token{kind: tokenEnd, at: start}, nil
	}
	switch c := l.text[start]; {
	case isLetter(c):
		return token{tokenName, start, l.word()}, nil
	case isDigit(c):
		return token{tokenNumber, start, l.number()}, nil
	case c == '\'', c == '`':
		return l.quoted(c)
	case c == '@':
		return l.date()
	case c == '%':
		return l.variable()
	case c == '$':
		l.at++
		return token{tokenSpecial, start, l.word()}, nil
	}
	return l.symbol()
}

func (l *lexer) symbol() (token, error) {
	start := l.at
	rest := l.text[start:]
	for _, symbol := range [...]string{"<=", ">=", "!=", "!~"} {
		if strings.HasPrefix(rest, symbol) {
			l.at += 2
			return token{tokenSymbol, start, symbol}, nil
		}
	}
	if strings.IndexByte(".[](){},+-*/&|<>=~", rest[0]) >= 0 {
		l.at++
		return token{tokenSymbol, start, rest[:1]}, nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return token{}, fault(start, "unexpected character %q", r)
}

// space skips white space and comments.
func (l *lexer) space() error {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			l.at++
		case strings.HasPrefix(rest, "\u00a0"): // pasted expressions have it
			l.at += len("\u00a0")
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				end = len(rest)
			}
			l.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return fault(l.at, "the comment that begins here does not end")
			}
			l.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) word() string {
	start := l.at
	for l.at < len(l.text) && (isLetter(l.text[l.at]) || isDigit(l.text[l.at])) {
		l.at++
	}
	return l.text[start:l.at]
}

func (l *lexer) digits() int {
	start := l.at
	for l.at < len(l.text) && isDigit(l.text[l.at]) {
		l.at++
	}
	return l.at - start
}

// number reads digits, with a fraction if a digit follows the point.
func (l *lexer) number() string {
	start := l.at
	l.digits()
	if l.at+1 < len(l.text) && l.text[l.at] == '.' && isDigit(l.text[l.at+1]) {
		l.at++
		l.digits()
	}
	return l.text[start:l.at]
}

// date reads what follows @: digits, and the signs dates and times have. A
// point belongs to it only with digits around it, so @2015.is(Date) works.
func (l *lexer) date() (token, error) {
	start := l.at
	l.at++
	inTime := false
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case isDigit(c), c == '-' && l.digitFollows(), c == ':' && inTime:
		case c == '+' && inTime && l.digitFollows(), c == '.' && inTime && l.digitFollows():
		case c == 'T' && !inTime:
			inTime = true
		case c == 'Z' && inTime && l.text[start+1] != 'T':
			l.at++
			return token{tokenDate, start, l.text[start+1 : l.at]}, nil
		default:
			return token{tokenDate, start, l.text[start+1 : l.at]}, nil
		}
		l.at++
	}
	return token{tokenDate, start, l.text[start+1 : l.at]}, nil
}

func (l *lexer) digitFollows() bool {
	return l.at+1 < len(l.text) && isDigit(l.text[l.at+1])
}

func (l *lexer) variable() (token, error) {
	start := l.at
	l.at++
	if l.at < len(l.text) && (l.text[l.at] == '`' || l.text[l.at] == '\'') {
		t, err := l.quoted(l.text[l.at])
		t.kind, t.at = tokenVariable, start
		return t, err
	}
	name := l.word()
	if name == "" {
		return token{}, fault(start, "a name must follow %%")
	}
	return token{tokenVariable, start, name}, nil
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
