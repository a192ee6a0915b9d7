package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// TestOneOrder: Go and the database sort ids alike, or they would take locks in
// different orders (rule 34).
func TestOneOrder(t *testing.T) {
	s := open(t, postgrestest.New(t))
	ids := []string{"a", "A", "b", "B", "a-1", "a.1", "A1", "a1", "-", ".", "0", "9", "10", "Z", "z"}
	for _, id := range rand.Perm(len(ids)) {
		do(t, s, patient(ids[id], ""))
	}
	var sorted []string
	if err := s.reserve.QueryRow(t.Context(), `SELECT array_agg(id ORDER BY type, id) FROM resource`).Scan(&sorted); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	want(t, sorted, fmt.Sprint(ids))
}

// TestUpdatesStayOnTheirPage: no index holds what an update changes (rule 36).
func TestUpdatesStayOnTheirPage(t *testing.T) {
	s := open(t, postgrestest.New(t))
	for n := range 200 {
		do(t, s, as(patient(fmt.Sprint("p", n%4), fmt.Sprintf(`,"n":%d`, n), fmt.Sprint(n)), fhir.OpUpdate, nil))
	}
	var updates, hot int
	waitFor(t, func() bool {
		if _, err := s.coalesced.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`); err != nil {
			t.Fatal(err)
		}
		if err := s.reserve.QueryRow(t.Context(), `SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'resource'`).Scan(&updates, &hot); err != nil {
			t.Fatal(err)
		}
		return updates >= 150
	})
	if hot*100 < updates*95 {
		t.Errorf("%d of %d updates were HOT", hot, updates)
	}
}

// TestLongValues: a value too long for a B-tree is stored, found by its
// beginning and by all of it (rule 20).
func TestLongValues(t *testing.T) {
	s := open(t, postgrestest.New(t))
	long := strings.Repeat("ä", 5000)
	w := patient("a", "", long)
	w.Index.Strings = []fhir.StringValue{{Param: "name", Folded: strings.Repeat("a", 5000), Exact: long}}
	w.Index.URIs = []fhir.URIValue{{Param: "url", URI: "http://" + long}}
	do(t, s, w)
	wantIDs(t, s, fhir.Token{Param: "identifier", Code: &long}, "a")
	wantIDs(t, s, fhir.Token{Param: "identifier", Code: ref(long + "x")})
	wantIDs(t, s, fhir.URI{Param: "url", URI: "http://" + long}, "a")
	wantIDs(t, s, fhir.String{Param: "name", Value: "aaa"}, "a")
	wantIDs(t, s, fhir.String{Param: "name", Match: fhir.StringExact, Value: long}, "a")
	wantIDs(t, s, fhir.String{Param: "name", Match: fhir.StringExact, Value: long + "x"})
}

func TestView(t *testing.T) {
	s := open(t, postgrestest.New(t))
	w := patient("a", `,"birthDate":"1970-01-01","multipleBirthInteger":2`)
	w.Meta = []byte(`,"profile":["urn:p"]`)
	created := do(t, s, w)
	do(t, s, patient("gone", ""))
	do(t, s, as(patient("gone", ""), fhir.OpDelete, nil))
	var text string
	if err := s.reserve.QueryRow(t.Context(), `SELECT string_agg(resource::text, ' ') FROM fhir."Patient"`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	want(t, text, `{"id": "a", "meta": {"profile": ["urn:p"], "versionId": "1", "lastUpdated": "`+
		created.LastUpdated.Format(fhir.InstantFormat)+`"}, "birthDate": "1970-01-01", "resourceType": "Patient", "multipleBirthInteger": 2}`)
}

func TestTextTheDatabaseRefuses(t *testing.T) {
	s := open(t, postgrestest.New(t))
	for _, body := range []string{",\"a\":\"\x00\"", ",\"a\":\"\xff\""} {
		_, err := s.Write(t.Context(), patient("a", body))
		wantKind(t, err, fhir.KindInvalid)
	}
	_, err := s.Write(t.Context(), &fhir.Write{Op: fhir.OpCreate, Key: fhir.Key{Type: "Nothing", ID: "a"}})
	wantKind(t, err, fhir.KindNotFound)
	_, err = s.Read(t.Context(), fhir.Key{Type: "Nothing", ID: "a"})
	wantKind(t, err, fhir.KindNotFound)
}

func TestTransactAmendAndRollback(t *testing.T) {
	s := open(t, postgrestest.New(t))
	ctx := t.Context()
	err := s.Transact(ctx, nil, func(tx fhir.Tx) error {
		results, err := tx.Apply(ctx, []*fhir.Write{patient("b", `,"n":1`, "old"), as(patient("a", ""), fhir.OpUpdate, nil)})
		if err != nil {
			return err
		}
		if results[0].VersionID != 1 || !results[1].Created {
			t.Errorf("%+v", results)
		}
		if got, err := tx.Read(ctx, fhir.Key{Type: "Patient", ID: "b"}); err != nil || got.VersionID != 1 {
			t.Errorf("a transaction's own write: %+v %v", got, err)
		}
		return tx.Amend(ctx, []*fhir.Write{patient("b", `,"n":2`, "new")})
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Read(ctx, fhir.Key{Type: "Patient", ID: "b"})
	if err != nil || got.VersionID != 1 || string(got.Body) != `,"n":2` {
		t.Fatalf("%+v %v", got, err)
	}
	wantIDs(t, s, fhir.Token{Param: "identifier", Code: ref("old")})
	wantIDs(t, s, fhir.Token{Param: "identifier", Code: ref("new")}, "b")

	own := errors.New("own")
	err = s.Transact(ctx, nil, func(tx fhir.Tx) error {
		if _, err := tx.Apply(ctx, []*fhir.Write{patient("c", "")}); err != nil {
			t.Error(err)
		}
		return own
	})
	if !errors.Is(err, own) {
		t.Fatal(err)
	}
	var one *fhir.WriteError
	err = s.Transact(ctx, nil, func(tx fhir.Tx) error {
		_, err := tx.Apply(ctx, []*fhir.Write{patient("c", ""), as(patient("b", ""), fhir.OpUpdate, func(w *fhir.Write) { w.IfMatch = 7 })})
		return err
	})
	if !errors.As(err, &one) || one.Index != 1 {
		t.Fatalf("%v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Transact(ctx, nil, func(tx fhir.Tx) error {
			_, _ = tx.Apply(ctx, []*fhir.Write{patient("c", "")})
			panic("fn")
		})
	}()
	wantIDs(t, s, nil, "a", "b")
	if n := s.requests.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections not given back", n)
	}
}

// TestReadsTogether: equal reads of one batch get resources of their own.
func TestReadsTogether(t *testing.T) {
	s := open(t, postgrestest.New(t))
	do(t, s, patient("a", `,"n":1`))
	do(t, s, as(patient("a", `,"n":2`), fhir.OpUpdate, nil))
	conn, err := s.coalesced.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var batch []*readRequest
	for _, version := range []int32{0, 0, 1, 1, 2, 3, 0} {
		batch = append(batch, &readRequest{key: fhir.Key{Type: "Patient", ID: "a"}, typ: s.types.number["Patient"], version: version})
	}
	batch[6].withdrawn.Store(true)
	if err := fetch(context.Background(), conn.Conn().PgConn(), batch); err != nil {
		t.Fatal(err)
	}
	var versions []int64
	for _, r := range batch {
		if r.resource == nil {
			versions = append(versions, 0)
			continue
		}
		versions = append(versions, r.resource.VersionID)
	}
	want(t, versions[:6], "[2 2 1 1 2 0]")
	if batch[0].resource == batch[1].resource {
		t.Error("one resource given to two requests")
	}
}

func TestRangesRoundTrip(t *testing.T) {
	set := rapid.Custom(func(t *rapid.T) rangeSet {
		var r rangeSet
		i, s := rapid.Int64(), rapid.String()
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			r.dates = append(r.dates, dateRow{i.Draw(t, "p"), i.Draw(t, "l"), i.Draw(t, "h")})
			r.numbers = append(r.numbers, numberRow{i.Draw(t, "p"), i.Draw(t, "u"), i.Draw(t, "c"), i.Draw(t, "t"), s.Draw(t, "l"), s.Draw(t, "h")})
			r.texts = append(r.texts, textRow{i.Draw(t, "p"), s.Draw(t, "v")})
		}
		r.normalize()
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		r := set.Draw(t, "set")
		got, err := decodeRanges(r.encode())
		if err != nil || !cmp.Equal(got, r, cmp.AllowUnexported(rangeSet{}, dateRow{}, numberRow{}, textRow{})) {
			t.Fatalf("%v %v", got, err)
		}
		if scanned := scanned(t, &r); !cmp.Equal(scanned, r, cmp.AllowUnexported(rangeSet{}, dateRow{}, numberRow{}, textRow{}), cmp.FilterPath(isUnit, cmp.Ignore())) {
			t.Fatalf("%v, not %v", scanned, r)
		}
	})
}

// isUnit says that a number's other hashes are not compared.
func isUnit(p cmp.Path) bool {
	return slices.Contains([]string{".unit", ".code", ".text", ".high"}, p.Last().String()) && p.Index(-2).Type() == reflect.TypeFor[numberRow]()
}

// scanned reads a set parameter by parameter, as a search does that sorts.
func scanned(t *rapid.T, r *rangeSet) (got rangeSet) {
	params := map[int64]bool{}
	for _, d := range r.dates {
		params[d.param] = true
	}
	for _, n := range r.numbers {
		params[n.param] = true
	}
	for _, x := range r.texts {
		params[x.param] = true
	}
	for _, param := range slices.Sorted(maps.Keys(params)) {
		err := scanRanges(r.encode(), param,
			func(low, high int64) { got.dates = append(got.dates, dateRow{param, low, high}) },
			func(v []byte) { got.numbers = append(got.numbers, numberRow{param: param, low: string(v)}) },
			func(v []byte) { got.texts = append(got.texts, textRow{param, string(v)}) })
		if err != nil {
			t.Fatal(err)
		}
	}
	return got
}

func FuzzDecodeRanges(f *testing.F) {
	f.Add([]byte{})
	f.Add((&rangeSet{dates: []dateRow{{1, 2, 3}}, texts: []textRow{{1, "a"}}}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		none := func([]byte) {}
		scanErr := scanRanges(b, 1, func(int64, int64) {}, none, none)
		r, err := decodeRanges(b)
		if err == nil && scanErr != nil {
			t.Fatal(scanErr)
		}
		if err != nil {
			return
		}
		again, err := decodeRanges(r.encode())
		if err != nil || !bytes.Equal(again.encode(), r.encode()) {
			t.Fatalf("%v: %v", r, err)
		}
	})
}

func TestSearchByRange(t *testing.T) {
	s := open(t, postgrestest.New(t))
	day := func(n int) time.Time { return time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC) }
	for n := 1; n <= 3; n++ {
		w := patient(fmt.Sprint(n), "")
		w.Index.Dates = []fhir.DateValue{{Param: "date", Low: day(n), High: day(n + 1).Add(-time.Millisecond)}}
		w.Index.Numbers = []fhir.NumberValue{{Param: "n", Value: fmt.Sprintf("%d.0", n)}}
		w.Index.Quantities = []fhir.QuantityValue{{Param: "q", System: "urn:u", Code: "mg", Unit: "milligram", Value: fmt.Sprint(n)}}
		w.Index.References = []fhir.ReferenceValue{{Param: "r", Type: "Group", ID: fmt.Sprint(n)}, {Param: "r", URL: fmt.Sprint("http://x/", n)}}
		w.Index.Strings = []fhir.StringValue{{Param: "name", Folded: strings.Repeat("ab", n), Exact: strings.Repeat("Ab", n)}}
		do(t, s, w)
	}
	open := patient("4", "")
	open.Index.Dates = []fhir.DateValue{{Param: "date", Low: day(2)}}
	open.Index.Quantities = []fhir.QuantityValue{{Param: "q", Low: "10"}}
	do(t, s, open)
	date := func(p fhir.Prefix) fhir.Criterion {
		return fhir.Date{Param: "date", Prefix: p, Range: fhir.TimeRange{Low: day(2), High: day(3)}}
	}
	wantIDs(t, s, date(fhir.PrefixEqual), "2")
	wantIDs(t, s, date(fhir.PrefixNotEqual), "1", "3", "4")
	wantIDs(t, s, date(fhir.PrefixGreater), "3", "4")
	wantIDs(t, s, date(fhir.PrefixLess), "1")
	wantIDs(t, s, date(fhir.PrefixGreaterOrEqual), "2", "3", "4")
	wantIDs(t, s, date(fhir.PrefixLessOrEqual), "1", "2")
	wantIDs(t, s, date(fhir.PrefixStartsAfter), "3")
	wantIDs(t, s, date(fhir.PrefixEndsBefore), "1")
	wantIDs(t, s, date(fhir.PrefixApproximate), "2", "4")
	wantIDs(t, s, fhir.Number{Param: "n", Prefix: fhir.PrefixEqual, Value: "2", Low: "1.5", High: "2.5"}, "2")
	wantIDs(t, s, fhir.Number{Param: "n", Prefix: fhir.PrefixEqual, Value: "2", Low: "2", High: "2"}, "2")
	wantIDs(t, s, fhir.Number{Param: "n", Prefix: fhir.PrefixNotEqual, Value: "2", Low: "1.5", High: "2.5"}, "1", "3")
	wantIDs(t, s, fhir.Number{Param: "n", Prefix: fhir.PrefixGreater, Value: "2", Low: "1.5", High: "2.5"}, "3")
	wantIDs(t, s, fhir.Number{Param: "n", Prefix: fhir.PrefixLessOrEqual, Value: "2", Low: "1.5", High: "2.5"}, "1", "2")
	quantity := func(system, code string) fhir.Criterion {
		return fhir.Quantity{Param: "q", Prefix: fhir.PrefixGreater, Value: "1", Low: "0.5", High: "1.5", System: system, Code: code}
	}
	wantIDs(t, s, quantity("", ""), "2", "3", "4")
	wantIDs(t, s, quantity("urn:u", "mg"), "2", "3")
	wantIDs(t, s, quantity("urn:v", "mg"))
	wantIDs(t, s, quantity("", "milligram"), "2", "3")
	wantIDs(t, s, fhir.Not{Criterion: quantity("", "mg")}, "1", "4")
	wantIDs(t, s, fhir.ReferenceTo{Param: "r", Type: "Group", ID: "2"}, "2")
	wantIDs(t, s, fhir.ReferenceTo{Param: "r", Type: "Patient", ID: "2"})
	wantIDs(t, s, fhir.ReferenceTo{Param: "r", ID: "2"}, "2")
	wantIDs(t, s, fhir.ReferenceTo{Param: "r", URL: "http://x/3"}, "3")
	wantIDs(t, s, fhir.String{Param: "name", Value: "abab"}, "2", "3")
	wantIDs(t, s, fhir.String{Param: "name", Match: fhir.StringContains, Value: "bab"}, "2", "3")
	wantIDs(t, s, fhir.String{Param: "name", Match: fhir.StringExact, Value: "AbAb"}, "2")
	wantIDs(t, s, fhir.String{Param: "name", Match: fhir.StringExact, Value: "abab"})
	wantIDs(t, s, fhir.And{date(fhir.PrefixGreater), fhir.Or{fhir.And{quantity("", "mg"), fhir.TypeIs("Patient")}, fhir.TypeIs("Group")}}, "3")

	page, err := s.Search(t.Context(), &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient", "Group"}, Count: 3})
	if err != nil || len(page.Matches) != 3 || page.Next == "" {
		t.Fatalf("%+v %v", page, err)
	}
	page, err = s.Search(t.Context(), &fhir.SearchQuery{Types: []fhir.ResourceType{"Patient", "Group"}, Count: 3, Cursor: page.Next})
	if err != nil || fmt.Sprint(ids(page)) != "[4]" || page.Next != "" {
		t.Fatalf("%+v %v", page, err)
	}
}
