package terminology

import "strings"

// Beside nesting, properties of these meanings tell the hierarchy.
const (
	toParent = iota + 1
	toChild
)

const conceptProperties = "http://hl7.org/fhir/concept-properties#"

// hierarchyProperties gives what each property code says of the hierarchy:
// the standard ones, and those that HL7's version 3 systems use.
func hierarchyProperties(j *codeSystemJSON) map[string]int {
	all := map[string]int{"parent": toParent, "child": toChild, "subsumedBy": toParent}
	for _, p := range j.Property {
		switch strings.TrimPrefix(p.URI, conceptProperties) {
		case "parent":
			all[p.Code] = toParent
		case "child":
			all[p.Code] = toChild
		}
	}
	return all
}

func (s *CodeSystem) linkProperties(meanings map[string]int) {
	for n := range s.concepts {
		for i := range s.concepts[n].Property {
			p := &s.concepts[n].Property[i]
			meaning := meanings[p.Code]
			if meaning == 0 {
				continue
			}
			other, ok := s.find(p.text())
			switch {
			case !ok:
			case meaning == toParent:
				s.link(n, other)
			default:
				s.link(other, n)
			}
		}
	}
}

func (s *CodeSystem) link(child, parent int) {
	s.concepts[child].parents = append(s.concepts[child].parents, int32(parent))
	s.concepts[parent].children = append(s.concepts[parent].children, int32(child))
}

// closure gives a concept and all that can be reached from it, up or down. A
// hierarchy that runs in circles ends.
func (s *CodeSystem) closure(from int, next func(*concept) []int32) bitset {
	seen := newBitset(len(s.concepts))
	seen.add(from)
	for queue := []int32{int32(from)}; len(queue) > 0; {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, to := range next(&s.concepts[n]) {
			if !seen.has(int(to)) {
				seen.add(int(to))
				queue = append(queue, to)
			}
		}
	}
	return seen
}

func (s *CodeSystem) descendants(n int) bitset {
	return s.closure(n, func(c *concept) []int32 { return c.children })
}

func (s *CodeSystem) ancestors(n int) bitset {
	return s.closure(n, func(c *concept) []int32 { return c.parents })
}
