package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// The benchmarks compare the coalescers with one statement a request, for 64
// clients and for one. The latter has a connection for every client up to 32.
//
//	go test -run '^$' -bench . ./internal/postgres
var benchmarkModes = []struct {
	name   string
	config Config
}{
	{"coalesced", Config{}},
	{"single", Config{coalesce: 1, readLoops: 32, writeLoops: 32, MaxConns: 72}},
}

func eachMode(b *testing.B, run func(b *testing.B, s *Store, clients int)) {
	for _, clients := range []int{64, 1} {
		for _, mode := range benchmarkModes {
			b.Run(fmt.Sprintf("%s/clients=%d", mode.name, clients), func(b *testing.B) {
				config := mode.config
				config.URL = postgrestest.New(b)
				s, err := Open(b.Context(), config)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				run(b, s, clients)
			})
		}
	}
}

// inParallel shares b.N operations between clients and reports operations a
// second.
func inParallel(b *testing.B, s *Store, clients int, operation func(i int) error) {
	var next atomic.Int64
	var wait sync.WaitGroup
	before := cpuNow(b, s)
	b.ResetTimer()
	start := time.Now()
	for range clients {
		wait.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := operation(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "op/s")
	after := cpuNow(b, s)
	b.ReportMetric(float64((after.own-before.own).Microseconds())/float64(b.N), "go-µs/op")
	b.ReportMetric(float64((after.database-before.database).Microseconds())/float64(b.N), "pg-µs/op")
}

// sample is a resource of 1.5 KB with ten rows in search_key, two dates
// and a quantity.
func sample(i int) *fhir.Write {
	index := &fhir.Index{}
	for n := range 7 {
		index.Tokens = append(index.Tokens, fhir.TokenValue{Param: fmt.Sprint("token", n), System: "urn:example:system", Code: fmt.Sprint("code", n, "-", i%(10<<n))})
	}
	for n := range 3 {
		index.References = append(index.References, fhir.ReferenceValue{Param: fmt.Sprint("ref", n), Type: "Patient", ID: fmt.Sprint("patient", i/10)})
	}
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i%2000)
	index.Dates = []fhir.DateValue{{Param: "date", Low: day, High: day.AddDate(0, 0, 1)}, {Param: "issued", Low: day, High: day}}
	index.Quantities = []fhir.QuantityValue{{Param: "quantity", System: "http://unitsofmeasure.org", Code: "mg", Unit: "mg", Value: fmt.Sprint(i % 100)}}
	return &fhir.Write{
		Op: fhir.OpCreate, Method: fhir.MethodPost,
		Key:     fhir.Key{Type: "Observation", ID: fmt.Sprintf("01900000-0000-7000-8000-%012d", i)},
		Content: fhir.Content{Body: []byte(`,"status":"final","note":[{"text":"` + strings.Repeat("lorem ipsum ", 120) + `"}]`)},
		Index:   index,
	}
}

func BenchmarkCreate(b *testing.B) {
	eachMode(b, func(b *testing.B, s *Store, clients int) {
		inParallel(b, s, clients, func(i int) error {
			_, err := s.Write(context.Background(), sample(i))
			return err
		})
		reportStored(b, s)
	})
}

// BenchmarkTexts says what words cost a create: names of codes, the 60 words of a
// narrative, and those and the 90 of the other texts.
func BenchmarkTexts(b *testing.B) {
	words := func(n, seed int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprint("word", (seed*(i+7)*7919+i*i*31)%(20+i*40))
		}
		return strings.Join(all, " ")
	}
	for _, texts := range []string{"none", "names", "narrative", "all"} {
		b.Run(texts, func(b *testing.B) {
			s, err := Open(b.Context(), Config{URL: postgrestest.New(b)})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			inParallel(b, s, 64, func(i int) error {
				w := sample(i)
				switch texts {
				case "names":
					for _, t := range w.Index.Tokens[:3] {
						w.Index.Names = append(w.Index.Names, fhir.NameValue{Param: t.Param, Folded: "the name of " + t.Code, Code: t.Code})
					}
				case "narrative":
					w.Index.Text = &fhir.TextValue{Narrative: words(60, i)}
				case "all":
					w.Index.Text = &fhir.TextValue{Narrative: words(60, i), Content: words(90, i+1)}
				}
				_, err := s.Write(context.Background(), w)
				return err
			})
			reportStored(b, s)
		})
	}
}

// reportStored reports what a resource takes in tables and indexes, by role.
func reportStored(b *testing.B, s *Store) {
	for unit, tables := range map[string]string{"B-content/op": "'resource', 'version'", "B-index/op": "'search_key', 'search_date', 'search_number', 'search_string', 'search_text', 'search_name'"} {
		var bytes int64
		err := s.reserve.QueryRow(context.Background(), `SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname IN (`+tables+`)`).Scan(&bytes)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(bytes)/float64(b.N), unit)
	}
}

func BenchmarkRead(b *testing.B) {
	const stored = 5000
	eachMode(b, func(b *testing.B, s *Store, clients int) {
		fill(b, s, stored)
		inParallel(b, s, clients, func(i int) error {
			_, err := s.Read(context.Background(), sampleKey(i*7919%stored))
			return err
		})
	})
}

func sampleKey(i int) fhir.Key {
	return fhir.Key{Type: "Observation", ID: fmt.Sprintf("01900000-0000-7000-8000-%012d", i)}
}

func fill(b *testing.B, s *Store, n int) {
	b.Helper()
	var wait sync.WaitGroup
	var next atomic.Int64
	for range 64 {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if _, err := s.Write(context.Background(), sample(int(i))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// BenchmarkCRUD is the life of a resource: create, read, update of one field,
// delete.
func BenchmarkCRUD(b *testing.B) {
	eachMode(b, lifeOfResources)
}

func lifeOfResources(b *testing.B, s *Store, clients int) {
	ctx := context.Background()
	inParallel(b, s, clients, func(i int) error {
		w := sample(i)
		if _, err := s.Write(ctx, w); err != nil {
			return err
		}
		if _, err := s.Read(ctx, w.Key); err != nil {
			return err
		}
		changed := *w
		changed.Op, changed.Method = fhir.OpUpdate, fhir.MethodPut
		index := *w.Index
		index.Tokens = append(index.Tokens[:6:6], fhir.TokenValue{Param: "token6", System: "urn:example:system", Code: "changed"})
		changed.Index = &index
		if _, err := s.Write(ctx, &changed); err != nil {
			return err
		}
		_, err := s.Write(ctx, &fhir.Write{Op: fhir.OpDelete, Method: fhir.MethodDelete, Key: w.Key})
		return err
	})
}

// BenchmarkLoops compares numbers of loops under 64 clients.
func BenchmarkLoops(b *testing.B) {
	for _, loops := range []int{1, 2, 3, 4} {
		b.Run(fmt.Sprintf("loops=%d", loops), func(b *testing.B) {
			s, err := Open(b.Context(), Config{URL: postgrestest.New(b), readLoops: loops, writeLoops: loops})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			lifeOfResources(b, s, 64)
		})
	}
}

// BenchmarkReadLoops compares numbers of loops of the reader.
func BenchmarkReadLoops(b *testing.B) {
	for _, loops := range []int{1, 2, 3} {
		b.Run(fmt.Sprintf("loops=%d", loops), func(b *testing.B) {
			s, err := Open(b.Context(), Config{URL: postgrestest.New(b), readLoops: loops})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			fill(b, s, 2000)
			inParallel(b, s, 64, func(i int) error {
				_, err := s.Read(context.Background(), sampleKey(i*7919%2000))
				return err
			})
		})
	}
}
