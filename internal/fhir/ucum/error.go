package ucum

import (
	"errors"
	"fmt"
)

// Error says why a text is no unit, or why a value has no place in it. Its text
// may be shown to a client.
type Error struct {
	Unit    string
	Offset  int // bytes of Unit before the fault; -1 for the whole
	Message string
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("UCUM unit '%s': %s", shown(e.Unit), e.Message)
	}
	return fmt.Sprintf("UCUM unit '%s', column %d: %s", shown(e.Unit), e.Offset+1, e.Message)
}

// whole is the Offset of a fault that is not in one place.
const whole = -1

// errRange is the inner error of a value outside a function's range.
var errRange = errors.New("out of range")

// shown cuts a text that is too long for a message.
func shown(text string) string {
	if len(text) > 80 {
		return text[:80] + "…"
	}
	return text
}
