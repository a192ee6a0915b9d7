package definition

import "slices"

// valueSet is the JSON of a ValueSet.
type valueSet struct {
	Compose valueSetCompose
}

type valueSetCompose struct {
	Include, Exclude []valueSetInclude
}

type valueSetInclude struct {
	System   string
	Concept  []struct{ Code string }
	Filter   []valueSetFilter
	ValueSet []string
}

// compose gives the content of a value set; ok is false if a part of it cannot
// be enumerated.
func (t *terminology) compose(c *valueSetCompose) (map[string][]string, bool) {
	codes := map[string][]string{}
	for i := range c.Include {
		part, ok := t.include(&c.Include[i])
		if !ok {
			return nil, false
		}
		for code, systems := range part {
			for _, system := range systems {
				if !slices.Contains(codes[code], system) {
					codes[code] = append(codes[code], system)
				}
			}
		}
	}
	for i := range c.Exclude {
		part, ok := t.include(&c.Exclude[i])
		if !ok {
			return nil, false
		}
		for code, systems := range part {
			rest := slices.DeleteFunc(slices.Clone(codes[code]), func(s string) bool { return slices.Contains(systems, s) })
			if codes[code] = rest; len(rest) == 0 {
				delete(codes, code)
			}
		}
	}
	if len(codes) == 0 {
		return nil, false
	}
	return codes, true
}

// include gives the codes that one include or exclude selects: those in its
// system and in every value set it names
// (https://hl7.org/fhir/R4/valueset.html#compositions).
func (t *terminology) include(i *valueSetInclude) (map[string][]string, bool) {
	var codes map[string][]string
	if i.System != "" {
		var ok bool
		if codes, ok = t.fromSystem(i); !ok {
			return nil, false
		}
	}
	for _, canonical := range i.ValueSet {
		set := t.set(canonical)
		if !set.ok {
			return nil, false
		}
		if codes == nil {
			codes = set.codes
		} else {
			codes = intersect(codes, set.codes)
		}
	}
	return codes, codes != nil
}

func intersect(a, b map[string][]string) map[string][]string {
	both := map[string][]string{}
	for code, systems := range a {
		for _, system := range systems {
			if slices.Contains(b[code], system) {
				both[code] = append(both[code], system)
			}
		}
	}
	return both
}

// fromSystem gives the codes selected from a system: those listed, those that
// pass all filters, or all of them. A list needs no knowledge of the system.
func (t *terminology) fromSystem(i *valueSetInclude) (map[string][]string, bool) {
	codes, systems := map[string][]string{}, []string{i.System}
	if len(i.Concept) > 0 {
		for _, c := range i.Concept {
			codes[c.Code] = systems
		}
		return codes, true
	}
	s := t.system(i.System)
	if s == nil || s.Content != "complete" {
		return nil, false
	}
	for n := range s.concepts {
		selected := true
		for f := range i.Filter {
			pass, ok := s.pass(n, &i.Filter[f])
			if !ok {
				return nil, false
			}
			selected = selected && pass
		}
		if selected {
			codes[s.concepts[n].code] = systems
		}
	}
	return codes, true
}
