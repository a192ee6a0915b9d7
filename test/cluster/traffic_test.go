package cluster

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"starling/test/program"
)

// acknowledged is a write that was answered with success.
type acknowledged struct {
	url     string // Type/id
	version string
	value   string
}

// failure is a request that was not answered as it should be.
type failure struct {
	at     time.Time
	method string
	what   string
}

// traffic is a mixed load of users that send one request after the other.
type traffic struct {
	base  string
	ended chan struct{} // closed to end it
	users sync.WaitGroup

	mu       sync.Mutex
	requests int
	written  []acknowledged
	failures []failure
}

func send(base string, users int) *traffic {
	l := &traffic{base: base, ended: make(chan struct{})}
	for u := range users {
		l.users.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.ended:
					return
				default:
					l.round(fmt.Sprintf("%d-%d", u, n))
				}
			}
		})
	}
	return l
}

func (l *traffic) end() {
	close(l.ended)
	l.users.Wait()
}

// round creates a resource, reads it, updates it with and without a
// precondition, has one made by a transaction, searches, patches and deletes.
func (l *traffic) round(value string) {
	created, ok := l.do(http.StatusCreated, "POST", "/Basic", body("", value))
	if !ok {
		return
	}
	match := location.FindStringSubmatch(created.Header.Get("Location"))
	if match == nil {
		l.fail("POST", fmt.Sprintf("Location %q", created.Header.Get("Location")))
		return
	}
	url, id := match[1], match[1][len("Basic/"):]
	l.wrote(url, "1", value)
	l.do(http.StatusOK, "GET", "/"+url, nil)
	if updated, ok := l.do(http.StatusOK, "PUT", "/"+url, body(id, value+"-b")); ok {
		l.wrote(url, version(updated), value+"-b")
	}
	transaction := fmt.Appendf(nil, `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":%s,"request":{"method":"POST","url":"Basic"}}]}`, body("", value+"-t"))
	l.do(http.StatusOK, "POST", "", transaction)
	l.do(http.StatusOK, "GET", "/Basic?identifier=urn:starling:cluster%7C"+value+"-b", nil)
	patch := fmt.Appendf(nil, `[{"op":"replace","path":"/identifier/0/value","value":"%s-c"}]`, value)
	if patched, ok := l.do(http.StatusOK, "PATCH", "/"+url, patch, "Content-Type", "application/json-patch+json"); ok {
		l.wrote(url, version(patched), value+"-c")
	}
	if len(value)%3 == 0 {
		l.do(http.StatusNoContent, "DELETE", "/"+url, nil)
	}
}

// version of the answer, out of W/"2".
func version(a program.Answer) string {
	tag := a.Header.Get("ETag")
	return tag[min(len(tag), 3):max(3, len(tag)-1)]
}

func body(id, value string) []byte {
	if id != "" {
		id = fmt.Sprintf(`"id":%q,`, id)
	}
	return fmt.Appendf(nil, `{"resourceType":"Basic",%s"identifier":[{"system":"urn:starling:cluster","value":%q}],"code":{"text":"cluster"}}`, id, value)
}

func (l *traffic) do(status int, method, path string, body []byte, headers ...string) (program.Answer, bool) {
	answer, err := program.Do(method, l.base+path, body, headers...)
	l.mu.Lock()
	l.requests++
	l.mu.Unlock()
	switch {
	case err != nil:
		l.fail(method, err.Error())
	case answer.Status != status:
		l.fail(method, fmt.Sprintf("%s: status %d: %.200s", path, answer.Status, answer.Body))
	default:
		return answer, true
	}
	return answer, false
}

func (l *traffic) fail(method, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, failure{time.Now(), method, what})
}

func (l *traffic) wrote(url, version, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = append(l.written, acknowledged{url, version, value})
}

// check reads every acknowledged version.
func (l *traffic) check(t *testing.T) {
	t.Helper()
	const readers = 16
	var group sync.WaitGroup
	for first := range readers {
		group.Go(func() {
			for i := first; i < len(l.written); i += readers {
				a := l.written[i]
				read, err := program.Do("GET", fmt.Sprintf("%s/%s/_history/%s", l.base, a.url, a.version), nil)
				if err != nil || read.Status != http.StatusOK || !bytes.Contains(read.Body, fmt.Appendf(nil, `"value":%q`, a.value)) {
					t.Errorf("%s version %s was acknowledged with the value %s: %v, status %d: %.300s", a.url, a.version, a.value, err, read.Status, read.Body)
				}
			}
		})
	}
	group.Wait()
}
