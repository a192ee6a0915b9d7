package interaction

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"starling/internal/fhir"
)

func observation(subject string) string {
	return `{"resourceType":"Observation","status":"final","code":{"text":"c"},"subject":{"reference":"` + subject + `"}}`
}

func TestTransactionRewritesLinks(t *testing.T) {
	s := newServer(t)
	got := s.bundle("transaction-response", "POST", "", bundleJSON("transaction",
		withFullURL("urn:uuid:0b0b0b0b-0000-4000-8000-000000000001", entryJSON("POST", "Observation",
			`{"resourceType":"Observation","text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\"><a href=\"urn:uuid:0b0b0b0b-0000-4000-8000-000000000002\">x</a></div>"},`+
				`"status":"final","code":{"text":"c"},"subject":{"reference":"urn:uuid:0b0b0b0b-0000-4000-8000-000000000002"},"valueQuantity":{"value":1.100}}`)),
		withFullURL("urn:uuid:0b0b0b0b-0000-4000-8000-000000000002", entryJSON("POST", "Patient", patient("", "1"))),
		withFullURL("http://x.org/fhir/Patient/p", entryJSON("PUT", "Patient/q", patient("q", "2"))),
		withFullURL("http://x.org/fhir/Observation/o", entryJSON("POST", "Observation", observation("Patient/p"))),
	))
	if want := []string{"201", "201", "201", "201"}; !slices.Equal(statusesOf(got), want) {
		t.Fatalf("%s", got.Raw())
	}
	patientAt := "Patient/" + id(locationOf(got, 1))
	stored := s.json("Observation/" + id(locationOf(got, 0)))
	if to := stored.Get("subject").Get("reference").Str(); to != patientAt {
		t.Errorf("the reference is %s, want %s", to, patientAt)
	}
	if div := stored.Get("text").Get("div").Str(); !strings.Contains(div, `<a href="`+patientAt+`">`) {
		t.Errorf("the narrative is %s", div)
	}
	if value := stored.Get("valueQuantity").Get("value").Literal(); value != "1.100" {
		t.Errorf("the value is %s", value)
	}
	if to := s.json("Observation/" + id(locationOf(got, 3))).Get("subject").Get("reference").Str(); to != "Patient/q" {
		t.Errorf("the relative reference is %s", to)
	}
	// The values of the index are those of what was stored.
	if found := s.bundle("searchset", "GET", "Observation?subject="+patientAt, "").Get("entry").Len(); found != 1 {
		t.Errorf("%d found by the rewritten reference", found)
	}
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/old", patient("old", "0"))
	good := entryJSON("PUT", "Patient/x", patient("x", "1"))
	for name, c := range map[string]struct {
		kind       fhir.Kind
		code       fhir.IssueType
		bad        string
		expression string
	}{
		"invalid":         {fhir.KindInvalid, fhir.IssueStructure, entryJSON("POST", "Patient", `{"resourceType":"Patient","colour":1}`), "Bundle.entry[1].resource.colour"},
		"precondition":    {fhir.KindPreconditionFailed, fhir.IssueConflict, entryJSON("PUT", "Patient/old", patient("old", "0"), `,"ifMatch":"W/\"7\""`), "Bundle.entry[1]"},
		"read of nothing": {fhir.KindInvalid, fhir.IssueNotFound, entryJSON("GET", "Patient/never", ""), "Bundle.entry[1]"},
		"identity twice":  {fhir.KindInvalid, fhir.IssueDuplicate, entryJSON("DELETE", "Patient/x", ""), "Bundle.entry[0]"},
		"id mismatch":     {fhir.KindInvalid, fhir.IssueInvalid, entryJSON("PUT", "Patient/y", patient("z", "1")), "Bundle.entry[1].resource.id"},
		"unknown type":    {fhir.KindInvalid, fhir.IssueNotFound, entryJSON("GET", "Colour/1", ""), "Bundle.entry[1]"},
		"no request":      {fhir.KindInvalid, fhir.IssueRequired, `{"resource":` + patient("", "1") + `}`, "Bundle.entry[1]"},
		"reference, none": {fhir.KindPreconditionFailed, fhir.IssueNotFound, entryJSON("POST", "Observation", observation("Patient?"+identifier("none"))), "Bundle.entry[1]"},
		"reference, no parameter": {
			fhir.KindInvalid, fhir.IssueNotSupported, entryJSON("POST", "Observation", observation("Patient?colour=red")), "Bundle.entry[1]",
		},
	} {
		failure := s.refuse(c.kind, c.code, "POST", "", bundleJSON("transaction", good, c.bad))
		if got := failure.Issues[0].Expression; got != c.expression {
			t.Errorf("%s: the issue names %s, want %s", name, got, c.expression)
		}
		s.refuse(fhir.KindNotFound, fhir.IssueNotFound, "GET", "Patient/x", "")
	}
	if got := s.bundle("transaction-response", "POST", "", bundleJSON("transaction")).Get("entry").Len(); got != 0 {
		t.Errorf("%d entries", got)
	}
}

