package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/postgres/postgrestest"
	"starling/internal/validation"
)

// part is a parameter of Parameters, or a part of one.
type part struct {
	Name          string
	ValueString   string
	ValueCode     string
	ValueBoolean  *bool
	ValueDecimal  json.Number
	ValueDuration *struct{ Value float64 }
	Part          []part
}

// of gives the parts of a name.
func of(parts []part, name string) (found []part) {
	for _, p := range parts {
		if p.Name == name {
			found = append(found, p)
		}
	}
	return found
}

// one gives the part of a name that must be there once.
func one(t *testing.T, parts []part, name string) part {
	t.Helper()
	found := of(parts, name)
	if len(found) != 1 {
		t.Fatalf("%d parts %s in %+v", len(found), name, parts)
	}
	return found[0]
}

// clusterStatus asks at the admin address and checks that what is answered is
// a valid resource.
func clusterStatus(t *testing.T, r *running) []part {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.admin+"/fhir/$cache-status", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := send(t, request)
	if a.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	tree, err := element.Parse(a.body, element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for _, issue := range validation.New(definition.R4()).Validate("Parameters", tree.Root()) {
		if issue.Severity == fhir.SeverityError || issue.Severity == fhir.SeverityFatal {
			t.Errorf("%+v in %s", issue, a.body)
		}
	}
	var status struct{ Parameter []part }
	if err := json.Unmarshal(a.body, &status); err != nil {
		t.Fatal(err)
	}
	return status.Parameter
}

// $cache-status tells of every instance what it serves and whether it may.
func TestCacheStatusListsEveryInstance(t *testing.T) {
	url := postgrestest.New(t)
	first := serve(t, url)
	second := serve(t, url, "--validation=schema")
	first.put("ValueSet/v", `{"resourceType":"ValueSet","id":"v","status":"active","url":"http://example.org/v"}`)
	addresses := map[string]string{first.base: "full", second.base: "schema"}
	for _, asked := range []*running{first, second} {
		eventually(t, "both have applied what both know of", func() bool {
			status := clusterStatus(t, asked)
			versions := map[string]string{}
			for _, domain := range of(status, "domain") {
				versions[one(t, domain.Part, "name").ValueCode] = one(t, domain.Part, "version").ValueDecimal.String()
			}
			if len(versions) != 3 || versions["validation"] != "2" || versions["routing"] != "1" {
				t.Fatalf("versions %v", versions)
			}
			instances := of(status, "instance")
			if len(instances) != 2 || len(of(status, "lost")) != 0 {
				t.Fatalf("%d instances in %+v", len(instances), status)
			}
			for _, instance := range instances {
				address, level := one(t, instance.Part, "address").ValueString, one(t, instance.Part, "validation").ValueCode
				if addresses[address] != level || one(t, instance.Part, "transport").ValueCode != "notify" || one(t, instance.Part, "mode").ValueCode != "notify" {
					t.Fatalf("%s %+v", address, instance)
				}
				if *one(t, instance.Part, "answering").ValueBoolean != (address == asked.base) {
					t.Fatalf("asked %s: %+v", asked.base, instance)
				}
				if one(t, instance.Part, "lineage").ValueString != one(t, status, "lineage").ValueString {
					t.Fatalf("%+v", instance)
				}
				lease := one(t, instance.Part, "lease")
				age := one(t, lease.Part, "age").ValueDuration.Value
				if one(t, lease.Part, "limit").ValueDuration.Value != 2 || *one(t, lease.Part, "valid").ValueBoolean != (age < 2) {
					t.Fatalf("%+v", lease)
				}
				if !*one(t, lease.Part, "valid").ValueBoolean {
					return false // a busy machine
				}
				for _, domain := range of(instance.Part, "domain") {
					if !*one(t, domain.Part, "current").ValueBoolean {
						return false
					}
					if name := one(t, domain.Part, "name").ValueCode; one(t, domain.Part, "applied").ValueDecimal.String() != versions[name] {
						t.Fatalf("%s of %+v", name, instance)
					}
				}
			}
			return true
		})
	}
	second.stop()
	<-second.ended
	if status := clusterStatus(t, first); len(of(status, "instance")) != 1 {
		t.Errorf("after one has ended: %+v", status)
	}
}

// An instance without listener, lease and membership says so.
func TestCacheStatusOfAStaticInstance(t *testing.T) {
	status := clusterStatus(t, serve(t, postgrestest.New(t), "--cache-sync=off"))
	instance := one(t, status, "instance")
	lease := one(t, instance.Part, "lease")
	if one(t, instance.Part, "transport").ValueCode != "off" || *one(t, lease.Part, "valid").ValueBoolean || len(of(lease.Part, "age")) != 0 {
		t.Errorf("%+v", instance)
	}
	if len(of(instance.Part, "domain")) != 3 {
		t.Errorf("%+v", instance)
	}
}

// At the API's address it is for those who have the operators' token, and the
// CapabilityStatement names it if there is one.
func TestCacheStatusIsForOperators(t *testing.T) {
	const token = "correct horse battery"
	url := postgrestest.New(t)
	open, guarded := serve(t, url), serve(t, url, "--operator-token="+token)
	for _, c := range []struct {
		server *running
		header string
		status int
		code   string
	}{
		{open, "", 403, "forbidden"},
		{open, "Bearer ", 403, "forbidden"},
		{open, "Bearer " + token, 403, "forbidden"},
		{guarded, "", 401, "login"},
		{guarded, "Bearer", 401, "login"},
		{guarded, "Bearer " + token + "x", 401, "login"},
		{guarded, "Basic " + token, 401, "login"},
		{guarded, "Bearer " + token, 200, ""},
		{guarded, "bearer " + token, 200, ""},
	} {
		a := c.server.do("GET", "$cache-status", "", "Authorization: "+c.header)
		if a.StatusCode != c.status || c.code != "" && a.code() != c.code {
			t.Errorf("%q: %d %s", c.header, a.StatusCode, a.body)
		}
		if challenge := a.Header.Get("WWW-Authenticate"); (challenge != "") != (c.status == 401) {
			t.Errorf("%q: WWW-Authenticate %q", c.header, challenge)
		}
		if c.status != 200 && strings.Contains(string(a.body), "valueDuration") {
			t.Errorf("%q: %s", c.header, a.body)
		}
	}
	bundle := `{"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"GET","url":"$cache-status"}}]}`
	if a := guarded.do("POST", "", bundle); !strings.Contains(string(a.body), `"status":"401`) {
		t.Errorf("in a batch: %s", a.body)
	}
	if a := guarded.do("POST", "", bundle, "Authorization: Bearer "+token); !strings.Contains(string(a.body), `"status":"200`) {
		t.Errorf("in an operator's batch: %s", a.body)
	}
	if a := guarded.do("GET", "metadata", ""); !strings.Contains(string(a.body), `"name":"cache-status"`) {
		t.Error("it is not in the CapabilityStatement")
	}
	if a := open.do("GET", "metadata", ""); strings.Contains(string(a.body), "cache-status") {
		t.Error("it is in the CapabilityStatement, but served to nobody here")
	}
}

// Before the API serves, the admin address does already.
func TestCacheStatusWhileTheDatabaseIsOpened(t *testing.T) {
	recorder := httptest.NewRecorder()
	(&server{}).cacheStatus(recorder, nil)
	if recorder.Code != http.StatusServiceUnavailable {
		t.Errorf("%d before the API serves", recorder.Code)
	}
}
