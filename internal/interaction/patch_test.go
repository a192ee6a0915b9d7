package interaction

import (
	"encoding/base64"
	"slices"
	"strconv"
	"sync"
	"testing"

	"starling/internal/fhir"
)

func jsonPatch(r *Request) { r.ContentType = jsonPatchType }

func patchEntry(url, patch string) string {
	return entryJSON("PATCH", url, `{"resourceType":"Binary","contentType":"`+jsonPatchType+`","data":"`+
		base64.StdEncoding.EncodeToString([]byte(patch))+`"}`)
}

func TestPatch(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Observation/a", `{"resourceType":"Observation","id":"a","meta":{"tag":[{"code":"t"}]},"status":"preliminary",`+
		`"code":{"text":"a<b"},"valueQuantity":{"value":1.100}}`)
	patched := s.do(StatusOK, "PATCH", "Observation/a", `[{"op":"test","path":"/status","value":"preliminary"},
		{"op":"replace","path":"/status","value":"final"},{"op":"add","path":"/valueQuantity/unit","value":"mg"}]`, jsonPatch)
	if patched.VersionID != 2 || patched.Location != "Observation/a/_history/2" {
		t.Errorf("%+v", patched)
	}
	got := s.do(StatusOK, "GET", "Observation/a", "").Resource
	if body, want := string(got.Body), `,"status":"final","code":{"text":"a<b"},"valueQuantity":{"value":1.100,"unit":"mg"}`; body != want ||
		string(got.Meta) != `,"tag":[{"code":"t"}]` {
		t.Errorf("%s %s", got.Meta, body)
	}
	entry := s.bundle("history", "GET", "Observation/a/_history", "").Get("entry").At(0)
	if method := entry.Get("request").Get("method").Str(); method != "PATCH" {
		t.Errorf("the history says %s", method)
	}

	for _, c := range []struct {
		kind  fhir.Kind
		code  fhir.IssueType
		patch string
	}{
		{fhir.KindInvalid, fhir.IssueInvalid, `[{`},
		{fhir.KindInvalid, fhir.IssueStructure, `{"op":"remove","path":"/status"}`},
		{fhir.KindInvalid, fhir.IssueStructure, `[{"op":"drop","path":"/status"}]`},
		{fhir.KindInvalid, fhir.IssueStructure, `[{"op":"remove","path":"status"}]`},
		{fhir.KindInvalid, fhir.IssueStructure, `[{"op":"remove"}]`},
		{fhir.KindInvalid, fhir.IssueStructure, `[{"op":"add","path":"/status"}]`},
		{fhir.KindInvalid, fhir.IssueStructure, `[{"op":"copy","path":"/status"}]`},
		{fhir.KindInvalid, fhir.IssueStructure, `[{"op":"add","path":"/a~2","value":1}]`},
		{fhir.KindConflict, fhir.IssueConflict, `[{"op":"test","path":"/status","value":"amended"}]`},
		{fhir.KindConflict, fhir.IssueConflict, `[{"op":"remove","path":"/note"}]`},
		{fhir.KindConflict, fhir.IssueConflict, `[{"op":"replace","path":"/note/0","value":1}]`},
		{fhir.KindInvalid, fhir.IssueStructure, `[{"op":"add","path":"/colour","value":"red"}]`},
		{fhir.KindInvalid, fhir.IssueRequired, `[{"op":"remove","path":"/status"}]`},
		{fhir.KindInvalid, fhir.IssueInvalid, `[{"op":"replace","path":"/id","value":"b"}]`},
		{fhir.KindInvalid, fhir.IssueInvalid, `[{"op":"replace","path":"/resourceType","value":"Patient"}]`},
		{fhir.KindInvalid, fhir.IssueStructure, `[{"op":"replace","path":"","value":[]}]`},
	} {
		s.refuse(c.kind, c.code, "PATCH", "Observation/a", c.patch, jsonPatch)
	}
	s.refuse(fhir.KindUnsupportedMedia, fhir.IssueNotSupported, "PATCH", "Observation/a", `{"resourceType":"Parameters"}`,
		func(r *Request) { r.ContentType = "application/fhir+json" })
	const final = `[{"op":"replace","path":"/status","value":"final"}]`
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "PATCH", "Observation/a", final, jsonPatch, ifMatch(`W/"1"`))
	s.do(StatusOK, "PATCH", "Observation/a", final, jsonPatch, ifMatch(`W/"2"`))
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "PATCH", "Observation/never", final, jsonPatch)
	s.do(StatusNoContent, "DELETE", "Observation/a", "")
	s.refuse(fhir.KindGone, fhir.IssueDeleted, "PATCH", "Observation/a", final, jsonPatch)
}

