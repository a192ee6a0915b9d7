package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// A clinic is a large database to search in: of each hundred resources one is
// a Patient, five are Encounters, one is a RiskAssessment that contains a
// Practitioner and has a narrative, one a CarePlan, now and then one a
// PlanDefinition, and the rest are Observations. Their values are those that the parameters of R4
// have for such resources, in proportions like those of Synthea.
const (
	clinicEncounters   = 5
	clinicObservations = 92
	clinicOfPatient    = 100
)

var clinicCodes = []struct {
	code, category, unit string
	scale                float64
}{
	{"85354-9", "vital-signs", "", 0}, // blood pressure, in components
	{"8302-2", "vital-signs", "cm", 180},
	{"29463-7", "vital-signs", "kg", 80},
	{"39156-5", "vital-signs", "kg/m2", 28},
	{"8867-4", "vital-signs", "/min", 75},
	{"9279-1", "vital-signs", "/min", 14},
	{"72514-3", "vital-signs", "{score}", 4},
	{"2339-0", "laboratory", "mg/dL", 90},
	{"6299-2", "laboratory", "mg/dL", 14},
	{"38483-4", "laboratory", "mg/dL", 1},
	{"49765-1", "laboratory", "mg/dL", 9},
	{"2947-0", "laboratory", "mmol/L", 140},
	{"6298-4", "laboratory", "mmol/L", 4},
	{"2069-3", "laboratory", "mmol/L", 105},
	{"20565-8", "laboratory", "mmol/L", 25},
	{"4548-4", "laboratory", "%", 6},
	{"72166-2", "social-history", "", -1}, // a code as its value
}

const (
	loinc = "http://loinc.org"
	ucum  = "http://unitsofmeasure.org"
)

func clinicPatient(p int) string      { return fmt.Sprintf("patient-%06d", p) }
func clinicEncounter(p, n int) string { return fmt.Sprintf("encounter-%06d-%d", p, n) }
func clinicName(p int) string         { return fmt.Sprintf("family%d", p) }
func clinicDefinition(p int) string   { return fmt.Sprintf("http://example.org/definitions/%d", p) }
func clinicDay(random int) time.Time {
	return time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, random%5400)
}

