package definition

import (
	"encoding/json"

	"starling/internal/fhir"
)

func (r *Registry) readCompartments() map[fhir.ResourceType]*Compartment {
	compartments := map[fhir.ResourceType]*Compartment{}
	r.file.each("CompartmentDefinition", func(line []byte) {
		var j struct {
			URL      string
			Code     fhir.ResourceType
			Resource []struct {
				Code  fhir.ResourceType
				Param []string
			}
		}
		if err := json.Unmarshal(line, &j); err != nil {
			panic("definition: " + err.Error())
		}
		c := &Compartment{URL: j.URL, Code: j.Code, Params: map[fhir.ResourceType][]string{}}
		for _, m := range j.Resource {
			if len(m.Param) > 0 {
				c.Params[m.Code] = m.Param
			}
		}
		compartments[c.Code] = c
	})
	return compartments
}

// Compartment gives a compartment by its code; nil if there is none.
func (r *Registry) Compartment(code fhir.ResourceType) *Compartment {
	return r.compartments()[code]
}

func (r *Registry) readOperations() []*Operation {
	var operations []*Operation
	r.file.each("OperationDefinition", func(line []byte) {
		o := &Operation{}
		if err := json.Unmarshal(line, o); err != nil {
			panic("definition: " + err.Error())
		}
		operations = append(operations, o)
	})
	return operations
}

// Operations lists the operations of the specification, sorted by canonical.
func (r *Registry) Operations() []*Operation { return r.operations() }