func TestConditionalPatch(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", patient("a", "1"))
	const patch = `[{"op":"add","path":"/active","value":true}]`
	s.do(StatusOK, "PATCH", "Patient?"+identifier("1"), patch, jsonPatch)
	if got := s.json("Patient/a").Get("active").Literal(); got != "true" {
		t.Errorf("active is %q", got)
	}
	s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "PATCH", "Patient?"+identifier("9"), patch, jsonPatch)
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "PATCH", "Patient", patch, jsonPatch)
	s.do(StatusCreated, "PUT", "Patient/b", patient("b", "1"))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueMultipleMatches, "PATCH", "Patient?"+identifier("1"), patch, jsonPatch)
}

func TestPatchInBundles(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", patient("a", "1"))
	s.do(StatusCreated, "PUT", "Patient/b", patient("b", "2"))
	active := func(value string) string { return `[{"op":"add","path":"/active","value":` + value + `}]` }
	for _, kind := range []string{"batch", "transaction"} {
		got := s.bundle(kind+"-response", "POST", "", bundleJSON(kind,
			entryJSON("GET", "Patient?active=true", ""), patchEntry("Patient/a", active("true")), patchEntry("Patient?"+identifier("2"), active("true"))))
		if want := []string{"200", "200", "200"}; !slices.Equal(statusesOf(got), want) {
			t.Fatalf("%s", got.Raw())
		}
		if found := got.Get("entry").At(0).Get("resource").Get("entry").Len(); found != 2 {
			t.Errorf("%d are active", found)
		}
		failure := s.refuse(fhir.KindConflict, fhir.IssueConflict, "POST", "", bundleJSON("transaction",
			patchEntry("Patient/a", active("false")), patchEntry("Patient/b", `[{"op":"remove","path":"/name"}]`)))
		if failure.Issues[0].Expression != "Bundle.entry[1]" || s.json("Patient/a").Get("active").Literal() != "true" {
			t.Errorf("%v", failure.Issues)
		}
	}
	s.refuse(fhir.KindInvalid, fhir.IssueDuplicate, "POST", "", bundleJSON("transaction",
		patchEntry("Patient/a", active("false")), entryJSON("PUT", "Patient/a", patient("a", "1"))))
}

// TestPatchesAtOnce loses none of several patches of one resource.
func TestPatchesAtOnce(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", `{"resourceType":"Patient","id":"a","identifier":[{"value":"x"}]}`)
	var group sync.WaitGroup
	for i := range 5 {
		group.Go(func() {
			patch := `[{"op":"add","path":"/identifier/-","value":{"value":"` + strconv.Itoa(i) + `"}}]`
			if _, err := s.try("PATCH", "Patient/a", patch, jsonPatch); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := s.json("Patient/a").Get("identifier").Len(); got != 6 {
		t.Errorf("%d identifiers, want 6", got)
	}
}

func FuzzPatch(f *testing.F) {
	for _, patch := range []string{
		`[{"op":"add","path":"/name/-","value":{}}]`, `[{"op":"move","from":"/name/0","path":"/name"}]`,
		`[{"op":"copy","from":"","path":"/a~1b"}]`, `[{"op":"test","path":"/active","value":null}]`, `[{"op":"remove","path":"/name/-1"}]`,
	} {
		f.Add(patch)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := &Service{}
		patch, err := s.readPatch(&Request{ContentType: jsonPatchType, Body: []byte(text)})
		if err != nil {
			return
		}
		got, err := applyPatch(resource(t, `{"resourceType":"Patient","active":true,"name":[{"given":["a"]},{"text":"b"}]}`), patch)
		if err != nil {
			return
		}
		if _, err := s.parse(got); err != nil && Failure(err).Kind == fhir.KindInternal {
			t.Errorf("%v of %s", err, got)
		}
	})
}
