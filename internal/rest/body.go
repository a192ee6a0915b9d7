package rest

import (
	"bytes"
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
// the request lives.
func readBody(in *incoming, out *outgoing, limit int64) ([]byte, error) {
	body, length := in.Body, in.ContentLength
	switch encoding := strings.ToLower(in.header("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		reader, err := newGzipReader(body)
		if err != nil {
			return nil, unreadable(err, true)
		}
		defer gzipReaders.Put(reader)
		body, length = reader, -1
	default:
		out.set("Accept-Encoding", "gzip")
		return nil, fhir.NewError(fhir.KindUnsupportedMedia, fhir.IssueNotSupported,
			"The Content-Encoding "+quoted(encoding)+" is not read; send gzip or none.")
	}
	if length > limit {
		return nil, tooLarge(limit)
	}
	data, err := readAtMost(body, length, limit)
	if err != nil {
		return nil, unreadable(err, length < 0)
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(limit)
	}
	out.BodyRead = len(data)
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
	var buffer bytes.Buffer
	n, err := buffer.ReadFrom(io.LimitReader(body, limit+1))
	if err == nil && n < length {
		err = io.ErrUnexpectedEOF
	}
	return buffer.Bytes(), err
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
