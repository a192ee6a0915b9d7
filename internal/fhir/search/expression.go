package search

import (
	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// expression is a branch of a parameter that the FHIRPath engine evaluates.
type expression struct{}

func (s *Search) compileExpression(d *definition.SearchParameter, branch string) (*expression, error) {
	return nil, nil
}

func (x *extraction) evaluate(e *expression, t fhir.ResourceType) error { return nil }
