package postgres

import (
	"strings"
	"time"
	"unicode/utf8"

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
			return `SELECT v.rid FROM version v WHERE v.type = ` + c.sql.arg(c.typeID) + ` AND ` + test(`v.updated`)
		},
		test: func() string { return test(`r.updated`) },
	}
}

// date: https://hl7.org/fhir/R4/search.html#date
func (c *criterionCompiler) date(k fhir.Date) compiled {
	return c.dateOf(c.hash.param(c.typ, k.Param), k)
}

// dateOf compares the dates of a parameter, or of one bound to another value.
func (c *criterionCompiler) dateOf(param int64, k fhir.Date) compiled {
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
		return `SELECT rid FROM search_date WHERE param = ` + c.sql.arg(param) + ` AND ` + test()
	})
}

// number: https://hl7.org/fhir/R4/search.html#number
func (c *criterionCompiler) number(param int64, k fhir.Number) compiled {
	return c.numbers(param, c.compare(k.Prefix, k.Value, k.Low, k.High, `low`, `high`))
}

// quantity: https://hl7.org/fhir/R4/search.html#quantity
func (c *criterionCompiler) quantity(param int64, k fhir.Quantity) (compiled, error) {
	if in := k.Canonical; in != nil {
		return c.numbers(c.hash.in(param, in.Unit), c.compare(k.Prefix, in.Value, in.Low, in.High, `low`, `high`)), nil
	}
	compare := c.compare(k.Prefix, k.Value, k.Low, k.High, `low`, `high`)
	switch {
	case k.System != "" && k.Code != "":
		return c.numbers(param, func() string { return compare() + ` AND unit = ` + c.sql.arg(c.hash.unit(k.System, k.Code)) }), nil
	case k.Code != "":
		code := c.hash.unit(k.Code)
		return c.numbers(param, func() string {
			return compare() + ` AND (code = ` + c.sql.arg(code) + ` OR text = ` + c.sql.arg(code) + `)`
		}), nil
	case k.System != "":
		return compiled{}, fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "a quantity with a system needs a code, too")
	}
	return c.numbers(param, compare), nil
}

// numbers is the resources with a row of search_number that meets a condition.
func (c *criterionCompiler) numbers(param int64, condition func() string) compiled {
	return inSet(func() string {
		return `SELECT rid FROM search_number WHERE param = ` + c.sql.arg(param) + ` AND ` + condition()
	})
}

// compare is a condition on the ends of a number, in the columns from and to.
func (c *criterionCompiler) compare(prefix fhir.Prefix, value, low, high, from, to string) func() string {
	is := func(column, operator, decimal string) string {
		return column + operator + c.sql.arg(decimal) + `::text::numeric`
	}
	within := func() string {
		below := ` < `
		if low == high {
			below = ` <= `
		}
		return is(from, ` >= `, low) + ` AND ` + is(from, below, high) + ` AND ` + is(to, below, high)
	}
	switch prefix {
	case fhir.PrefixNotEqual:
		return func() string { return `NOT (` + within() + `)` }
	case fhir.PrefixGreater:
		return func() string { return is(to, ` > `, value) }
	case fhir.PrefixLess:
		return func() string { return is(from, ` < `, value) }
	case fhir.PrefixGreaterOrEqual:
		return func() string { return is(to, ` >= `, value) }
	case fhir.PrefixLessOrEqual:
		return func() string { return is(from, ` <= `, value) }
	case fhir.PrefixStartsAfter:
		return func() string { return is(from, ` > `, value) }
	case fhir.PrefixEndsBefore:
		return func() string { return is(from, ` < `, value) + ` AND ` + is(to, ` < `, value) }
	case fhir.PrefixApproximate:
		return func() string { return is(from, ` < `, high) + ` AND ` + is(to, ` >= `, low) }
	}
	return within
}

// text: https://hl7.org/fhir/R4/search.html#string
func (c *criterionCompiler) text(k fhir.String) compiled {
	return c.textOf(c.hash.param(c.typ, k.Param), k)
}

// textOf compares the texts of a parameter, or of one bound to another value.
func (c *criterionCompiler) textOf(param int64, k fhir.String) compiled {
	rows := func(condition func() string) func() string {
		return func() string {
			return `SELECT rid FROM search_string WHERE param = ` + c.sql.arg(param) + condition()
		}
	}
	switch k.Match {
	case fhir.StringContains:
		return inSet(rows(func() string { return ` AND strpos(value, ` + c.sql.arg(firstCharacters(k.Value, maxText)) + `) > 0` }))
	case fhir.StringEnds:
		ends := firstCharacters(k.Value, maxText)
		return inSet(rows(func() string {
			return ` AND length(value) < ` + c.sql.arg(int32(maxText)) + ` AND right(value, ` + c.sql.arg(int32(utf8.RuneCountInString(ends))) + `) = ` + c.sql.arg(ends)
		}))
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
