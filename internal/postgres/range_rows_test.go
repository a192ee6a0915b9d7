package postgres

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"starling/internal/postgres/postgrestest"
)

// The functions that read resource.ranges in the database give the rows that the
// program encoded: those of the parameter asked for and no others.
func TestRangeRows(t *testing.T) {
	s := open(t, postgrestest.New(t))
	random := rand.New(rand.NewPCG(5, 6))
	var params []int64
	for range 6 {
		params = append(params, int64(random.Uint64())) // as hashes are, found nowhere else
	}
	decimals := []string{"0", "-0", "1.50", "-12.5", "1e3", "-Infinity", "Infinity", "99999999999999999999.000000000001", strings.Repeat("9", 127), strings.Repeat("7", 128), strings.Repeat("1", 300) + ".5"}
	texts := []string{"", "a", "\x01", "ж", strings.Repeat("é", 63) + "x", strings.Repeat("é", 64), strings.Repeat("漢", 200)}
	number := func() int64 { return []int64{0, 1, -1, -1 << 63, 1<<63 - 1, int64(random.Uint64())}[random.IntN(6)] }
	one := func(list []string) string { return list[random.IntN(len(list))] }
	for range 300 {
		var set rangeSet
		for range random.IntN(5) {
			set.dates = append(set.dates, dateRow{params[random.IntN(len(params))], number(), number()})
		}
		for range random.IntN(5) {
			set.numbers = append(set.numbers, numberRow{params[random.IntN(len(params))] ^ 1<<40, number(), number(), number(), one(decimals), one(decimals)})
		}
		for range random.IntN(5) {
			set.texts = append(set.texts, textRow{params[random.IntN(len(params))] ^ 1<<41, one(texts)})
		}
		set.normalize()
		encoded := set.encode()
		for _, param := range params {
			var want []string
			for _, row := range set.dates {
				if row.param == param {
					want = append(want, fmt.Sprint(row.low, " ", row.high))
				}
			}
			same(t, s, want, true, `SELECT low || ' ' || high FROM range_dates($1, $2)`, encoded, param)
			want = nil
			for _, row := range set.numbers {
				if row.param == param^1<<40 {
					want = append(want, fmt.Sprint(row.unit, " ", row.code, " ", row.text, " ", row.low, " ", row.high))
				}
			}
			for i, line := range same(t, s, want, false, `SELECT unit || ' ' || code || ' ' || text || ' ' || low || ' ' || high FROM range_numbers($1, $2)`, encoded, param^1<<40) {
				got, asked := strings.Fields(line), strings.Fields(want[i])
				if !slices.Equal(got[:3], asked[:3]) || compareDecimals(got[3], asked[3]) != 0 || compareDecimals(got[4], asked[4]) != 0 {
					t.Errorf("number %q, want %q", line, want[i])
				}
			}
			want = nil
			for _, row := range set.texts {
				if row.param == param^1<<41 {
					want = append(want, row.value)
				}
			}
			same(t, s, want, true, `SELECT value FROM range_texts($1, $2)`, encoded, param^1<<41)
		}
	}
}

// same runs a query that gives lines and compares their number with those wanted,
// and their text if text says so.
func same(t *testing.T, s *Store, want []string, text bool, sql string, args ...any) []string {
	t.Helper()
	rows, err := s.reserve.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != len(want) || text && !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	return lines
}
