package nginx_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"starling/test/program"
)

func host(server *httptest.Server) string { return strings.TrimPrefix(server.URL, "http://") }

func TestForwardedHeaders(t *testing.T) {
	instance := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For"} {
			fmt.Fprintf(w, "%s=%s;", name, r.Header.Get(name))
		}
		fmt.Fprintf(w, "Host=%s", r.Host)
	}))
	defer instance.Close()
	url := program.Nginx(t, host(instance))
	response, err := http.Get(url + "/fhir/metadata")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	at := strings.TrimPrefix(url, "http://")
	want := "X-Forwarded-Host=" + at + ";X-Forwarded-Proto=http;X-Forwarded-For=127.0.0.1;Host=" + at
	if string(body) != want {
		t.Errorf("%s\nwant %s", body, want)
	}
}

// An instance that loses every request it gets: reads and updates are answered
// by the other one, a create is tried once.
func TestOnlyIdempotentRequestsAreRepeated(t *testing.T) {
	var lost, served atomic.Int64
	losing := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		lost.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer losing.Close()
	serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer serving.Close()
	for _, c := range []struct {
		method   string
		repeated bool
	}{{"GET", true}, {"PUT", true}, {"DELETE", true}, {"POST", false}, {"PATCH", false}} {
		url := program.Nginx(t, host(losing), host(serving)) // anew, so that no instance is known to fail
		lost.Store(0)
		served.Store(0)
		failed := int64(0)
		for range 4 {
			request, _ := http.NewRequest(c.method, url+"/fhir/Patient/1", strings.NewReader("{}"))
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusNoContent {
				failed++
			}
		}
		switch {
		case lost.Load() == 0:
			t.Errorf("%s: the losing instance was never tried", c.method)
		case c.repeated && failed != 0:
			t.Errorf("%s: %d of 4 failed", c.method, failed)
		case !c.repeated && (failed != lost.Load() || served.Load() != 4-failed):
			t.Errorf("%s: lost %d, failed %d, served %d: a request was sent twice", c.method, lost.Load(), failed, served.Load())
		}
	}
}

// An instance that is gone costs no request, whatever its method: nothing was sent.
func TestAnInstanceThatIsGoneIsLeftOut(t *testing.T) {
	serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	}))
	defer serving.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	url := program.Nginx(t, host(gone), host(serving))
	for i := range 20 {
		response, err := http.Post(url+"/fhir/Patient", "application/fhir+json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusCreated {
			t.Errorf("request %d: status %d", i, response.StatusCode)
		}
	}
}

func TestConnectionsToInstancesAreKept(t *testing.T) {
	var connections atomic.Int64
	instance := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	instance.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	instance.Start()
	defer instance.Close()
	url := program.Nginx(t, host(instance))
	for range 50 {
		response, err := http.Get(url + "/fhir/Patient/1")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if n := connections.Load(); n > 2 {
		t.Errorf("%d connections for 50 requests one after the other", n)
	}
}
