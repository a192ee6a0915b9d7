package interaction

import (
	"errors"
	"slices"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

func TestRoute(t *testing.T) {
	s := &Service{Definitions: definition.R4()}
	for _, c := range []struct {
		method, path, query string
		want                Request
	}{
		{"GET", "", "_type=Patient", Request{Interaction: SearchSystem}},
		{"POST", "", "", Request{Interaction: Batch}},
		{"POST", "/", "", Request{Interaction: Batch}},
		{"GET", "metadata", "", Request{Interaction: Capabilities}},
		{"HEAD", "metadata/", "", Request{Interaction: Capabilities}},
		{"POST", "_search", "", Request{Interaction: SearchSystem}},
		{"GET", "_history", "", Request{Interaction: HistorySystem}},
		{"GET", "Patient", "", Request{Interaction: SearchType, Type: "Patient"}},
		{"GET", "Patient/", "", Request{Interaction: SearchType, Type: "Patient"}},
		{"POST", "Patient", "", Request{Interaction: Create, Type: "Patient"}},
		{"PUT", "Patient", "identifier=1", Request{Interaction: ConditionalUpdate, Type: "Patient"}},
		{"DELETE", "Patient", "identifier=1", Request{Interaction: ConditionalDelete, Type: "Patient"}},
		{"DELETE", "Patient/", "identifier=1", Request{Interaction: ConditionalDelete, Type: "Patient"}},
		{"POST", "Patient/_search", "", Request{Interaction: SearchType, Type: "Patient"}},
		{"GET", "Patient/_history", "", Request{Interaction: HistoryType, Type: "Patient"}},
		{"POST", "Patient/$validate", "", Request{Interaction: Operation, Type: "Patient", Operation: "validate"}},
		{"GET", "Patient/a.b-C1", "", Request{Interaction: Read, Type: "Patient", ID: "a.b-C1"}},
		{"HEAD", "Patient/1", "", Request{Interaction: Read, Type: "Patient", ID: "1"}},
		{"GET", "%50atient/%31", "", Request{Interaction: Read, Type: "Patient", ID: "1"}},
		{"PUT", "Patient/1", "", Request{Interaction: Update, Type: "Patient", ID: "1"}},
		{"PATCH", "Patient/1", "", Request{Interaction: Patch, Type: "Patient", ID: "1"}},
		{"PATCH", "Patient", "identifier=1", Request{Interaction: ConditionalPatch, Type: "Patient"}},
		{"DELETE", "Patient/1", "", Request{Interaction: Delete, Type: "Patient", ID: "1"}},
		{"GET", "Patient/1/_history", "", Request{Interaction: HistoryInstance, Type: "Patient", ID: "1"}},
		{"GET", "Patient/1/_history/2", "", Request{Interaction: VRead, Type: "Patient", ID: "1", VersionID: "2"}},
		{"GET", "Patient/1/$validate", "mode=delete", Request{Interaction: Operation, Type: "Patient", ID: "1", Operation: "validate"}},
		{"GET", "Patient/1/Observation", "code=x", Request{Interaction: SearchCompartment, Type: "Patient", ID: "1", CompartmentType: "Observation"}},
		{"POST", "Patient/1/Observation/_search", "", Request{Interaction: SearchCompartment, Type: "Patient", ID: "1", CompartmentType: "Observation"}},
		{"GET", "Patient/1/*", "", Request{Interaction: SearchCompartment, Type: "Patient", ID: "1", CompartmentType: "*"}},
	} {
		got, err := s.Route(c.method, c.path, c.query)
		if err != nil {
			t.Errorf("%s %s?%s: %v", c.method, c.path, c.query, err)
			continue
		}
		if got.RawQuery != c.query || len(c.query) > 0 && len(got.Query) == 0 {
			t.Errorf("%s %s: the query is %q, %v", c.method, c.path, got.RawQuery, got.Query)
		}
		same := got.Interaction == c.want.Interaction && got.Type == c.want.Type && got.ID == c.want.ID &&
			got.VersionID == c.want.VersionID && got.Operation == c.want.Operation && got.CompartmentType == c.want.CompartmentType
		if !same {
			t.Errorf("%s %s: got %+v", c.method, c.path, got)
		}
	}
}

func TestRouteRefuses(t *testing.T) {
	s := &Service{Definitions: definition.R4()}
	for _, c := range []struct {
		method, path, query string
		kind                fhir.Kind
		allow               []string
	}{
		{"GET", "Patients", "", fhir.KindNotFound, nil},
		{"GET", "patient/1", "", fhir.KindNotFound, nil},
		{"GET", "DomainResource", "", fhir.KindNotFound, nil},
		{"GET", "HumanName", "", fhir.KindNotFound, nil},
		{"POST", "Parameters", "", fhir.KindNotFound, nil},
		{"GET", "Patient/a_b", "", fhir.KindNotFound, nil},
		{"GET", "Patient/1%2F2", "", fhir.KindNotFound, nil},
		{"PUT", "Patient/a_b", "", fhir.KindInvalid, nil},
		{"PUT", "Patient/0123456789012345678901234567890123456789012345678901234567890123x", "", fhir.KindInvalid, nil},
		{"GET", "Patient/1/_history/2/3", "", fhir.KindNotFound, nil},
		{"GET", "Patient/1/Observation/2", "", fhir.KindNotFound, nil},
		{"GET", "Patient/1/other", "", fhir.KindNotFound, nil},
		{"GET", "Observation/1/Patient", "", fhir.KindNotFound, nil},
		{"GET", "Patient//1", "", fhir.KindNotFound, nil},
		{"GET", "Patient/%zz", "", fhir.KindInvalid, nil},
		{"GET", "Patient", "a=%zz", fhir.KindInvalid, nil},
		{"POST", "$convert", "", fhir.KindNotFound, nil},
		{"POST", "$validate", "", fhir.KindNotFound, nil},
		{"POST", "Patient/$unheard", "", fhir.KindNotFound, nil},
		{"DELETE", "Patient/$validate", "", fhir.KindMethodNotAllowed, []string{"GET", "HEAD", "POST"}},
		{"POST", "metadata", "", fhir.KindMethodNotAllowed, []string{"GET", "HEAD"}},
		{"PUT", "", "", fhir.KindMethodNotAllowed, []string{"GET", "HEAD", "POST"}},
		{"POST", "Patient/1", "", fhir.KindMethodNotAllowed, []string{"GET", "HEAD", "PUT", "PATCH", "DELETE"}},
		{"PUT", "Patient/1/_history/1", "", fhir.KindMethodNotAllowed, []string{"GET", "HEAD"}},
		{"GET", "Patient/_search", "", fhir.KindMethodNotAllowed, []string{"POST"}},
		{"GET", "Binary", "", fhir.KindMethodNotAllowed, []string{"POST", "PUT", "PATCH", "DELETE"}},
		{"POST", "Binary/_search", "", fhir.KindMethodNotAllowed, nil},
		{"OPTIONS", "Patient", "", fhir.KindMethodNotAllowed, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}},
	} {
		_, err := s.Route(c.method, c.path, c.query)
		var failure *fhir.Error
		if !errors.As(err, &failure) {
			t.Errorf("%s %s: error %v", c.method, c.path, err)
			continue
		}
		if failure.Kind != c.kind || !slices.Equal(failure.Allow, c.allow) {
			t.Errorf("%s %s: kind %d, allow %v", c.method, c.path, failure.Kind, failure.Allow)
		}
	}
}

func FuzzRoute(f *testing.F) {
	s := &Service{Definitions: definition.R4()}
	for _, path := range []string{"", "Patient/1/_history/2", "Patient/%31/*", "$x", "_search/", "Patient//"} {
		f.Add("GET", path, "a=b&c")
	}
	f.Fuzz(func(t *testing.T, method, path, query string) {
		request, err := s.Route(method, path, query)
		var failure *fhir.Error
		switch {
		case err != nil && !errors.As(err, &failure):
			t.Errorf("no error for clients: %v", err)
		case err == nil && request.ID != "" && !fhir.ValidID(request.ID):
			t.Errorf("the id %q was let through", request.ID)
		}
	})
}
