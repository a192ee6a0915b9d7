package main

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/postgres/postgrestest"
)

// What a restore has lost of a search parameter's index is indexed again, though the
// parameter has the version that was indexed before; no search is answered short
// once the lease is out.
func TestSearchParameterAfterRestore(t *testing.T) {
	const lease, count = 500 * time.Millisecond, 30
	url := postgrestest.New(t)
	r := serve(t, url, "--cache-lease="+lease.String())
	for i := range count {
		put(t, r, fmt.Sprint("Basic/b", i), fmt.Sprintf(`{"resourceType":"Basic","id":"b%d","code":{"text":"x"},"extension":[{"url":"http://example.org/room","valueString":"r"}]}`, i))
	}
	database, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = database.Close(context.WithoutCancel(t.Context())) }()
	run := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := database.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(`CREATE TABLE saved AS TABLE resource`, `CREATE TABLE saved_key AS TABLE search_key`, `CREATE TABLE saved_string AS TABLE search_string`)
	put(t, r, "SearchParameter/room", `{"resourceType":"SearchParameter","id":"room","url":"http://example.org/SearchParameter/room","name":"Room","status":"active",
		"description":"Room","code":"room","base":["Basic"],"type":"string","expression":"Basic.extension('http://example.org/room').value"}`)
	total := func() (status, total int) {
		a := r.do("GET", "Basic?room=r&_summary=count", "")
		var bundle struct{ Total int }
		_ = json.Unmarshal(a.body, &bundle)
		return a.StatusCode, bundle.Total
	}
	if status, n := total(); status != 200 || n != count {
		t.Fatalf("before: %d, %d of %d", status, n, count)
	}
	// The backup was made when the parameter was stored and nothing was indexed for it.
	run(`UPDATE search_parameter SET complete = false, position = 0, done = 0, total = 0`,
		`UPDATE resource r SET terms = s.terms, ranges = s.ranges FROM saved s WHERE s.rid = r.rid`,
		`TRUNCATE search_key, search_string`, `INSERT INTO search_key TABLE saved_key`, `INSERT INTO search_string TABLE saved_string`,
		`SELECT raise_cache_epoch()`)
	time.Sleep(lease)
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		switch status, n := total(); {
		case status == 200 && n == count:
			return
		case status != 503:
			t.Fatalf("after: %d, %d of %d", status, n, count)
		case time.Since(began) > 20*time.Second:
			t.Fatal("it is not indexed again")
		}
	}
}
