package scenario

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed bodies/*.json
var files embed.FS

// body is a resource with holes, cut at load so that filling it is appending.
type body struct {
	typ    string
	parts  []part
	before string // the changed field's value in the created resource
	after  string // and in the updated one
}

// part is a piece of text, then a hole.
type part struct {
	text []byte
	hole string // a type's name (the id created for it), "unique", "change", or "" at the end
}

// loadBody reads bodies/TYPE.json. Its holes are written {{Type}}, {{unique}}
// and {{change:before|after}}; the last is there once.
func loadBody(typ string) (*body, error) {
	indented, err := files.ReadFile("bodies/" + typ + ".json")
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, indented); err != nil {
		return nil, fmt.Errorf("bodies/%s.json: %w", typ, err)
	}
	// The id goes right behind the type, so cut there.
	rest, ok := strings.CutPrefix(compact.String(), `{"resourceType":"`+typ+`",`)
	if !ok {
		return nil, fmt.Errorf("bodies/%s.json: does not start with its resourceType", typ)
	}
	b := &body{typ: typ}
	for {
		text, tail, more := strings.Cut(rest, "{{")
		if !more {
			b.parts = append(b.parts, part{text: []byte(text)})
			break
		}
		hole, after, closed := strings.Cut(tail, "}}")
		if !closed {
			return nil, fmt.Errorf("bodies/%s.json: a hole is not closed", typ)
		}
		if change, isChange := strings.CutPrefix(hole, "change:"); isChange {
			hole = "change"
			b.before, b.after, _ = strings.Cut(change, "|")
		}
		b.parts = append(b.parts, part{text: []byte(text), hole: hole})
		rest = after
	}
	if b.before == "" || b.after == "" || b.before == b.after {
		return nil, fmt.Errorf("bodies/%s.json: has no field that changes", typ)
	}
	return b, nil
}

// append adds the resource to out: the created one, or with an id the updated one.
// ids are those created in this iteration, by the index of their type.
func (b *body) append(out []byte, unique string, ids *[len(Types)]string, updatedID string) []byte {
	out = append(out, `{"resourceType":"`...)
	out = append(out, b.typ...)
	out = append(out, `",`...)
	change := b.before
	if updatedID != "" {
		change = b.after
		out = append(out, `"id":"`...)
		out = append(out, updatedID...)
		out = append(out, `",`...)
	}
	for _, p := range b.parts {
		out = append(out, p.text...)
		switch p.hole {
		case "":
		case "unique":
			out = append(out, unique...)
		case "change":
			out = append(out, change...)
		default:
			out = append(out, ids[typeIndex[p.hole]]...)
		}
	}
	return out
}
