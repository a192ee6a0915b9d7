package cluster

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"starling/test/program"
)

// losing passes requests on to a server and, while lose is set, closes the
// connection instead of passing the answer back: the server has done what the
// client is not told.
func losing(t *testing.T, server string) (address string, lose *atomic.Bool) {
	t.Helper()
	lose = &atomic.Bool{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				upstream, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer upstream.Close()
				go func() {
					_, _ = io.Copy(upstream, client)
				}()
				answer := make([]byte, 64<<10)
				for {
					n, err := upstream.Read(answer)
					if err != nil || lose.Load() {
						return
					}
					if _, err := client.Write(answer[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String(), lose
}

// What docs/operations.md says of a lost answer: an update is sent again and
// succeeds; with If-Match it is carried out once and the client gets 412; what is
// not idempotent is sent once and the client gets 502.
func TestAnswerThatIsLost(t *testing.T) {
	c := start(t)
	address, lose := losing(t, c.servers[0].Address())
	// Among equals least_conn takes turns: of two requests, one meets the loss. Each
	// time nginx is another, which knows of no failures.
	twice := func(method, path string, body []byte, headers ...string) (statuses []int) {
		base := program.Nginx(t, address, c.servers[1].Address()) + "/fhir"
		lose.Store(true)
		defer lose.Store(false)
		for range 2 {
			answer, err := program.Do(method, base+path, body, headers...)
			if err != nil {
				t.Fatal(err)
			}
			statuses = append(statuses, answer.Status)
		}
		return statuses
	}
	current := func(path string) []byte {
		return program.Want(t, http.StatusOK, "GET", c.servers[1].URL+path, nil).Body
	}
	program.Want(t, http.StatusCreated, "PUT", c.servers[1].URL+"/Basic/plain", body("plain", "0"))
	program.Want(t, http.StatusCreated, "PUT", c.servers[1].URL+"/Basic/guarded", body("guarded", "0"))

	for _, status := range twice("PUT", "/Basic/plain", body("plain", "1")) {
		if status != http.StatusOK {
			t.Errorf("an update whose answer was lost: status %d", status)
		}
	}
	if now := current("/Basic/plain"); !bytes.Contains(now, []byte(`"value":"1"`)) {
		t.Errorf("updated to %s", now)
	}
	var applied int
	for _, status := range twice("PUT", "/Basic/guarded", body("guarded", "1"), "If-Match", `W/"1"`) {
		switch status {
		case http.StatusOK:
			applied++
		case http.StatusPreconditionFailed:
		default:
			t.Errorf("a guarded update: status %d", status)
		}
	}
	if now := current("/Basic/guarded"); applied > 1 || !bytes.Contains(now, []byte(`"versionId":"2"`)) {
		t.Errorf("a guarded update succeeded %d times: %s", applied, now)
	}
	var lost, created int
	for _, status := range twice("POST", "/Basic", body("", "post")) {
		switch status {
		case http.StatusCreated:
			created++
		case http.StatusBadGateway:
			lost++
		}
	}
	if lost != 1 || created != 1 {
		t.Errorf("of two creates, %d were lost and %d acknowledged", lost, created)
	}
	found := decode(t, current("/Basic?identifier=urn:starling:cluster%7Cpost"))
	if entries, _ := found["entry"].([]any); len(entries) != 2 {
		t.Errorf("two creates made %d resources", len(entries))
	}
}
