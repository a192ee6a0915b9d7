package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"starling/internal/fhir"
)

var gzipReaders sync.Pool

// readBody reads the whole body, decompressed, of at most limit bytes. The
// bytes are the caller's for good: the store may hold on to them longer than
// the request lives. A large body takes a place, which out keeps.
func (a *api) readBody(ctx context.Context, in *incoming, out *outgoing) ([]byte, error) {
	body, length := in.Body, in.ContentLength
	compressed := false
	switch encoding := strings.ToLower(in.header("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		compressed = true
	default:
		out.set("Accept-Encoding", "gzip")
		return nil, fhir.NewError(fhir.KindUnsupportedMedia, fhir.IssueNotSupported,
			"The Content-Encoding "+quoted(encoding)+" is not read; send gzip or none.")
	}
	if compressed {
		// What a client has not sent yet keeps no place that others wait for.
		sent, err := readAtMost(body, min(length, trusted), trusted)
		if err != nil {
			return nil, unreadable(err, true)
		}
		reader, err := newGzipReader(io.MultiReader(bytes.NewReader(sent), body))
		if err != nil {
			return nil, unreadable(err, true)
		}
		defer gzipReaders.Put(reader)
		body, length = reader, -1
	}
	if length > a.maxBody {
		return nil, tooLarge(a.maxBody)
	}
	data, err := a.readPlaced(ctx, body, length, out)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > a.maxBody {
		return nil, tooLarge(a.maxBody)
	}
	out.BodyRead = len(data)
	return data, nil
}

// readPlaced reads a body to its end, or one byte past the limit. length is -1 if
// unknown. A large one is given its place first.
func (a *api) readPlaced(ctx context.Context, body io.Reader, length int64, out *outgoing) (data []byte, err error) {
	if length <= freeBody {
		data, err = readAtMost(body, length, min(freeBody, a.maxBody))
		if err != nil {
			return nil, unreadable(err, length < 0)
		}
		if len(data) <= freeBody {
			return data, nil
		}
	}
	needed := length
	if length < 0 {
		needed = a.maxBody
	}
	if out.place, err = a.bodies.take(ctx, needed); err != nil {
		return nil, err
	}
	if data, err = readLarge(data, body, length, a.maxBody); err != nil {
		return nil, unreadable(err, length < 0)
	}
	out.place.shrink(int64(len(data)))
	return data, nil
}

// trusted is the length up to which a body gets its memory before it comes:
// announcing one costs a client nothing.
const trusted = 1 << 20

// readAtMost reads to the end, or one byte past the limit. length is -1 if
// unknown; known, it saves growing.
func readAtMost(body io.Reader, length, limit int64) ([]byte, error) {
	if length >= 0 && length <= trusted {
		data := make([]byte, length)
		n, err := io.ReadFull(body, data)
		if length == 0 {
			err = nil
		}
		return data[:n], err
	}
	return readLarge(nil, body, length, limit)
}

// readLarge is readAtMost behind a beginning. It gathers pieces and joins them
// once: a buffer that doubles would take twice the body, and leave as much
// behind.
func readLarge(begun []byte, body io.Reader, length, limit int64) ([]byte, error) {
	pieces, size := [][]byte{begun}, int64(len(begun))
	body = io.LimitReader(body, limit+1-size)
	for piece := 4 << 10; ; piece = min(2*piece, trusted) {
		data, err := fill(body, make([]byte, 0, piece))
		pieces, size = append(pieces, data), size+int64(len(data))
		switch {
		case err == nil:
			continue
		case !errors.Is(err, io.EOF):
			return nil, err
		case size < length:
			err = io.ErrUnexpectedEOF
		default:
			err = nil
		}
		return bytes.Join(pieces, nil), err
	}
}

// fill reads until data has no capacity left. Unlike io.ReadFull it keeps apart a
// body that ends, io.EOF, and one that was cut off, io.ErrUnexpectedEOF.
func fill(body io.Reader, data []byte) ([]byte, error) {
	for len(data) < cap(data) {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err != nil {
			return data, err
		}
	}
	return data, nil
}

func newGzipReader(body io.Reader) (*gzip.Reader, error) {
	if reader, ok := gzipReaders.Get().(*gzip.Reader); ok {
		return reader, reader.Reset(body)
	}
	return gzip.NewReader(body)
}

func tooLarge(limit int64) error {
	return fhir.NewError(fhir.KindTooLarge, fhir.IssueTooLong,
		fmt.Sprintf("The body is larger than the %d bytes this server reads.", limit))
}

// unreadable says that a body broke off or was not what its encoding says.
func unreadable(err error, compressed bool) error {
	text := "The body ended before its Content-Length."
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		text = "The body is not valid gzip."
	case compressed:
		text = "The body broke off or is not valid in its encoding."
	}
	return fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, text).Because(err)
}
