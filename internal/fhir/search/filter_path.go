package search

import (
	"strings"

	"starling/internal/fhir"
)

// conditioned reads what follows a reference parameter whose targets have to meet
// a condition of their own: `[filter].path operator value`. It is planned for each
// type that the reference may lead to and that has what is asked of it.
func (f *filterText) conditioned(path string) (fhir.Criterion, error) {
	at := f.rest
	if f.nested++; f.nested > maxNested || strings.ContainsAny(path, ".:") {
		return nil, f.bad("one reference parameter before the bracket")
	}
	t, known, err := f.term(&queryParameter{name: "_filter: " + path, code: path})
	switch {
	case err != nil:
		return nil, err
	case !known || t.of[0].definition.Type != "reference":
		return nil, f.parameter.badValue(path, "a reference parameter of "+f.searched())
	}
	var choices fhir.Or
	var failure error
	end := at
	for _, target := range t.targets() {
		if err := f.follow(t.queryParameter); err != nil {
			return nil, err
		}
		there := *f
		there.planning, there.rest = f.at(target), at
		c, err := there.behindBracket()
		switch {
		case isCostly(err):
			return nil, err
		case err != nil && failure == nil:
			failure = err
		case err == nil:
			end = there.rest
			choices = append(choices, f.chains(t, target, c)...)
		}
	}
	switch f.rest = end; len(choices) {
	case 0:
		if failure == nil {
			failure = f.bad("a reference that leads to resources")
		}
		return nil, failure
	case 1:
		return choices[0], nil
	}
	return choices, nil
}

// behindBracket reads `[filter].path operator value` about the targets.
func (f *filterText) behindBracket() (fhir.Criterion, error) {
	f.take("[")
	condition, err := f.filter(f.nested)
	switch {
	case err != nil:
		return nil, err
	case !f.take("]"):
		return nil, f.bad("']'")
	case !strings.HasPrefix(f.rest, "."):
		return nil, f.bad("'.' and a parameter")
	}
	f.rest = f.rest[1:]
	c, err := f.comparison()
	return fhir.And{condition, c}, err
}
