package element

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// string steps over a string; flags say whether it has escapes.
func (p *parser) string(start int) (end int, flags uint8, ok bool) {
	if end = plain(p.text, start+1); p.is(end, '"') {
		return end + 1, 0, true
	}
	return p.special(start, end)
}

// special goes on with a string from where plain stopped.
func (p *parser) special(start, at int) (end int, flags uint8, ok bool) {
	text := p.text
	for ; at < len(text); at = plain(text, at) {
		switch c := text[at]; {
		case c == '"':
			return at + 1, flags, true
		case c == '\\':
			flags = escaped
			if at, ok = p.escape(at); !ok {
				return at, flags, false
			}
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size == 1 {
				p.fault(at, "invalid UTF-8")
				return at, flags, false
			}
			at += size
		case c >= ' ':
			at++
		default:
			p.fault(at, "control character U+%04X in a string must be escaped", c)
			return at, flags, false
		}
	}
	p.fault(start, "the string that begins here does not end")
	return start, flags, false
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// plain steps over bytes that need no look, eight at a time: not a quote, a
// backslash, a control character or a part of a character beyond ASCII. It may
// stop early where fewer than eight bytes are left. In a byte below 0x80, what
// is subtracted from 0x80 leaves the high bit set only if it is zero, and from
// 0x9F only if it is below 0x20; a borrow of a byte above changes no lower one.
func plain(text []byte, at int) int {
	for at+8 <= len(text) {
		word := binary.LittleEndian.Uint64(text[at:])
		found := (highBits - (word ^ '"'*everyByte)) | (highBits - (word ^ '\\'*everyByte)) | (0x9F*everyByte - word) | word
		if found &= highBits; found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
		at += 8
	}
	return at
}

// escape steps over one escape sequence, a surrogate pair as one.
func (p *parser) escape(at int) (int, bool) {
	rest := p.text[at:]
	if len(rest) < 2 {
		p.fault(at, "unfinished escape")
		return at, false
	}
	switch rest[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 2, true
	case 'u':
	default:
		p.fault(at, "unknown escape: a backslash before %q", rest[1])
		return at, false
	}
	r, ok := hex4(rest[2:])
	switch {
	case !ok:
		p.fault(at, "\\u needs four hexadecimal digits")
		return at, false
	case r == 0:
		p.fault(at, "U+0000 is not allowed in FHIR strings")
		return at, false
	case !utf16.IsSurrogate(r):
		return at + 6, true
	}
	if len(rest) >= 12 && rest[6] == '\\' && rest[7] == 'u' {
		if low, ok := hex4(rest[8:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			return at + 12, true
		}
	}
	p.fault(at, "lone surrogate \\u%s", rest[2:6])
	return at, false
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case isDigit(c):
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
			from := i
			for i < len(raw) && raw[i] != '\\' {
				i++
			}
			dst = append(dst, raw[from:i]...)
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
