package postgres

import (
	"fmt"
	"testing"
	"time"

	"starling/internal/fhir"
)

// TestSameDateSorts pages through searches sorted by the date they search for:
// the walk that passes over rows gives what the one does that tests resources.
func TestSameDateSorts(t *testing.T) {
	s := openClinic(t, 3000)
	// Intervals long, open at one end or both, and just short enough to be none of these.
	day := time.Date(2016, 12, 1, 0, 0, 0, 0, time.UTC)
	for n := range 60 {
		low := day.AddDate(0, n%5*3, n)
		value := fhir.DateValue{Param: "date", Low: low, High: low.Add([]time.Duration{shortDate, shortDate + time.Microsecond, 3 * shortDate, 30 * shortDate}[n%4])}
		if n%10 < 3 {
			value.High = time.Time{}
		}
		if n%10 > 8 {
			value.Low = time.Time{}
		}
		do(t, s, &fhir.Write{
			Op: fhir.OpCreate, Method: fhir.MethodPost, Key: fhir.Key{Type: "Encounter", ID: fmt.Sprint("long-", n)},
			Index: &fhir.Index{Dates: []fhir.DateValue{value}, Tokens: []fhir.TokenValue{{Param: "status", System: "http://hl7.org/fhir/encounter-status", Code: "finished"}}},
		})
	}
	pages := func(t *testing.T, query fhir.SearchQuery, single bool) (ids []string) {
		t.Helper()
		query.Sort = []fhir.SortKey{query.Sort[0]}
		query.Sort[0].Single = single
		read := func(cursor string) *fhir.SearchPage {
			query.Cursor = cursor
			page, err := s.Search(t.Context(), &query)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Matches {
				ids = append(ids, r.ID)
			}
			return page
		}
		page := read("")
		for range 3 {
			if page.Next == "" {
				break
			}
			page = read(page.Next)
		}
		for page.Previous != "" {
			page = read(page.Previous)
		}
		return ids
	}
	walked := 0
	for _, typ := range []fhir.ResourceType{"Observation", "Encounter"} {
		for _, prefix := range []fhir.Prefix{
			fhir.PrefixEqual, fhir.PrefixNotEqual, fhir.PrefixGreater, fhir.PrefixLess, fhir.PrefixGreaterOrEqual,
			fhir.PrefixLessOrEqual, fhir.PrefixStartsAfter, fhir.PrefixEndsBefore, fhir.PrefixApproximate,
		} {
			for _, descending := range []bool{false, true} {
				for name, criteria := range map[string][]fhir.Criterion{
					"alone":      {inYear("date", prefix, 2017)},
					"with token": {inYear("date", prefix, 2017), code("status", map[fhir.ResourceType]string{"Observation": "final", "Encounter": "finished"}[typ])},
				} {
					t.Run(fmt.Sprint(typ, prefix, descending, name), func(t *testing.T) {
						query := searchFor(typ, criteria...)
						query.Count = 13
						sortedBy(query, fhir.SortKey{Kind: fhir.SortDate, Param: "date", Descending: descending})
						want, got := pages(t, *query, false), pages(t, *query, true)
						if fmt.Sprint(got) != fmt.Sprint(want) {
							t.Errorf("%v\nwant %v", got, want)
						}
						walked += len(got)
					})
				}
			}
		}
	}
	if walked < 3000 {
		t.Errorf("%d resources on all pages", walked)
	}
}
