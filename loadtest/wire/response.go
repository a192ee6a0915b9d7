package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// Response is what a request of the scenario looks at.
type Response struct {
	Status   int
	Location string
	ETag     string
	Body     []byte

	close bool
}

// maxBody is the largest body read: answers of the scenario are a few KB.
const maxBody = 64 << 20

func (c *Conn) read(head bool) (Response, error) {
	for {
		line, err := c.line()
		if err != nil {
			return Response{}, err
		}
		// HTTP/1.1 200 OK
		if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' {
			return Response{}, &MalformedError{"status line", string(line)}
		}
		status, err := strconv.Atoi(string(line[9:12]))
		if err != nil {
			return Response{}, &MalformedError{"status line", string(line)}
		}
		r := Response{Status: status, close: line[7] == '0'}
		length, chunked, err := c.headers(&r)
		if err != nil {
			return Response{}, err
		}
		if status >= 100 && status < 200 {
			continue // an interim response; the final one follows
		}
		c.body = c.body[:0]
		switch {
		case head || status == 204 || status == 304:
		case chunked:
			err = c.readChunks()
		case length >= 0:
			err = c.readBody(length)
		default:
			r.close = true
			err = c.readToEnd()
		}
		r.Body = c.body
		return r, err
	}
}

// headers reads up to the empty line. length is -1 if the response has none.
func (c *Conn) headers(r *Response) (length int, chunked bool, err error) {
	length = -1
	for {
		line, err := c.line()
		if err != nil {
			return 0, false, err
		}
		if len(line) == 0 {
			return length, chunked, nil
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 {
			return 0, false, &MalformedError{"header", string(line)}
		}
		name, value := line[:colon], bytes.TrimSpace(line[colon+1:])
		switch {
		case is(name, "content-length"):
			length, err = strconv.Atoi(string(value))
			if err != nil || length < 0 || length > maxBody {
				return 0, false, &MalformedError{"Content-Length", string(value)}
			}
		case is(name, "etag"):
			r.ETag = string(value)
		case is(name, "location"):
			r.Location = string(value)
		case is(name, "transfer-encoding"):
			chunked = is(value, "chunked")
		case is(name, "connection"):
			r.close = r.close && !is(value, "keep-alive") || is(value, "close")
		}
	}
}

// is compares without case; lower is in lower case.
func is(text []byte, lower string) bool {
	if len(text) != len(lower) {
		return false
	}
	for i, b := range text {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}

// line gives the next line without its end, valid until the next read.
func (c *Conn) line() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, &MalformedError{"line, too long", string(line[:64])}
	} else if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

func (c *Conn) readBody(length int) error {
	start := len(c.body)
	if need := start + length; cap(c.body) < need {
		grown := make([]byte, start, need+need/2)
		copy(grown, c.body)
		c.body = grown
	}
	c.body = c.body[:start+length]
	_, err := io.ReadFull(c.reader, c.body[start:])
	return err
}

func (c *Conn) readChunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 32)
		if err != nil || len(c.body)+int(size) > maxBody {
			return &MalformedError{"chunk", string(line)}
		}
		if size == 0 {
			break
		}
		if err := c.readBody(int(size)); err != nil {
			return err
		}
		if line, err := c.line(); err != nil {
			return err
		} else if len(line) != 0 {
			return &MalformedError{"chunk", string(line)}
		}
	}
	for { // trailers
		if line, err := c.line(); err != nil || len(line) == 0 {
			return err
		}
	}
}

func (c *Conn) readToEnd() error {
	for {
		c.body = append(c.body, 0)
		n, err := c.reader.Read(c.body[len(c.body)-1 : cap(c.body)])
		c.body = c.body[:len(c.body)-1+n]
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(c.body) > maxBody {
			return &MalformedError{"body", "too long"}
		}
	}
}
