package load

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"starling/loadtest/constant"
	"starling/loadtest/procs"
	"starling/loadtest/record"
	"starling/loadtest/wire"
)

// runAgainst runs the scenario against the handler.
func runAgainst(t *testing.T, handler http.Handler, config Config) *record.Result {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	target, err := wire.ParseTarget(server.URL + "/fhir")
	if err != nil {
		t.Fatal(err)
	}
	config.Targets, config.Run = []wire.Target{target}, "test"
	if config.Timeout == 0 {
		config.Timeout = 10 * time.Second
	}
	if config.Progress == nil {
		config.Progress = io.Discard
	}
	result, err := CRUD(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestIterationsAreMeasuredWhole(t *testing.T) {
	var methods sync.Map
	server := &constant.Handler{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := methods.LoadOrStore(r.Method, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		server.ServeHTTP(w, r)
	})
	result := runAgainst(t, handler, Config{Users: 3, Iterations: 20, Watch: []procs.Root{{Name: "self", PIDs: []int{os.Getpid()}}}})
	if result.Iterations != 20 || result.Total.Requests != 20*36 || result.Total.Errors != 0 {
		t.Fatalf("%d iterations, total %+v, errors %+v", result.Iterations, result.Total, result.Errors)
	}
	for _, method := range []string{"POST", "GET", "PUT", "DELETE"} {
		if n, _ := methods.Load(method); n.(*atomic.Int64).Load() != 20*9 {
			t.Errorf("%s: %d requests", method, n.(*atomic.Int64).Load())
		}
	}
	for _, g := range result.Requests {
		if g.Requests != 20 || g.Latency.P50 <= 0 {
			t.Errorf("%s %s: %+v", g.Interaction, g.Type, g)
		}
	}
	if p := result.Processes[0]; p.MemoryPeak == 0 || p.MemoryAverage > p.MemoryPeak {
		t.Errorf("process %+v", p)
	}
}

// stalling answers at once, but for a stall of one second, once.
type stalling struct {
	server constant.Handler
	from   time.Time // of the stall, which lasts a second
}

func (s *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if now := time.Now(); now.After(s.from) && now.Before(s.from.Add(time.Second)) {
		time.Sleep(time.Until(s.from.Add(time.Second)))
	}
	s.server.ServeHTTP(w, r)
}

// A server that stalls for one second in five delays a fifth of the requests
// that were to be sent. In an open loop they count from when they were due, so
// the stall is in P99, and P90 too; in a closed loop each user has one slow
// request among thousands, and P99 shows nothing: coordinated omission.
func TestOpenLoopShowsAStall(t *testing.T) {
	config := Config{Users: 8, Rate: 800, WarmUp: 500 * time.Millisecond, Duration: 5 * time.Second}
	result := runAgainst(t, &stalling{from: time.Now().Add(2 * time.Second)}, config)
	l := result.Total.Latency
	if result.Total.Errors != 0 || result.Unsent != 0 {
		t.Fatalf("total %+v, unsent %d, errors %+v", result.Total, result.Unsent, result.Errors)
	}
	if n := result.Total.Requests; n < 3900 || n > 4100 {
		t.Errorf("%d requests in 5 s at 800 a second", n)
	}
	if l.P99 < 800 || l.P99 > 1100 || l.P90 < 300 || l.Max < 950 {
		t.Errorf("open loop: %+v, want the stall of 1,000 ms in P99", l)
	}
	if l.P50 > 100 {
		t.Errorf("open loop: P50 %v ms although the server answered at once for four seconds", l.P50)
	}
	closed := runAgainst(t, &stalling{from: time.Now().Add(500 * time.Millisecond)}, Config{Users: 8, Duration: 2 * time.Second})
	if l := closed.Total.Latency; l.P99 > 500 || l.Max < 950 {
		t.Errorf("closed loop: %+v", l)
	}
}

func TestKnownDelay(t *testing.T) {
	server := &constant.Handler{}
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			time.Sleep(30 * time.Millisecond)
		}
		server.ServeHTTP(w, r)
	})
	result := runAgainst(t, slow, Config{Users: 4, Iterations: 12})
	for _, g := range result.Interactions {
		if slow := g.Interaction == "update"; slow != (g.Latency.P50 >= 30) || slow && g.Latency.P50 > 150 {
			t.Errorf("%s: P50 %v ms", g.Interaction, g.Latency.P50)
		}
	}
}

