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
		if typ.Name != name || typ.Root == nil || typ.Root.Path != name || typ.Root.Parent() != nil {
			t.Errorf("%s: %+v", name, typ)
			continue
		}
		if base := r.Type(typ.Base); (base == nil) != (name == "Element" || name == "Resource") {
			t.Errorf("%s: base %q", name, typ.Base)
		}
		if (lazy.kind == "primitive" && name != "xhtml") != (typ.Regex != "") {
			t.Errorf("%s: regex %q", name, typ.Regex)
		}
		checkElement(t, r, typ.Root)
	}
	for _, name := range []string{"", "Resources", "patient", "MoneyQuantity", "MetadataResource", "AccessPolicy", "SubscriptionStatus"} {
		if r.Type(name) != nil || r.IsResourceType(name) {
			t.Errorf("%q is a type", name)
		}
	}
	if r.IsResourceType("DomainResource") || r.IsResourceType("HumanName") || !r.IsResourceType("Parameters") {
		t.Error("IsResourceType is wrong")
	}
}

// checkElement holds an element to what every element must have.
func checkElement(t *testing.T, r *Registry, e *Element) {
	t.Helper()
	for _, ref := range e.Types {
		if r.Type(ref.Code) == nil {
			t.Errorf("%s: unknown type %q", e.Path, ref.Code)
		}
	}
	if e.Parent() != nil && len(e.Types) == 0 || len(e.Types) > 1 != e.Choice {
		t.Errorf("%s: types %v", e.Path, e.Types)
	}
	if e.Max == 0 && e.Path != "xhtml.extension" || e.Min > 1 {
		t.Errorf("%s: %d..%d", e.Path, e.Min, e.Max)
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

func TestElementRules(t *testing.T) {
	observation := R4().Type("Observation").Root
	find := func(name string) *Element {
		p, ok := observation.Property(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		return p.Element
	}
	if e := find("status"); e.Min != 1 || e.Max != 1 || !e.IsModifier || !e.IsSummary ||
		*e.Binding != (Binding{Strength: "required", ValueSet: "http://hl7.org/fhir/ValueSet/observation-status|4.0.1"}) {
		t.Errorf("status: %+v", e)
	}
	if e := find("subject"); !slices.Contains(e.Types[0].TargetProfiles, "http://hl7.org/fhir/StructureDefinition/Group") {
		t.Errorf("subject: %+v", e)
	}
	if e := find("referenceRange"); len(e.Constraint) != 1 || e.Constraint[0].Key != "obs-3" {
		t.Errorf("referenceRange: %+v", e.Constraint)
	}
	if p, _ := find("component").Property("referenceRange"); p.Element.Content != find("referenceRange") {
		t.Error("component.referenceRange is not referenceRange")
	}
	keys := map[string]bool{}
	for _, c := range observation.Constraint {
		keys[c.Key] = c.Source == ""
	}
	for key, own := range map[string]bool{"dom-2": false, "dom-6": false, "obs-6": true, "obs-7": true} {
		if got, ok := keys[key]; !ok || got != own {
			t.Errorf("%s of Observation: %v, %v", key, got, ok)
		}
	}
	if id := R4().Type("string").Root.Children[2]; id.MaxLength != 1<<20 {
		t.Errorf("string: %+v", id)
	}
}

func TestSearchParameters(t *testing.T) {
	r := R4()
	common := []string{"_content", "_filter", "_id", "_lastUpdated", "_profile", "_query", "_security", "_source", "_tag"}
	n := 0
	for _, resource := range r.ResourceTypes() {
		var codes []string
		for _, p := range r.SearchParameters(resource) {
			codes = append(codes, p.Code)
			if p != r.SearchParameter(resource, p.Code) || p != r.SearchParameterByURL(p.URL) {
				t.Errorf("%s: %s is not found", resource, p.Code)
			}
			if !slices.Contains(p.Base, resource) && p.Base[0] != "Resource" && p.Base[0] != "DomainResource" {
				t.Errorf("%s: %s is of %v", resource, p.Code, p.Base)
			}
			for _, c := range p.Components {
				if r.SearchParameterByURL(c.Definition) == nil {
					t.Errorf("%s: %s has a component %s", resource, p.Code, c.Definition)
				}
			}
		}
		if !slices.IsSorted(codes) {
			t.Errorf("%s: %v", resource, codes)
		}
		for _, code := range common {
			if !slices.Contains(codes, code) {
				t.Errorf("%s has no parameter %s", resource, code)
			}
		}
		n += len(codes)
	}
	if len(r.search().byURL) != 1376 {
		t.Errorf("%d parameters, %d with types", len(r.search().byURL), n)
	}
	p := r.SearchParameter("Observation", "subject")
	if p == nil || p.Type != "reference" || !slices.Contains(p.Target, fhir.ResourceType("Patient")) {
		t.Errorf("%+v", p)
	}
	if p := r.SearchParameter("Observation", "code-value-quantity"); p == nil || p.Type != "composite" || len(p.Components) != 2 {
		t.Errorf("%+v", p)
	}
	if r.SearchParameter("Binary", "_text") != nil || r.SearchParameter("Patient", "_text") == nil {
		t.Error("_text is for every DomainResource and no other")
	}
	if r.SearchParameter("Nothing", "_id") != nil || r.SearchParameters("Nothing") != nil {
		t.Error("there is no type Nothing")
	}
}

func TestCompartments(t *testing.T) {
	r := R4()
	for _, code := range []fhir.ResourceType{"Patient", "Encounter", "RelatedPerson", "Practitioner", "Device"} {
		c := r.Compartment(code)
		if c == nil || c.Code != code || len(c.Params) == 0 {
			t.Fatalf("%s: %+v", code, c)
		}
		for resource, params := range c.Params {
			if !r.IsResourceType(string(resource)) {
				t.Errorf("%s: unknown type %s", code, resource)
			}
			for _, p := range params {
				if p != "{def}" && r.SearchParameter(resource, p) == nil {
					t.Errorf("%s: %s has no parameter %s", code, resource, p)
				}
			}
		}
	}
	if got := r.Compartment("Patient").Params["Observation"]; !slices.Equal(got, []string{"subject", "performer"}) {
		t.Errorf("%v", got)
	}
	if r.Compartment("Observation") != nil {
		t.Error("Observation has a compartment")
	}
}

func TestOperations(t *testing.T) {
	operations := R4().Operations()
	if len(operations) != 46 {
		t.Errorf("%d operations", len(operations))
	}
	for _, o := range operations {
		if o.Code == "validate" {
			if !o.Type || !o.Instance || o.System || !slices.Equal(o.Resource, []fhir.ResourceType{"Resource"}) {
				t.Errorf("%+v", o)
			}
			if len(o.Parameter) != 4 || o.Parameter[0] != (OperationParameter{Name: "resource", Use: "in", Type: "Resource"}) {
				t.Errorf("%+v", o.Parameter)
			}
			return
		}
	}
	t.Error("no $validate")
}
