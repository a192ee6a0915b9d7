package element

import "bytes"

// AppendCompact appends the node's JSON text without the white space between
// its tokens. Strings, numbers and names stay as they were sent, to the byte.
func AppendCompact(dst []byte, n Node) []byte {
	if n.tree == nil {
		return dst
	}
	return n.tree.appendCompact(dst, n.Raw())
}

// appendCompact appends a piece of the tree's text, which holds whole tokens.
func (t *Tree) appendCompact(dst, text []byte) []byte {
	if !t.spaced {
		return append(dst, text...)
	}
	from := 0
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == '"':
			at = behindString(text, at)
		case isSpace(c):
			dst = append(dst, text[from:at]...)
			for at < len(text) && isSpace(text[at]) {
				at++
			}
			from = at
		default:
			at++
		}
	}
	return append(dst, text[from:]...)
}

// behindString is the offset behind the string that begins at an offset of
// text the parser accepted.
func behindString(text []byte, at int) int {
	at++
	for {
		at += bytes.IndexByte(text[at:], '"')
		slashes := 0
		for text[at-1-slashes] == '\\' {
			slashes++
		}
		at++
		if slashes%2 == 0 {
			return at
		}
	}
}
