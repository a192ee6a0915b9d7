package element

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// SyntaxError says where a document is not acceptable JSON.
type SyntaxError struct {
	Offset       int // bytes before the fault
	Line, Column int // from 1; the column counts characters
	Message      string
	// TooLarge says the document has more bytes than Limits.Size or more
	// values than Limits.Nodes.
	TooLarge bool
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// fault records what is wrong at an offset, for Parse to return.
func (p *parser) fault(at int, format string, args ...any) {
	at = min(at, len(p.text))
	before := p.text[:at]
	p.err = &SyntaxError{
		Offset:  at,
		Line:    bytes.Count(before, []byte{'\n'}) + 1,
		Column:  utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1,
		Message: fmt.Sprintf(format, args...),
	}
}

// expected records that something else stands at an offset.
func (p *parser) expected(at int, what string) {
	if at >= len(p.text) {
		p.fault(at, "expected %s, found end of document", what)
		return
	}
	r, size := utf8.DecodeRune(p.text[at:])
	if r == utf8.RuneError && size == 1 {
		p.fault(at, "invalid UTF-8")
		return
	}
	p.fault(at, "expected %s, found %q", what, r)
}
