package interaction

import (
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
)

func TestCreateReadUpdateDelete(t *testing.T) {
	s := newServer(t)
	const body = `{"resourceType":"Patient","id":"mine","meta":{"versionId":"9","lastUpdated":"2000-01-01T00:00:00Z","source":"http://s",` +
		`"profile":["http://hl7.org/fhir/StructureDefinition/Patient"],"tag":[{"code":"t"}]},"birthDate":"2000-01-01","active": true}`
	created := s.do(StatusCreated, "POST", "Patient", body)
	if created.VersionID != 1 || !created.Changed || created.Resource.ID == "mine" || len(created.Resource.ID) != 36 ||
		created.Location != "Patient/"+created.Resource.ID+"/_history/1" {
		t.Fatalf("created %+v", created)
	}
	at := "Patient/" + created.Resource.ID
	read := s.do(StatusOK, "GET", at, "")
	if read.VersionID != 1 || !read.LastUpdated.Equal(created.LastUpdated) {
		t.Errorf("read %+v", read)
	}
	equalJSON(t, read.Resource.AppendJSON(nil), `{"resourceType":"Patient","id":"`+created.Resource.ID+`","meta":{"versionId":"1","lastUpdated":"`+
		read.LastUpdated.Format(fhir.InstantFormat)+`","source":"http://s","profile":["http://hl7.org/fhir/StructureDefinition/Patient"],"tag":[{"code":"t"}]},`+
		`"birthDate":"2000-01-01","active":true}`)

	updated := s.do(StatusOK, "PUT", at, `{"resourceType":"Patient","id":"`+created.Resource.ID+`","active":false}`)
	if updated.VersionID != 2 || updated.Location != at+"/_history/2" {
		t.Errorf("updated %+v", updated)
	}
	if got := s.json(at + "/_history/1").Get("active").Literal(); got != "true" {
		t.Errorf("version 1 has active %s", got)
	}
	if got := s.json(at).Get("active").Literal(); got != "false" {
		t.Errorf("version 2 has active %s", got)
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", at+"/_history/3", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", at+"/_history/x", "")

	if gone := s.do(StatusNoContent, "DELETE", at, ""); gone.VersionID != 3 || !gone.Changed {
		t.Errorf("deleted %+v", gone)
	}
	if again := s.do(StatusNoContent, "DELETE", at, ""); again.VersionID != 3 || again.Changed {
		t.Errorf("deleted again %+v", again)
	}
	s.do(StatusNoContent, "DELETE", "Patient/never", "")
	if failure := s.refuse(fhir.KindGone, fhir.IssueDeleted, "GET", at, ""); failure.Resource == nil || failure.Resource.VersionID != 3 {
		t.Errorf("the failure has no version: %+v", failure)
	}
	s.refuse(fhir.KindGone, fhir.IssueDeleted, "GET", at+"/_history/3", "")
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "Patient/never", "")

	back := s.do(StatusCreated, "PUT", at, `{"resourceType":"Patient","id":"`+created.Resource.ID+`"}`)
	if back.VersionID != 4 {
		t.Errorf("brought back as version %d", back.VersionID)
	}
}

func TestUpdateRules(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", `{"resourceType":"Patient","id":"a"}`)
	s.do(StatusOK, "PUT", "Patient/a", `{"resourceType":"Patient","id":"a"}`)
	for _, c := range []struct {
		code fhir.IssueType
		body string
	}{
		{fhir.IssueRequired, `{"resourceType":"Patient"}`},
		{fhir.IssueInvalid, `{"resourceType":"Patient","id":"b"}`},
		{fhir.IssueInvalid, `{"resourceType":"Observation","id":"a"}`},
		{fhir.IssueRequired, `{"id":"a"}`},
		{fhir.IssueRequired, ``},
		{fhir.IssueStructure, `["Patient"]`},
		{fhir.IssueInvalid, `{"resourceType":"Patient","id":"a",}`},
		{fhir.IssueInvalid, `{"resourceType":"Patient","id":"a","id":"a"}`},
	} {
		s.refuse(fhir.KindInvalid, c.code, "PUT", "Patient/a", c.body)
	}
	failure := s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "PUT", "Patient/a", "{\"resourceType\":\"Patient\",\n  \"id\" \"a\"}")
	if !strings.Contains(failure.Issues[0].Diagnostics, "line 2, column 8") {
		t.Errorf("the place of the fault is not told: %v", failure)
	}
	failure = s.refuse(fhir.KindInvalid, fhir.IssueStructure, "PUT", "Patient/a", `{"resourceType":"Patient","id":"a","colour":"red"}`)
	if failure.Issues[0].Expression != "Patient.colour" {
		t.Errorf("the element is not named: %+v", failure.Issues)
	}
	if got := s.do(StatusOK, "GET", "Patient/a", "").VersionID; got != 2 {
		t.Errorf("what was refused made version %d", got)
	}

	const a = `{"resourceType":"Patient","id":"a"}`
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "PUT", "Patient/a", a, ifMatch(`W/"1"`))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "PUT", "Patient/a", a, ifMatch(`W/"x"`))
	s.do(StatusOK, "PUT", "Patient/a", a, ifMatch(`W/"2"`))
	s.do(StatusOK, "PUT", "Patient/a", a, ifMatch(`*`))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "PUT", "Patient/a", a, ifNoneMatch(`*`))
	const n = `{"resourceType":"Patient","id":"n"}`
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "PUT", "Patient/n", n, ifMatch(`*`))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "PUT", "Patient/n", n, ifMatch(`W/"1"`))
	s.do(StatusCreated, "PUT", "Patient/n", n, ifNoneMatch(`*`))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "DELETE", "Patient/n", "", ifMatch(`W/"2"`))
	s.do(StatusNoContent, "DELETE", "Patient/n", "", ifMatch(`W/"1"`))
}

