package fhirpath

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says why an expression is not acceptable, or why its evaluation failed.
type Error struct {
	Expression string
	Offset     int // bytes of Expression before the fault; -1 for the whole
	Message    string
}

// Error names the place as a column counted in characters from 1.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return "FHIRPath: " + e.Message
	}
	at := min(e.Offset, len(e.Expression))
	return fmt.Sprintf("FHIRPath, column %d: %s", utf8.RuneCountInString(e.Expression[:at])+1, e.Message)
}

// nowhere is the offset of a fault whose place the caller fills in.
const nowhere = -1

// maxMessage bounds a message, which may tell what it found.
const maxMessage = 300

// fault makes an Error; Compile and Evaluate fill in the expression.
func fault(at int, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return &Error{Offset: at, Message: message}
}

// placed gives a fault without a place one.
func placed(err error, at int) error {
	if e, ok := err.(*Error); ok && e.Offset == nowhere {
		e.Offset = at
	}
	return err
}
