package interaction

import (
	"sync"
	"testing"

	"starling/internal/fhir"
)

func TestConditionalCreate(t *testing.T) {
	s := newServer(t)
	first := s.do(StatusCreated, "POST", "Patient", patient("", "1"), ifNoneExist(identifier("1")))
	second := s.do(StatusOK, "POST", "Patient", patient("", "1"), ifNoneExist(identifier("1")))
	if second.Location != first.Location || second.Changed || second.Resource.ID != first.Resource.ID {
		t.Errorf("the second create answered %+v", second)
	}
	s.do(StatusCreated, "POST", "Patient", patient("", "1"))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueMultipleMatches, "POST", "Patient", patient("", "1"), ifNoneExist(identifier("1")))
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "POST", "Patient", patient("", "2"), ifNoneExist(identifier("2")+"&colour=red"))
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "POST", "Patient", patient("", "2"), ifNoneExist("_format=json"))
}

func TestEqualConditionalCreatesMakeOneResource(t *testing.T) {
	s := newServer(t)
	var group sync.WaitGroup
	locations := make([]string, 20)
	for i := range locations {
		group.Go(func() {
			response, err := s.try("POST", "Patient", patient("", "1"), ifNoneExist(identifier("1")))
			if err != nil {
				t.Error(err)
				return
			}
			locations[i] = response.Location
		})
	}
	group.Wait()
	for _, location := range locations {
		if location != locations[0] {
			t.Errorf("%s and %s", location, locations[0])
		}
	}
}

func TestConditionalUpdate(t *testing.T) {
	s := newServer(t)
	at := "Patient?" + identifier("1")
	// None matches, no id: created under an id of the server's.
	created := s.do(StatusCreated, "PUT", at, patient("", "1"))
	if len(created.Resource.ID) != 36 {
		t.Errorf("created %+v", created)
	}
	// One matches, no id or an equal one: updated.
	s.do(StatusOK, "PUT", at, patient("", "1"))
	s.do(StatusOK, "PUT", at, patient(created.Resource.ID, "1"), ifMatch(`W/"2"`))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "PUT", at, patient("", "1"), ifMatch(`W/"2"`))
	// One matches, another id.
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "PUT", at, patient("other", "1"))
	// None matches, an id: created under it, unless it is taken.
	if named := s.do(StatusCreated, "PUT", "Patient?"+identifier("2"), patient("mine", "2")); named.Location != "Patient/mine/_history/1" {
		t.Errorf("created %s", named.Location)
	}
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueConflict, "PUT", "Patient?"+identifier("3"), patient("mine", "3"))
	// Several match.
	s.do(StatusCreated, "POST", "Patient", patient("", "1"))
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueMultipleMatches, "PUT", at, patient("", "1"))
	// No criteria, or such as are not understood.
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "PUT", "Patient", patient("", "1"))
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "PUT", "Patient?colour=red", patient("", "1"))
}

func TestConditionalDelete(t *testing.T) {
	s := newServer(t)
	s.do(StatusCreated, "PUT", "Patient/a", patient("a", "1"))
	s.do(StatusCreated, "PUT", "Patient/b", patient("b", "2"))
	s.do(StatusCreated, "PUT", "Patient/c", patient("c", "2"))
	if none := s.do(StatusNoContent, "DELETE", "Patient?"+identifier("9"), ""); none.Changed {
		t.Error("nothing matched, but something changed")
	}
	s.do(StatusNoContent, "DELETE", "Patient/?"+identifier("1"), "")
	s.refuse(fhir.KindGone, fhir.IssueDeleted, "GET", "Patient/a", "")
	s.refuse(fhir.KindPreconditionFailed, fhir.IssueMultipleMatches, "DELETE", "Patient?"+identifier("2"), "")
	s.refuse(fhir.KindInvalid, fhir.IssueInvalid, "DELETE", "Patient", "")
	s.refuse(fhir.KindInvalid, fhir.IssueNotSupported, "DELETE", "Patient?"+identifier("2")+"&colour=red", "")
	s.do(StatusOK, "GET", "Patient/b", "")
}
