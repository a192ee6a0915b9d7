package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
)

// unit is what is loaded as a whole: a document, or a chunk of lines.
type unit struct {
	file File
	// line is the number of the first line of a chunk, from 1; 0 for a
	// document, whose text is read only when it is its turn.
	line  int
	lines [][]byte
	bytes int64 // of the file, on disk, that the unit stands for

	deferred bool     // put off to a later pass
	failure  *Failure // of the last try
}

// where names the unit for a reader.
func (u *unit) where() string {
	if u.line == 0 {
		return u.file.Path
	}
	return fmt.Sprintf("%s:%d", u.file.Path, u.line)
}

// The limits of a chunk of lines. Chunks must be cut the same way each time,
// since the journal knows them by their content.
const (
	chunkLines = 100
	chunkBytes = 1 << 20
)

// readAll sends the units of the files. A file that cannot be read ends it.
func readAll(ctx context.Context, files []File, units chan<- *unit) error {
	for _, file := range files {
		var err error
		if file.Lines {
			err = readLines(ctx, file, units)
		} else {
			err = send(ctx, []*unit{{file: file, bytes: file.Size}}, units)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// counter counts what is read from a file.
type counter struct {
	io.Reader
	read int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	return n, err
}

// open opens a file to be read decompressed; count knows the bytes on disk.
func open(file File) (reader io.Reader, count *counter, closeFile func() error, err error) {
	opened, err := os.Open(file.Path)
	if err != nil {
		return nil, nil, nil, err
	}
	count = &counter{Reader: opened}
	if !file.Gzip {
		return count, count, opened.Close, nil
	}
	unzipped, err := gzip.NewReader(count)
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("%s: %w", file.Path, err), opened.Close())
	}
	return unzipped, count, opened.Close, nil
}

// readLines sends the chunks of an NDJSON file.
func readLines(ctx context.Context, file File, units chan<- *unit) error {
	reader, count, closeFile, err := open(file)
	if err != nil {
		return err
	}
	defer closeFile() //nolint:errcheck // it was only read from
	buffered := bufio.NewReaderSize(reader, 1<<16)
	chunk, size, sent := &unit{file: file, line: 1}, 0, int64(0)
	flush := func(next int) error {
		chunk.bytes = count.read - sent
		sent = count.read
		full := chunk
		chunk, size = &unit{file: file, line: next}, 0
		if len(full.lines) == 0 {
			return nil
		}
		return send(ctx, []*unit{full}, units)
	}
	for number := 1; ; number++ {
		line, err := buffered.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", file.Path, number, err)
		}
		chunk.lines = append(chunk.lines, bytes.TrimSpace(line))
		if size += len(line); len(chunk.lines) == chunkLines || size >= chunkBytes || err != nil {
			if err := flush(number + 1); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// document reads the text of a document.
func (u *unit) document() ([]byte, error) {
	reader, _, closeFile, err := open(u.file)
	if err != nil {
		return nil, err
	}
	defer closeFile() //nolint:errcheck // it was only read from
	return io.ReadAll(reader)
}
