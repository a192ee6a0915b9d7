package definition

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// packed is r4.ndjson compressed: one definition a line, in frames of whole
// lines, before them a skippable frame with a compressed index. The index has
// a line for each definition,
//
//	resourceType \t url \t version \t offset in the frame \t length \t note
//
// and behind those of a frame the line `frame \t offset \t length`: its offset
// among the frames and the length of its text. The note is, of a type, "KIND
// NAME BASE", the kind being resource (a concrete one), primitive or type; of a
// code system, its caseSensitive; of a profile, a logical model and anything
// else, empty.
//
//go:embed r4.ndjson.zst
var packed []byte

// place is where a definition's line is.
type place struct {
	frame, offset, length uint32
	resourceType, note    string
}

// file gives the lines of the embedded file. Only the index stays in memory.
type file struct {
	decoder *zstd.Decoder
	data    []byte         // the frames
	frames  [][2]int       // offset and text length
	lines   []place        // in the order of the file
	urls    map[string]int // url and url|version → line
}

// openFile reads the index.
func openFile(data []byte) (*file, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	if len(data) < 8 || binary.LittleEndian.Uint32(data) != 0x184D2A50 {
		return nil, errors.New("no index")
	}
	n := 8 + int(binary.LittleEndian.Uint32(data[4:]))
	if n > len(data) {
		return nil, errors.New("index is cut off")
	}
	index, err := decoder.DecodeAll(data[8:n], nil)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	f := &file{decoder: decoder, data: data[n:], urls: map[string]int{}}
	for line := range strings.Lines(string(index)) {
		if err := f.addIndexLine(strings.TrimSuffix(line, "\n")); err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
	}
	return f, nil
}

func (f *file) addIndexLine(line string) error {
	fields := strings.Split(line, "\t")
	switch {
	case len(fields) == 3 && fields[0] == "frame":
		offset, err1 := strconv.Atoi(fields[1])
		length, err2 := strconv.Atoi(fields[2])
		f.frames = append(f.frames, [2]int{offset, length})
		return errors.Join(err1, err2)
	case len(fields) == 6:
		offset, err1 := strconv.ParseUint(fields[3], 10, 32)
		length, err2 := strconv.ParseUint(fields[4], 10, 32)
		n := len(f.lines)
		f.lines = append(f.lines, place{uint32(len(f.frames)), uint32(offset), uint32(length), fields[0], fields[5]})
		f.urls[fields[1]] = n // of several versions the last
		f.urls[fields[1]+"|"+fields[2]] = n
		return errors.Join(err1, err2)
	}
	return fmt.Errorf("%q", line)
}

// frame gives the text of a frame.
func (f *file) frame(n uint32) []byte {
	at := f.frames[n]
	text, err := f.decoder.DecodeAll(f.data[at[0]:f.end(n)], make([]byte, 0, at[1]))
	if err != nil {
		panic(fmt.Sprintf("definition: frame %d: %v", n, err))
	}
	return text
}

func (f *file) end(n uint32) int {
	if int(n)+1 < len(f.frames) {
		return f.frames[n+1][0]
	}
	return len(f.data)
}

// line gives a definition's JSON.
func (f *file) line(n int) []byte {
	p := f.lines[n]
	return bytes.Clone(f.frame(p.frame)[p.offset : p.offset+p.length])
}

// each gives the JSON of every definition of a resource type, in the order of
// their canonicals. It is valid during the call only.
func (f *file) each(resourceType string, use func(json []byte)) {
	var text []byte
	last := -1
	for _, p := range f.lines {
		if p.resourceType != resourceType {
			continue
		}
		if int(p.frame) != last {
			text, last = f.frame(p.frame), int(p.frame)
		}
		use(text[p.offset : p.offset+p.length])
	}
}

// find gives the line of a canonical, with or without |version.
func (f *file) find(canonical string) (int, bool) {
	n, ok := f.urls[canonical]
	return n, ok
}
