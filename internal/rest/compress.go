package rest

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// minCompressed is the smallest body worth compressing: below, the answer fits
// a packet or two anyway, and the work would double what a read costs.
const minCompressed = 1500

var gzipWriters = sync.Pool{New: func() any {
	writer, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return writer
}}

// compressed answers in gzip where the client takes it and it pays. Bodies are
// complete here, so Content-Length stays known.
func compressed(next exchange) exchange {
	return func(ctx context.Context, in *incoming, out *outgoing) {
		next(ctx, in, out)
		if len(out.Body) < minCompressed || !compressible(out.Header.Get("Content-Type")) || !takesGzip(in.Header["Accept-Encoding"]) {
			return
		}
		packed := buffers.Get().(*[]byte)
		sink := appender{(*packed)[:0]}
		writer := gzipWriters.Get().(*gzip.Writer)
		writer.Reset(&sink)
		_, _ = writer.Write(out.Body) // an appender never fails
		_ = writer.Close()
		gzipWriters.Put(writer)
		out.release()
		out.buffer = packed
		out.keep(sink.bytes)
		out.set("Content-Encoding", "gzip")
	}
}

type appender struct{ bytes []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.bytes = append(a.bytes, p...)
	return len(p), nil
}

func compressible(contentType string) bool {
	return strings.Contains(contentType, "json") || strings.HasPrefix(contentType, "text/") || strings.Contains(contentType, "xml")
}

// takesGzip reads Accept-Encoding
// (https://www.rfc-editor.org/rfc/rfc9110#field.accept-encoding).
func takesGzip(headers []string) bool {
	named, wild, taken := false, false, false
	for _, header := range headers {
		if header == "gzip" {
			return true
		}
		for element := range elements(header, ',') {
			coding, parameter, _ := strings.Cut(element, ";")
			name, value, found := strings.Cut(parameter, "=")
			wanted := true
			if found && strings.EqualFold(strings.TrimSpace(name), "q") {
				quality, ok := parseQuality(strings.TrimSpace(value))
				wanted = ok && quality > 0
			}
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				named, taken = true, taken || wanted
			case "*":
				wild = wanted
			}
		}
	}
	return taken || wild && !named
}
