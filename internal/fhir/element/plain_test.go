package element

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// Every byte, alone and beside every kind of neighbour, at every place of two
// words: plain stops at the first byte that needs a look, and only there.
func TestPlainStopsAtTheFirstSpecialByte(t *testing.T) {
	special := func(c byte) bool { return c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf }
	for c := range 256 {
		for place := range 16 {
			for _, neighbour := range []byte{'a', ' ', '!', '#', '[', ']', 0x7f, 0x00, '"', '\\', 0x1f, 0x80, 0xff} {
				text := bytes.Repeat([]byte{'x'}, 24)
				text[place], text[place+1] = byte(c), neighbour
				want := 0
				for want < len(text) && !special(text[want]) {
					want++
				}
				if got := plain(text, 0); got != want {
					t.Fatalf("%q: stopped at %d; want %d", text, got, want)
				}
			}
		}
	}
}
