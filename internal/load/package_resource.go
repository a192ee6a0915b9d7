package load

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

// packaged are the types that are loaded from packages: those that say how
// resources are to be, and what is asked, measured and done by them. What else a package holds
// are examples.
var packaged = map[fhir.ResourceType]bool{
	"ActivityDefinition": true, "CapabilityStatement": true, "CodeSystem": true, "CompartmentDefinition": true,
	"ConceptMap": true, "GraphDefinition": true, "ImplementationGuide": true, "Library": true, "Measure": true,
	"MessageDefinition": true, "NamingSystem": true, "OperationDefinition": true, "PlanDefinition": true,
	"Questionnaire": true, "SearchParameter": true, "StructureDefinition": true, "StructureMap": true,
	"TerminologyCapabilities": true, "ValueSet": true,
}

// packageResource is a resource of a package.
type packageResource struct {
	of           *Package
	where        string // the file in it
	key          fhir.Key
	url, version string
	content      fhir.Content
}

// isResourceFile reports whether a file of a package may be a conformance
// resource: examples and what else there is are in other folders.
func isResourceFile(name string) bool {
	base := path.Base(name)
	return path.Dir(name) == "package" && path.Ext(base) == ".json" && base != "package.json" && !strings.HasPrefix(base, ".")
}

// readResource reads a file of a package; nil if it is none that is loaded. One
// that is malformed is an error. Rules that it breaks are given as faults.
func readResource(checker interaction.Validator, p *Package, name string, text []byte) (r *packageResource, faults []fhir.Issue, err error) {
	tree, err := element.Parse(text, limits)
	if err != nil {
		return nil, nil, syntaxError(err)
	}
	root := tree.Root()
	r = &packageResource{of: p, where: p.Path + ": " + name, key: keyOf(root)}
	if !packaged[r.key.Type] {
		return nil, nil, nil
	}
	if faults, err = check(checker, r.key.Type, root); err != nil {
		return nil, nil, err
	}
	r.url, r.version = root.Get("url").Str(), root.Get("version").Str()
	r.content, err = element.Content(root)
	return r, faults, err
}

// check validates a resource of a package. Packages are published: that they break
// rules of the specification (extensions used where they may not be, names that are
// not to be) is for their publishers to mend, and a server without them would be no
// better. What is malformed, or has codes that FHIR does not, is refused.
func check(checker interaction.Validator, t fhir.ResourceType, root element.Node) (faults []fhir.Issue, err error) {
	issues := checker.Validate(t, root)
	malformed := false
	for _, issue := range issues {
		if issue.Severity != fhir.SeverityError && issue.Severity != fhir.SeverityFatal {
			continue
		}
		faults = append(faults, issue)
		switch issue.Code {
		case fhir.IssueInvalid, fhir.IssueStructure, fhir.IssueRequired, fhir.IssueValue, fhir.IssueCodeInvalid:
			malformed = true
		}
	}
	if malformed {
		return nil, &fhir.Error{Kind: fhir.KindInvalid, Issues: faults}
	}
	return faults, nil
}

// ids are the ids that the resource may be stored under, the best first: its
// own, that with its version, and one that no other resource has.
func (r *packageResource) ids() []string {
	var all []string
	for _, id := range []string{r.key.ID, r.key.ID + "-" + r.version} {
		if fhir.ValidID(id) {
			all = append(all, id)
		}
	}
	sum := sha256.Sum256([]byte(r.url + "|" + r.version + "|" + r.key.ID))
	return append(all, hex.EncodeToString(sum[:16]))
}

// appendJSON appends the resource under an id.
func (r *packageResource) appendJSON(dst []byte, id string) []byte {
	dst = append(append(append(dst, `{"resourceType":"`...), r.key.Type...), `","id":"`...)
	dst = append(append(dst, id...), '"')
	if len(r.content.Meta) > 0 {
		dst = append(append(append(dst, `,"meta":{`...), r.content.Meta[1:]...), '}')
	}
	return append(append(dst, r.content.Body...), '}')
}

// size is how much it adds to a transaction.
func (r *packageResource) size() int { return len(r.content.Meta) + len(r.content.Body) }
