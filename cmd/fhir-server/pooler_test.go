package main

import (
	"fmt"
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// strict is a profile that asks for an element of Basic.
func strict(asks string) string {
	return fmt.Sprintf(`{"resourceType":"StructureDefinition","id":"strict","url":"http://example.org/strict","name":"Strict","status":"active",
		"kind":"resource","abstract":false,"type":"Basic","baseDefinition":"http://hl7.org/fhir/StructureDefinition/Basic","derivation":"constraint",
		"differential":{"element":[{"id":"Basic.%[1]s","path":"Basic.%[1]s","min":1}]}}`, asks)
}

// basics are resources of that profile, by the element they have.
var basics = map[string]string{
	"created": `{"resourceType":"Basic","meta":{"profile":["http://example.org/strict"]},"code":{"text":"x"},"created":"2020-01-01"}`,
	"author":  `{"resourceType":"Basic","meta":{"profile":["http://example.org/strict"]},"code":{"text":"x"},"author":{"display":"x"}}`,
}

// With a PgBouncer in between two servers work as they do without, on poll, and
// say so; past it, for listening alone, on what was asked for.
func TestServersBehindPgBouncer(t *testing.T) {
	for _, c := range []struct{ mode, asked, used string }{
		{"transaction", "notify", "poll"},
		{"transaction", "logical", "poll"},
		{"session", "notify", "notify"},
		{"past", "notify", "notify"},
		{"past", "logical", "logical"},
	} {
		t.Run(c.mode+" "+c.asked, func(t *testing.T) {
			direct := postgrestest.New(t)
			flags := []string{"--cache-sync=" + c.asked}
			if c.mode == "past" {
				c.mode = "transaction"
				flags = append(flags, "--listen-database-url="+direct)
			}
			pooled := postgrestest.Pooler(t, direct, c.mode)
			servers := []*running{serve(t, pooled, flags...), serve(t, pooled, flags...)}
			for _, r := range servers {
				eventually(t, "the metrics name "+c.used, func() bool {
					return strings.Contains(metrics(t, r), `starling_cache_transport{transport="`+c.used+`"} 1`)
				})
			}
			alternate(t, servers)
			allInteractions(t, servers)
			for _, instance := range of(clusterStatus(t, servers[0]), "instance") {
				mode, used := one(t, instance.Part, "mode").ValueCode, one(t, instance.Part, "transport").ValueCode
				if mode != c.asked || used != c.used {
					t.Errorf("$cache-status: %s for %s, want %s for %s", used, mode, c.used, c.asked)
				}
			}
			for _, r := range servers {
				const says = "cache transport cannot work here"
				if c.used != c.asked {
					eventually(t, "the log says so", func() bool { return strings.Contains(r.log.String(), says) })
				} else if strings.Contains(r.log.String(), says) {
					t.Errorf("the log:\n%s", r.log)
				}
			}
		})
	}
}

// alternate replaces a profile on one server and at once sends the other what
// breaks it, and what it asks for.
func alternate(t *testing.T, servers []*running) {
	t.Helper()
	asks, other := "created", "author"
	for round := range 30 {
		one, two := servers[round%2], servers[(round+1)%2]
		if a := one.do("PUT", "StructureDefinition/strict", strict(asks)); a.StatusCode != 200 && a.StatusCode != 201 {
			t.Fatalf("round %d: the profile: %d %s", round, a.StatusCode, a.body)
		}
		if a := two.do("POST", "Basic", basics[other]); a.StatusCode != 400 { // a cardinality
			t.Fatalf("round %d: what breaks the profile: %d %s", round, a.StatusCode, a.body)
		}
		if a := two.do("POST", "Basic", basics[asks]); a.StatusCode != 201 {
			t.Fatalf("round %d: what the profile asks for: %d %s", round, a.StatusCode, a.body)
		}
		asks, other = other, asks
	}
}

// allInteractions uses what needs more of the database than a write.
func allInteractions(t *testing.T, servers []*running) {
	t.Helper()
	one, two := servers[0], servers[1]
	one.put("Patient/p", `{"resourceType":"Patient","id":"p","identifier":[{"system":"urn:s","value":"1"}]}`)
	transaction := `{"resourceType":"Bundle","type":"transaction","entry":[
		{"fullUrl":"urn:uuid:6a7a5c2e-0f4b-4f0c-9d31-6e1b7d0b3a11","resource":{"resourceType":"Patient","identifier":[{"system":"urn:s","value":"2"}]},
		 "request":{"method":"POST","url":"Patient","ifNoneExist":"identifier=urn:s|2"}},
		{"resource":{"resourceType":"Observation","status":"final","code":{"text":"x"},"subject":{"reference":"urn:uuid:6a7a5c2e-0f4b-4f0c-9d31-6e1b7d0b3a11"}},
		 "request":{"method":"POST","url":"Observation"}}]}`
	for _, request := range []struct {
		method, target, body string
		headers              []string
		status               int
		has                  string
	}{
		{"POST", "", transaction, nil, 200, "201"},
		{"POST", "", transaction, nil, 200, "200"},
		{"GET", "Patient?identifier=urn:s|2&_revinclude=Observation:subject", "", nil, 200, `"Observation"`},
		{"GET", "Observation?subject:Patient.identifier=urn:s|2&_sort=-_lastUpdated&_count=1&_total=accurate", "", nil, 200, `"total":2`},
		{"PUT", "Patient/p", `{"resourceType":"Patient","id":"p","active":true}`, []string{`If-Match: W/"1"`}, 200, ""},
		{"GET", "Patient/p/_history", "", nil, 200, `"total":2`},
		{"GET", "_history?_count=2", "", nil, 200, `"next"`},
		{"GET", "Patient/p/_history/1", "", nil, 200, `"value":"1"`},
		{"DELETE", "Patient/p", "", nil, 204, ""},
		{"GET", "Patient/p", "", nil, 410, ""},
	} {
		a := two.do(request.method, request.target, request.body, request.headers...)
		if a.StatusCode != request.status || !strings.Contains(string(a.body), request.has) {
			t.Errorf("%s %s: %d %s", request.method, request.target, a.StatusCode, a.body)
		}
	}
}
