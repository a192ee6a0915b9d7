package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/postgres/postgrestest"
)

// Conditional interactions that are held up in the database while the search
// parameter of their criteria is replaced. Those that write nothing meet no fence,
// and must not be answered by the old parameter after its lease either.
func TestCriteriaOvertakenByAChange(t *testing.T) {
	const lease = 500 * time.Millisecond
	url := postgrestest.New(t)
	r := serve(t, url, "--cache-lease="+lease.String())
	parameter := func(extension string) string {
		return `{"resourceType":"SearchParameter","id":"room","url":"http://example.org/SearchParameter/room","name":"Room","status":"active",
			"description":"Room","code":"room","base":["Basic"],"type":"string","expression":"Basic.extension('http://example.org/` + extension + `').value"}`
	}
	basic := func(id, old, now string) {
		put(t, r, "Basic/"+id, fmt.Sprintf(`{"resourceType":"Basic","id":%q,"code":{"text":"x"},"extension":[
			{"url":"http://example.org/old","valueString":%q},{"url":"http://example.org/now","valueString":%q}]}`, id, old, now))
	}
	basic("found", "aa", "zz")
	basic("missed", "zz", "bb")
	basic("one", "cc", "zz")
	basic("two", "cc", "zz")
	put(t, r, "SearchParameter/room", parameter("old"))
	found(t, r, "Basic?room=aa")

	database, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = database.Close(context.WithoutCancel(t.Context())) }()
	// The lock that conditional interactions with a type share (lockType).
	lock := func(function string) {
		if _, err := database.Exec(t.Context(), `SELECT `+function+`(19284, id::int4) FROM resource_type WHERE name = 'Basic'`); err != nil {
			t.Fatal(err)
		}
	}
	lock("pg_advisory_lock")
	const body = `{"resourceType":"Basic","code":{"text":"x"}}`
	requests := []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		has                        string
	}{
		{"what is not found any more is created", "POST", "Basic", body, []string{jsonType, "If-None-Exist: room=aa"}, 201, ""},
		{"in a transaction, too", "POST", "", `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":` + body +
			`,"request":{"method":"POST","url":"Basic","ifNoneExist":"room=aa"}}]}`, []string{jsonType}, 200, `"status":"201`},
		{"what is found now is deleted", "DELETE", "Basic?room=bb", "", nil, 204, ""},
		{"what several met is created", "POST", "Basic", body, []string{jsonType, "If-None-Exist: room=cc"}, 201, ""},
	}
	answers := make([]answer, len(requests))
	var group sync.WaitGroup
	for i, request := range requests {
		group.Go(func() {
			answers[i] = r.do(request.method, request.target, request.body, request.headers...)
		})
	}
	eventually(t, "they wait", func() bool {
		var waiting int
		if err := database.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 19284 AND NOT granted`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		return waiting == len(requests)
	})
	put(t, r, "SearchParameter/room", parameter("now"))
	time.Sleep(lease + lease/2)
	lock("pg_advisory_unlock")
	group.Wait()
	for i, request := range requests {
		if a := answers[i]; a.StatusCode != request.status || !strings.Contains(string(a.body), request.has) {
			t.Errorf("%s: %d %s", request.name, a.StatusCode, a.body)
		}
	}
	if a := r.do("GET", "Basic/missed", ""); a.StatusCode != 410 {
		t.Errorf("what is found now is there: %d", a.StatusCode)
	}
}
