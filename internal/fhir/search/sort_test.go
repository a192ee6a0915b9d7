package search

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// sortedCase is a resource with what it is sorted by.
type sortedCase struct {
	id      string
	n       int // order of creation
	index   *fhir.Index
	updated time.Time
}

// compare is the order of one key as docs/search.md states it, by the index.
// ok is false where a resource has no value.
func (c *sortedCase) value(param string, kind fhir.SortKind, down bool) (value any, ok bool) {
	better := func(v any) {
		if !ok {
			value, ok = v, true
		} else if order := orderOf(v, value); order < 0 && !down || order > 0 && down {
			value = v
		}
	}
	switch kind {
	case fhir.SortID:
		return c.id, true
	case fhir.SortUpdated:
		return c.updated, true
	case fhir.SortDate:
		for _, v := range c.index.Dates {
			at := v.Low
			if down {
				at = v.High
				if at.IsZero() {
					at = time.Date(250000, 1, 1, 0, 0, 0, 0, time.UTC)
				}
			} else if at.IsZero() {
				at = time.Date(-4700, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			if v.Param == param {
				better(at)
			}
		}
	case fhir.SortNumber:
		number := func(value, low string) any {
			r, good := new(big.Rat).SetString(value + low)
			if !good {
				r = new(big.Rat).SetInt64(-1 << 62)
			}
			return r
		}
		for _, v := range c.index.Numbers {
			if v.Param == param {
				better(number(v.Value, v.Low))
			}
		}
		for _, v := range c.index.Quantities {
			if v.Param == param {
				better(number(v.Value, v.Low))
			}
		}
	case fhir.SortString:
		for _, v := range c.index.Strings {
			if v.Param == param {
				better(v.Folded)
			}
		}
	default:
		for _, v := range c.index.Tokens {
			if v.Param == param {
				better(v.Code)
			}
		}
		for _, v := range c.index.References {
			if v.Param == param {
				better(referenceText(&v))
			}
		}
		for _, v := range c.index.URIs {
			if v.Param == param {
				better(v.URI)
			}
		}
	}
	return value, ok
}

func orderOf(a, b any) int {
	switch a := a.(type) {
	case time.Time:
		return a.Compare(b.(time.Time))
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	}
	return strings.Compare(a.(string), b.(string))
}

func orderCases(keys []fhir.SortKey, a, b *sortedCase) int {
	for _, key := range keys {
		x, hasX := a.value(key.Param, key.Kind, key.Descending)
		y, hasY := b.value(key.Param, key.Kind, key.Descending)
		switch {
		case !hasX && !hasY:
			continue
		case !hasX:
			return 1
		case !hasY:
			return -1
		}
		if c := orderOf(x, y); c != 0 {
			if key.Descending {
				return -c
			}
			return c
		}
	}
	return a.n - b.n
}

// Every parameter of some types, alone and two at a time, in both directions:
// a walk over pages forwards and back gives the order of a comparison of the
// indexes, and in each of the ways a sorted page is found.
func TestSortOrder(t *testing.T) {
	store := openStore(t)
	random := rand.New(rand.NewPCG(3, 4))
	orders := 0
	for _, typ := range storedTypes {
		cases := storeCases(t, store, typ, 25)
		codes := []string{"_id", "_lastUpdated"}
		for _, d := range r4.Served(typ) {
			if sortKinds[d.Type] != 0 && storeParameters[d.Code] == nil {
				codes = append(codes, d.Code)
			}
		}
		for _, code := range codes {
			for _, sign := range []string{"", "-"} {
				list := sign + code
				for range random.IntN(2) {
					list += "," + []string{"", "-"}[random.IntN(2)] + codes[random.IntN(len(codes))]
				}
				// With a criterion that all fulfil the matches are sorted;
				// without one the index is walked.
				for _, more := range []string{"", "&_lastUpdated=gt2000"} {
					q, _, err := r4.Plan([]fhir.ResourceType{typ}, "_sort="+list+more, true, base)
					if err != nil {
						t.Errorf("%s?_sort=%s: %v", typ, list, err)
						continue
					}
					want := slices.Clone(cases)
					slices.SortFunc(want, func(a, b *sortedCase) int { return orderCases(q.Sort, a, b) })
					checkWalk(t, store, q, want, fmt.Sprintf("%s?_sort=%s%s", typ, list, more), 1+random.IntN(len(want)))
					orders++
				}
			}
		}
	}
	t.Logf("%d orders", orders)
}

func storeCases(t *testing.T, store fhir.Store, typ fhir.ResourceType, n int) []*sortedCase {
	t.Helper()
	maker := rapid.Custom(func(t *rapid.T) string { return (&resourceMaker{t: t}).resource(string(typ)) })
	var cases []*sortedCase
	for i := range n {
		text := maker.Example(i)
		index, err := r4.Index(typ, parse(t, text), base)
		if err != nil {
			t.Fatal(err)
		}
		c := &sortedCase{id: fmt.Sprintf("r%d", (i*7)%n), n: i, index: index}
		content := fhir.Content{}
		tree, err := element.Parse([]byte(text), element.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		for member := range tree.Root().Get("meta").Children() {
			if name := member.Name(); name != "versionId" && name != "lastUpdated" {
				content.Meta = append(append(content.Meta, `,"`+name+`":`...), member.Raw()...)
			}
		}
		for member := range tree.Root().Children() {
			if name := member.Name(); name != "resourceType" && name != "id" && name != "meta" {
				content.Body = append(append(content.Body, `,"`+name+`":`...), member.Raw()...)
			}
		}
		result, err := store.Write(t.Context(), &fhir.Write{
			Op: fhir.OpCreate, Method: fhir.MethodPost, Key: fhir.Key{Type: typ, ID: c.id}, Index: index, Content: content,
		})
		if err != nil {
			t.Fatal(err)
		}
		c.updated = result.LastUpdated
		cases = append(cases, c)
	}
	return cases
}

// checkWalk walks to the end and back again.
func checkWalk(t *testing.T, store fhir.Store, q *fhir.SearchQuery, want []*sortedCase, name string, size int) {
	t.Helper()
	q.Count = size
	var seen, back []string
	var last string
	for q.Cursor = ""; ; {
		page, err := store.Search(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		for _, m := range page.Matches {
			seen = append(seen, m.ID)
		}
		if page.Next == "" {
			last = page.Previous
			back = seen[len(seen)-len(page.Matches):]
			break
		}
		q.Cursor = page.Next
	}
	for q.Cursor = last; q.Cursor != ""; {
		page, err := store.Search(t.Context(), q)
		if err != nil {
			t.Errorf("%s, backwards: %v", name, err)
			return
		}
		var ids []string
		for _, m := range page.Matches {
			ids = append(ids, m.ID)
		}
		back = append(ids, back...)
		q.Cursor = page.Previous
	}
	var wanted []string
	for _, c := range want {
		wanted = append(wanted, c.id)
	}
	if !slices.Equal(seen, wanted) {
		t.Errorf("%s, pages of %d: %s, want %s", name, size, seen, wanted)
	}
	if !slices.Equal(back, wanted) {
		t.Errorf("%s backwards, pages of %d: %s, want %s", name, size, back, wanted)
	}
}
