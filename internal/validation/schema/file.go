package schema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packed is r4.ndjson compressed: after a header a definition a line, by name.
// References name other definitions. internal/tools/definitions makes it.
//
//go:embed r4.ndjson.zst
var packed []byte

// definitions gives the text of each definition by name. It panics if the
// embedded file is damaged, which a test of this package excludes.
var definitions = sync.OnceValue(func() map[string]json.RawMessage {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic("schema: " + err.Error())
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		panic("schema: " + err.Error())
	}
	all := map[string]json.RawMessage{}
	for line := range bytes.Lines(text) {
		var d struct {
			Name   string
			Schema json.RawMessage
		}
		if err := json.Unmarshal(line, &d); err != nil {
			panic("schema: " + err.Error())
		}
		all[d.Name] = d.Schema
	}
	return all
})
