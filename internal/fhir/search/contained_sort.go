package search

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"starling/internal/fhir"
)

// sortContainers has containers sorted by what they contain: each by the least or
// greatest value of the contained resources of the types searched, and with itself
// of its own if it is of one of them. Their ids and times are their own.
func (s *Search) sortContainers(query *fhir.SearchQuery, itself bool, base string) {
	types := query.Types
	for i := range query.Sort {
		key := &query.Sort[i]
		param, kind, down := key.Param, key.Kind, key.Descending
		switch kind {
		case fhir.SortID:
			key.Param = "_id"
		case fhir.SortUpdated:
			key.Param = "_lastUpdated"
		}
		key.Kind, key.Single = fhir.SortText, false
		key.Text = func(r *fhir.Resource) (least, greatest string, ok bool) {
			var texts []string
			switch kind {
			case fhir.SortID:
				texts = []string{r.ID}
			case fhir.SortUpdated:
				texts = []string{timeText(r.LastUpdated)}
			default:
				for _, index := range s.indexesIn(r, types, itself, base) {
					texts = append(texts, orderTexts(index, param, down)...)
				}
			}
			return ends(texts)
		}
	}
}

// indexesIn gives the indexes of the contained resources of types and, if wanted,
// of the container.
func (s *Search) indexesIn(r *fhir.Resource, types []fhir.ResourceType, itself bool, base string) (all []*fhir.Index) {
	index := s.indexStored(r, base)
	if index == nil {
		return nil
	}
	if itself && slices.Contains(types, r.Type) {
		all = append(all, index)
	}
	for i := range index.Contained {
		if slices.Contains(types, index.Contained[i].Type) {
			all = append(all, index.Contained[i].Index)
		}
	}
	return all
}

// orderTexts writes the values of a parameter so that their order is that of bytes:
// tokens by code, references by type and id or URL, URIs as they are, dates by their
// begin or, downwards, by their end.
func orderTexts(i *fhir.Index, param string, down bool) (texts []string) {
	add := func(of, text string) {
		if of == param {
			texts = append(texts, text)
		}
	}
	for _, v := range i.Tokens {
		add(v.Param, v.Code)
	}
	for n := range i.References {
		add(i.References[n].Param, referenceText(&i.References[n]))
	}
	for _, v := range i.URIs {
		add(v.Param, v.URI)
	}
	for _, v := range i.Strings {
		add(v.Param, v.Folded)
	}
	for _, v := range i.Dates {
		switch end := v.Low; {
		case down && v.High.IsZero():
			add(v.Param, noEnd)
		case down:
			add(v.Param, timeText(v.High))
		case end.IsZero():
			add(v.Param, "")
		default:
			add(v.Param, timeText(end))
		}
	}
	for _, v := range i.Numbers {
		add(v.Param, numberText(v.Value+v.Low))
	}
	for _, v := range i.Quantities {
		add(v.Param, numberText(v.Value+v.Low))
	}
	return texts
}

// noEnd is after all times that timeText writes.
const noEnd = "~"

// timeText writes a time with five digits of the year: the zone of one in the year
// 9999 may put it into the next.
func timeText(t time.Time) string {
	return fmt.Sprintf("%05d", t.UTC().Year()) + t.UTC().Format("-01-02T15:04:05.000000")
}

// The numbers that are told apart when containers are sorted: smaller ones than
// the 18th decimal and larger ones than 10^40 are not.
var (
	decimals = new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)
	most     = new(big.Int).Exp(big.NewInt(10), big.NewInt(58), nil)
)

// numberText writes a number with as many digits as any other, from 0 on; an open
// end is before all.
func numberText(number string) string {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return ""
	}
	n := r.Mul(r, new(big.Rat).SetInt(decimals)).Num()
	n = new(big.Int).Quo(n, r.Denom())
	switch {
	case n.CmpAbs(most) < 0:
	case n.Sign() < 0:
		n.Neg(most)
	default:
		n.Set(most)
	}
	// Shifted by twenty times the most, all have 60 digits.
	return n.Add(n, new(big.Int).Mul(most, big.NewInt(20))).String()
}
