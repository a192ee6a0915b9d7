package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// Every metric that the dashboard shows is one that a server has, and all that
// tell of the caches are shown.
func TestDashboardShowsRealMetrics(t *testing.T) {
	dashboard, err := os.ReadFile("../../compose/grafana/dashboards/starling.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(dashboard) {
		t.Fatal("the dashboard is no JSON")
	}
	r := serve(t, postgrestest.New(t))
	r.put("Patient/p", `{"resourceType":"Patient","id":"p"}`)
	r.do("GET", "Patient/p", "")
	names := map[string]bool{}
	for _, line := range strings.Split(metrics(t, r), "\n") {
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "{")
		names[name] = true
	}
	shown := map[string]bool{}
	for _, name := range regexp.MustCompile(`\b(?:starling|process|go)_[a-z0-9_]+`).FindAllString(string(dashboard), -1) {
		if shown[name] = true; !names[name] {
			t.Errorf("there is no metric %s", name)
		}
	}
	if len(shown) < 20 {
		t.Errorf("only %d metrics are shown", len(shown))
	}
	for name := range names {
		if strings.HasPrefix(name, "starling_cache_") && !shown[name] {
			t.Errorf("%s is not shown", name)
		}
	}
}