func TestConditionalRead(t *testing.T) {
	s := newServer(t)
	created := s.do(StatusCreated, "PUT", "Patient/a", `{"resourceType":"Patient","id":"a"}`)
	if same := s.do(StatusNotModified, "GET", "Patient/a", "", ifNoneMatch(`W/"1"`)); same.Resource != nil || same.VersionID != 1 {
		t.Errorf("%+v", same)
	}
	s.do(StatusOK, "GET", "Patient/a", "", ifNoneMatch(`W/"2"`))
	since := func(at time.Time) func(*Request) { return func(r *Request) { r.IfModifiedSince = at } }
	s.do(StatusNotModified, "GET", "Patient/a", "", since(created.LastUpdated.Truncate(time.Second)))
	s.do(StatusOK, "GET", "Patient/a", "", since(created.LastUpdated.Add(-time.Minute)))
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "GET", "Patient/a?_summary=count", "")
	if reduced := s.do(StatusOK, "GET", "Patient/a?_summary=true", ""); !strings.Contains(string(reduced.Body), "SUBSETTED") || reduced.VersionID != 1 {
		t.Errorf("%s", reduced.Body)
	}
}

func TestBinary(t *testing.T) {
	s := newServer(t)
	raw := func(r *Request) { r.ContentType, r.SecurityContext = "text/plain", "Patient/a" }
	created := s.do(StatusCreated, "POST", "Binary", "hello\x00", raw)
	got := s.json("Binary/" + created.Resource.ID)
	if got.Get("contentType").Str() != "text/plain" || got.Get("data").Str() != "aGVsbG8A" ||
		got.Get("securityContext").Get("reference").Str() != "Patient/a" {
		t.Errorf("stored %s", got.Raw())
	}
	s.do(StatusOK, "PUT", "Binary/"+created.Resource.ID, "other", raw)
	s.do(StatusCreated, "POST", "Binary", `{"resourceType":"Binary","contentType":"image/png","data":"AAAA"}`)
	s.refuse(fhir.KindMethodNotAllowed, fhir.IssueNotSupported, "GET", "Binary?_id=1", "")
}

func TestHistory(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", `{"resourceType":"Patient","id":"a"}`)
	created := s.do(StatusCreated, "POST", "Patient", patient("", "1"))
	second := s.do(StatusOK, "PUT", "Patient/a", `{"resourceType":"Patient","id":"a","active":true}`)
	s.do(StatusCreated, "PUT", "Organization/o", `{"resourceType":"Organization","id":"o","name":"o"}`)
	s.do(StatusNoContent, "DELETE", "Patient/a", "")

	instance := s.bundle("history", "GET", "Patient/a/_history", "")
	if instance.Get("total").Literal() != "3" || instance.Get("entry").Len() != 3 {
		t.Fatalf("%s", instance.Raw())
	}
	for i, want := range []string{"DELETE Patient/a 204 No Content", "PUT Patient/a 200 OK", "PUT Patient/a 201 Created"} {
		entry := instance.Get("entry").At(i)
		request := entry.Get("request")
		got := request.Get("method").Str() + " " + request.Get("url").Str() + " " + entry.Get("response").Get("status").Str()
		if got != want || entry.Get("fullUrl").Str() != base+"/Patient/a" || entry.Get("resource").Exists() != (i > 0) {
			t.Errorf("entry %d: %s", i, entry.Raw())
		}
	}
	if got := instance.Get("entry").At(1).Get("response").Get("etag").Str(); got != `W/"2"` {
		t.Errorf("etag %s", got)
	}
	if updated, err := parseInstant(instance.Get("meta").Get("lastUpdated").Str()); err != nil || updated.Before(second.LastUpdated) {
		t.Errorf("the history is complete up to %s, %v", updated, err)
	}
	if got := s.bundle("history", "GET", "Patient/_history", "").Get("entry").Len(); got != 4 {
		t.Errorf("%d versions of the type", got)
	}
	system := s.bundle("history", "GET", "_history?_count=2", "")
	seen := map[string]bool{}
	for pages := 1; ; pages++ {
		for entry := range system.Get("entry").Children() {
			key := entry.Get("fullUrl").Str() + entry.Get("response").Get("etag").Str()
			if seen[key] {
				t.Errorf("%s came twice", key)
			}
			seen[key] = true
		}
		next := pageLink(system, "next")
		if next == "" {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		system = s.bundle("history", "GET", next, "")
	}
	if len(seen) != 5 {
		t.Errorf("%d versions in the system", len(seen))
	}
	since := "?_since=" + strings.ReplaceAll(second.LastUpdated.Format(fhir.InstantFormat), "+", "%2B")
	if got := s.bundle("history", "GET", "Patient/a/_history"+since, "").Get("entry").Len(); got != 2 {
		t.Errorf("%d versions since the second", got)
	}
	if got := s.bundle("history", "GET", "Patient/a/_history?_count=0", "").Get("entry").Len(); got != 0 {
		t.Errorf("%d entries for _count=0", got)
	}
	if got := s.bundle("history", "GET", "Patient/"+created.Resource.ID+"/_history?_at=2000", "").Get("entry").Len(); got != 0 {
		t.Errorf("%d versions in the year 2000", got)
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "Patient/never/_history", "")
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "Patient/a/_history?_since=2024", "")
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "GET", "Patient/a/_history?_count=1&_count=2", "")
}
