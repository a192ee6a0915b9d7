package definition

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

const (
	structureBase = "http://hl7.org/fhir/StructureDefinition/"
	systemBase    = "http://hl7.org/fhirpath/System."

	extensionType  = structureBase + "structuredefinition-fhir-type"
	extensionRegex = structureBase + "regex"

	extensionMaxValueSet = structureBase + "elementdefinition-maxValueSet"
)

// structure is the JSON of a StructureDefinition, as far as a Type needs it.
type structure struct {
	URL            string
	Kind           Kind
	Abstract       bool
	Type           string
	BaseDefinition string
	Snapshot       struct{ Element []snapshotElement }
}

type snapshotElement struct {
	Path             string
	Min              int
	Max              string
	ContentReference string
	Type             []snapshotType
	MaxLength        int
	Constraint       []Constraint
	IsModifier       bool
	IsSummary        bool
	Binding          *snapshotBinding
}

type snapshotBinding struct {
	Strength, ValueSet string
	Extension          []struct{ URL, ValueCanonical, ValueURI string }
}

func (b *snapshotBinding) binding() *Binding {
	if b == nil {
		return nil
	}
	binding := &Binding{Strength: b.Strength, ValueSet: b.ValueSet}
	for _, e := range b.Extension {
		if e.URL == extensionMaxValueSet {
			binding.Max = e.ValueCanonical + e.ValueURI
		}
	}
	return binding
}

type snapshotType struct {
	Code          string
	Profile       []string
	TargetProfile []string
	Aggregation   []string
	Extension     []struct{ URL, ValueURL, ValueString string }
}

// extension gives the value of an extension of the type.
func (t *snapshotType) extension(url string) string {
	for _, e := range t.Extension {
		if e.URL == url {
			return e.ValueURL + e.ValueString
		}
	}
	return ""
}

// compile builds a type from its definition's JSON.
func (r *Registry) compile(line []byte) *Type {
	var s structure
	if err := json.Unmarshal(line, &s); err != nil {
		panic("definition: " + err.Error())
	}
	t := &Type{Name: s.Type, URL: s.URL, Kind: s.Kind, Abstract: s.Abstract}
	t.Base = strings.TrimPrefix(s.BaseDefinition, structureBase)
	c := compiler{
		registry: r, kind: s.Kind, elements: make(map[string]*Element, len(s.Snapshot.Element)), plain: map[*Element]bool{},
	}
	for i := range s.Snapshot.Element {
		c.add(&s.Snapshot.Element[i])
	}
	t.Root = c.elements[s.Type]
	t.Regex = c.regex
	c.resolve(s.Snapshot.Element)
	return t
}

type compiler struct {
	registry *Registry
	kind     Kind
	elements map[string]*Element // by path
	plain    map[*Element]bool   // values without id and extensions
	regex    string
}

func (c *compiler) add(s *snapshotElement) {
	name := s.Path[strings.LastIndexByte(s.Path, '.')+1:]
	e := &Element{
		Path: s.Path, Min: s.Min, Max: Unbounded, MaxLength: s.MaxLength,
		Constraint: s.Constraint, IsSummary: s.IsSummary, IsModifier: s.IsModifier, Binding: s.Binding.binding(),
	}
	e.Name, e.Choice = strings.CutSuffix(name, "[x]")
	if s.Max != "*" {
		var err error
		if e.Max, err = strconv.Atoi(s.Max); err != nil {
			panic(fmt.Sprintf("definition: %s: max %q", s.Path, s.Max))
		}
	}
	for i := range s.Type {
		e.Types = append(e.Types, c.typeRef(e, &s.Type[i]))
		if regex := s.Type[i].extension(extensionRegex); regex != "" && e.Name == "value" {
			c.regex = regex
		}
	}
	c.elements[s.Path] = e
	if parent := c.elements[strings.TrimSuffix(s.Path, "."+name)]; parent != e {
		e.parent = parent
		parent.Children = append(parent.Children, e)
	}
}

// typeRef gives a type its FHIR name. Ids, Extension.url and the values of
// primitives have FHIRPath's system types, with the FHIR type beside them; the
// one beside a resource's id is string, which the text of the specification
// corrects to id (https://hl7.org/fhir/R4/resource.html#id).
func (c *compiler) typeRef(e *Element, t *snapshotType) TypeRef {
	ref := TypeRef{Code: t.Code, Profiles: t.Profile, TargetProfiles: t.TargetProfile, Aggregation: t.Aggregation}
	system, ok := strings.CutPrefix(t.Code, systemBase)
	if !ok {
		return ref
	}
	c.plain[e] = true
	ref.Code = t.extension(extensionType)
	if ref.Code == "" {
		ref.Code = strings.ToLower(system[:1]) + system[1:]
	}
	if c.kind == KindResource && e.Name == "id" && strings.Count(e.Path, ".") == 1 {
		ref.Code = "id"
	}
	return ref
}

// resolve links contentReferences and builds the JSON names.
func (c *compiler) resolve(snapshot []snapshotElement) {
	for i := range snapshot {
		s := &snapshot[i]
		if s.ContentReference == "" {
			continue
		}
		_, path, _ := strings.Cut(s.ContentReference, "#")
		e, content := c.elements[s.Path], c.elements[path]
		if content == nil {
			panic("definition: " + s.Path + ": no element " + path)
		}
		e.Content, e.Types = content, content.Types
	}
	for i := range snapshot {
		if e := c.elements[snapshot[i].Path]; e.Children != nil {
			e.names = c.names(e)
		}
	}
	for i := range snapshot {
		if e := c.elements[snapshot[i].Path]; e.Content != nil {
			e.Children, e.names = e.Content.Children, e.Content.names
		}
	}
}

// names gives the JSON members an object of the element may have. The object
// of a primitive is the one beside it: its value is no member of it.
func (c *compiler) names(e *Element) map[string]Property {
	names := make(map[string]Property, 2*len(e.Children))
	for _, child := range e.Children {
		if c.kind == KindPrimitive && child.Name == "value" {
			continue
		}
		if !child.Choice {
			c.name(names, child.Name, child, child.typeName())
			continue
		}
		for _, t := range child.Types {
			c.name(names, child.Name+strings.ToUpper(t.Code[:1])+t.Code[1:], child, t.Code)
		}
	}
	return names
}

// name adds a member and, for a primitive, the one for its id and extensions.
// Ids, Extension.url and narrative cannot have any.
func (c *compiler) name(names map[string]Property, name string, e *Element, typeName string) {
	names[name] = Property{Element: e, Type: typeName}
	if c.registry.isPrimitive(typeName) && !c.plain[e] && typeName != "xhtml" {
		names["_"+name] = Property{Element: e, Type: typeName, Extra: true}
	}
}

// typeName is the type of an element that is no choice.
func (e *Element) typeName() string {
	if len(e.Types) == 0 {
		return ""
	}
	return e.Types[0].Code
}
