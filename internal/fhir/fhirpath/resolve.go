package fhirpath

import (
	"strings"

	"starling/internal/fhir/element"
)

// resolveFrom replaces references on the stack from a mark on with their
// targets (https://hl7.org/fhir/R4/fhirpath.html#functions). What has none is
// dropped.
func (r *run) resolveFrom(from int) error {
	to := from
	for i := from; i < len(r.stack); i++ {
		if target, ok := r.target(r.stack[i]); ok {
			r.stack[to] = target
			to++
		}
	}
	r.cut(to)
	return r.tick(to - from + 1)
}

func (r *run) target(item Item) (Item, bool) {
	if item.shape == nil || item.value != nil {
		text, ok := item.value.(string)
		if !ok || item.shape != nil {
			return Item{}, false
		}
		root := r.rootResource()
		if root.shape == nil {
			return Item{}, false
		}
		return r.targetOf(root.shape.model, element.Node{}, text, "")
	}
	if item.shape.primitive {
		text, ok := item.str()
		if !ok {
			return Item{}, false
		}
		return r.targetOf(item.shape.model, item.node, text, "")
	}
	if item.shape.name != "Reference" {
		return Item{}, false
	}
	return r.targetOf(item.shape.model, item.node, item.node.Get("reference").Str(), item.node.Get("type").Str())
}

// targetOf finds the target of a reference that stands at a node: contained,
// resolved by the environment, an entry of the Bundle, or at least its type.
func (r *run) targetOf(m *model, at element.Node, reference, typ string) (Item, bool) {
	if id, ok := strings.CutPrefix(reference, "#"); ok {
		return r.contained(at, id)
	}
	if reference != "" {
		if r.env.Resolve != nil {
			if target, ok := r.env.Resolve(reference); ok {
				return target, true
			}
		}
		if target, ok := r.entryTarget(at, reference); ok {
			return target, true
		}
	}
	name := referenceType(reference)
	for _, candidate := range []string{name, typ} {
		if candidate == "" || isPrimitiveName(candidate) {
			continue
		}
		s := m.shape(candidate)
		if s.load(); s.resource {
			return Item{shape: s, value: unresolved{}}, true
		}
	}
	return Item{}, false
}

// contained finds a contained resource of the root resource, or of the Bundle's
// entry where the reference stands; "" is that resource itself.
func (r *run) contained(at element.Node, id string) (Item, bool) {
	root := r.rootResource()
	if root.shape == nil {
		return Item{}, false
	}
	if entry := r.entryOf(at); entry != nil {
		root = root.shape.model.resource(entry.resource)
	}
	if id == "" {
		return root, true
	}
	for candidate := range root.node.Get("contained").Children() {
		if candidate.Kind() == element.Object && candidate.Get("id").Str() == id {
			return root.shape.model.resource(candidate), true
		}
	}
	return Item{}, false
}

// referenceType is the type in a literal reference, relative or absolute, with
// or without a version: "Patient" of https://example.org/Patient/1/_history/2.
// It is "" if the text has none.
func referenceType(reference string) string {
	if before, _, ok := strings.Cut(reference, "/_history/"); ok {
		reference = before
	}
	at := strings.LastIndexByte(reference, '/')
	if at <= 0 {
		return ""
	}
	rest := reference[:at]
	return rest[strings.LastIndexByte(rest, '/')+1:]
}
