package postgres

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"starling/internal/fhir"
)

// bound is an end of a search value's range; the zero time is open.
func bound(t time.Time, open pgtype.InfinityModifier) pgtype.Timestamptz {
	if t.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: open, Valid: true}
	}
	return pgtype.Timestamptz{Time: t, Valid: true}
}

// updated compares lastUpdated: https://hl7.org/fhir/R4/search.html#lastUpdated
func (c *criterionCompiler) updated(k fhir.Updated) compiled {
	test := func(row string) string {
		low := func() string { return row + ` < ` + c.sql.arg(bound(k.Range.Low, pgtype.NegativeInfinity)) }
		high := func() string { return row + ` >= ` + c.sql.arg(bound(k.Range.High, pgtype.Infinity)) }
		switch k.Prefix {
		case fhir.PrefixNotEqual:
			return `(` + low() + ` OR ` + high() + `)`
		case fhir.PrefixGreater, fhir.PrefixStartsAfter:
			return high()
		case fhir.PrefixLess, fhir.PrefixEndsBefore:
			return low()
		case fhir.PrefixGreaterOrEqual:
			return `NOT ` + low()
		case fhir.PrefixLessOrEqual:
			return `NOT ` + high()
		}
		return `(NOT ` + low() + ` AND NOT ` + high() + `)`
	}
	// The index has the times of all versions; the test keeps the current.
	return compiled{
		set: func() string {
			return `SELECT v.rid FROM version v WHERE v.type = ` + c.sql.arg(c.number) + ` AND ` + test(`v.updated`)
		},
		test: func() string { return test(`r.updated`) },
	}
}

// date: https://hl7.org/fhir/R4/search.html#date
func (c *criterionCompiler) date(k fhir.Date) compiled {
	low := func() string { return c.sql.arg(bound(k.Range.Low, pgtype.NegativeInfinity)) }
	high := func() string { return c.sql.arg(bound(k.Range.High, pgtype.Infinity)) }
	within := func() string { return `low >= ` + low() + ` AND low < ` + high() + ` AND high < ` + high() }
	test := within
	switch k.Prefix {
	case fhir.PrefixNotEqual:
		test = func() string { return `NOT (` + within() + `)` }
	case fhir.PrefixGreater:
		test = func() string { return `high >= ` + high() }
	case fhir.PrefixLess:
		test = func() string { return `low < ` + low() }
	case fhir.PrefixGreaterOrEqual:
		test = func() string { return `(high >= ` + high() + ` OR ` + within() + `)` }
	case fhir.PrefixLessOrEqual:
		test = func() string { return `(low < ` + low() + ` OR ` + within() + `)` }
	case fhir.PrefixStartsAfter:
		test = func() string { return `low >= ` + high() }
	case fhir.PrefixEndsBefore:
		test = func() string { return `low < ` + low() + ` AND high < ` + low() }
	case fhir.PrefixApproximate:
		test = func() string { return `low < ` + high() + ` AND high >= ` + low() }
	}
	return inSet(func() string {
		return `SELECT rid FROM search_date WHERE param = ` + c.sql.arg(c.hash.param(c.typ, k.Param)) + ` AND ` + test()
	})
}

// numeric: https://hl7.org/fhir/R4/search.html#number. unit is a further
// condition.
func (c *criterionCompiler) numeric(param string, prefix fhir.Prefix, value, low, high string, unit func() string) compiled {
	compare := func(row, decimal string) string { return row + c.sql.arg(decimal) + `::text::numeric` }
	within := func() string {
		below := ` < `
		if low == high {
			below = ` <= `
		}
		return compare(`low >= `, low) + ` AND ` + compare(`low`+below, high) + ` AND ` + compare(`high`+below, high)
	}
	test := within
	switch prefix {
	case fhir.PrefixNotEqual:
		test = func() string { return `NOT (` + within() + `)` }
	case fhir.PrefixGreater:
		test = func() string { return compare(`high > `, value) }
	case fhir.PrefixLess:
		test = func() string { return compare(`low < `, value) }
	case fhir.PrefixGreaterOrEqual:
		test = func() string { return compare(`high >= `, value) }
	case fhir.PrefixLessOrEqual:
		test = func() string { return compare(`low <= `, value) }
	case fhir.PrefixStartsAfter:
		test = func() string { return compare(`low > `, value) }
	case fhir.PrefixEndsBefore:
		test = func() string { return compare(`low < `, value) + ` AND ` + compare(`high < `, value) }
	case fhir.PrefixApproximate:
		test = func() string { return compare(`low < `, high) + ` AND ` + compare(`high >= `, low) }
	}
	return inSet(func() string {
		return `SELECT rid FROM search_number WHERE param = ` + c.sql.arg(c.hash.param(c.typ, param)) + ` AND ` + test() + unit()
	})
}

// quantity: https://hl7.org/fhir/R4/search.html#quantity
func (c *criterionCompiler) quantity(k fhir.Quantity) (compiled, error) {
	unit := func() string { return "" }
	switch {
	case k.System != "" && k.Code != "":
		unit = func() string { return ` AND unit = ` + c.sql.arg(c.hash.unit(k.System, k.Code)) }
	case k.Code != "":
		code := c.hash.unit(k.Code)
		unit = func() string { return ` AND (code = ` + c.sql.arg(code) + ` OR text = ` + c.sql.arg(code) + `)` }
	case k.System != "":
		return compiled{}, fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "a quantity with a system needs a code, too")
	}
	return c.numeric(k.Param, k.Prefix, k.Value, k.Low, k.High, unit), nil
}

// text: https://hl7.org/fhir/R4/search.html#string
func (c *criterionCompiler) text(k fhir.String) compiled {
	rows := func(condition func() string) func() string {
		return func() string {
			return `SELECT rid FROM search_string WHERE param = ` + c.sql.arg(c.hash.param(c.typ, k.Param)) + condition()
		}
	}
	switch k.Match {
	case fhir.StringContains:
		return inSet(rows(func() string { return ` AND strpos(value, ` + c.sql.arg(firstCharacters(k.Value, maxText)) + `) > 0` }))
	case fhir.StringExact:
		return compiled{
			set:  rows(c.startsWith(foldedPrefix(k.Value))),
			test: c.has(c.hash.term(c.typ, k.Param, termExact, k.Value)),
		}
	}
	return inSet(rows(c.startsWith(firstCharacters(k.Value, maxText))))
}

// startsWith is a range of the index, which is in the order of bytes; U+10FFFF
// sorts after all else.
func (c *criterionCompiler) startsWith(prefix string) func() string {
	return func() string {
		if prefix == "" {
			return ""
		}
		return ` AND value >= ` + c.sql.arg(prefix) + ` AND value <= ` + c.sql.arg(prefix+"\U0010FFFF")
	}
}

// foldedPrefix gives how the folded form of a text is sure to begin: ASCII
// letters and digits fold to lower case and nothing else.
func foldedPrefix(s string) string {
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') || i == maxText {
			// A combining accent may yet change the character before it.
			if c >= 0x80 && i > 0 {
				i--
			}
			return strings.ToLower(s[:i])
		}
	}
	return strings.ToLower(s)
}
