package main

import (
	"fmt"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
	"starling/internal/parameter"
	"starling/internal/validation"
	"starling/internal/validation/schema"
)

// newService joins the interactions with what they work on. maxBody bounds the
// documents it takes.
func newService(store fhir.Store, searches *parameter.Indexing, flags *resourceFlags, maxBody int64) (*interaction.Service, error) {
	definitions := definition.R4()
	validator, err := newValidator(definitions, flags.Validation)
	if err != nil {
		return nil, err
	}
	limits := element.DefaultLimits
	limits.Size = int(maxBody)
	return &interaction.Service{
		Store: store, Definitions: definitions, Validator: searches.Validator(validator), Checker: validation.New(definitions),
		Indexer: searches, Planner: searches, Served: searches.Served,
		Note: searches.Note, Revision: searches.Revision,
		Limits: limits, Software: software(),
	}, nil
}

func newValidator(definitions *definition.Registry, level string) (interaction.Validator, error) {
	switch level {
	case "full":
		return validation.New(definitions), nil
	case "schema":
		return schema.New(), nil
	case "off":
		return unchecked{}, nil
	}
	return nil, fmt.Errorf("--validation must be full, schema or off, not %q", level)
}

// unchecked is the validation level off: what parses is stored.
type unchecked struct{}

// Validate implements interaction.Validator.
func (unchecked) Validate(fhir.ResourceType, element.Node) []fhir.Issue { return nil }
