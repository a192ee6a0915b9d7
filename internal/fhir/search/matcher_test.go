package search

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"starling/internal/fhir"
)

// world is all resources there are, by type and id.
type world map[fhir.Key]*fhir.Index

// matches decides a criterion on an index alone.
func matches(c fhir.Criterion, i *fhir.Index) bool { return world{}.meets(c, fhir.Key{}, i) }

// meets decides a criterion on a resource, by the words of package fhir: what
// a store must answer.
func (w world) meets(c fhir.Criterion, key fhir.Key, i *fhir.Index) bool {
	switch c := c.(type) {
	case nil:
		return true
	case fhir.And:
		return !slices.ContainsFunc(c, func(c fhir.Criterion) bool { return !w.meets(c, key, i) })
	case fhir.Or:
		return slices.ContainsFunc(c, func(c fhir.Criterion) bool { return w.meets(c, key, i) })
	case fhir.Not:
		return !w.meets(c.Criterion, key, i)
	case fhir.IDIn:
		return slices.Contains(c, key.ID)
	case fhir.Contained:
		if c.Itself && key.Type == c.Type && w.meets(c.Criterion, key, i) {
			return true
		}
		return slices.ContainsFunc(i.Contained, func(in fhir.ContainedIndex) bool {
			return in.Type == c.Type && inner{w, i}.meets(c.Criterion, in)
		})
	case fhir.Chain:
		if !c.Outside && followsInside(w, i, i, c) {
			return true
		}
		for other, index := range w {
			if other.Type == c.Type && refersTo(i, c.Param, c.Canonical, other, index) && w.meets(c.Criterion, other, index) {
				return true
			}
		}
		return false
	case fhir.Has:
		for other, index := range w {
			if other.Type == c.Type && refersTo(index, c.Param, c.Canonical, key, i) && w.meets(c.Criterion, other, index) {
				return true
			}
		}
		return false
	case fhir.Missing:
		return c.Missing != hasValue(c.Param, i)
	case fhir.Token:
		return slices.ContainsFunc(i.Tokens, func(v fhir.TokenValue) bool { return v.Param == c.Param && tokenMatches(c, v) })
	case fhir.ReferenceTo:
		return slices.ContainsFunc(i.References, func(v fhir.ReferenceValue) bool {
			if c.Version != "" && c.Version != v.Version {
				return false
			}
			return v.Param == c.Param && v.ID == c.ID && v.URL == c.URL && (c.Type == "" || c.URL != "" || c.Type == v.Type)
		})
	case fhir.Composite:
		return slices.ContainsFunc(i.Composites, func(v fhir.CompositeValue) bool {
			for n, part := range c.Parts {
				if v.Param != c.Param || !matches(part, v.Parts[n]) {
					return false
				}
			}
			return true
		})
	case fhir.TokenIn:
		return slices.ContainsFunc(i.Tokens, func(v fhir.TokenValue) bool {
			return v.Param == c.Param && slices.ContainsFunc(c.Codes, func(code fhir.TokenValue) bool {
				return tokenMatches(fhir.Token{System: &code.System, Code: &code.Code, FoldCase: code.FoldCase}, v)
			})
		})
	case fhir.Text:
		if i.Text == nil {
			return false
		}
		has := func(text string) bool {
			at := strings.Index(" "+text+" ", " "+c.Words+" ")
			if c.Begins {
				at = strings.Index(" "+text, " "+c.Words)
			}
			return at >= 0
		}
		return has(i.Text.Narrative) || !c.Narrative && has(i.Text.Content)
	case fhir.Named:
		return slices.ContainsFunc(i.Names, func(v fhir.NameValue) bool {
			words := strings.Split(v.Folded, " ")
			for n := range min(len(words), 50) {
				if v.Param == c.Param && strings.HasPrefix(strings.Join(words[n:], " "), c.Value) {
					return true
				}
			}
			return false
		})
	case fhir.OfType:
		return slices.Contains(i.Typed, fhir.TypedIdentifier(c))
	case fhir.ReferenceBy:
		return slices.ContainsFunc(i.References, func(v fhir.ReferenceValue) bool {
			by := v.Identifier
			return v.Param == c.Param && by != nil && by.Code == c.Code && (c.System == nil || *c.System == by.System)
		})
	case fhir.URIBelow:
		return slices.ContainsFunc(i.URIs, func(v fhir.URIValue) bool {
			return v.Param == c.Param && (v.URI == c.URI || strings.HasPrefix(v.URI, c.URI+"/"))
		})
	case fhir.Near:
		return slices.ContainsFunc(i.Positions, func(v fhir.PositionValue) bool { return v.Param == c.Param && metres(c, v) <= c.Distance })
	case fhir.URI:
		return slices.Contains(i.URIs, fhir.URIValue(c))
	case fhir.String:
		return slices.ContainsFunc(i.Strings, func(v fhir.StringValue) bool { return v.Param == c.Param && stringMatches(c, v) })
	case fhir.Date:
		return slices.ContainsFunc(i.Dates, func(v fhir.DateValue) bool { return v.Param == c.Param && dateMatches(c, v) })
	case fhir.Number:
		return slices.ContainsFunc(i.Numbers, func(v fhir.NumberValue) bool {
			return v.Param == c.Param && amountMatches(c.Prefix, c.Value, c.Low, c.High, v.Value, v.Low, v.High)
		})
	case fhir.Quantity:
		return slices.ContainsFunc(i.Quantities, func(v fhir.QuantityValue) bool {
			if in := c.Canonical; in != nil {
				return v.Param == c.Param && v.Canonical != nil && v.Canonical.Unit == in.Unit &&
					amountMatches(c.Prefix, in.Value, in.Low, in.High, v.Canonical.Value, v.Canonical.Low, v.Canonical.High)
			}
			unit := c.Code == "" || c.System == v.System && c.Code == v.Code || c.System == "" && (c.Code == v.Code || c.Code == v.Unit)
			return v.Param == c.Param && unit && amountMatches(c.Prefix, c.Value, c.Low, c.High, v.Value, v.Low, v.High)
		})
	}
	panic("no such criterion")
}