func TestTransactionOrder(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", patient("a", "1"))
	// Sent in the opposite order: the read sees the update, the create comes
	// after the deletion of what would have matched.
	got := s.bundle("transaction-response", "POST", "", bundleJSON("transaction",
		entryJSON("GET", "Patient?"+identifier("2"), ""),
		entryJSON("GET", "Patient/b", ""),
		entryJSON("PUT", "Patient/b", patient("b", "2")),
		entryJSON("POST", "Patient", patient("", "1"), `,"ifNoneExist":"`+identifier("1")+`"`),
		entryJSON("DELETE", "Patient/a", ""),
		entryJSON("GET", "Patient/b/_history", ""),
	))
	if want := []string{"200", "200", "201", "201", "204", "200"}; !slices.Equal(statusesOf(got), want) {
		t.Fatalf("%s", got.Raw())
	}
	entries := got.Get("entry")
	if entries.At(0).Get("resource").Get("entry").Len() != 1 || entries.At(1).Get("resource").Get("id").Str() != "b" ||
		entries.At(5).Get("resource").Get("entry").Len() != 1 {
		t.Errorf("%s", got.Raw())
	}
}

func TestTransactionConditions(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/known", patient("known", "1"))
	s.do(StatusCreated, "PUT", "Patient/old", patient("old", "3"))
	got := s.bundle("transaction-response", "POST", "", bundleJSON("transaction",
		withFullURL("urn:uuid:0b0b0b0b-0000-4000-8000-000000000001", entryJSON("POST", "Patient", patient("", "1"), `,"ifNoneExist":"`+identifier("1")+`"`)),
		withFullURL("urn:uuid:0b0b0b0b-0000-4000-8000-000000000002", entryJSON("PUT", "Patient?"+identifier("2"), patient("", "2"))),
		entryJSON("DELETE", "Patient?"+identifier("3"), ""),
		entryJSON("POST", "Observation", observation("urn:uuid:0b0b0b0b-0000-4000-8000-000000000001")),
		entryJSON("POST", "Observation", observation("urn:uuid:0b0b0b0b-0000-4000-8000-000000000002")),
		entryJSON("DELETE", "Patient?"+identifier("none"), ""),
	))
	if want := []string{"200", "201", "204", "201", "201", "204"}; !slices.Equal(statusesOf(got), want) {
		t.Fatalf("%s", got.Raw())
	}
	if to := s.json("Observation/" + id(locationOf(got, 3))).Get("subject").Get("reference").Str(); to != "Patient/known" {
		t.Errorf("the link to what was found became %s", to)
	}
	if to := s.json("Observation/" + id(locationOf(got, 4))).Get("subject").Get("reference").Str(); to != "Patient/"+id(locationOf(got, 1)) {
		t.Errorf("the link to what was made became %s", to)
	}
	s.refuse(fhir.KindGone, fhir.IssueDeleted, "GET", "Patient/old", "")

	again := s.bundle("transaction-response", "POST", "", bundleJSON("transaction",
		withFullURL("urn:uuid:0b0b0b0b-0000-4000-8000-000000000002", entryJSON("PUT", "Patient?"+identifier("2"), patient("", "2"))),
		entryJSON("POST", "Observation", observation("urn:uuid:0b0b0b0b-0000-4000-8000-000000000002")),
	))
	if statusesOf(again)[0] != "200" || id(locationOf(again, 0)) != id(locationOf(got, 1)) {
		t.Errorf("%s", again.Raw())
	}
	if to := s.json("Observation/" + id(locationOf(again, 1))).Get("subject").Get("reference").Str(); to != "Patient/"+id(locationOf(got, 1)) {
		t.Errorf("the link to what was updated became %s", to)
	}

	// Equal criteria in one transaction make one resource.
	twins := s.bundle("transaction-response", "POST", "", bundleJSON("transaction",
		withFullURL("urn:uuid:0b0b0b0b-0000-4000-8000-000000000001", entryJSON("POST", "Patient", patient("", "5"), `,"ifNoneExist":"`+identifier("5")+`"`)),
		withFullURL("urn:uuid:0b0b0b0b-0000-4000-8000-000000000002", entryJSON("POST", "Patient", patient("", "5"), `,"ifNoneExist":"`+identifier("5")+`"`)),
		entryJSON("POST", "Observation", observation("urn:uuid:0b0b0b0b-0000-4000-8000-000000000002")),
	))
	if want := []string{"201", "200", "201"}; !slices.Equal(statusesOf(twins), want) || locationOf(twins, 0) != locationOf(twins, 1) {
		t.Errorf("%s", twins.Raw())
	}
	if to := s.json("Observation/" + id(locationOf(twins, 2))).Get("subject").Get("reference").Str(); to != "Patient/"+id(locationOf(twins, 0)) {
		t.Errorf("the link to the twin became %s", to)
	}
	s.refuse(fhir.KindInvalid, fhir.IssueDuplicate, "POST", "", bundleJSON("transaction",
		entryJSON("PUT", "Patient?"+identifier("6"), patient("", "6")), entryJSON("PUT", "Patient?"+identifier("6"), patient("", "6"))))
	s.refuse(fhir.KindInvalid, fhir.IssueDuplicate, "POST", "", bundleJSON("transaction",
		entryJSON("PUT", "Patient?"+identifier("1"), patient("", "1")), entryJSON("PUT", "Patient/known", patient("known", "1"))))
}

