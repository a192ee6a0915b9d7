package fhirpath

import (
	"errors"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

var fuzzSeeds = []string{
	"Patient.name.where(use = 'official').given.first() & ' ' & name[0].family",
	"(1 | 2 | 3).aggregate($this + $total, 0) div 2 mod 3 / 4.5",
	"descendants().where($this is Reference).reference.distinct()",
	"@2012-04-15T15:00:00+02:00 + 7.5 days >= now() implies birthDate ~ @2014",
	"'a\\u0062c'.replaceMatches('(b)', '$1$1').matchesFull('a.*') xor {}.empty()",
	"4.0 'mg' = 4 'mg' and 1 year > 6 months or iif(true, -1, %resource.id)",
	"name.select(given | family).sort(-$this).join(',').toChars().count().power(2).sqrt().round(2)",
	"repeat(item).linkId.isDistinct() /* c */ // d",
	"generalPractitioner.resolve().ofType(FHIR.Practitioner) contains %`vs-x`",
	"1.587.lowBoundary(2).precision().toQuantity('1').toString()",
}

// FuzzCompile: whatever the text, Compile answers, and its errors have a place
// within it.
func FuzzCompile(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Compile(definition.R4(), text)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Offset > len(text) || e.Expression != text) {
			t.Errorf("%q: %#v", text, err)
		}
	})
}

// FuzzEvaluate: evaluation ends soon, without a panic, and leaves nothing of
// one run to the next.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed, testPatient)
		f.Add(seed, testObservation)
	}
	f.Add("deceased | children() | name", `{"":1,"_":{},"_deceasedBoolean":[{}],"deceasedBoolean":{},"name":[[{}],null,3]}`)
	f.Fuzz(func(t *testing.T, text, resource string) {
		e, err := Compile(definition.R4(), text)
		if err != nil {
			return
		}
		tree, err := element.Parse([]byte(resource), element.DefaultLimits)
		if err != nil {
			return
		}
		typ := tree.Root().Get("resourceType").Str()
		if typ == "" {
			typ = "Patient"
		}
		focus := Root(definition.R4(), fhir.ResourceType(typ), tree.Root())
		env := &Environment{Now: time.Unix(1e9, 0), Limits: Limits{Items: 10_000, Steps: 100_000}}
		began := time.Now()
		first, err1 := e.Evaluate(env, focus)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s", took)
		}
		second, err2 := e.Evaluate(env, focus)
		if (err1 == nil) != (err2 == nil) || show(first) != show(second) {
			t.Errorf("two evaluations differ: %s, %v and %s, %v", show(first), err1, show(second), err2)
		}
	})
}
