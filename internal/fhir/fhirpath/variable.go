package fhirpath

import "strings"

// constants are the fixed %names of FHIR
// (https://hl7.org/fhir/R4/fhirpath.html#variables).
var constants = map[string]string{
	"ucum":  UCUM,
	"sct":   "http://snomed.info/sct",
	"loinc": "http://loinc.org",
}

// constantOf gives the value of a variable that is a fixed text.
func constantOf(name string) (text string, ok bool) {
	if id, ok := strings.CutPrefix(name, "vs-"); ok {
		return "http://hl7.org/fhir/ValueSet/" + id, true
	}
	if id, ok := strings.CutPrefix(name, "ext-"); ok {
		return "http://hl7.org/fhir/StructureDefinition/" + id, true
	}
	text, ok = constants[name]
	return text, ok
}

// isGiven reports whether every evaluation knows a variable.
func isGiven(name string) bool {
	switch name {
	case "resource", "rootResource", "context":
		return true
	}
	_, ok := constantOf(name)
	return ok
}

func (c *compiler) variable(n *variable) (step, error) {
	if text, ok := constantOf(n.name); ok {
		return constant(text), nil
	}
	switch n.name {
	case "resource":
		return func(r *run) error { return r.push(r.resource()) }, nil
	case "rootResource":
		return func(r *run) error { return r.push(r.rootResource()) }, nil
	case "context":
		return func(r *run) error {
			if r.env.Context.Exists() {
				return r.push(r.env.Context)
			}
			return r.push(r.focus)
		}, nil
	}
	name, at := n.name, n.position()
	return func(r *run) error {
		values, ok := r.env.Variables[name]
		if !ok {
			return fault(at, "unknown variable %%%s", name)
		}
		for _, item := range values {
			if err := r.push(item); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (r *run) resource() Item {
	if r.env.Resource.Exists() {
		return r.env.Resource
	}
	return r.focus
}

func (r *run) rootResource() Item {
	if r.env.RootResource.Exists() {
		return r.env.RootResource
	}
	return r.resource()
}
