package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/internal/postgres/postgrestest"
)

// TestSystemResourcesReachOtherInstances stores system resources on one
// instance and expects them in the snapshots of the other.
func TestSystemResourcesReachOtherInstances(t *testing.T) {
	for _, transport := range []string{"notify", "poll"} {
		t.Run(transport, func(t *testing.T) { reachOtherInstances(t, transport) })
	}
}

func reachOtherInstances(t *testing.T, transport string) {
	url := postgrestest.New(t)
	one, other := serve(t, url), serve(t, url, "--cache-sync="+transport)
	for target, body := range map[string]string{
		"SearchParameter/shoe-size": `{"resourceType":"SearchParameter","id":"shoe-size","url":"http://example.org/SearchParameter/shoe-size",
			"name":"ShoeSize","status":"active","description":"Size of shoes","code":"shoe-size","base":["Patient"],"type":"number",
			"expression":"Patient.extension('http://example.org/shoe-size').value"}`,
		"StructureDefinition/shoe-size": `{"resourceType":"StructureDefinition","id":"shoe-size","url":"http://example.org/shoe-size",
			"name":"ShoeSize","status":"active","kind":"complex-type","abstract":false,"type":"Extension",
			"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Extension","derivation":"constraint",
			"context":[{"type":"element","expression":"Patient"}],"differential":{"element":[{"id":"Extension","path":"Extension"}]}}`,
		"Subscription/new-patients": `{"resourceType":"Subscription","id":"new-patients","status":"requested","reason":"test","criteria":"Patient?",
			"channel":{"type":"rest-hook","endpoint":"http://127.0.0.1:9/"}}`,
	} {
		if a := one.do("PUT", target, body, "Content-Type: application/fhir+json"); a.StatusCode != 201 {
			t.Fatalf("PUT %s: %d %s", target, a.StatusCode, a.body)
		}
	}
	if text := metrics(t, other); !strings.Contains(text, `starling_cache_transport{transport="`+transport+`"} 1`) {
		t.Errorf("the metrics do not name %s", transport)
	}
	written := time.Now()
	for _, domain := range []string{"validation", "routing", "subscriptions"} {
		eventually(t, domain+" has the resource", func() bool {
			return strings.Contains(metrics(t, other), `starling_cache_resources{domain="`+domain+`"} 1`)
		})
	}
	if took := time.Since(written); took > 2*time.Second {
		t.Errorf("in the snapshots after %v", took)
	}
}

func TestStaticDeploymentRefusesSystemResources(t *testing.T) {
	r := serve(t, postgrestest.New(t), "--cache-sync=off")
	body := `{"resourceType":"ValueSet","id":"v","status":"active"}`
	if a := r.do("PUT", "ValueSet/v", body, "Content-Type: application/fhir+json"); a.StatusCode != 405 || a.code() != "not-supported" || a.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("PUT: %d %s", a.StatusCode, a.body)
	}
	bundle := `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":` + body + `,"request":{"method":"PUT","url":"ValueSet/v"}}]}`
	if a := r.do("POST", "", bundle, "Content-Type: application/fhir+json"); a.code() != "not-supported" || !strings.Contains(string(a.body), "Bundle.entry[0]") {
		t.Errorf("transaction: %d %s", a.StatusCode, a.body)
	}
	if a := r.do("GET", "ValueSet/v", ""); a.StatusCode != 404 {
		t.Errorf("GET: %d", a.StatusCode)
	}
	if a := r.do("PUT", "Patient/p", `{"resourceType":"Patient","id":"p"}`, "Content-Type: application/fhir+json"); a.StatusCode != 201 {
		t.Errorf("a clinical resource: %d %s", a.StatusCode, a.body)
	}
}

// A static instance listens to nothing, is no member, and passes the fence: what
// stops the writes of another does not stop its own.
func TestStaticDeploymentPaysNothing(t *testing.T) {
	for _, mode := range []string{"off", "notify"} {
		url := postgrestest.New(t)
		r := serve(t, url, "--cache-sync="+mode)
		connection, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close(context.WithoutCancel(t.Context())) }()
		var listening, members int
		if err := connection.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'),
			(SELECT count(*) FROM cache_member)`).Scan(&listening, &members); err != nil {
			t.Fatal(err)
		}
		// Who holds the fence exclusively stops the writes that take it.
		if _, err := connection.Exec(t.Context(), `SELECT pg_advisory_lock(4, 2)`); err != nil {
			t.Fatal(err)
		}
		written := make(chan answer, 1)
		go func() {
			written <- r.do("POST", "Patient", `{"resourceType":"Patient"}`, "Content-Type: application/fhir+json")
		}()
		stopped := false
		select {
		case a := <-written:
			if a.StatusCode != 201 {
				t.Errorf("%s: %d %s", mode, a.StatusCode, a.body)
			}
		case <-time.After(300 * time.Millisecond):
			stopped = true
		}
		if _, err := connection.Exec(t.Context(), `SELECT pg_advisory_unlock(4, 2)`); err != nil {
			t.Fatal(err)
		}
		if stopped {
			<-written
		}
		if pays := mode != "off"; stopped != pays || (listening > 0) != pays || (members > 0) != pays {
			t.Errorf("%s: stopped at the fence %v, %d connections listen, %d members", mode, stopped, listening, members)
		}
	}
}

// While releases are changed one instance after the other, the database may have a
// domain that this one does not know.
func TestDomainOfALaterRelease(t *testing.T) {
	url := postgrestest.New(t)
	one, other := serve(t, url, "--cache-lease=20s"), serve(t, url, "--cache-lease=20s")
	connection, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close(context.WithoutCancel(t.Context())) }()
	if _, err := connection.Exec(t.Context(), `INSERT INTO cache_version (domain, version) VALUES ('later', 7)`); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for _, r := range []*running{one, other} {
		if a := r.put("ValueSet/v", `{"resourceType":"ValueSet","id":"v","status":"active"}`); a.StatusCode != 201 && a.StatusCode != 200 {
			t.Errorf("%d %s", a.StatusCode, a.body)
		}
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("the changes waited %v for what nobody applies", took)
	}
}
