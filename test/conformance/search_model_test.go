package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// item is a resource as it was sent, its references to others of its bundle
// replaced by what they became.
type item struct {
	typ, ref string // ref is Type/id
	body     map[string]any
	updated  string // instant, as the server said
}

func (i *item) id() string { return i.ref[strings.IndexByte(i.ref, '/')+1:] }

// test is a criterion written down as plain Go. It knows nothing of search
// parameters: each names the elements it looks at.
type test func(*item) bool

// holdings are all resources the server was given.
type holdings struct {
	base  string // of the server
	all   []*item
	byRef map[string]*item
}

// of gives the resources of these types (none: all) that meet the test.
func (h *holdings) of(types []string, t test) []*item {
	var found []*item
	for _, i := range h.all {
		if (len(types) == 0 || slices.Contains(types, i.typ)) && t(i) {
			found = append(found, i)
		}
	}
	return found
}

// at gives the values at a path of names, going through every array.
func at(value any, path string) []any {
	if list, ok := value.([]any); ok {
		var all []any
		for _, v := range list {
			all = append(all, at(v, path)...)
		}
		return all
	}
	if path == "" {
		return []any{value}
	}
	name, rest, _ := strings.Cut(path, ".")
	object, _ := value.(map[string]any)
	if v, ok := object[name]; ok {
		return at(v, rest)
	}
	return nil
}