// inner decides criteria on what a resource contains.
type inner struct {
	world     world
	container *fhir.Index
}

func (n inner) meets(c fhir.Criterion, in fhir.ContainedIndex) bool {
	switch c := c.(type) {
	case fhir.And:
		return !slices.ContainsFunc(c, func(c fhir.Criterion) bool { return !n.meets(c, in) })
	case fhir.Or:
		return slices.ContainsFunc(c, func(c fhir.Criterion) bool { return n.meets(c, in) })
	case fhir.Not:
		return !n.meets(c.Criterion, in)
	case fhir.Has, fhir.Updated, fhir.Text:
		return false
	case fhir.Chain:
		if !c.Outside && followsInside(n.world, n.container, in.Index, c) {
			return true
		}
	}
	return n.world.meets(c, fhir.Key{Type: in.Type, ID: in.ID}, in.Index)
}

// followsInside holds for references of an index to what the container contains.
func followsInside(w world, container, i *fhir.Index, c fhir.Chain) bool {
	return slices.ContainsFunc(i.References, func(v fhir.ReferenceValue) bool {
		return v.Param == c.Param && slices.ContainsFunc(container.Contained, func(in fhir.ContainedIndex) bool {
			return v.URL == "#"+in.ID && in.Type == c.Type && inner{w, container}.meets(c.Criterion, in)
		})
	})
}

// metres is the length of the chord between two places, bent to the sphere.
func metres(c fhir.Near, v fhir.PositionValue) float64 {
	point := func(latitude, longitude float64) [3]float64 {
		a, b := latitude*math.Pi/180, longitude*math.Pi/180
		return [3]float64{math.Cos(a) * math.Cos(b), math.Cos(a) * math.Sin(b), math.Sin(a)}
	}
	p, q := point(c.Latitude, c.Longitude), point(v.Latitude, v.Longitude)
	return 2 * 6371008.8 * math.Asin(math.Sqrt((p[0]-q[0])*(p[0]-q[0])+(p[1]-q[1])*(p[1]-q[1])+(p[2]-q[2])*(p[2]-q[2]))/2)
}

// refersTo holds for a reference to a resource with an index.
func refersTo(i *fhir.Index, param string, canonical bool, to fhir.Key, index *fhir.Index) bool {
	return slices.ContainsFunc(i.References, func(v fhir.ReferenceValue) bool {
		if !canonical {
			return v.Param == param && v.Type == to.Type && v.ID == to.ID && v.ID != ""
		}
		return v.Param == param && v.URL != "" && slices.Contains(index.URIs, fhir.URIValue{Param: "url", URI: v.URL}) &&
			(v.Version == "" || slices.ContainsFunc(index.Tokens, func(t fhir.TokenValue) bool { return t.Param == "version" && t.Code == v.Version }))
	})
}

