package oracle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

var registry = definition.R4()

// resource is one that the server was given, or one contained in such.
type resource struct {
	typ, id   string
	root      element.Node
	updated   time.Time
	contained []*resource
	container *resource // nil, if it is contained in none
}

func (r *resource) key() string { return r.typ + "/" + r.id }

// outer is the resource that is no other's part.
func (r *resource) outer() *resource {
	if r.container != nil {
		return r.container
	}
	return r
}

// world is all that the server has.
type world struct {
	base   string // of the server, without a slash at its end
	byType map[string][]*resource
	byKey  map[string]*resource
	now    func() time.Time

	compiled map[string]*fhirpath.Expression
	found    map[found]fhirpath.Collection
}

type found struct {
	r    *resource
	code string
}

func newWorld(base string) *world {
	return &world{
		base: base, byType: map[string][]*resource{}, byKey: map[string]*resource{}, now: time.Now,
		compiled: map[string]*fhirpath.Expression{}, found: map[found]fhirpath.Collection{},
	}
}

func (w *world) add(t testing.TB, text string, updated time.Time) *resource {
	t.Helper()
	tree, err := element.Parse([]byte(text), element.DefaultLimits)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	r := &resource{typ: tree.Root().Get("resourceType").Str(), id: tree.Root().Get("id").Str(), root: tree.Root(), updated: updated}
	for inner := range r.root.Get("contained").Children() {
		r.contained = append(r.contained, &resource{typ: inner.Get("resourceType").Str(), id: inner.Get("id").Str(), root: inner, container: r})
	}
	w.byType[r.typ] = append(w.byType[r.typ], r)
	w.byKey[r.key()] = r
	return r
}

// evaluate gives what an expression finds from a focus in a resource.
func (w *world) evaluate(r *resource, focus fhirpath.Item, expression string) fhirpath.Collection {
	compiled := w.compiled[expression]
	if compiled == nil {
		var err error
		if compiled, err = fhirpath.Compile(registry, expression); err != nil {
			panic(err)
		}
		w.compiled[expression] = compiled
	}
	items, err := compiled.Evaluate(&fhirpath.Environment{Resource: w.item(r), RootResource: w.item(r.outer())}, focus)
	if err != nil {
		panic(expression + ": " + err.Error())
	}
	return items
}

func (w *world) item(r *resource) fhirpath.Item {
	return fhirpath.Root(registry, fhir.ResourceType(r.typ), r.root)
}

// items gives what a parameter looks at in a resource. Of an extension that is its
// value.
func (w *world) items(r *resource, d *definition.SearchParameter) fhirpath.Collection {
	key := found{r, d.Code}
	items, known := w.found[key]
	if !known {
		items = w.readable(r, d, w.evaluate(r, w.item(r), d.Expression))
		w.found[key] = items
	}
	return items
}

func (w *world) readable(r *resource, d *definition.SearchParameter, all fhirpath.Collection) (items fhirpath.Collection) {
	for _, item := range all {
		switch {
		case item.Type() == "Extension":
			items = append(items, w.evaluate(r, item, "value")...)
		case d.Type == "reference" && registry.IsResourceType(item.Type()) && !slices.Contains(d.Target, fhir.ResourceType(item.Type())):
			// the first entry of a Bundle that is no message, or no document
		case item.Node().Kind() != element.Null:
			items = append(items, item)
		}
	}
	return items
}

// binding is that of the element at a node.
func binding(r *resource, n element.Node) *definition.Binding {
	path := element.Path(n)
	names := strings.FieldsFunc(path, func(c rune) bool { return c == '.' })
	root := r.root
	if r.container != nil {
		root = r.container.root
	}
	at := registry.Type(root.Get("resourceType").Str()).Root
	here := root
	for _, name := range names[1:] {
		name, index, indexed := strings.Cut(name, "[")
		here = here.Get(name)
		if indexed {
			n := 0
			for _, digit := range strings.TrimSuffix(index, "]") {
				n = n*10 + int(digit-'0')
			}
			here = here.At(n)
		}
		if len(at.Children) == 0 && at.Content != nil {
			at = at.Content
		}
		property, ok := at.Property(name)
		if !ok {
			return nil
		}
		if here.Same(n) {
			return property.Element.Binding
		}
		at = property.Element
		if inner := here.Get("resourceType").Str(); inner != "" && registry.IsResourceType(inner) {
			at = registry.Type(inner).Root
		} else if len(at.Children) == 0 && at.Content == nil {
			at = registry.Type(property.Type).Root
		}
	}
	return nil
}
