package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// profiledTypes are those that the profiles of guidelike are of.
var profiledTypes = []string{
	"Patient", "Observation", "Condition", "Encounter", "Procedure", "MedicationRequest", "DiagnosticReport", "Immunization", "Claim", "CarePlan",
}

// guidelike makes n StructureDefinitions as a national guide publishes them
// (US Core 6.1 has 60, of 70 to 700 KB): each with the snapshot of its type in
// full, the prose of each element, and its own cardinalities, slices, bindings, an
// invariant and a base profile that another one is.
func guidelike(tb testing.TB, n int) []*fhir.Resource {
	tb.Helper()
	prose := strings.Repeat("The element means what the guide says that it means, for those who need it in practice. ", 12)
	all := make([]*fhir.Resource, n)
	for i := range all {
		t := profiledTypes[i%len(profiledTypes)]
		text, ok := definition.R4().Resource(specificationBase + t)
		if !ok {
			tb.Fatal(t)
		}
		tree, err := element.Parse(text, element.DefaultLimits)
		if err != nil {
			tb.Fatal(err)
		}
		var snapshot []string
		for e := range tree.Root().Get("snapshot").Get("element").Children() {
			raw := string(e.Raw())
			path := e.Get("path").Str()
			raw = raw[:len(raw)-1] + fmt.Sprintf(`,"definition":%q,"comment":%q,"mustSupport":true,"mapping":[{"identity":"rim","map":%q}]}`, prose, prose, prose[:80])
			switch path {
			case t:
				raw = strings.Replace(raw, `"constraint":[`, fmt.Sprintf(`"constraint":[{"key":"guide-%d","severity":"error","human":"An identifier has a value.","expression":"identifier.all(value.exists() or extension.exists())"},`, i), 1)
			case t + ".identifier":
				raw = raw[:len(raw)-1] + `,"slicing":{"discriminator":[{"type":"value","path":"system"}],"rules":"open"}}`
				snapshot = append(snapshot, raw)
				own := fmt.Sprintf(`{"id":"%[1]s.identifier:own","path":"%[1]s.identifier","sliceName":"own","min":0,"max":"1"},
					{"id":"%[1]s.identifier:own.system","path":"%[1]s.identifier.system","min":1,"max":"1","fixedUri":"http://example.org/%[2]d"},
					{"id":"%[1]s.identifier:own.value","path":"%[1]s.identifier.value","min":1,"max":"1","definition":%[3]q}`, t, i, prose)
				snapshot = append(snapshot, own)
				continue
			case t + ".language":
				raw = strings.Replace(raw, `"strength":"preferred"`, `"strength":"required"`, 1)
			}
			snapshot = append(snapshot, raw)
		}
		body := fmt.Sprintf(`,"url":"http://example.org/p%d","version":"6.1.0","name":"P%d","status":"active","kind":"resource","abstract":false,"type":"%s",
			"baseDefinition":"http://hl7.org/fhir/StructureDefinition/%[3]s","derivation":"constraint","snapshot":{"element":[%s]}`, i, i, t, strings.Join(snapshot, ","))
		all[i] = &fhir.Resource{Key: fhir.Key{Type: "StructureDefinition", ID: fmt.Sprint("p", i)}, VersionID: 1, Content: fhir.Content{Body: []byte(body)}}
	}
	return all
}

// The profiles of the benchmark do what they say: else it would measure nothing.
func TestGuidelikeProfiles(t *testing.T) {
	v := New(definition.R4()).With(guidelike(t, 10))
	if err := v.Compile(func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	tree, err := element.Parse([]byte(`{"resourceType":"Patient","meta":{"profile":["http://example.org/p0"]},"language":"xx-nonsense-yy",
		"identifier":[{"system":"http://example.org/0"},{"system":"http://example.org/0","value":"2"},{"system":"http://elsewhere"}]}`), element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, issue := range v.Validate("Patient", tree.Root()) {
		if issue.Severity == fhir.SeverityError {
			found = append(found, issue.Expression+" "+string(issue.Code)+" "+issue.Constraint)
		}
	}
	slices.Sort(found)
	for _, want := range []string{"Patient.identifier structure ", "Patient.identifier[0].value required ", " guide-0"} {
		if !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q is not among %q", want, found)
		}
	}
}

// BenchmarkProfiles compiles a hundred profiles such as US Core's, and uses each
// once.
func BenchmarkProfiles(b *testing.B) {
	resources := guidelike(b, 100)
	size := 0
	for _, r := range resources {
		size += len(r.Body)
	}
	base := New(definition.R4())
	tree, err := element.Parse([]byte(`{"resourceType":"Patient"}`), element.DefaultLimits)
	if err != nil {
		b.Fatal(err)
	}
	base.Validate("Patient", tree.Root())
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			base.With(resources)
		}
	})
	b.Run("read and compile", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			if err := base.With(resources).Compile(func() bool { return true }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			before := live()
			v := base.With(resources)
			if err := v.Compile(func() bool { return true }); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(live()-before)/(1<<20), "MiB")
			b.ReportMetric(float64(size)/(1<<20), "MiB-of-text")
			if v.profile("http://example.org/p99") == nil {
				b.Fatal("not compiled")
			}
		}
	})
}
