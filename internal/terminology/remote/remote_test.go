package remote

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/terminology"
)

// other is a terminology server on loopback that knows the code 22298006.
type other struct {
	*httptest.Server
	requests atomic.Int64
	fail     atomic.Bool
	stall    atomic.Bool
	// strange, if there is one, is what everything is answered with: a status and a text.
	strange atomic.Pointer[string]
}

func newOther(t *testing.T) *other {
	o := &other{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.requests.Add(1)
		body, _ := io.ReadAll(r.Body)
		strange := o.strange.Load()
		switch {
		case strange != nil:
			status, text, _ := strings.Cut(*strange, " ")
			number, _ := strconv.Atoi(status)
			w.WriteHeader(number)
			_, _ = io.WriteString(w, text)
		case o.stall.Load():
			<-r.Context().Done()
		case o.fail.Load():
			http.Error(w, "out of order", http.StatusInternalServerError)
		case r.URL.Path == "/r4/CodeSystem/$lookup" && strings.Contains(string(body), "22298006"):
			_, _ = io.WriteString(w, `{"resourceType":"Parameters","parameter":[{"name":"display","valueString":"Myocardial infarction"}]}`)
		case r.URL.Path != "/r4/ValueSet/$validate-code":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"not-found","diagnostics":"no such code"}]}`)
		case strings.Contains(string(body), `"code":"22298006"`):
			_, _ = io.WriteString(w, `{"resourceType":"Parameters","parameter":[{"name":"result","valueBoolean":true},{"name":"display","valueString":"Myocardial infarction"}]}`)
		case strings.Contains(string(body), `"code":"unsure"`):
			_, _ = io.WriteString(w, `{"resourceType":"Parameters","parameter":[{"name":"result","valueBoolean":false},{"name":"x-caused-by-unknown-system","valueCanonical":"http://snomed.info/sct"}]}`)
		case strings.Contains(string(body), `"code":"refused"`):
			w.WriteHeader(http.StatusBadRequest)
		case strings.Contains(string(body), `"code":"large"`):
			_, _ = io.WriteString(w, strings.Repeat(" ", maxAnswer+1))
		default:
			_, _ = io.WriteString(w, `{"resourceType":"Parameters","parameter":[{"name":"result","valueBoolean":false}]}`)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *other) client(t *testing.T, timeout, rest time.Duration) *Server {
	t.Helper()
	s, err := New(Config{URL: o.URL + "/r4/", Timeout: timeout, Rest: rest, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

const sct = "http://snomed.info/sct"

var clinical = []byte(`{"system":"` + sct + `","filter":[{"property":"concept","op":"is-a","value":"404684003"}]}`)

func TestContains(t *testing.T) {
	o := newOther(t)
	s := o.client(t, time.Second, time.Minute)
	for code, want := range map[string]terminology.Answer{
		"22298006": terminology.Yes, "1": terminology.No, "unsure": terminology.Unknown, "refused": terminology.Unknown, "large": terminology.Unknown,
	} {
		for range 2 {
			got, display, err := s.Contains(context.Background(), clinical, sct, code)
			if err != nil || got != want || (display != "") != (want == terminology.Yes) {
				t.Errorf("%s: %v %q %v", code, got, display, err)
			}
		}
	}
	if n := o.requests.Load(); n != 5 {
		t.Errorf("%d requests for 5 questions", n)
	}
}

func TestEqualQuestionsAreOne(t *testing.T) {
	o := newOther(t)
	s := o.client(t, time.Second, time.Minute)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if got, _, err := s.Contains(context.Background(), clinical, sct, "22298006"); got != terminology.Yes {
				t.Errorf("%v %v", got, err)
			}
		})
	}
	group.Wait()
	if n := o.requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestAway(t *testing.T) {
	for name, fault := range map[string]func(*other) *atomic.Bool{
		"failing":  func(o *other) *atomic.Bool { return &o.fail },
		"stalling": func(o *other) *atomic.Bool { return &o.stall },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOther(t)
			s := o.client(t, 50*time.Millisecond, 200*time.Millisecond)
			fault(o).Store(true)
			before := time.Now()
			for range 20 {
				got, _, err := s.Contains(context.Background(), clinical, sct, "22298006")
				var failure *fhir.Error
				if got != terminology.Unknown || !errors.As(err, &failure) || failure.Kind != fhir.KindUnavailable {
					t.Fatalf("%v %v", got, err)
				}
			}
			if took, n := time.Since(before), o.requests.Load(); n > 2 || took > time.Second {
				t.Errorf("%d requests, %v", n, took)
			}
			fault(o).Store(false)
			time.Sleep(250 * time.Millisecond)
			if got, _, err := s.Contains(context.Background(), clinical, sct, "22298006"); got != terminology.Yes {
				t.Errorf("when it is back: %v %v", got, err)
			}
		})
	}
}

// TestStrangeAnswers holds that what is no answer of a FHIR server is not kept as one:
// such a server is away, until it has had its rest.
func TestStrangeAnswers(t *testing.T) {
	for name, text := range map[string]string{
		"a page":                    "200 <html><title>Maintenance</title></html>",
		"half an answer":            `200 {"resourceType":"Parameters","parameter":[{"name":"result","valueBoolean":tr`,
		"nothing":                   "200 ",
		"JSON that is no resource":  `200 {"result":true}`,
		"deep":                      "200 " + strings.Repeat("[", 100_000),
		"an unknown user":           "401 who are you",
		"one unknown to the proxy":  "407 who are you",
		"a page that leads on":      "302 ",
		"too many questions for it": "429 ",
	} {
		t.Run(name, func(t *testing.T) {
			o := newOther(t)
			s := o.client(t, time.Second, 100*time.Millisecond)
			o.strange.Store(&text)
			var failure *fhir.Error
			if got, _, err := s.Contains(context.Background(), clinical, sct, "22298006"); got != terminology.Unknown || !errors.As(err, &failure) || failure.Kind != fhir.KindUnavailable {
				t.Errorf("%v %v", got, err)
			}
			if body, err := s.Ask(context.Background(), "CodeSystem", "$lookup", []byte(`{"code":"22298006"}`)); !errors.As(err, &failure) || failure.Kind != fhir.KindUnavailable {
				t.Errorf("%s %v", body, err)
			}
			o.strange.Store(nil)
			time.Sleep(150 * time.Millisecond)
			if got, _, err := s.Contains(context.Background(), clinical, sct, "22298006"); got != terminology.Yes {
				t.Errorf("when it is back: %v %v", got, err)
			}
		})
	}
}

func TestAsk(t *testing.T) {
	s := newOther(t).client(t, time.Second, time.Minute)
	body, err := s.Ask(context.Background(), "CodeSystem", "$lookup", []byte(`{"code":"22298006"}`))
	if err != nil || !strings.Contains(string(body), "Myocardial") {
		t.Errorf("%s %v", body, err)
	}
	_, err = s.Ask(context.Background(), "CodeSystem", "$lookup", []byte(`{"code":"1"}`))
	var failure *fhir.Error
	if !errors.As(err, &failure) || failure.Kind != fhir.KindNotFound || !strings.Contains(failure.Error(), "no such code") {
		t.Errorf("%v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, text := range []string{"", "tx.example.org", "ftp://tx.example.org", "https://tx.example.org?x=y", "http://"} {
		if _, err := New(Config{URL: text}); err == nil {
			t.Errorf("%q", text)
		}
	}
}