func TestAServerTooSlowForTheRate(t *testing.T) {
	server := &constant.Handler{}
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		server.ServeHTTP(w, r)
	})
	result := runAgainst(t, slow, Config{Users: 2, Rate: 1000, Duration: time.Second})
	if n := result.Total.Requests; n < 990 || n > 1010 {
		t.Errorf("%d requests recorded of 1,000 that were due", n)
	}
	if result.Unsent < 500 || result.Total.Errors != result.Unsent || result.Errors[0].Kind != "not sent in time" {
		t.Errorf("unsent %d, errors %+v", result.Unsent, result.Errors)
	}
	if l := result.Total.Latency; l.P50 < 400 {
		t.Errorf("latency %+v leaves out what was not sent", l)
	}
}

func TestWrongAnswersAreErrorsByKind(t *testing.T) {
	server := &constant.Handler{}
	var puts atomic.Int64
	wrong := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/Claim/"):
			http.Error(w, "no such thing", http.StatusNotFound)
		case r.Method == http.MethodPut && puts.Add(1)%9 == 0:
			panic(http.ErrAbortHandler) // the connection is closed without an answer
		case r.Method == http.MethodGet:
			tagged := httptest.NewRecorder()
			server.ServeHTTP(tagged, r)
			w.Header().Set("ETag", `W/"99"`)
			_, _ = w.Write(tagged.Body.Bytes())
		default:
			server.ServeHTTP(w, r)
		}
	})
	result := runAgainst(t, wrong, Config{Users: 1, Iterations: 5})
	counts := map[string]int64{}
	for _, e := range result.Errors {
		counts[e.Kind] = e.Count
	}
	want := map[string]int64{"status 404": 5, "connection closed": 5, "read gave another version than was created": 40}
	for kind, n := range want {
		if counts[kind] != n {
			t.Errorf("%s: %d, want %d; all: %+v", kind, counts[kind], n, result.Errors)
		}
	}
	if result.Iterations != 5 || result.Abandoned != 0 {
		t.Errorf("%d iterations, %d abandoned", result.Iterations, result.Abandoned)
	}
}

func TestAFailedCreateEndsItsIteration(t *testing.T) {
	server := &constant.Handler{}
	var creates, deletes atomic.Int64
	failing := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/Encounter"):
			http.Error(w, "{}", http.StatusUnprocessableEntity)
			return
		case r.Method == http.MethodPost:
			creates.Add(1)
		case r.Method == http.MethodDelete:
			deletes.Add(1)
		}
		server.ServeHTTP(w, r)
	})
	result := runAgainst(t, failing, Config{Users: 2, Iterations: 6})
	if result.Abandoned != 6 || result.Iterations != 0 || result.Total.Requests != 6*5 || result.Total.Errors != 6 {
		t.Errorf("abandoned %d, total %+v", result.Abandoned, result.Total)
	}
	if creates.Load() != 24 || deletes.Load() != 24 {
		t.Errorf("%d created, %d deleted", creates.Load(), deletes.Load())
	}
}

func TestAnEndedContextEndsTheRun(t *testing.T) {
	server := httptest.NewServer(&constant.Handler{})
	defer server.Close()
	target, err := wire.ParseTarget(server.URL + "/fhir")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	result, err := CRUD(ctx, Config{
		Targets: []wire.Target{target}, Users: 2, Duration: time.Minute, Timeout: time.Second, Progress: io.Discard,
	})
	if err != nil || time.Since(begun) > 5*time.Second {
		t.Fatalf("%v after %v", err, time.Since(begun))
	}
	if result.MeasuredSeconds > 5 || result.Total.Requests == 0 || result.Total.Requests%36 != 0 {
		t.Errorf("%v s, %d requests", result.MeasuredSeconds, result.Total.Requests)
	}
}
