package main

import (
	"sync/atomic"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/terminology"
	"starling/internal/terminology/remote"
	"starling/internal/validation"
)

// rules are what resources are checked by: terminology and profiles, those of
// the specification and those stored.
type rules struct {
	terminology *terminology.Terminology
	validator   *validation.Validator
}

// newRules makes the builder of the snapshots of rules. It is called by one
// fill after another.
func newRules(other *remote.Server) func([]*fhir.Resource) *rules {
	terms := newTerminology(other)
	base := validation.New(definition.R4())
	return func(resources []*fhir.Resource) *rules {
		t := terms(resources)
		return &rules{t, base.With(resources).WithTerminology(codes{t})}
	}
}

// newTerminology makes the builder of the snapshots of terminology, each of
// which uses what the last has compiled.
func newTerminology(other *remote.Server) func([]*fhir.Resource) *terminology.Terminology {
	specification := terminology.NewSpecification(definition.R4())
	var asked terminology.Remote
	if other != nil {
		asked = other
	}
	var last atomic.Pointer[terminology.Terminology]
	return func(resources []*fhir.Resource) *terminology.Terminology {
		next := terminology.New(specification, resources, last.Load(), asked)
		last.Store(next)
		return next
	}
}

// codes implements validation.Terminology.
type codes struct{ terminology *terminology.Terminology }

func (c codes) Member(valueSet, system, code string) validation.Membership {
	switch c.terminology.Member(valueSet, system, code) {
	case terminology.Yes:
		return validation.Yes
	case terminology.No:
		return validation.No
	}
	return validation.Unknown
}

// checker validates by the rules as they are when it is asked.
type checker struct{ rules *cache.Cache[*rules] }

// Validate implements interaction.Validator.
func (c checker) Validate(t fhir.ResourceType, root element.Node) []fhir.Issue {
	return c.rules.Current().Value.validator.Validate(t, root)
}

// ValidateProfile implements interaction.ProfileValidator.
func (c checker) ValidateProfile(t fhir.ResourceType, root element.Node, profiles []string, mode string) []fhir.Issue {
	return c.rules.Current().Value.validator.ValidateProfile(t, root, profiles, mode)
}
