package interaction

import (
	"context"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// target is a resource of this server that a reference leads to.
type target struct {
	fhir.VersionKey
	at element.Node // the string of the reference
}

// targetsOf lists what the literal references of a resource lead to here,
// contained resources' included. References within the resource, to other servers
// and to entries of a Bundle lead elsewhere, and a Bundle's are its own entries'.
func (s *Service) targetsOf(root element.Node, t fhir.ResourceType, base string) []target {
	if t == "Bundle" {
		return nil
	}
	var all []target
	w := walker{s.Definitions, func(value element.Node, property definition.Property) {
		if property.Element.Path != "Reference.reference" {
			return
		}
		if key, local := s.localTarget(value.Str(), base); local {
			all = append(all, target{key, value})
		}
	}}
	w.object(root, s.Definitions.Type(string(t)).Root)
	return all
}

// localTarget reads a reference to a resource of this server: Type/id, with or
// without the base and a version. A version that this server would never make is
// -1.
func (s *Service) localTarget(reference, base string) (key fhir.VersionKey, local bool) {
	reference, _, _ = strings.Cut(reference, "#")
	parts := strings.Split(strings.TrimPrefix(reference, base+"/"), "/")
	versioned := len(parts) == 4 && parts[2] == "_history"
	if len(parts) != 2 && !versioned || !s.Definitions.IsResourceType(parts[0]) || !fhir.ValidID(parts[1]) {
		return key, false
	}
	key.Key = fhir.Key{Type: fhir.ResourceType(parts[0]), ID: parts[1]}
	if versioned {
		var ok bool
		if key.VersionID, ok = parseVersion(parts[3]); !ok {
			key.VersionID = -1
		}
	}
	return key, true
}

// missing finds out which of the targets are not there.
func missing(ctx context.Context, finder fhir.Finder, targets []target) (map[fhir.VersionKey]bool, error) {
	asked := make(map[fhir.VersionKey]bool, len(targets))
	keys := make([]fhir.VersionKey, 0, len(targets))
	for i := range targets {
		if key := targets[i].VersionKey; !asked[key] {
			asked[key] = true
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	list, err := finder.Missing(ctx, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[fhir.VersionKey]bool, len(list))
	for _, key := range list {
		found[key] = true
	}
	return found, nil
}

// maxMissing is the most targets of one resource that are told to be missing.
const maxMissing = 50

// ofMissing makes an issue of each reference to a target that is missing.
func (s *Service) ofMissing(targets []target, missing map[fhir.VersionKey]bool) []fhir.Issue {
	var issues []fhir.Issue
	for i := range targets {
		if t := &targets[i]; missing[t.VersionKey] && len(issues) < maxMissing {
			issues = append(issues, fhir.Issue{
				Severity: s.MissingTargets, Code: fhir.IssueNotFound, Expression: element.Path(t.at),
				Diagnostics: "The reference is to " + quote(t.at.Str()) + ", which this server does not have; the target of a reference has to exist before it.",
			})
		}
	}
	return issues
}

// follow checks where the references of a resource lead that is about to be
// written, if the server is set to. What it finds comes behind what the validation
// had to say, or is the error.
func (s *Service) follow(ctx context.Context, finder fhir.Finder, write *fhir.Write, said []fhir.Issue, base string) ([]fhir.Issue, error) {
	if s.MissingTargets == "" {
		return said, nil
	}
	root, err := element.ParseStored(&fhir.Resource{Key: write.Key, Content: write.Content})
	if err != nil {
		return nil, err
	}
	issues, err := s.unfollowed(ctx, finder, root, write.Key, base)
	if err != nil {
		return nil, err
	}
	return slices.Concat(said, issues), refusal(issues)
}

// unfollowed lists the references of a resource whose targets are missing. To
// itself it may refer.
func (s *Service) unfollowed(ctx context.Context, finder fhir.Finder, root element.Node, own fhir.Key, base string) ([]fhir.Issue, error) {
	targets := slices.DeleteFunc(s.targetsOf(root, own.Type, base), func(t target) bool { return t.VersionKey == fhir.VersionKey{Key: own} })
	gone, err := missing(ctx, finder, targets)
	return s.ofMissing(targets, gone), err
}

// follow checks the references of all that a transaction has written: so they may
// lead to its other entries, and not to what it deleted.
func (a *attempt) follow(ctx context.Context) error {
	if a.MissingTargets == "" {
		return nil
	}
	var all []target
	of := make([][]target, len(a.writes))
	for i, write := range a.writes {
		if write.Op == fhir.OpDelete {
			continue
		}
		root, err := element.ParseStored(&fhir.Resource{Key: write.Key, Content: write.Content})
		if err != nil {
			return err
		}
		of[i] = a.targetsOf(root, write.Type, a.outer.Base)
		all = append(all, of[i]...)
	}
	gone, err := missing(ctx, a.tx, all)
	if err != nil || len(gone) == 0 {
		return err
	}
	var refused []fhir.Issue
	for i, targets := range of {
		number := a.writers[i]
		issues := a.ofMissing(targets, gone)
		if len(issues) > 0 && a.MissingTargets == fhir.SeverityWarning {
			a.responses[number].Issues = slices.Concat(a.responses[number].Issues, issues)
			continue
		}
		for _, issue := range issues {
			issue.Expression = entryPath(number, issue.Expression)
			refused = append(refused, issue)
		}
	}
	return refusal(refused[:min(len(refused), maxMissing)])
}
