package postgres

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"starling/internal/fhir"
)

// TestCountsAndEstimates counts by index, by looking at each candidate, and by a
// sample of these: the first two agree, and the third is near and says what it is.
func TestCountsAndEstimates(t *testing.T) {
	const resources = 12_000
	s := openClinic(t, resources)
	total := func(t *testing.T, how sampling, criteria ...fhir.Criterion) (int64, bool) {
		t.Helper()
		s.sampling = how
		page, err := s.Search(t.Context(), counted(searchFor("Observation", criteria...)))
		if err != nil {
			t.Fatal(err)
		}
		return page.Total, page.Estimated
	}
	system := loinc
	vital := coded("category", "http://terminology.hl7.org/CodeSystem/observation-category", "vital-signs")
	cases := map[string]struct {
		criteria  []fhir.Criterion
		estimated bool
		same      []fhir.Criterion // the same resources, asked for otherwise
	}{
		"a code":             {[]fhir.Criterion{code("category", "vital-signs")}, false, []fhir.Criterion{vital}},
		"its contrary":       {[]fhir.Criterion{fhir.Not{Criterion: code("category", "vital-signs")}}, false, []fhir.Criterion{fhir.Not{Criterion: vital}}},
		"two codes":          {[]fhir.Criterion{code("category", "vital-signs"), code("status", "final")}, false, []fhir.Criterion{vital}},
		"dates":              {[]fhir.Criterion{inYear("date", fhir.PrefixGreaterOrEqual, 2012)}, false, []fhir.Criterion{fhir.Not{Criterion: inYear("date", fhir.PrefixLess, 2012)}}},
		"with system":        {[]fhir.Criterion{vital}, true, []fhir.Criterion{code("category", "vital-signs")}},
		"contrary, system":   {[]fhir.Criterion{fhir.Not{Criterion: vital}}, true, []fhir.Criterion{fhir.Not{Criterion: code("category", "vital-signs")}}},
		"missing":            {[]fhir.Criterion{fhir.Missing{Param: "value-quantity", Missing: true}}, true, nil},
		"a system":           {[]fhir.Criterion{fhir.Token{Param: "code", System: &system}}, true, nil},
		"updated":            {[]fhir.Criterion{fhir.Updated{Prefix: fhir.PrefixGreaterOrEqual}}, true, nil},
		"system and date":    {[]fhir.Criterion{vital, inYear("date", fhir.PrefixGreaterOrEqual, 2012)}, true, []fhir.Criterion{code("category", "vital-signs"), inYear("date", fhir.PrefixGreaterOrEqual, 2012)}},
		"missing, of hardly": {[]fhir.Criterion{fhir.Missing{Param: "subject", Missing: true}}, false, nil},
		"few":                {[]fhir.Criterion{patientCriterion(rand.New(rand.NewPCG(7, 8)), resources/clinicOfPatient), vital}, false, nil},
	}
	all := sampling{mostLooked: math.MaxInt32, of: 1, leastFound: 1}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			exact, estimated := total(t, all, c.criteria...)
			if estimated {
				t.Error("estimated where all may be looked at")
			}
			if c.same != nil {
				if same, _ := total(t, all, c.same...); same != exact {
					t.Errorf("%d, and %d asked for otherwise", exact, same)
				}
			}
			near, estimated := total(t, sampling{mostLooked: 1500, of: 1200, leastFound: 80}, c.criteria...)
			switch {
			case estimated != c.estimated:
				t.Errorf("estimated: %v", estimated)
			case !estimated && near != exact, estimated && math.Abs(float64(near-exact)) > 0.15*float64(exact):
				t.Errorf("%d, where there are %d", near, exact)
			}
		})
	}
}

// TestCountAsksForTooMuch: a count has the bounds that pages have.
func TestCountAsksForTooMuch(t *testing.T) {
	s := openClinic(t, 100)
	s.sampling = sampling{mostLooked: 1, of: math.MaxInt32, leastFound: 1}
	many := make([]fhir.Criterion, mostArgs)
	for i := range many {
		many[i] = fhir.Not{Criterion: coded("code", "urn:s", strconv.Itoa(i))}
	}
	_, err := s.Search(t.Context(), counted(searchFor("Observation", many...)))
	var refused *fhir.Error
	if !errors.As(err, &refused) || refused.Kind != fhir.KindInvalid || refused.Issues[0].Code != fhir.IssueTooCostly {
		t.Errorf("%v", err)
	}
}