// clinicIndex makes the nth resource.
func clinicIndex(n int) (t fhir.ResourceType, id string, index *fhir.Index) {
	p, i := n/clinicOfPatient, n%clinicOfPatient
	random := rand.New(rand.NewPCG(uint64(n), 1))
	patient := fhir.ReferenceValue{Type: "Patient", ID: clinicPatient(p)}
	refer := func(param string, to fhir.ReferenceValue) {
		to.Param = param
		index.References = append(index.References, to)
	}
	token := func(param, system, code string) {
		index.Tokens = append(index.Tokens, fhir.TokenValue{Param: param, System: system, Code: code})
	}
	instant := func(param string, at time.Time) {
		index.Dates = append(index.Dates, fhir.DateValue{Param: param, Low: at, High: at})
	}
	text := func(param, folded string) {
		index.Strings = append(index.Strings, fhir.StringValue{Param: param, Folded: folded, Exact: folded})
	}
	index = &fhir.Index{}
	at := clinicDay(random.IntN(5400)).Add(time.Duration(random.IntN(86400)) * time.Second)
	encounter := fhir.ReferenceValue{Type: "Encounter", ID: clinicEncounter(p, random.IntN(clinicEncounters))}
	switch {
	case i == 0:
		for _, param := range []string{"name", "family"} {
			text(param, clinicName(p))
		}
		for _, param := range []string{"name", "given"} {
			text(param, fmt.Sprintf("given%d", p%300))
		}
		for _, param := range []string{"address", "address-city"} {
			text(param, fmt.Sprintf("city%d", p%40))
		}
		token("identifier", "urn:mrn", fmt.Sprintf("mrn-%d", p))
		token("gender", "http://hl7.org/fhir/administrative-gender", []string{"male", "female"}[p%2])
		token("active", "", "true")
		born := clinicDay(p*37).AddDate(-60, 0, 0)
		index.Dates = append(index.Dates, fhir.DateValue{Param: "birthdate", Low: born, High: born.AddDate(0, 0, 1).Add(-time.Microsecond)})
		refer("organization", fhir.ReferenceValue{Type: "Organization", ID: fmt.Sprint("org-", p%20)})
		return "Patient", clinicPatient(p), index
	case i <= clinicEncounters:
		id = clinicEncounter(p, i-1)
		refer("subject", patient)
		refer("patient", patient)
		refer("service-provider", fhir.ReferenceValue{Type: "Organization", ID: fmt.Sprint("org-", random.IntN(20))})
		token("status", "http://hl7.org/fhir/encounter-status", "finished")
		if i > 1 { // of the patient's encounters each is part of the one before
			refer("part-of", fhir.ReferenceValue{Type: "Encounter", ID: clinicEncounter(p, i-2)})
		}
		token("class", "http://terminology.hl7.org/CodeSystem/v3-ActCode", []string{"AMB", "EMER", "IMP"}[random.IntN(3)])
		index.Dates = append(index.Dates, fhir.DateValue{Param: "date", Low: at, High: at.Add(time.Hour)})
		return "Encounter", id, index
	case i == clinicEncounters+1:
		refer("subject", patient)
		refer("patient", patient)
		index.Numbers = []fhir.NumberValue{{Param: "probability", Value: fmt.Sprintf("0.%04d", random.IntN(10000))}}
		instant("date", at)
		index.Text = &fhir.TextValue{Narrative: fmt.Sprintf("risk of a fall of patient%d in the %s", p, []string{"morning", "evening"}[p%2])}
		npi := fmt.Sprint("npi-", p)
		index.Contained = []fhir.ContainedIndex{{Type: "Practitioner", ID: "p", Index: &fhir.Index{
			Tokens: []fhir.TokenValue{{Param: "identifier", System: "urn:npi", Code: npi}}, Strings: []fhir.StringValue{{Param: "family", Folded: npi, Exact: npi}},
		}}}
		refer("performer", fhir.ReferenceValue{URL: "#p"})
		return "RiskAssessment", fmt.Sprintf("risk-%06d", p), index
	case i == clinicEncounters+2:
		refer("subject", patient)
		refer("patient", patient)
		index.URIs = []fhir.URIValue{{Param: "instantiates-uri", URI: fmt.Sprintf("http://example.org/plans/%d/%d", p%50, p)}}
		token("status", "http://hl7.org/fhir/request-status", []string{"active", "completed"}[p%2])
		refer("instantiates-canonical", fhir.ReferenceValue{URL: clinicDefinition(p - p%10)})
		return "CarePlan", fmt.Sprintf("plan-%06d", p), index
	case i == clinicEncounters+3 && p%10 == 0:
		index.URIs = []fhir.URIValue{{Param: "url", URI: clinicDefinition(p)}}
		text("name", fmt.Sprint("definition", p))
		return "PlanDefinition", fmt.Sprintf("definition-%06d", p), index
	}
	kind := clinicCodes[random.IntN(len(clinicCodes))]
	refer("subject", patient)
	refer("patient", patient)
	refer("encounter", encounter)
	refer("performer", fhir.ReferenceValue{Type: "Practitioner", ID: fmt.Sprint("practitioner-", random.IntN(50))})
	token("status", "http://hl7.org/fhir/observation-status", "final")
	token("category", "http://terminology.hl7.org/CodeSystem/observation-category", kind.category)
	token("code", loinc, kind.code)
	token("combo-code", loinc, kind.code)
	instant("date", at)
	quantity := func(param, unit, value string) fhir.QuantityValue {
		return fhir.QuantityValue{Param: param, System: ucum, Code: unit, Unit: unit, Value: value, Canonical: &fhir.CanonicalQuantity{Value: value, Unit: "canonical " + unit}}
	}
	switch {
	case kind.scale > 0:
		value := fmt.Sprintf("%.1f", kind.scale*(0.7+0.6*random.Float64()))
		for _, param := range []string{"value-quantity", "combo-value-quantity"} {
			index.Quantities = append(index.Quantities, quantity(param, kind.unit, value))
		}
	case kind.scale == 0:
		for c, code := range []string{"8480-6", "8462-4"} {
			value := fmt.Sprint(60 + 40*(1-c) + random.IntN(50))
			token("component-code", loinc, code)
			token("combo-code", loinc, code)
			for _, param := range []string{"component-value-quantity", "combo-value-quantity"} {
				index.Quantities = append(index.Quantities, quantity(param, "mm[Hg]", value))
			}
			index.Composites = append(index.Composites, fhir.CompositeValue{Param: "component-code-value-quantity", Parts: []*fhir.Index{
				{Tokens: []fhir.TokenValue{{System: loinc, Code: code}}}, {Quantities: []fhir.QuantityValue{quantity("", "mm[Hg]", value)}},
			}})
		}
	default:
		token("value-concept", "http://snomed.info/sct", fmt.Sprint(266919005+random.IntN(3)))
		text("value-string", []string{"never smoker", "former smoker", "smokes daily"}[random.IntN(3)])
	}
	return "Observation", fmt.Sprintf("observation-%08d", n), index
}

