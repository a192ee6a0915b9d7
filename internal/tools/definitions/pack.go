package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// frameSize is the least text of a frame. Smaller frames compress worse, larger
// ones make the first use of a definition slower.
const frameSize = 96 << 10

// pack compresses the text in the layout that file.go of package definition
// reads: a skippable frame with the index, then frames of whole lines. Every
// zstd program gives the text back.
func pack(lines []byte) ([]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	var frames, frame []byte
	var index strings.Builder
	var lastType string
	start := 0
	flush := func() {
		if len(frame) == 0 {
			return
		}
		fmt.Fprintf(&index, "frame\t%d\t%d\n", len(frames), len(frame))
		frames = enc.EncodeAll(frame, frames)
		frame = frame[:0]
	}
	for line := range bytes.Lines(lines) {
		d, err := decode(line)
		if err != nil {
			return nil, err
		}
		resourceType := text(d["resourceType"])
		if len(frame)+len(line) > 2*frameSize || len(frame) > frameSize || resourceType != lastType {
			flush()
		}
		lastType, start = resourceType, len(frame)
		frame = append(frame, line...)
		if resourceType != "" {
			fmt.Fprintf(&index, "%s\t%s\t%s\t%d\t%d\t%s\n", resourceType, text(d["url"]), text(d["version"]), start, len(line)-1, note(d))
		}
	}
	flush()
	packedIndex := enc.EncodeAll([]byte(index.String()), nil)
	n := len(packedIndex)
	out := []byte{0x50, 0x2A, 0x4D, 0x18, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}
	return append(append(out, packedIndex...), frames...), nil
}

// note is what the registry must know of a definition without reading it: of a
// type, whether it is a concrete resource or a primitive, its name and that of
// its base; of a code system, whether case matters, if it says so.
func note(d object) string {
	kind := "type"
	switch {
	case d["resourceType"] == "CodeSystem" && d["caseSensitive"] != nil:
		return fmt.Sprint(d["caseSensitive"])
	case d["resourceType"] != "StructureDefinition" || d["derivation"] == "constraint" || d["kind"] == "logical":
		return ""
	case d["kind"] == "resource" && d["abstract"] == false:
		kind = "resource"
	case d["kind"] == "primitive-type":
		kind = "primitive"
	}
	base := strings.TrimPrefix(text(d["baseDefinition"]), structureBase)
	return kind + " " + text(d["type"]) + " " + base
}

func unpack(packed []byte) ([]byte, error) {
	dec, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return dec.DecodeAll(packed, nil)
}