func tokenMatches(c fhir.Token, v fhir.TokenValue) bool {
	switch {
	case c.System != nil && *c.System != v.System:
		return false
	case c.Code == nil:
		return true
	case c.FoldCase != v.FoldCase:
		return false
	case c.FoldCase:
		return fhir.FoldCase(*c.Code) == fhir.FoldCase(v.Code)
	}
	return *c.Code == v.Code
}

func stringMatches(c fhir.String, v fhir.StringValue) bool {
	switch c.Match {
	case fhir.StringContains:
		return strings.Contains(v.Folded, c.Value)
	case fhir.StringExact:
		return v.Exact == c.Value
	case fhir.StringEnds:
		return utf8.RuneCountInString(v.Folded) < 200 && strings.HasSuffix(v.Folded, c.Value)
	}
	return strings.HasPrefix(v.Folded, c.Value)
}

func dateMatches(c fhir.Date, v fhir.DateValue) bool {
	low, high := v.Low, v.High
	if low.IsZero() {
		low = time.Unix(-1<<40, 0)
	}
	if high.IsZero() {
		high = time.Unix(1<<40, 0)
	}
	within := !low.Before(c.Range.Low) && high.Before(c.Range.High)
	after, before := !high.Before(c.Range.High), low.Before(c.Range.Low)
	switch c.Prefix {
	case fhir.PrefixNotEqual:
		return !within
	case fhir.PrefixGreater:
		return after
	case fhir.PrefixLess:
		return before
	case fhir.PrefixGreaterOrEqual:
		return after || within
	case fhir.PrefixLessOrEqual:
		return before || within
	case fhir.PrefixStartsAfter:
		return !low.Before(c.Range.High)
	case fhir.PrefixEndsBefore:
		return high.Before(c.Range.Low)
	case fhir.PrefixApproximate:
		return low.Before(c.Range.High) && !high.Before(c.Range.Low)
	}
	return within
}

// compareAmounts compares decimals; "" is an open end in direction open.
func compareAmounts(a, b string, open int) int {
	if a == "" {
		return open
	}
	x, _ := new(big.Rat).SetString(a)
	y, _ := new(big.Rat).SetString(b)
	return x.Cmp(y)
}

func amountMatches(prefix fhir.Prefix, value, from, to, exact, low, high string) bool {
	if exact != "" {
		low, high = exact, exact
	}
	end := compareAmounts(high, to, 1)
	within := compareAmounts(low, from, -1) >= 0 && (end < 0 || end == 0 && from == to)
	switch prefix {
	case fhir.PrefixNotEqual:
		return !within
	case fhir.PrefixGreater:
		return compareAmounts(high, value, 1) > 0
	case fhir.PrefixLess:
		return compareAmounts(low, value, -1) < 0
	case fhir.PrefixGreaterOrEqual:
		return compareAmounts(high, value, 1) >= 0
	case fhir.PrefixLessOrEqual:
		return compareAmounts(low, value, -1) <= 0
	case fhir.PrefixStartsAfter:
		return compareAmounts(low, value, -1) > 0
	case fhir.PrefixEndsBefore:
		return compareAmounts(high, value, 1) < 0
	case fhir.PrefixApproximate:
		return compareAmounts(low, to, -1) <= 0 && compareAmounts(high, from, 1) >= 0
	}
	return within
}

func hasValue(param string, i *fhir.Index) bool {
	return slices.ContainsFunc(i.Tokens, func(v fhir.TokenValue) bool { return v.Param == param }) ||
		slices.ContainsFunc(i.Positions, func(v fhir.PositionValue) bool { return v.Param == param }) ||
		slices.ContainsFunc(i.Composites, func(v fhir.CompositeValue) bool { return v.Param == param }) ||
		slices.ContainsFunc(i.References, func(v fhir.ReferenceValue) bool { return v.Param == param }) ||
		slices.ContainsFunc(i.Strings, func(v fhir.StringValue) bool { return v.Param == param }) ||
		slices.ContainsFunc(i.Dates, func(v fhir.DateValue) bool { return v.Param == param }) ||
		slices.ContainsFunc(i.Numbers, func(v fhir.NumberValue) bool { return v.Param == param }) ||
		slices.ContainsFunc(i.Quantities, func(v fhir.QuantityValue) bool { return v.Param == param }) ||
		slices.ContainsFunc(i.URIs, func(v fhir.URIValue) bool { return v.Param == param })
}
