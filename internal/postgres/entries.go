package postgres

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"starling/internal/fhir"
)

// entries is everything a resource is found by.
type entries struct {
	terms  []int64 // sorted, without duplicates
	ranges rangeSet
	names  []name // of search_name, which are not the resource's own
	words  string // of search_text, as the text of a tsvector
}

// entriesOf computes the entries of an index; nil gives none.
func (h hasher) entriesOf(t fhir.ResourceType, index *fhir.Index) entries {
	if index == nil {
		return entries{}
	}
	e := h.valuesOf(t, index)
	if len(index.Contained) > 0 {
		h.contained(&e, t, index)
	}
	slices.Sort(e.terms)
	e.terms = slices.Compact(e.terms)
	e.ranges.normalize()
	return e
}

// valuesOf computes the entries of the values of an index, unsorted.
func (h hasher) valuesOf(t fhir.ResourceType, index *fhir.Index) entries {
	e := entries{terms: make([]int64, 0, 3*len(index.Tokens)+4*len(index.References)+2*len(index.Strings)+
		len(index.Dates)+len(index.Numbers)+len(index.Quantities)+2*len(index.URIs)+len(index.Names))}
	add := func(param string, kind termKind, parts ...string) {
		e.terms = append(e.terms, h.term(t, param, kind, parts...))
	}
	for _, v := range index.Tokens {
		add(v.Param, termPresent)
		add(v.Param, termSystem, v.System)
		code, kind, systemKind := v.Code, termCode, termSystemCode
		if v.FoldCase {
			code, kind, systemKind = fhir.FoldCase(v.Code), termFolded, termSysFolded
		}
		if v.Code != "" {
			add(v.Param, kind, code)
			add(v.Param, systemKind, v.System, code)
		}
	}
	for _, v := range index.References {
		add(v.Param, termPresent)
		if v.ID != "" {
			e.terms = append(e.terms, h.reference(t, v.Param, v.Type, v.ID))
		}
		if v.URL != "" && !strings.HasPrefix(v.URL, "#") {
			add(v.Param, termURL, v.URL)
			e.terms = append(e.terms, h.canonical(t, v.Param, v.URL, v.Version))
		}
		if v.Version != "" {
			typ := string(v.Type)
			if v.URL != "" { // which says what is meant: the type may be a guess
				typ = ""
			}
			add(v.Param, termVersion, typ, v.ID, v.URL, v.Version)
		}
		if v.Identifier != nil {
			add(v.Param, termIdentifier, v.Identifier.Code)
			add(v.Param, termSysIdent, v.Identifier.System, v.Identifier.Code)
		}
	}
	for _, v := range index.URIs {
		add(v.Param, termPresent)
		add(v.Param, termURL, v.URI)
		if strings.HasPrefix(v.Param, "_") {
			term := h.term(t, v.Param, termURL, v.URI)
			e.names = append(e.names, name{param: h.param(t, v.Param), text: v.URI, hash: term, term: term})
		} else {
			e.ranges.texts = append(e.ranges.texts, textRow{h.param(t, v.Param), firstCharacters(v.URI, maxText)})
		}
	}
	for _, v := range index.Typed {
		add(v.Param, termOfType, v.System, v.Code, v.Value)
	}
	for _, v := range index.Positions {
		add(v.Param, termPresent)
		e.ranges.numbers = append(e.ranges.numbers, numberRow{
			param: h.param(t, v.Param),
			low:   strconv.FormatFloat(v.Latitude, 'f', -1, 64), high: strconv.FormatFloat(v.Longitude, 'f', -1, 64),
		})
	}
	for _, v := range index.Strings {
		add(v.Param, termPresent)
		if v.Exact != "" {
			add(v.Param, termExact, v.Exact)
		}
		e.ranges.texts = append(e.ranges.texts, textRow{h.param(t, v.Param), firstCharacters(v.Folded, maxText)})
	}
	for _, v := range index.Dates {
		add(v.Param, termPresent)
		e.ranges.dates = append(e.ranges.dates, dateRow{h.param(t, v.Param), lowMicros(v.Low), highMicros(v.High)})
	}
	for _, v := range index.Numbers {
		add(v.Param, termPresent)
		low, high := ends(v.Value, v.Low, v.High)
		e.ranges.numbers = append(e.ranges.numbers, numberRow{param: h.param(t, v.Param), low: low, high: high})
	}
	for _, v := range index.Quantities {
		add(v.Param, termPresent)
		h.quantity(&e.ranges, h.param(t, v.Param), v)
	}
	e.terms = h.appendCanonicals(e.terms, t, index)
	if e.words = tsvector(t, index.Text); e.words != "" {
		terms := h.wordTerms(t, e.words)
		e.terms = append(e.terms, terms.present, terms.all)
	}
	for _, v := range index.Names {
		e.names = append(e.names, h.name(t, v))
		e.terms = append(e.terms, e.names[len(e.names)-1].term)
	}
	for _, v := range index.Composites {
		h.composite(&e, t, v)
	}
	return e
}

// appendCanonicals appends what a resource is referred to by as a canonical.
func (h hasher) appendCanonicals(terms []int64, t fhir.ResourceType, index *fhir.Index) []int64 {
	for _, v := range index.URIs {
		if v.Param != "url" {
			continue
		}
		terms = append(terms, h.canonical(t, "", v.URI, ""))
		for _, version := range index.Tokens {
			if version.Param == "version" && version.Code != "" {
				terms = append(terms, h.canonical(t, "", v.URI, version.Code))
			}
		}
	}
	return terms
}

// quantity adds the row of a quantity, and where it has a canonical unit that of
// the same in it.
func (h hasher) quantity(r *rangeSet, param int64, v fhir.QuantityValue) {
	low, high := ends(v.Value, v.Low, v.High)
	r.numbers = append(r.numbers, numberRow{param: param, low: low, high: high, unit: h.unit(v.System, v.Code), code: h.unit(v.Code), text: h.unit(v.Unit)})
	if c := v.Canonical; c != nil {
		low, high = ends(c.Value, c.Low, c.High)
		r.numbers = append(r.numbers, numberRow{param: h.in(param, c.Unit), low: low, high: high})
	}
}

// in hashes a parameter and the canonical unit of its numbers.
func (h hasher) in(param int64, unit string) int64 { return param ^ h.unit("canonical", unit) }

// maxText is how much of a text is indexed, in characters: a B-tree refuses
// long keys.
const maxText = 200

func firstCharacters(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// ends gives what a number is compared by: its value, or the ends of a range,
// infinite where they are open.
func ends(value, low, high string) (from, to string) {
	if value != "" {
		return value, value
	}
	return cmp.Or(low, "-Infinity"), cmp.Or(high, "Infinity")
}

// diffTerms gives the terms of search_key to remove and to add. Both slices
// are sorted.
func diffTerms(old, now []int64) (removed, added []int64) {
	i, j := 0, 0
	for i < len(old) || j < len(now) {
		switch {
		case j == len(now) || i < len(old) && old[i] < now[j]:
			if isRowTerm(old[i]) {
				removed = append(removed, old[i])
			}
			i++
		case i == len(old) || now[j] < old[i]:
			if isRowTerm(now[j]) {
				added = append(added, now[j])
			}
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return removed, added
}

// validText reports whether PostgreSQL can store s as text.
func validText(s []byte) bool {
	return utf8.Valid(s) && bytes.IndexByte(s, 0) < 0
}
