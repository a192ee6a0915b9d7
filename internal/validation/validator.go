package validation

import (
	"fmt"
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// Validator checks resources against the definitions of one registry and the
// profiles it was given. It is a snapshot: when profiles change another
// Validator, made by With, takes its place and shares what is compiled of the
// registry. It is safe for concurrent use.
type Validator struct {
	*compiled
	terminology Terminology
	stored      *profiles // nil: none but the registry's
	questions   func(canonical string) (element.Node, bool)
	// Severity of a meta.profile that is not known.
	unknownProfile fhir.Severity
	// required are the profiles that all resources of a type have to meet.
	required map[fhir.ResourceType]string
}

// compiled is what all validators of a registry share, filled on first use.
type compiled struct {
	registry    *definition.Registry
	shapes      sync.Map // name of a type → *shape
	expressions sync.Map // text → *fhirpath.Expression
	published   *profiles
}

// New makes a validator for the registry's own definitions and terminology. It
// compiles nothing yet.
func New(registry *definition.Registry) *Validator {
	v := &Validator{compiled: &compiled{registry: registry}, terminology: &specification{registry: registry}, unknownProfile: fhir.SeverityWarning}
	v.published = newProfiles(func(canonical string) ([]byte, bool) { return registry.Resource(canonical) })
	return v
}

// WithTerminology makes a validator that asks another terminology.
func (v *Validator) WithTerminology(t Terminology) *Validator {
	with := *v
	with.terminology = t
	return &with
}

// WithQuestionnaires makes a validator that checks QuestionnaireResponses
// against the Questionnaires which find gives by their canonical.
func (v *Validator) WithQuestionnaires(find func(canonical string) (element.Node, bool)) *Validator {
	with := *v
	with.questions = find
	return &with
}

// RefusingUnknownProfiles makes a validator to which a meta.profile that it does
// not know is an error. By default it is a warning, since real data names
// profiles that their server never loaded.
func (v *Validator) RefusingUnknownProfiles() *Validator {
	with := *v
	with.unknownProfile = fhir.SeverityError
	return &with
}

// Requiring makes a validator that holds each resource of a type to a profile,
// whether the resource names it or not. Resources within others are not.
func (v *Validator) Requiring(profiles map[fhir.ResourceType]string) *Validator {
	with := *v
	with.required = profiles
	return &with
}

// Validate gives what is wrong with a resource of type t: nothing if it may be
// stored, and at most MaxIssues issues otherwise. Only those of severity error
// keep it from being stored.
func (v *Validator) Validate(t fhir.ResourceType, root element.Node) []fhir.Issue {
	return v.check(root, t, nil, run{})
}

// ValidateProfile is Validate against further profiles, with all that is worth
// telling; a profile that is not known is an error. With a mode of $validate that
// says what is to be done with the resource (create, update) it is held to what that
// would be held to; without, to the profiles of vital signs by their codes, too.
func (v *Validator) ValidateProfile(t fhir.ResourceType, root element.Node, profiles []string, mode string) []fhir.Issue {
	return v.check(root, t, profiles, run{advice: true, unasked: mode == "" || mode == "profile"})
}

// check validates a resource.
func (v *Validator) check(root element.Node, t fhir.ResourceType, profiles []string, r run) []fhir.Issue {
	r.validator, r.root = v, root
	r.resource(root, string(t))
	if profile := v.required[t]; profile != "" && !claims(root, profile) {
		r.claimed(root, profile, v.unknownProfile)
	}
	for _, profile := range profiles {
		r.claimed(root, profile, fhir.SeverityError)
	}
	if r.tooCostly {
		r.issue(root, fhir.IssueTooCostly, "the rules of this resource take too long to check; it has too many elements that depend on one another")
	}
	return r.issues
}

// claims reports whether a resource names a profile, so that it is checked
// anyway.
func claims(root element.Node, profile string) bool {
	for claimed := range root.Get("meta").Get("profile").Children() {
		if claimed.Str() == profile {
			return true
		}
	}
	return false
}

// shape gives the shape of a type, compiled on first use; nil if there is no
// such type.
func (v *Validator) shape(name string) *shape {
	if s, ok := v.shapes.Load(name); ok {
		return s.(*shape)
	}
	t := v.registry.Type(name)
	if t == nil {
		return nil
	}
	// Two that compile at once make the same; either may stay.
	s, _ := v.shapes.LoadOrStore(name, compile(v, t))
	return s.(*shape)
}

// shapeOf is shape for the types that definitions name.
func (v *Validator) shapeOf(name string) *shape {
	s := v.shape(name)
	if s == nil {
		panic(fmt.Sprintf("validation: a definition names the type %q, which does not exist", name))
	}
	return s
}
