package definition

import (
	"slices"
	"testing"

	"starling/internal/fhir"
)

func TestEveryTypeCompiles(t *testing.T) {
	r := R4()
	if n := len(r.ResourceTypes()); n != 146 {
		t.Errorf("%d resource types", n)
	}
	for name, lazy := range r.types {
		typ := r.Type(name)
		if typ.Name != name || typ.Root == nil || typ.Root.Path != name {
			t.Errorf("%s: %+v", name, typ)
			continue
		}
		if lazy.kind == "primitive" && name != "xhtml" && typ.Regex == "" {
			t.Errorf("%s has no regex", name)
		}
		checkElement(t, r, typ.Root)
	}
}

func checkElement(t *testing.T, r *Registry, e *Element) {
	t.Helper()
	for _, ref := range e.Types {
		if r.Type(ref.Code) == nil {
			t.Errorf("%s: unknown type %q", e.Path, ref.Code)
		}
	}
	if e.Content != nil {
		if e.names == nil {
			t.Errorf("%s has no names", e.Path)
		}
		return
	}
	for _, c := range e.Children {
		if c.Parent() != e {
			t.Errorf("%s: wrong parent", c.Path)
		}
		checkElement(t, r, c)
	}
}

func TestSearchParameters(t *testing.T) {
	r := R4()
	var codes []string
	for _, p := range r.SearchParameters("Patient") {
		codes = append(codes, p.Code)
	}
	for _, code := range []string{"_id", "_lastUpdated", "_text", "identifier", "birthdate"} {
		if !slices.Contains(codes, code) {
			t.Errorf("Patient has no parameter %s: %v", code, codes)
		}
	}
	p := r.SearchParameter("Observation", "subject")
	if p == nil || p.Type != "reference" || !slices.Contains(p.Target, fhir.ResourceType("Patient")) {
		t.Errorf("%+v", p)
	}
	if r.SearchParameter("Binary", "_text") != nil {
		t.Error("Binary is no DomainResource")
	}
}
