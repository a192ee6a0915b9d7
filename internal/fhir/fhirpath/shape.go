package fhirpath

import (
	"strings"
	"sync"

	"starling/internal/fhir/definition"
)

// shape is what an element's value may contain: a FHIR type, or the nested
// element of one (a BackboneElement). Its tables are built on first use.
type shape struct {
	model     *model
	name      string // the type's name; "BackboneElement" or "Element" if nested
	primitive bool
	nested    *definition.Element // nil for a type of its own

	once     sync.Once
	base     *shape            // nil for Element, Resource and what is unknown
	known    bool              // the registry has it
	resource bool              // a resource type
	abstract bool              // its values say by resourceType what they are
	members  map[string]*slot  // by FHIRPath name: "value"
	nothing  slot              // stands for a member that there is not
	json     map[string]*shape // by JSON name: "valueQuantity"; not the "_name" siblings
}

// slot is a member as FHIRPath sees it and where JSON keeps it.
type slot struct {
	of     *shape
	name   string // in JSON; the prefix of a choice
	extra  string // "_name", for primitives and choices with some
	choice bool
	shape  *shape            // not of a choice
	types  map[string]*shape // of a choice: by the suffix of the JSON name, "Quantity"
}

// model holds the shapes of a registry.
type model struct {
	lookup func(name string) *definition.Type
	mu     sync.RWMutex
	shapes map[string]*shape
	nested map[*definition.Element]*shape
}

func newModel(lookup func(string) *definition.Type) *model {
	return &model{lookup: lookup, shapes: map[string]*shape{}, nested: map[*definition.Element]*shape{}}
}

// models has one model for each registry. A program has few registries, and
// they live as long as it.
var models sync.Map // *definition.Registry → *model

func modelOf(reg *definition.Registry) *model {
	if m, ok := models.Load(reg); ok {
		return m.(*model)
	}
	m, _ := models.LoadOrStore(reg, newModel(reg.Type))
	return m.(*model)
}

// shape gives the shape of a type, known or not.
func (m *model) shape(name string) *shape {
	m.mu.RLock()
	s := m.shapes[name]
	m.mu.RUnlock()
	if s != nil {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s = m.shapes[name]; s == nil {
		s = &shape{model: m, name: name, primitive: isPrimitiveName(name)}
		m.shapes[name] = s
	}
	return s
}

// nestedShape gives the shape of an element that has children of its own.
func (m *model) nestedShape(e *definition.Element) *shape {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.nested[e]
	if s == nil {
		s = &shape{model: m, name: "BackboneElement", nested: e}
		if len(e.Types) > 0 && e.Types[0].Code != "" {
			s.name = e.Types[0].Code
		}
		m.nested[e] = s
	}
	return s
}

// isPrimitiveName tells primitive types by FHIR's spelling: they begin small.
func isPrimitiveName(name string) bool {
	return name != "" && name[0] >= 'a' && name[0] <= 'z'
}

// load builds the tables.
func (s *shape) load() { s.once.Do(s.build) }

func (s *shape) build() {
	s.nothing.of = s
	root := s.nested
	if root == nil {
		t := s.model.lookup(s.name)
		if t == nil {
			return
		}
		root = t.Root
		s.resource = t.Kind == definition.KindResource
		s.abstract = t.Abstract
		s.setBase(t.Base)
	} else {
		s.base = s.model.shape("Element")
		if s.name == "BackboneElement" {
			s.base = s.model.shape("BackboneElement")
		}
	}
	s.known = true
	s.members = make(map[string]*slot, len(root.Children))
	s.json = make(map[string]*shape, len(root.Children))
	for _, child := range root.Children {
		s.add(child)
	}
}

func (s *shape) setBase(name string) {
	if name != "" && name != s.name {
		s.base = s.model.shape(name)
	}
}

func (s *shape) add(e *definition.Element) {
	if !e.Choice {
		member := s.model.elementShape(e)
		slot := &slot{of: s, name: e.Name, shape: member}
		if member.primitive {
			slot.extra = "_" + e.Name
		}
		s.members[e.Name] = slot
		s.json[e.Name] = member
		return
	}
	slot := &slot{of: s, name: e.Name, choice: true, types: make(map[string]*shape, len(e.Types))}
	for _, t := range e.Types {
		suffix := strings.ToUpper(t.Code[:1]) + t.Code[1:]
		member := s.model.shape(t.Code)
		if member.primitive {
			slot.extra = "_" + e.Name
		}
		slot.types[suffix] = member
		s.json[e.Name+suffix] = member
	}
	s.members[e.Name] = slot
}

func (m *model) elementShape(e *definition.Element) *shape {
	if e.Content != nil {
		e = e.Content
	}
	if len(e.Children) > 0 || len(e.Types) == 0 {
		return m.nestedShape(e)
	}
	return m.shape(e.Types[0].Code)
}

// isType reports whether the shape is that type or specializes it.
func (s *shape) isType(name string) bool {
	for at := s; at != nil; at = at.base {
		if at.name == name {
			return true
		}
		at.load()
	}
	return false
}

// isSelf is isType for as and ofType, which take primitives by their own type
// alone, or as Element: a code is no string to them.
func (s *shape) isSelf(name string) bool {
	if s.primitive {
		return s.name == name || name == "Element"
	}
	return s.isType(name)
}
