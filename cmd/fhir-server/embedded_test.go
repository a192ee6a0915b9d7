package main

import (
	"os"
	"testing"
)

// TestEmbedded runs the server as `make run` does: with nothing configured, on
// a PostgreSQL of its own, which keeps what was stored when the server is
// started again.
func TestEmbedded(t *testing.T) {
	dir, err := os.MkdirTemp("", "starling")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// Run as root, PostgreSQL has another account, which must reach its folder.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	first := serve(t, "", "--data-dir="+dir)
	first.put("Patient/kept", `{"resourceType":"Patient","id":"kept"}`)
	first.stop()
	if err := <-first.ended; err != nil {
		t.Fatal(err)
	}
	second := serve(t, "", "--data-dir="+dir)
	if a := second.do("GET", "Patient/kept", ""); a.StatusCode != 200 {
		t.Errorf("after a restart: %d %s", a.StatusCode, a.body)
	}
}