func texts(value any, path string) []string {
	var all []string
	for _, v := range at(value, path) {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

func any1(*item) bool  { return true }
func none1(*item) bool { return false }

func not(t test) test { return func(i *item) bool { return !t(i) } }

func and(tests ...test) test {
	return func(i *item) bool {
		return !slices.ContainsFunc(tests, func(t test) bool { return !t(i) })
	}
}

func or(tests ...test) test {
	return func(i *item) bool { return slices.ContainsFunc(tests, func(t test) bool { return t(i) }) }
}

func has(path string) test { return func(i *item) bool { return len(at(i.body, path)) > 0 } }

// is holds if one of the texts at the path is one of the values.
func is(path string, values ...string) test {
	return func(i *item) bool {
		return slices.ContainsFunc(texts(i.body, path), func(s string) bool { return slices.Contains(values, s) })
	}
}

// coded holds if an object at the path has the system, "" for any, and the value
// in the member named, "" for any.
func coded(path, system, member, value string) test {
	return func(i *item) bool {
		return slices.ContainsFunc(at(i.body, path), func(v any) bool {
			return (system == "" || slices.Contains(texts(v, "system"), system)) &&
				(value == "" || slices.Contains(texts(v, member), value))
		})
	}
}

// code is a Coding of the system, "" for any.
func code(path, system, value string) test { return coded(path, system, "code", value) }

// plain takes off the accents that the sample has.
var plain = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ñ", "n")

// begins holds if a text at one of the paths begins so, without regard to case
// and accents. Punctuation is left to the words the cases choose.
func begins(prefix string, paths ...string) test {
	return matches(prefix, strings.HasPrefix, paths...)
}

func contains(part string, paths ...string) test { return matches(part, strings.Contains, paths...) }

func matches(value string, how func(s, part string) bool, paths ...string) test {
	return func(i *item) bool {
		for _, path := range paths {
			for _, s := range texts(i.body, path) {
				if how(plain.Replace(strings.ToLower(s)), value) {
					return true
				}
			}
		}
		return false
	}
}

// span is a time from lo up to, without it, hi.
type span struct{ lo, hi time.Time }

var always = span{time.Unix(-1<<36, 0), time.Unix(1<<36, 0)}

// when reads a date, dateTime or instant as the span its precision stands for.
func when(text string) span {
	switch len(text) {
	case 4:
		lo, _ := time.Parse("2006", text)
		return span{lo, lo.AddDate(1, 0, 0)}
	case 7:
		lo, _ := time.Parse("2006-01", text)
		return span{lo, lo.AddDate(0, 1, 0)}
	case 10:
		lo, _ := time.Parse("2006-01-02", text)
		return span{lo, lo.AddDate(0, 0, 1)}
	}
	lo, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	if strings.Contains(text, ".") {
		return span{lo, lo.Add(time.Millisecond)}
	}
	return span{lo, lo.Add(time.Second)}
}

// spans gives the times at a path: dates as text, and Periods.
func spans(i *item, path string) []span {
	var all []span
	for _, v := range at(i.body, path) {
		switch v := v.(type) {
		case string:
			all = append(all, when(v))
		case map[string]any:
			s := always
			if start, ok := v["start"].(string); ok {
				s.lo = when(start).lo
			}
			if end, ok := v["end"].(string); ok {
				s.hi = when(end).hi
			}
			all = append(all, s)
		}
	}
	return all
}

// compare says whether a resource's span v compares so to that of the search.
func (s span) compare(prefix string, v span) bool {
	within := !v.lo.Before(s.lo) && !v.hi.After(s.hi)
	switch prefix {
	case "eq":
		return within
	case "ne":
		return !within
	case "gt":
		return v.hi.After(s.hi)
	case "ge":
		return v.hi.After(s.hi) || within
	case "lt":
		return v.lo.Before(s.lo)
	case "le":
		return v.lo.Before(s.lo) || within
	case "sa":
		return !v.lo.Before(s.hi)
	case "eb":
		return !v.hi.After(s.lo)
	}
	panic(prefix)
}

// dated holds if a time at one of the paths compares so to the search's.
func dated(prefix, value string, paths ...string) test {
	s := when(value)
	return func(i *item) bool {
		for _, path := range paths {
			if slices.ContainsFunc(spans(i, path), func(v span) bool { return s.compare(prefix, v) }) {
				return true
			}
		}
		return false
	}
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("not a number: " + text)
	}
	return r
}

// compareNumber compares a value to the search's number, whose interval for eq
// and ne is half a unit of its last digit to either side.
func compareNumber(value *big.Rat, prefix, number string) bool {
	n := rational(number)
	half := big.NewRat(1, 2)
	if _, decimals, ok := strings.Cut(number, "."); ok {
		for range decimals {
			half.Mul(half, big.NewRat(1, 10))
		}
	}
	low, high := new(big.Rat).Sub(n, half), new(big.Rat).Add(n, half)
	equal := value.Cmp(low) >= 0 && value.Cmp(high) < 0
	switch prefix {
	case "eq":
		return equal
	case "ne":
		return !equal
	case "gt", "sa":
		return value.Cmp(n) > 0
	case "ge":
		return value.Cmp(n) >= 0
	case "lt", "eb":
		return value.Cmp(n) < 0
	case "le":
		return value.Cmp(n) <= 0
	case "ap":
		tenth := new(big.Rat).Mul(n, big.NewRat(1, 10))
		return value.Cmp(new(big.Rat).Sub(n, tenth)) >= 0 && value.Cmp(new(big.Rat).Add(n, tenth)) <= 0
	}
	panic(prefix)
}

func numbered(path, prefix, number string) test {
	return func(i *item) bool {
		return slices.ContainsFunc(at(i.body, path), func(v any) bool {
			n, ok := v.(json.Number)
			return ok && compareNumber(rational(n.String()), prefix, number)
		})
	}
}

// quantity holds if a Quantity at the path with this code, "" for any, compares so.
func quantity(path, prefix, number, unit string) test {
	return func(i *item) bool {
		return slices.ContainsFunc(at(i.body, path), func(v any) bool {
			q, _ := v.(map[string]any)
			n, ok := q["value"].(json.Number)
			return ok && (unit == "" || q["code"] == unit) && compareNumber(rational(n.String()), prefix, number)
		})
	}
}

// refers holds if a reference at the path leads to a resource that meets the test.
func (h *holdings) refers(path string, t test) test {
	return func(i *item) bool {
		return slices.ContainsFunc(texts(i.body, path+".reference"), func(ref string) bool {
			target := h.byRef[ref]
			return target != nil && t(target)
		})
	}
}

// referred holds if a resource of the type that meets the test refers to this
// one at the path.
func (h *holdings) referred(typ, path string, t test) test {
	found := map[string]bool{}
	for _, i := range h.of([]string{typ}, t) {
		for _, ref := range texts(i.body, path+".reference") {
			found[ref] = true
		}
	}
	return func(i *item) bool { return found[i.ref] }
}

// targets gives what the items refer to at one of the paths.
func (h *holdings) targets(items []*item, paths ...string) []*item {
	var found []*item
	for _, i := range items {
		for _, path := range paths {
			for _, ref := range texts(i.body, path+".reference") {
				if target := h.byRef[ref]; target != nil {
					found = append(found, target)
				}
			}
		}
	}
	return found
}

// sources gives the resources of the type that refer to one of the items.
func (h *holdings) sources(items []*item, typ, path string) []*item {
	to := map[string]bool{}
	for _, i := range items {
		to[i.ref] = true
	}
	return h.of([]string{typ}, func(i *item) bool {
		return slices.ContainsFunc(texts(i.body, path+".reference"), func(ref string) bool { return to[ref] })
	})
}

// key gives what a resource is sorted by, and whether it has any.
type key func(*item) (string, bool)

// earliest and latest sort by the lower end ascending, the upper descending.
func earliest(path string) key {
	return func(i *item) (string, bool) {
		all := spans(i, path)
		if len(all) == 0 {
			return "", false
		}
		lo := slices.MinFunc(all, func(a, b span) int { return a.lo.Compare(b.lo) }).lo
		return lo.UTC().Format("2006-01-02T15:04:05.000"), true
	}
}

func latest(path string) key {
	return func(i *item) (string, bool) {
		all := spans(i, path)
		if len(all) == 0 {
			return "", false
		}
		hi := slices.MaxFunc(all, func(a, b span) int { return a.hi.Compare(b.hi) }).hi
		return hi.UTC().Format("2006-01-02T15:04:05.000"), true
	}
}

// least sorts by a text, the first of several.
func least(path string) key {
	return func(i *item) (string, bool) {
		all := texts(i.body, path)
		if len(all) == 0 {
			return "", false
		}
		return sortText(slices.Min(all)), true
	}
}

// greatest sorts by a text, the last of several.
func greatest(path string) key {
	return func(i *item) (string, bool) {
		all := texts(i.body, path)
		if len(all) == 0 {
			return "", false
		}
		return sortText(slices.Max(all)), true
	}
}

func sortText(s string) string { return plain.Replace(strings.ReplaceAll(strings.ToLower(s), "'", "")) }

// amount sorts by a number of the same digits before the point.
func amount(path string) key {
	return func(i *item) (string, bool) {
		for _, v := range at(i.body, path) {
			return fmt.Sprintf("%012s", rational(v.(json.Number).String()).FloatString(6)), true
		}
		return "", false
	}
}

// inOrder compares two results by a key: those without one last either way.
func inOrder(k key, descending bool) func(a, b *item) int {
	return func(a, b *item) int {
		x, hasX := k(a)
		y, hasY := k(b)
		switch {
		case !hasX || !hasY:
			return cmp.Compare(b2i(!hasX), b2i(!hasY))
		case descending:
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	}
}

// then compares by several keys, the first that differs deciding.
func then(orders ...func(a, b *item) int) func(a, b *item) int {
	return func(a, b *item) int {
		for _, order := range orders {
			if c := order(a, b); c != 0 {
				return c
			}
		}
		return 0
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
