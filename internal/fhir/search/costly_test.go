package search

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"starling/internal/fhir"
)

// A search that would ask for more than a statement can hold is refused as too
// costly, whatever made it so; what goes through contained resources is bounded.
func TestStoreRefusesWhatIsTooLarge(t *testing.T) {
	store := openStore(t)
	write := func(key fhir.Key, text string) {
		root := parse(t, text)
		index, err := r4.Index(key.Type, root, base)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Write(t.Context(), &fhir.Write{Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: key, Index: index}); err != nil {
			t.Fatal(err)
		}
	}
	write(fhir.Key{Type: "Organization", ID: "a"}, `{"resourceType":"Organization","id":"a","contained":[
		{"resourceType":"Organization","id":"1"},{"resourceType":"Organization","id":"2"},{"resourceType":"Organization","id":"3"}]}`)
	write(fhir.Key{Type: "Organization", ID: "b"}, `{"resourceType":"Organization","id":"b","partOf":{"reference":"Organization/a"}}`)
	write(fhir.Key{Type: "Patient", ID: "p"}, `{"resourceType":"Patient","id":"p","managingOrganization":{"reference":"#o"},
		"contained":[{"resourceType":"Organization","id":"o","partOf":{"reference":"Organization/b"}}]}`)
	var values []string
	for n := range maxChoices {
		values = append(values, fmt.Sprintf("http://s%%7C%d", n))
	}
	for _, c := range []struct {
		query string
		found int // -1: refused
	}{
		{"Patient?organization:below=Organization/a", 1},
		{"Patient?organization:above=Organization/b", 0},
		{"Patient?organization.partof.partof._id=a", 1},
		{"Patient?organization.partof.partof.partof.partof.partof.partof.partof._id=a", -1},
		{"Provenance?target.identifier=" + strings.Join(values, ","), -1},
	} {
		p, err := plan(c.query, true)
		if err != nil {
			t.Fatal(err)
		}
		page, err := store.Search(t.Context(), p)
		var refused *fhir.Error
		switch {
		case c.found < 0:
			if !errors.As(err, &refused) || refused.Kind != fhir.KindInvalid || refused.Issues[0].Code != fhir.IssueTooCostly {
				t.Errorf("%.80s: %v, want it refused as too costly", c.query, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.query, err)
		case len(page.Matches) != c.found:
			t.Errorf("%s: %d found, want %d", c.query, len(page.Matches), c.found)
		}
	}
}
