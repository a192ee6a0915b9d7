package wire

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// echo answers with what the request said, in the form its path asks for.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("ETag", `W/"7"`)
	w.Header().Set("X-Seen", r.Method+" "+r.URL.Path+" "+r.Header.Get("Accept")+" "+r.Header.Get("Content-Type"))
	switch r.URL.Path {
	case "/fhir/chunked":
		for part := range bytes.Lines(body) {
			_, _ = w.Write(part)
			w.(http.Flusher).Flush()
		}
	case "/fhir/none":
		w.WriteHeader(http.StatusNoContent)
	case "/fhir/close":
		w.Header().Set("Connection", "close")
		_, _ = w.Write(body)
	default:
		w.Header().Set("Location", "http://x/fhir/Patient/1/_history/7")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	}
}

func TestDo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	target, err := ParseTarget(server.URL + "/fhir/")
	if err != nil {
		t.Fatal(err)
	}
	c := NewConn(target, 5*time.Second)
	defer c.Close()
	text := strings.Repeat("a line of the body\n", 3000)
	send := func(b []byte) []byte { return append(b, text...) }
	for range 2 { // on one connection, but for the one that asks to close
		for _, path := range []string{"/Patient", "/chunked", "/none", "/close"} {
			r, err := c.Do("POST", path, send)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			want, status := text, 200
			switch path {
			case "/Patient":
				status = 201
				if r.Location != "http://x/fhir/Patient/1/_history/7" {
					t.Errorf("Location %q", r.Location)
				}
			case "/none":
				want, status = "", 204
			}
			if r.Status != status || r.ETag != `W/"7"` || string(r.Body) != want {
				t.Errorf("%s: status %d, ETag %s, %d bytes", path, r.Status, r.ETag, len(r.Body))
			}
		}
	}
	if r, err := c.Do("GET", "/Patient/1", nil); err != nil || r.Status != 201 || len(r.Body) != 0 {
		t.Errorf("GET: %v, status %d", err, r.Status)
	}
}

func TestErrorsByKind(t *testing.T) {
	raw := func(answer string) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					_, _ = conn.Read(make([]byte, 4096))
					if answer == "hang" {
						time.Sleep(2 * time.Second)
					}
					_, _ = conn.Write([]byte(answer))
				}()
			}
		}()
		return "http://" + listener.Addr().String()
	}
	unused, _ := net.Listen("tcp", "127.0.0.1:0")
	refused := "http://" + unused.Addr().String()
	unused.Close()
	for _, c := range []struct{ url, want string }{
		{refused, "connection refused"},
		{raw(""), "connection closed"},
		{raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"), "connection closed"},
		{raw("SSH-2.0-x\r\n"), "malformed response"},
		{raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), "malformed response"},
		{raw("hang"), "timeout"},
	} {
		target, err := ParseTarget(c.url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewConn(target, 300*time.Millisecond).Do("GET", "/", nil)
		if err == nil || Kind(err) != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: W/\"1\"\r\n\r\nhi"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 200 OK\r\n\r\nto the end"))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &Conn{}
		c.reader = newReader(bytes.NewReader(data))
		if r, err := c.read(false); err == nil && len(r.Body) > len(data) {
			t.Errorf("%d bytes out of %d", len(r.Body), len(data))
		}
	})
}
