package fhirpath

import "strings"

// constants are the fixed %names of FHIR
// (https://hl7.org/fhir/R4/fhirpath.html#variables).
var constants = map[string]string{
	"ucum":  UCUM,
	"sct":   "http://snomed.info/sct",
	"loinc": "http://loinc.org",
}

// isGiven reports whether every evaluation knows a variable.
func isGiven(name string) bool {
	switch name {
	case "resource", "rootResource", "context":
		return true
	}
	return constants[name] != "" || strings.HasPrefix(name, "vs-") || strings.HasPrefix(name, "ext-")
}

func (c *compiler) variable(n *variable) (step, error) {
	if text, ok := constants[n.name]; ok {
		return constant(text), nil
	}
	if name, ok := strings.CutPrefix(n.name, "vs-"); ok {
		return constant("http://hl7.org/fhir/ValueSet/" + name), nil
	}
	if name, ok := strings.CutPrefix(n.name, "ext-"); ok {
		return constant("http://hl7.org/fhir/StructureDefinition/" + name), nil
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
