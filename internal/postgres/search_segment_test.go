package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// between calls what is given once, after the first statement with a text.
type between struct {
	text string
	call func()
}

func (b *between) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, b, strings.Contains(data.SQL, b.text))
}

func (b *between) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if matched, _ := ctx.Value(b).(bool); matched && b.call != nil {
		call := b.call
		b.call = nil
		call()
	}
}

// A resource that loses the value it is sorted by while the page is made, between
// the statement that finds those with one and that for those without, is on it once.
func TestSortedWhileValuesGo(t *testing.T) {
	s := open(t, postgrestest.New(t))
	write := func(op fhir.WriteOp, method fhir.Method, id string, dates ...fhir.DateValue) {
		t.Helper()
		do(t, s, &fhir.Write{Op: op, Method: method, Key: fhir.Key{Type: "Observation", ID: id}, Index: &fhir.Index{Dates: dates}})
	}
	day := time.Date(2020, 2, 3, 0, 0, 0, 0, time.UTC)
	date := fhir.DateValue{Param: "date", Low: day, High: day.AddDate(0, 0, 1)}
	for _, id := range []string{"a", "b", "c"} {
		write(fhir.OpCreate, fhir.MethodPost, id, date)
	}
	for _, id := range []string{"x", "y"} {
		write(fhir.OpCreate, fhir.MethodPost, id)
	}
	tracer := &between{text: "search_date", call: func() { write(fhir.OpUpdate, fhir.MethodPut, "b") }}
	s.requests.Close()
	var err error
	url := s.reserve.Config().ConnString()
	if s.requests, err = openPool(t.Context(), url, 4, searchSettings, func(config *pgxpool.Config) { config.ConnConfig.Tracer = tracer }); err != nil {
		t.Fatal(err)
	}
	page, err := s.Search(t.Context(), &fhir.SearchQuery{
		Types: []fhir.ResourceType{"Observation"}, Count: 10,
		Sort: []fhir.SortKey{{Kind: fhir.SortDate, Param: "date"}, {Kind: fhir.SortID, Descending: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range page.Matches {
		ids = append(ids, r.ID)
	}
	if got := fmt.Sprint(ids); tracer.call != nil || got != "[c b a y x]" {
		t.Errorf("%s, changed between: %t", got, tracer.call == nil)
	}
}
