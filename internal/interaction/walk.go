package interaction

import (
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// walker visits the strings of a resource whose elements are known, contained
// resources included, in document order.
type walker struct {
	definitions *definition.Registry
	visit       func(value element.Node, property definition.Property)
}

func (w *walker) object(object element.Node, of *definition.Element) {
	for member := range object.Children() {
		if property, known := of.Property(member.Name()); known {
			w.value(member, property)
		}
	}
}

func (w *walker) value(value element.Node, property definition.Property) {
	switch value.Kind() {
	case element.Array:
		for item := range value.Children() {
			w.value(item, property)
		}
	case element.String:
		w.visit(value, property)
	case element.Object:
		switch {
		case property.Extra:
			w.object(value, w.definitions.Type("Element").Root)
		case property.Type == "Resource":
			w.resource(value)
		case len(property.Element.Children) > 0:
			w.object(value, property.Element)
		default:
			if t := w.definitions.Type(property.Type); t != nil {
				w.object(value, t.Root)
			}
		}
	}
}

// resource looks into a contained resource.
func (w *walker) resource(resource element.Node) {
	t := w.definitions.Type(resource.Get("resourceType").Str())
	if t != nil && t.Kind == definition.KindResource {
		w.object(resource, t.Root)
	}
}
