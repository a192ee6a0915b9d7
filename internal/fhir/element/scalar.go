package element

import (
	"unicode/utf16"
	"unicode/utf8"
)

// string steps over a string and reports whether it has escapes.
func (p *parser) string() (escaped bool, err error) {
	text := p.tree.text
	opened := p.at
	p.at++
	for p.at < len(text) {
		switch c := text[p.at]; {
		case c == '"':
			p.at++
			return escaped, nil
		case c == '\\':
			escaped = true
			if err := p.escape(); err != nil {
				return false, err
			}
		case c < 0x20:
			return false, p.fault("control character U+%04X in a string must be escaped", c)
		default:
			p.at++
		}
	}
	p.at = opened
	return false, p.fault("the string that begins here does not end")
}

// escape checks one escape sequence, a surrogate pair as one.
func (p *parser) escape() error {
	text := p.tree.text
	if p.at+1 >= len(text) {
		return p.fault("unfinished escape")
	}
	switch text[p.at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		p.at += 2
		return nil
	case 'u':
	default:
		return p.fault("unknown escape \\%c", text[p.at+1])
	}
	r, ok := hex4(text[p.at+2:])
	if !ok {
		return p.fault("\\u needs four hexadecimal digits")
	}
	if r == 0 {
		return p.fault("U+0000 is not allowed in FHIR strings")
	}
	if !utf16.IsSurrogate(r) {
		p.at += 6
		return nil
	}
	if rest := text[p.at+6:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if low, ok := hex4(rest[2:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			p.at += 12
			return nil
		}
	}
	return p.fault("lone surrogate \\u%s", text[p.at+2:p.at+6])
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// appendUnescaped decodes the inside of a string that escape has checked.
func appendUnescaped(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hex4(raw[i+2:])
			if utf16.IsSurrogate(r) {
				low, _ := hex4(raw[i+8:])
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
			i += 4
		default:
			dst = append(dst, c)
		}
		i += 2
	}
	return dst
}

// number parses a number; its text is kept.
func (p *parser) number() error {
	start := p.at
	if p.peek() == '-' {
		p.at++
	}
	if p.peek() == '0' {
		p.at++
	} else if p.digits() == 0 {
		return p.fault("expected a digit, found %s", p.found())
	}
	if c := p.peek(); c >= '0' && c <= '9' {
		return p.fault("a number must not begin with 0")
	}
	if p.peek() == '.' {
		p.at++
		if p.digits() == 0 {
			return p.fault("expected a digit after the decimal point, found %s", p.found())
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		if err := p.exponent(); err != nil {
			return err
		}
	}
	p.leaf(Number, start, false)
	return nil
}

func (p *parser) digits() int {
	start := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at - start
}

func (p *parser) exponent() error {
	p.at++
	if c := p.peek(); c == '+' || c == '-' {
		p.at++
	}
	start := p.at
	if p.digits() == 0 {
		return p.fault("expected a digit in the exponent, found %s", p.found())
	}
	exponent := 0
	for _, c := range p.tree.text[start:p.at] {
		if exponent = exponent*10 + int(c-'0'); exponent > MaxExponent {
			p.at = start
			return p.fault("the exponent is over %d", MaxExponent)
		}
	}
	return nil
}
