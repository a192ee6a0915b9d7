package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"starling/internal/postgres/embedded"
)

// TestDatabaseOutage takes the database away and gives it back: meanwhile the
// server is unready and says so in FHIR's words, and afterwards it goes on.
func TestDatabaseOutage(t *testing.T) {
	dir, err := os.MkdirTemp("", "starling")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// Run as root, PostgreSQL has another account, which must reach its folder.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	start := func() *embedded.Server {
		database, err := embedded.Start(context.Background(), embedded.Options{DataDir: dir, BinDir: os.Getenv("TEST_POSTGRES_BIN")})
		if err != nil {
			t.Fatal(err)
		}
		return database
	}
	database := start()
	r := serve(t, database.URL())
	ready := "http://" + strings.Split(r.base, "/")[2] + "/readyz"
	r.put("Patient/a", `{"resourceType":"Patient","id":"a"}`)

	if err := database.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := status(ready); got != 503 {
		t.Errorf("without a database: %d", got)
	}
	if got := status("http://" + r.admin + "/fhir/$cache-status"); got != 503 {
		t.Errorf("$cache-status without a database: %d", got)
	}
	for _, method := range []string{"GET", "PUT"} {
		body := ""
		if method == "PUT" {
			body = `{"resourceType":"Patient","id":"a"}`
		}
		a := r.do(method, "Patient/a", body)
		if a.StatusCode != 503 || a.code() != "transient" || a.Header.Get("Retry-After") == "" || strings.Contains(string(a.body), "socket") {
			t.Errorf("%s without a database: %d %s", method, a.StatusCode, a.body)
		}
	}

	database = start()
	t.Cleanup(func() {
		r.stop()
		<-r.ended
		_ = database.Stop()
	})
	eventually(t, "ready again", func() bool { return status(ready) == 200 })
	if a := r.do("GET", "Patient/a", ""); a.StatusCode != 200 {
		t.Errorf("read after the outage: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("PUT", "Patient/a", `{"resourceType":"Patient","id":"a"}`); a.StatusCode != 200 {
		t.Errorf("write after the outage: %d %s", a.StatusCode, a.body)
	}
}
