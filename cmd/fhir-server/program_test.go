package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/internal/postgres/postgrestest"
)

// asProgram makes the test binary be the program itself, for tests that need a
// process of its own.
const asProgram = "STARLING_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	postgrestest.Main(m)
}

// running is the program at work: `serve`, in this process.
type running struct {
	t     *testing.T
	base  string // of the API
	admin string
	stop  context.CancelFunc // the first signal
	ended chan error
	log   *safeBuffer
}

type safeBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// serve runs the server on a port of its choice with the database given, until
// the test ends.
func serve(t *testing.T, databaseURL string, flags ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	r := &running{t: t, stop: cancel, ended: make(chan error, 1), log: &safeBuffer{}, admin: freeAddress(t)}
	arguments := []string{"serve", "--listen=127.0.0.1:0", "--admin-listen=" + r.admin, "--data-dir=" + t.TempDir()}
	if databaseURL != "" {
		arguments = append(arguments, "--database-url="+databaseURL)
	}
	p := &program{stdout: in, stderr: r.log}
	if err := p.parseFlags(append(arguments, flags...)); err != nil {
		t.Fatal(err)
	}
	go func() {
		err := p.run(ctx)
		_ = in.Close()
		r.ended <- err
		close(r.ended)
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the server did not start: %v\n%s", <-r.ended, r.log)
	}
	_, url, ok := strings.Cut(lines.Text(), "serving FHIR R4 at ")
	if !ok {
		t.Fatalf("first line: %q", lines.Text())
	}
	r.base, _, _ = strings.Cut(url, " as ")
	t.Cleanup(func() {
		cancel()
		if err := <-r.ended; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
		if t.Failed() {
			t.Logf("log:\n%s", r.log)
		}
	})
	return r
}

// answer is an HTTP answer, read.
type answer struct {
	*http.Response
	body []byte
}

// json is the body, decoded.
func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%v in %q", err, a.body)
	}
	return v
}

// code is the code of an OperationOutcome's first issue.
func (a answer) code() string {
	var outcome struct {
		ResourceType string
		Issue        []struct{ Code string }
	}
	if json.Unmarshal(a.body, &outcome) != nil || outcome.ResourceType != "OperationOutcome" || len(outcome.Issue) == 0 {
		return "no outcome: " + string(a.body)
	}
	return outcome.Issue[0].Code
}

// do sends a request; target is relative to the base, "" for the base itself;
// headers are "Name: value".
func (r *running) do(method, target, body string, headers ...string) answer {
	r.t.Helper()
	url := r.base
	if target != "" {
		url += "/" + strings.TrimPrefix(target, "/")
	}
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/fhir+json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	return send(r.t, request)
}

var client = &http.Client{
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func send(t *testing.T, request *http.Request) answer {
	t.Helper()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response, body}
}

// put stores a resource and gives the answer, which must be a success.
func (r *running) put(target, body string) answer {
	r.t.Helper()
	a := r.do("PUT", target, body)
	if a.StatusCode != http.StatusCreated && a.StatusCode != http.StatusOK {
		r.t.Fatalf("PUT %s: %d %s", target, a.StatusCode, a.body)
	}
	return a
}