// openClinic fills a database with about n resources, with statistics. That
// which CLINIC_DATABASE_URL names is filled once and kept.
func openClinic(t testing.TB, n int) *Store {
	t.Helper()
	url := os.Getenv("CLINIC_DATABASE_URL")
	if url == "" {
		url = postgrestest.New(t)
	}
	s, err := Open(t.Context(), Config{URL: url, SearchTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var filled bool
	if err := s.reserve.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM resource)`).Scan(&filled); err != nil {
		t.Fatal(err)
	}
	if filled {
		return s
	}
	for first := 0; first < n; first += 5000 {
		if err := copyClinic(t.Context(), s, first, min(5000, n-first)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.reserve.Exec(t.Context(), `VACUUM ANALYZE`); err != nil {
		t.Fatal(err)
	}
	return s
}

// copyClinic stores n resources as the writer would, but by COPY.
func copyClinic(ctx context.Context, s *Store, first, n int) error {
	rows := map[string][][]any{}
	add := func(table string, row ...any) { rows[table] = append(rows[table], row) }
	rids, err := s.rids.take(ctx, n)
	if err != nil {
		return err
	}
	var told []int64 // the rids of these words
	var words []string
	updated := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, rid := range rids {
		typ, id, index := clinicIndex(first + i)
		e := s.hash.entriesOf(typ, index)
		number, at := s.types.number[typ], updated.Add(time.Duration(first+i)*time.Second)
		add("resource", rid, s.hash.self(typ, id), number, id, 1, at, false, e.terms, e.ranges.encode())
		add("version", rid, number, 1, at, 1, 1, "", `,"status":"final"`)
		if e.words != "" {
			told, words = append(told, rid), append(words, e.words)
		}
		for _, term := range e.terms {
			if isRowTerm(term) {
				add("search_key", term, rid)
			}
		}
		for _, row := range e.ranges.dates {
			add("search_date", row.param, timestamp(row.low), timestamp(row.high), rid)
		}
		for _, row := range e.ranges.texts {
			add("search_string", row.param, rid, row.value)
		}
		for _, row := range e.ranges.numbers {
			var low, high pgtype.Numeric
			if err := low.Scan(row.low); err != nil {
				return err
			}
			if err := high.Scan(row.high); err != nil {
				return err
			}
			add("search_number", row.param, row.unit, row.code, row.text, rid, low, high)
		}
	}
	if _, err := s.reserve.Exec(ctx, statements[stmtAddWords], told, words); err != nil {
		return err
	}
	for table, columns := range map[string][]string{
		"resource":      {"rid", "self", "type", "id", "version", "updated", "deleted", "terms", "ranges"},
		"version":       {"rid", "type", "version", "updated", "writer", "method", "meta", "body"},
		"search_key":    {"hash", "rid"},
		"search_date":   {"param", "low", "high", "rid"},
		"search_number": {"param", "unit", "code", "text", "rid", "low", "high"},
		"search_string": {"param", "rid", "value"},
	} {
		if _, err := s.reserve.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows[table])); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}
