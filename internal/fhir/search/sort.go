package search

import (
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// shapes are the parameters that shape the result and depend on the types
// searched; they may repeat.
var shapes = map[string]func(p *planning, query *fhir.SearchQuery, q *queryParameter) error{
	"_sort":       planSort,
	"_include":    planInclude,
	"_revinclude": planRevInclude,
}

func isControl(code string) bool {
	_, control := controls[code]
	return control || shapes[code] != nil
}

// mostSortKeys bounds _sort.
const mostSortKeys = 8

// sortKinds says how parameters are sorted by; the values of the types not
// named are read from the resources.
var sortKinds = map[string]fhir.SortKind{
	"date": fhir.SortDate, "number": fhir.SortNumber, "quantity": fhir.SortNumber, "string": fhir.SortString,
	"token": fhir.SortText, "reference": fhir.SortText, "uri": fhir.SortText,
}

// planSort reads _sort (https://hl7.org/fhir/R4/search.html#sort): parameters
// joined by commas, a minus before those that descend.
func planSort(p *planning, query *fhir.SearchQuery, q *queryParameter) error {
	switch {
	case q.name != q.code:
		return q.unsupported("it takes neither modifiers nor chains")
	case len(query.Sort) > 0:
		return invalid("The parameter " + quote(q.name) + " may be given once only.")
	}
	for name := range strings.SplitSeq(q.value, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		key := fhir.SortKey{}
		if rest, down := strings.CutPrefix(name, "-"); down {
			key.Descending, name = true, rest
		}
		if err := p.sortKey(q, name, &key); err != nil {
			return err
		}
		if query.Sort = append(query.Sort, key); len(query.Sort) > mostSortKeys {
			return fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "The parameter '_sort' names too many parameters.")
		}
	}
	return nil
}

func (p *planning) sortKey(q *queryParameter, name string, key *fhir.SortKey) error {
	switch name {
	case "_id":
		key.Kind = fhir.SortID
		return nil
	case "_lastUpdated":
		key.Kind = fhir.SortUpdated
		return nil
	}
	if unserved[name] != "" || storeParameters[name] != nil {
		return q.badValue(name, "the name of a search parameter that can be sorted by")
	}
	of, known, err := p.term(&queryParameter{name: "_sort=" + name, code: name})
	switch {
	case err != nil:
		return err
	case !known:
		return q.badValue(name, "the name of a search parameter of "+p.searched())
	}
	kind, ok := sortKinds[of.of[0].definition.Type]
	if !ok {
		return q.unsupported("there is no order for parameters of the type " + of.of[0].definition.Type)
	}
	key.Param, key.Kind = of.code, kind
	key.Single = !slices.ContainsFunc(of.of, func(of *parameter) bool { return of.repeats })
	if kind == fhir.SortText {
		key.Text = p.search.sortText(key.Param, p.base)
	}
	return nil
}

// sortText reads what a parameter without an index to sort by is sorted by.
func (s *Search) sortText(param, base string) func(*fhir.Resource) (least, greatest string, ok bool) {
	return func(r *fhir.Resource) (least, greatest string, ok bool) {
		if index := s.indexStored(r, base); index != nil {
			return ends(orderTexts(index, param, false))
		}
		return "", "", false
	}
}

// indexStored indexes a resource anew; nil for what cannot be read.
func (s *Search) indexStored(r *fhir.Resource, base string) *fhir.Index {
	root, err := element.ParseStored(r)
	if err != nil {
		return nil
	}
	index, err := s.Index(r.Type, root, base)
	if err != nil {
		return nil
	}
	return index
}

// ends gives the first and the last text; false if there is none.
func ends(texts []string) (least, greatest string, ok bool) {
	if len(texts) == 0 {
		return "", "", false
	}
	return slices.Min(texts), slices.Max(texts), true
}

func referenceText(v *fhir.ReferenceValue) string {
	if v.ID != "" {
		return string(v.Type) + "/" + v.ID
	}
	if v.URL == "" && v.Identifier != nil {
		return v.Identifier.Code
	}
	return v.URL
}
