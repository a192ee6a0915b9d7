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
	low, high := bound(k.Range.Low, pgtype.NegativeInfinity), bound(k.Range.High, pgtype.Infinity)
	rows := func(prefix fhir.Prefix, further string) string {
		return `SELECT rid FROM search_date WHERE param = ` + c.sql.arg(param) + ` AND ` + compareDate(prefix, c.sql, low, high) + further
	}
	return compiled{
		exact: true,
		set: func() string {
			switch k.Prefix {
			case fhir.PrefixGreaterOrEqual:
				// The index of the upper ends does not have the lower ones.
				return rows(fhir.PrefixGreater, ``) + ` UNION ALL ` + rows(fhir.PrefixEqual, ``)
			case fhir.PrefixApproximate:
				// What begins long before is looked for among the long intervals alone.
				span := spanOf([]fhir.Date{k})
				if far, near, ok := span.far(c.sql, false); ok {
					return rows(k.Prefix, ` AND `+near()) + ` UNION ALL ` + rows(k.Prefix, ` AND `+longDate+` AND `+far())
				}
			}
			return rows(k.Prefix, ``)
		},
		test: func() string {
			return `EXISTS (SELECT FROM range_dates(r.ranges, ` + c.sql.arg(param) + `) WHERE ` +
				compareDate(k.Prefix, c.sql, lowMicros(k.Range.Low), highMicros(k.Range.High)) + `)`
		},
	}
}

// compareDate is a condition on the columns low and high of a date, whose ends
// from and to are of those columns' type.
func compareDate(prefix fhir.Prefix, b *sqlBuilder, from, to any) string {
	low := func() string { return b.arg(from) }
	high := func() string { return b.arg(to) }
	within := func() string { return `low >= ` + low() + ` AND low < ` + high() + ` AND high < ` + high() }
	switch prefix {
	case fhir.PrefixNotEqual:
		return `NOT (` + within() + `)`
	case fhir.PrefixGreater:
		return `high >= ` + high()
	case fhir.PrefixLess:
		return `low < ` + low()
	case fhir.PrefixGreaterOrEqual: // the first part is for the index
		return `high >= ` + low() + ` AND (high >= ` + high() + ` OR ` + within() + `)`
	case fhir.PrefixLessOrEqual:
		return `low < ` + high() + ` AND (low < ` + low() + ` OR ` + within() + `)`
	case fhir.PrefixStartsAfter:
		return `low >= ` + high()
	case fhir.PrefixEndsBefore:
		return `low < ` + low() + ` AND high < ` + low()
	case fhir.PrefixApproximate:
		return `low < ` + high() + ` AND high >= ` + low()
	}
	return within()
}

// number: https://hl7.org/fhir/R4/search.html#number
func (c *criterionCompiler) number(param int64, k fhir.Number) compiled {
	return c.amount(param, k.Prefix, k.Value, k.Low, k.High, nil)
}

// quantity: https://hl7.org/fhir/R4/search.html#quantity
func (c *criterionCompiler) quantity(param int64, k fhir.Quantity) (compiled, error) {
	if in := k.Canonical; in != nil {
		return c.amount(c.hash.in(param, in.Unit), k.Prefix, in.Value, in.Low, in.High, nil), nil
	}
	var unit func() string
	switch {
	case k.System != "" && k.Code != "":
		unit = func() string { return `unit = ` + c.sql.arg(c.hash.unit(k.System, k.Code)) }
	case k.Code != "":
		code := c.hash.unit(k.Code)
		unit = func() string { return `(code = ` + c.sql.arg(code) + ` OR text = ` + c.sql.arg(code) + `)` }
	case k.System != "":
		return compiled{}, fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported, "a quantity with a system needs a code, too")
	}
	return c.amount(param, k.Prefix, k.Value, k.Low, k.High, unit), nil
}

// amount compares the numbers of a parameter, of a unit if that is not nil. What
// looks at the upper end walks two indexes: that of the lower ends, for numbers
// whose ends are one, and that of the upper ends of the few others.
func (c *criterionCompiler) amount(param int64, prefix fhir.Prefix, value, low, high string, unit func() string) compiled {
	condition := c.compare(prefix, value, low, high, `low`, `high`)
	if unit != nil {
		compare := condition
		condition = func() string { return compare() + ` AND ` + unit() }
	}
	one := c.numbers(param, condition)
	least, above := value, ` >= `
	switch prefix {
	case fhir.PrefixGreater:
		above = ` > `
	case fhir.PrefixGreaterOrEqual:
	case fhir.PrefixApproximate:
		least = low
	default:
		return one
	}
	one.set = func() string {
		rows := func(condition string) string {
			return `SELECT rid FROM search_number WHERE param = ` + c.sql.arg(param) + ` AND ` + condition
		}
		end := c.sql.arg(least) + `::text::numeric`
		return rows(`low`+above+end+` AND low = high AND `) + condition() + ` UNION ALL ` +
			rows(`low <> high AND high`+above+end+` AND `) + condition()
	}
	return one
}

// numbers is the resources with a row of search_number that meets a condition.
func (c *criterionCompiler) numbers(param int64, condition func() string) compiled {
	return inSet(func() string {
		return `SELECT rid FROM search_number WHERE param = ` + c.sql.arg(param) + ` AND ` + condition()
	}, func() string {
		return `EXISTS (SELECT FROM range_numbers(r.ranges, ` + c.sql.arg(param) + `) WHERE ` + condition() + `)`
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
	switch k.Match {
	case fhir.StringContains:
		return c.texts(param, func() string { return `strpos(value, ` + c.sql.arg(firstCharacters(k.Value, maxText)) + `) > 0` })
	case fhir.StringEnds:
		ends := firstCharacters(k.Value, maxText)
		return c.texts(param, func() string {
			return `length(value) < ` + c.sql.arg(int32(maxText)) + ` AND right(value, ` + c.sql.arg(int32(utf8.RuneCountInString(ends))) + `) = ` + c.sql.arg(ends)
		})
	case fhir.StringExact:
		one := c.texts(param, c.startsWith(foldedPrefix(k.Value)))
		one.exact, one.test = false, c.has(c.hash.term(c.typ, k.Param, termExact, k.Value))
		return one
	}
	return c.texts(param, c.startsWith(firstCharacters(k.Value, maxText)))
}

// texts is the resources with a row of search_string that meets a condition.
func (c *criterionCompiler) texts(param int64, condition func() string) compiled {
	return inSet(func() string {
		return `SELECT rid FROM search_string WHERE param = ` + c.sql.arg(param) + ` AND ` + condition()
	}, func() string {
		return `EXISTS (SELECT FROM range_texts(r.ranges, ` + c.sql.arg(param) + `) WHERE ` + condition() + `)`
	})
}

// startsWith is a range of the index, which is in the order of bytes; U+10FFFF
// sorts after all else.
func (c *criterionCompiler) startsWith(prefix string) func() string {
	return func() string {
		if prefix == "" {
			return `true`
		}
		return `value COLLATE "C" >= ` + c.sql.arg(prefix) + ` AND value COLLATE "C" <= ` + c.sql.arg(prefix+"\U0010FFFF")
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
