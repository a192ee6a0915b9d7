package register

import (
	"encoding/json"
	"testing"
)

func TestBodiesAreJSON(t *testing.T) {
	r := Register{"one"}
	for _, body := range [][]byte{r.Profile(3), r.Resource(3, "m"), r.Probe()} {
		if !json.Valid(body) {
			t.Errorf("%s", body)
		}
	}
}

func TestValueOfARefusal(t *testing.T) {
	for text, want := range map[string]int64{
		`{"issue":[{"diagnostics":"Basic.code.text must be \"v18\", found \"v0\""}]}`: 18,
		`{"issue":[{"diagnostics":"Basic.code.text must be \"vx\""}]}`:                -1,
		`{"issue":[{"diagnostics":"Basic.code.text must be \"v18`:                     -1,
		``: -1,
	} {
		got, ok := Value([]byte(text))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int64{"v7": 7, "v": -1, "7": -1, "": -1, "v7x": -1} {
		got, ok := ParseText(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