func TestConditionalReferences(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/known", patient("known", "1"))
	// What is there already, and what the transaction itself writes.
	got := s.bundle("transaction-response", "POST", "", bundleJSON("transaction",
		entryJSON("POST", "Observation", observation("Patient?"+identifier("1"))),
	))
	if to := s.json("Observation/" + id(locationOf(got, 0))).Get("subject").Get("reference").Str(); to != "Patient/known" {
		t.Errorf("the reference became %s", to)
	}
	got = s.bundle("transaction-response", "POST", "", bundleJSON("transaction",
		entryJSON("POST", "Observation", observation("Patient?"+identifier("2"))),
		entryJSON("POST", "Observation", observation(base+"/Patient?"+identifier("1"))),
		entryJSON("POST", "Patient", patient("", "2")),
		entryJSON("GET", "Observation?subject=Patient/known", ""),
	))
	at := "Observation/" + id(locationOf(got, 0))
	made := "Patient/" + id(locationOf(got, 2))
	if to := s.json(at).Get("subject").Get("reference").Str(); to != made {
		t.Errorf("the reference became %s, want %s", to, made)
	}
	if versions := s.bundle("history", "GET", at+"/_history", "").Get("entry").Len(); versions != 1 {
		t.Errorf("resolving made %d versions", versions)
	}
	if found := s.bundle("searchset", "GET", "Observation?subject="+made, "").Get("entry").Len(); found != 1 {
		t.Errorf("%d found by the reference", found)
	}
	if found := got.Get("entry").At(3).Get("resource").Get("entry").Len(); found != 2 {
		t.Errorf("the transaction's own search found %d", found)
	}
	s.do(StatusCreated, "POST", "Patient", patient("", "1"))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueMultipleMatches, "POST", "", bundleJSON("transaction",
		entryJSON("POST", "Observation", observation("Patient?"+identifier("1")))))
	// A batch does not resolve them.
	batch := s.bundle("batch-response", "POST", "", bundleJSON("batch", entryJSON("POST", "Observation", observation("Patient?"+identifier("2")))))
	if status := statusesOf(batch)[0]; status == "201" {
		if to := s.json("Observation/" + id(locationOf(batch, 0))).Get("subject").Get("reference").Str(); to != "Patient?"+identifier("2") {
			t.Errorf("a batch made the reference %s", to)
		}
	}
}

// TestTransactionsInOppositeOrders updates the same resources in opposite
// orders: no client hears of a deadlock, and no transaction is half done.
func TestTransactionsInOppositeOrders(t *testing.T) {
	s := newServer(t)
	ids := []string{"a", "b", "c", "d"}
	var group sync.WaitGroup
	for client := range 4 {
		group.Go(func() {
			for n := range 10 {
				entries := make([]string, len(ids))
				value := strconv.Itoa(client*100 + n)
				for i, id := range ids {
					entries[i] = entryJSON("PUT", "Patient/"+id, patient(id, value))
				}
				if client%2 == 1 {
					slices.Reverse(entries)
				}
				if _, err := s.try("POST", "", bundleJSON("transaction", entries...)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for version := 1; version <= 40; version++ {
		seen := map[string]bool{}
		for _, id := range ids {
			seen[s.json("Patient/"+id+"/_history/"+strconv.Itoa(version)).Get("identifier").At(0).Get("value").Str()] = true
		}
		if len(seen) != 1 {
			t.Errorf("version %d of the four has the values %v", version, seen)
		}
	}
}
