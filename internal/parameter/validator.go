package parameter

import (
	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// Validator checks resources.
type Validator interface {
	Validate(t fhir.ResourceType, root element.Node) []fhir.Issue
}

// ProfileValidator is a Validator that also knows profiles.
type ProfileValidator interface {
	Validator
	ValidateProfile(t fhir.ResourceType, root element.Node, profiles []string, mode string) []fhir.Issue
}

// ProfileValidator is Validator for one that knows profiles.
func (x *Indexing) ProfileValidator(other ProfileValidator) ProfileValidator {
	return profileValidator{validator{other, x}, other}
}

type profileValidator struct {
	validator
	profiles ProfileValidator
}

// ValidateProfile adds the same. Without a mode that says that the resource is to be
// stored, what only this server cannot do is a warning.
func (v profileValidator) ValidateProfile(t fhir.ResourceType, root element.Node, profiles []string, mode string) []fhir.Issue {
	issues := v.profiles.ValidateProfile(t, root, profiles, mode)
	all := v.more(t, root, issues)
	if mode == "create" || mode == "update" {
		return all
	}
	for i := len(issues); i < len(all); i++ {
		if all[i].Code == fhir.IssueDuplicate || all[i].Code == fhir.IssueNotSupported {
			all[i].Severity = fhir.SeverityWarning
		}
	}
	return all
}

// Validator adds to another what keeps a SearchParameter from being served: for
// one that is active errors, for a draft warnings, since it may be kept as it is.
func (x *Indexing) Validator(other Validator) Validator { return validator{other, x} }

type validator struct {
	Validator
	indexing *Indexing
}

func (v validator) Validate(t fhir.ResourceType, root element.Node) []fhir.Issue {
	return v.more(t, root, v.Validator.Validate(t, root))
}

// more adds what is to be said of a SearchParameter.
func (v validator) more(t fhir.ResourceType, root element.Node, issues []fhir.Issue) []fhir.Issue {
	if t != "SearchParameter" {
		return issues
	}
	return append(issues[:len(issues):len(issues)], v.indexing.check(root)...)
}

func (x *Indexing) check(root element.Node) []fhir.Issue {
	status := root.Get("status").Str()
	d, err := definition.ParseSearchParameter(root.Raw())
	_, set := x.Current()
	if err != nil || status != "active" && status != "draft" || set.Search.IsSpecified(d.URL) {
		return nil
	}
	issues := set.without(root.Get("id").Str()).Check(d)
	if status == "draft" {
		for i := range issues {
			issues[i].Severity = fhir.SeverityWarning
			issues[i].Diagnostics += " Nothing can be searched by this draft."
		}
	}
	return issues
}

// without gives the search without the parameter that a resource defines, which
// is to be replaced.
func (s *Set) without(id string) interface {
	Check(*definition.SearchParameter) []fhir.Issue
} {
	for i, d := range s.Custom {
		if isOf(d.Generation, id) {
			rest := append(append([]*definition.SearchParameter(nil), s.Custom[:i]...), s.Custom[i+1:]...)
			return s.Search.With(rest, nil, nil)
		}
	}
	return s.Search
}
