package interaction

import (
	"context"
	"errors"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// validate says what is wrong with a resource, without storing it
// (https://hl7.org/fhir/R4/resource-operation-validate.html). Whatever it
// finds is an OperationOutcome with status 200; only a request that cannot be
// read is refused.
func (s *Service) validate(ctx context.Context, c *call) (*Response, error) {
	mode := c.text("mode")
	profiles := c.texts("profile")
	root := c.resourceOf(s, "resource")
	if c.err != nil {
		return nil, c.err
	}
	if err := checkMode(mode, c.ID); err != nil {
		return nil, err
	}
	if mode == "delete" {
		issues, err := s.validateDelete(ctx, c)
		return c.outcome(issues), err
	}
	stored := !root.Exists()
	if stored {
		var err error
		if root, err = s.storedFor(ctx, c, mode); err != nil {
			return nil, err
		}
	}
	issues := s.check(c.Type, root, profiles, mode)
	if s.MissingTargets != "" {
		more, err := s.unfollowed(ctx, s.Store, root, fhir.Key{Type: c.Type, ID: root.Get("id").Str()}, c.Base)
		if err != nil {
			return nil, err
		}
		issues = slices.Concat(issues, more)
	}
	if mode == "update" && !stored {
		more, err := s.validateUpdate(ctx, c, root)
		if err != nil {
			return nil, err
		}
		issues = append(issues, more...)
	}
	return c.outcome(issues), nil
}

// outcome answers with issues, and with what was left out of account.
func (c *call) outcome(issues []fhir.Issue) *Response {
	return &Response{Status: StatusOK, Body: AppendOutcome(nil, slices.Concat(issues, ignored(c.unknown)))}
}

// checkMode refuses modes that do not exist, or not there.
func checkMode(mode, id string) error {
	switch mode {
	case "", "create":
		return nil
	case "update", "delete", "profile":
		if id != "" {
			return nil
		}
		return fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid,
			"The mode "+mode+" is for a single resource: [type]/[id]/$validate.").At("mode")
	}
	return fhir.NewError(fhir.KindInvalid, fhir.IssueValue,
		"The mode is "+quote(mode)+"; create, update, delete or profile was expected.").At("mode")
}

// storedFor is the resource that the URL names, for a call that brings none.
func (s *Service) storedFor(ctx context.Context, c *call, mode string) (element.Node, error) {
	if c.ID == "" || mode == "create" || mode == "update" {
		return element.Node{}, fhir.NewError(fhir.KindInvalid, fhir.IssueRequired,
			"There is no resource to validate: send one, by itself or as the parameter resource.")
	}
	resource, err := s.Store.Read(ctx, fhir.Key{Type: c.Type, ID: c.ID})
	if err != nil {
		return element.Node{}, err
	}
	if resource.Deleted() {
		return element.Node{}, gone(resource)
	}
	return s.parse(resource.AppendJSON(nil))
}

// check validates against the type of the URL and the profiles.
func (s *Service) check(t fhir.ResourceType, root element.Node, profiles []string, mode string) []fhir.Issue {
	if err := checkType(root, t); err != nil {
		return Failure(err).Issues
	}
	checker := s.Checker
	if checker == nil {
		checker = s.Validator
	}
	if full, ok := checker.(ProfileValidator); ok {
		return full.ValidateProfile(t, root, profiles, mode)
	}
	issues := checker.Validate(t, root)
	for _, profile := range profiles {
		if profile != s.Definitions.Type(string(t)).URL {
			issues = append(slices.Clip(issues), fhir.Issue{
				Severity: fhir.SeverityError, Code: fhir.IssueNotSupported,
				Diagnostics: "The profile " + quote(profile) + " is not known here; nothing was checked against it.",
			})
		}
	}
	return issues
}

// validateUpdate says what would keep an update from that resource.
func (s *Service) validateUpdate(ctx context.Context, c *call, root element.Node) ([]fhir.Issue, error) {
	var issues []fhir.Issue
	if id := root.Get("id").Str(); id != c.ID {
		issues = append(issues, fhir.Issue{
			Severity: fhir.SeverityError, Code: fhir.IssueInvalid, Expression: string(c.Type) + ".id",
			Diagnostics: "The resource has the id " + quote(id) + "; an update of " + c.ID + " has to have that.",
		})
	}
	if c.IfMatch == "" {
		return issues, nil
	}
	current, err := s.current(ctx, fhir.Key{Type: c.Type, ID: c.ID})
	if err != nil {
		return nil, err
	}
	version, ok := parseETag(c.IfMatch)
	if current == nil || strings.TrimSpace(c.IfMatch) != "*" && (!ok || version != current.VersionID) {
		issues = append(issues, fhir.Issue{
			Severity: fhir.SeverityError, Code: fhir.IssueConflict,
			Diagnostics: "The version " + quote(c.IfMatch) + " of If-Match is not the current one.",
		})
	}
	return issues, nil
}

// validateDelete says whether a resource can be deleted. All can: the server
// keeps no resource for the references to it.
func (s *Service) validateDelete(ctx context.Context, c *call) ([]fhir.Issue, error) {
	key := fhir.Key{Type: c.Type, ID: c.ID}
	current, err := s.current(ctx, key)
	if err != nil || current != nil {
		return nil, err
	}
	return []fhir.Issue{{
		Severity: fhir.SeverityInformation, Code: fhir.IssueInformational,
		Diagnostics: "There is no " + key.String() + ": a deletion would succeed and change nothing.",
	}}, nil
}

// current is the current version of a resource, nil if there is none.
func (s *Service) current(ctx context.Context, key fhir.Key) (*fhir.Resource, error) {
	resource, err := s.Store.Read(ctx, key)
	var failure *fhir.Error
	switch {
	case errors.As(err, &failure) && failure.Kind == fhir.KindNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case resource.Deleted():
		return nil, nil
	}
	return resource, nil
}
