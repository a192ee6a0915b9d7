package main

import (
	"context"
	"errors"
	"log/slog"
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

// newRules makes the builder of the snapshots of rules. settle makes the validator
// do as the flags say.
func newRules(other *remote.Server, settle func(*validation.Validator) *validation.Validator, logger *slog.Logger) func([]*fhir.Resource) *rules {
	terms := newTerminology(other)
	var last atomic.Pointer[validation.Validator]
	last.Store(settle(validation.New(definition.R4())))
	var newest atomic.Int64
	return func(resources []*fhir.Resource) *rules {
		t := terms(resources)
		validator := last.Load().With(resources)
		last.Store(validator)
		next := &rules{t, validator.WithTerminology(codes{terminology: t})}
		number := newest.Add(1)
		// Beside the requests, while it is the newest: nobody asks the others for long.
		go func() {
			if err := next.validator.Compile(func() bool { return newest.Load() == number }); err != nil {
				logger.Error("profiles cannot be compiled", "error", err)
			}
		}()
		return next
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
type codes struct {
	terminology *terminology.Terminology
	// away, unless nil, is set if an answer was not to be had because the other
	// terminology server is away.
	away *bool
}

// Member implements validation.Terminology. What it may wait for is bounded by
// --terminology-timeout.
func (c codes) Member(valueSet, system, code string) validation.Membership {
	answer, why := c.terminology.Member(context.Background(), valueSet, system, code)
	switch answer {
	case terminology.Yes:
		return validation.Yes
	case terminology.No:
		return validation.No
	}
	var failure *fhir.Error
	if c.away != nil && errors.As(why, &failure) && failure.Kind == fhir.KindUnavailable {
		*c.away = true
	}
	return validation.Unknown
}

// Defines implements validation.Terminology.
func (c codes) Defines(system, code string) validation.Membership {
	s, err := c.terminology.CodeSystem(system)
	if err != nil {
		return validation.Unknown
	}
	switch checked, err := s.ValidateCode(terminology.Coding{Code: code}, true); {
	case err != nil:
		return validation.Unknown
	case checked.Result:
		return validation.Yes
	}
	return validation.No
}

// checker validates by the rules as they are when it is asked.
type checker struct {
	rules *cache.Cache[*rules]
	// refuse says that resources are refused while the other terminology server
	// is away, if it is needed to tell.
	refuse bool
	// questionnaires finds what QuestionnaireResponses answer.
	questionnaires func(canonical string) (element.Node, bool)
}

// Validate implements interaction.Validator.
func (c checker) Validate(t fhir.ResourceType, root element.Node) []fhir.Issue {
	return c.check(t, func(v *validation.Validator) []fhir.Issue { return v.Validate(t, root) })
}

// ValidateProfile implements interaction.ProfileValidator.
func (c checker) ValidateProfile(t fhir.ResourceType, root element.Node, profiles []string, mode string) []fhir.Issue {
	return c.check(t, func(v *validation.Validator) []fhir.Issue { return v.ValidateProfile(t, root, profiles, mode) })
}

func (c checker) check(t fhir.ResourceType, validate func(*validation.Validator) []fhir.Issue) []fhir.Issue {
	current := c.rules.Current().Value
	validator := current.validator
	if t == "QuestionnaireResponse" || t == "Bundle" {
		validator = validator.WithQuestionnaires(c.questionnaires)
	}
	if !c.refuse || !current.terminology.HasRemote() {
		return validate(validator)
	}
	away := false
	issues := validate(validator.WithTerminology(codes{current.terminology, &away}))
	if away {
		issues = append(issues, fhir.Issue{
			Severity: fhir.SeverityError, Code: fhir.IssueTransient,
			Diagnostics: "Codes cannot be checked: the terminology server that knows them does not answer.",
		})
	}
	return issues
}
