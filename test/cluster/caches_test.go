package cluster

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"starling/test/program"
)

// A SearchParameter, a StructureDefinition and a Subscription stored through
// nginx are in the snapshots of both instances within two seconds.
func TestSystemResourcesReachBothInstances(t *testing.T) {
	c := start(t)
	resources := []struct{ domain, target, body string }{
		{"routing", "SearchParameter/size", `{"resourceType":"SearchParameter","id":"size","url":"http://example.org/SearchParameter/size",
			"name":"Size","status":"active","description":"Size","code":"size","base":["Basic"],"type":"string","expression":"Basic.code.text"}`},
		{"validation", "StructureDefinition/size", `{"resourceType":"StructureDefinition","id":"size","url":"http://example.org/size",
			"name":"Size","status":"active","kind":"complex-type","abstract":false,"type":"Extension",
			"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Extension","derivation":"constraint",
			"context":[{"type":"element","expression":"Patient"}],"differential":{"element":[{"id":"Extension","path":"Extension"}]}}`},
		{"subscriptions", "Subscription/new", `{"resourceType":"Subscription","id":"new","status":"requested","reason":"test","criteria":"Basic?",
			"channel":{"type":"rest-hook","endpoint":"http://127.0.0.1:9/"}}`},
	}
	for _, r := range resources {
		snapshot := fmt.Sprintf(`starling_cache_resources{domain=%q}`, r.domain)
		var before [2]float64
		for i := range before {
			before[i] = c.metric(t, i, snapshot)
		}
		program.Want(t, http.StatusCreated, "PUT", c.base+"/"+r.target, []byte(r.body))
		written := time.Now()
		for i := range before {
			for c.metric(t, i, snapshot) != before[i]+1 {
				if time.Since(written) > 2*time.Second {
					t.Errorf("%s is not in the snapshot of instance %d after two seconds", r.target, i+1)
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
		t.Logf("%s is in both snapshots after %v", r.target, time.Since(written).Round(time.Millisecond))
	}
}
