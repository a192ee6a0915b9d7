package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Conn is a virtual user's connection, opened when first used and again after
// it was lost. It is not safe for concurrent use.
type Conn struct {
	target  Target
	timeout time.Duration

	conn    net.Conn
	reader  *bufio.Reader
	request []byte
	body    []byte
}

// NewConn gives a connection to the target whose requests end after timeout.
func NewConn(target Target, timeout time.Duration) *Conn {
	return &Conn{target: target, timeout: timeout}
}

// Target gives where the requests go.
func (c *Conn) Target() Target { return c.target }

// newReader has room for the longest header line and, as a rule, a whole answer.
func newReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, 16<<10) }

// Close closes the connection.
func (c *Conn) Close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// Do sends one request and reads its answer. path is below the base; body, if
// not nil, adds a request's body to the bytes it gets. The answer's body is
// valid until the next Do. A request is never sent twice: a connection found
// closed is an error of this request, as a client without retries would see it.
func (c *Conn) Do(method, path string, body func([]byte) []byte) (Response, error) {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.target.Address, c.timeout)
		if err != nil {
			return Response{}, err
		}
		c.conn = conn
		if c.reader == nil {
			c.reader = newReader(conn)
		} else {
			c.reader.Reset(conn)
		}
	}
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return Response{}, c.lost(err)
	}
	c.build(method, path, body)
	if _, err := c.conn.Write(c.request); err != nil {
		return Response{}, c.lost(err)
	}
	response, err := c.read(method == "HEAD")
	if err != nil {
		return Response{}, c.lost(err)
	}
	if response.close {
		c.Close()
	}
	return response, nil
}

// lengthDigits is the room kept for the body's length, which is known last.
const lengthDigits = 8

func (c *Conn) build(method, path string, body func([]byte) []byte) {
	r := c.request[:0]
	r = append(r, method...)
	r = append(r, ' ')
	r = append(r, c.target.Base...)
	r = append(r, path...)
	r = append(r, " HTTP/1.1\r\nHost: "...)
	r = append(r, c.target.Host...)
	r = append(r, "\r\nAccept: application/json\r\n"...)
	if body == nil {
		c.request = append(r, "\r\n"...)
		return
	}
	r = append(r, "Content-Type: application/json\r\nContent-Length: "...)
	length := len(r)
	r = append(r, "00000000\r\n\r\n"...) // leading zeros are allowed: 1*DIGIT
	start := len(r)
	r = body(r)
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], int64(len(r)-start), 10)
	copy(r[length+lengthDigits-len(text):], text)
	c.request = r
}

func (c *Conn) lost(err error) error {
	c.Close()
	return err
}

// Kind groups the errors of Do by what happened to the request.
func Kind(err error) string {
	var malformed *MalformedError
	switch {
	case errors.As(err, &malformed):
		return "malformed response"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	default:
		return "network"
	}
}

// MalformedError is a response that is not HTTP/1.1.
type MalformedError struct{ What, Text string }

func (e *MalformedError) Error() string { return fmt.Sprintf("malformed %s: %q", e.What, e.Text) }
