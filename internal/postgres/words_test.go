package postgres

import (
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// The words of a resource are those of its present version, whatever they are.
func TestWords(t *testing.T) {
	s := open(t, postgrestest.New(t))
	put := func(typ fhir.ResourceType, text *fhir.TextValue) {
		t.Helper()
		do(t, s, &fhir.Write{Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: typ, ID: "a"}, Index: &fhir.Index{Text: text}})
	}
	found := func(k fhir.Text) int {
		t.Helper()
		page, err := s.Search(t.Context(), &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient"}, Count: 10, Criteria: k})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Matches)
	}
	rows := func() (n int) {
		t.Helper()
		if err := s.reserve.QueryRow(t.Context(), `SELECT count(*) FROM search_text`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	put("Patient", &fhir.TextValue{Narrative: "bone liver", Content: `o'b\r:*& 華 12`})
	put("Observation", &fhir.TextValue{Narrative: "bone"})
	for k, want := range map[fhir.Text]int{
		{Narrative: true, Words: "bone"}: 1, {Narrative: true, Words: "bo"}: 0, {Narrative: true, Words: "bo", Begins: true}: 1, {Words: "bone liver"}: 1,
		{Words: "liver bone"}: 0, {Words: `liver o'b\r:*&`}: 0, {Words: `o'b\r:*& 華`}: 1, {Narrative: true, Words: "華"}: 0, {Words: "1", Begins: true}: 1,
		{Words: "patient"}: 0, {Words: "Patient"}: 1,
	} {
		if got := found(k); got != want {
			t.Errorf("%+v: %d, want %d", k, got, want)
		}
	}
	put("Patient", &fhir.TextValue{Content: "bone"})
	if found(fhir.Text{Narrative: true, Words: "bone"}) != 0 || found(fhir.Text{Words: "bone"}) != 1 || found(fhir.Text{Words: "liver"}) != 0 {
		t.Error("the words are not those of the update")
	}
	put("Patient", nil)
	if rows() != 1 {
		t.Errorf("%d rows without words", rows()-1)
	}
	put("Patient", &fhir.TextValue{Narrative: strings.Repeat("many words ", 50_000) + strings.Repeat("x", 5000)})
	if found(fhir.Text{Narrative: true, Words: "many words many"}) != 1 {
		t.Error("a long narrative is not found")
	}
	if _, err := s.Write(t.Context(), &fhir.Write{Op: fhir.OpDelete, Method: fhir.MethodDelete, Key: fhir.Key{Type: "Patient", ID: "a"}}); err != nil {
		t.Fatal(err)
	}
	if rows() != 1 {
		t.Error("the words of a deleted resource are left")
	}
}
