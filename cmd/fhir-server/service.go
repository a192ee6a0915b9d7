package main

import (
	"fmt"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
	"starling/internal/interaction"
	"starling/internal/validation"
	"starling/internal/validation/schema"
)

// newService joins the interactions with what they work on. maxBody bounds the
// documents it takes.
func newService(store fhir.Store, flags *resourceFlags, maxBody int64) (*interaction.Service, error) {
	definitions := definition.R4()
	searches := search.New(definitions)
	searches.UseTextSearch(textSearches[flags.TextSearch])
	validator, err := newValidator(definitions, flags.Validation)
	if err != nil {
		return nil, err
	}
	limits := element.DefaultLimits
	limits.Size = int(maxBody)
	service := &interaction.Service{
		Store: store, Definitions: definitions, Validator: validator, Checker: validation.New(definitions),
		Indexer: searches, Planner: searches, Served: searches.Served,
		Limits: limits, Software: software(),
	}
	searches.UseTerminology(searchedCodes{service})
	return service, nil
}

// textSearches are the values of --text-search.
var textSearches = map[string]search.TextSearch{"off": search.TextOff, "narrative": search.TextNarrative, "all": search.TextAll}

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
