package search

import (
	"regexp"
	"slices"
	"strconv"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/fhirpath"
)

// codeText is what the code of a parameter may be, so that it can be the name of
// one in a URL: no prefix of a modifier, chain or control.
var codeText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// mostBranches is how many paths an expression may join: each is evaluated by
// itself on every resource. The specification's longest have one for each type.
const mostBranches = 500

// mostEvaluated is how many of these may need the FHIRPath engine, which gives
// each its own budget.
const mostEvaluated = 20

// IsSpecified reports whether a url is that of one of the specification's
// parameters. A stored copy of one changes nothing.
func (s *Search) IsSpecified(url string) bool { return s.registry.SearchParameterByURL(url) != nil }

// Check says why a parameter could not be served beside those that s serves:
// nothing if it could. The issues name the elements at fault.
func (s *Search) Check(d *definition.SearchParameter) []fhir.Issue {
	issues := s.CheckAgain(d)
	for i := range issues {
		if issues[i].Code != fhir.IssueDuplicate {
			return issues
		}
	}
	if d.Expression == "" {
		return issues
	}
	return append(issues, s.checkExpression(d)...)
}

// CheckAgain is Check for a parameter that has passed it beside others: its
// expression is not compiled again.
func (s *Search) CheckAgain(d *definition.SearchParameter) []fhir.Issue {
	var issues []fhir.Issue
	fault := func(member string, code fhir.IssueType, text string) {
		issues = append(issues, fhir.Issue{Severity: fhir.SeverityError, Code: code, Diagnostics: text, Expression: "SearchParameter." + member})
	}
	if !codeText.MatchString(d.Code) {
		fault("code", fhir.IssueBusinessRule, "The code "+quote(d.Code)+" cannot name a search parameter: letters, digits, - and _ were expected, 64 at most.")
	}
	if planners[d.Type] == nil || d.Type == "special" {
		fault("type", fhir.IssueNotSupported, "Search parameters of the type "+quote(d.Type)+" are not served for other elements than the specification's.")
	}
	for i, base := range d.Base {
		at := "base[" + strconv.Itoa(i) + "]"
		if t := s.registry.Type(string(base)); t == nil || t.Kind != definition.KindResource {
			fault(at, fhir.IssueBusinessRule, "There is no resource type "+quote(string(base))+".")
		}
	}
	for i, target := range d.Target {
		if !s.registry.IsResourceType(string(target)) && target != "Resource" {
			fault("target["+strconv.Itoa(i)+"]", fhir.IssueBusinessRule, "There is no resource type "+quote(string(target))+".")
		}
	}
	if d.Type == "composite" {
		issues = append(issues, s.checkComponents(d)...)
	}
	if len(issues) > 0 {
		return issues
	}
	for _, t := range s.TypesOf(d) {
		if other := s.definition(t, d.Code); other != nil {
			fault("code", fhir.IssueDuplicate, string(t)+" has a search parameter "+quote(d.Code)+" already: "+other.URL+".")
			break
		}
	}
	if d.Expression == "" {
		fault("expression", fhir.IssueBusinessRule, "The parameter has no expression, which says what elements it looks at.")
	}
	return issues
}

// checkExpression compiles a parameter for the types it names, and wants each of
// them to have elements for it.
func (s *Search) checkExpression(d *definition.SearchParameter) []fhir.Issue {
	fault := func(text string) []fhir.Issue {
		return []fhir.Issue{{Severity: fhir.SeverityError, Code: fhir.IssueBusinessRule, Diagnostics: text, Expression: "SearchParameter.expression"}}
	}
	paths := branches(d.Expression)
	var evaluated []string
	for _, path := range paths {
		if _, plain := parsePath(path); !plain {
			evaluated = append(evaluated, path)
		}
	}
	if len(paths) > mostBranches || len(evaluated) > mostEvaluated {
		return fault("The expression joins too many paths by |: at most " + strconv.Itoa(mostBranches) + ", and " + strconv.Itoa(mostEvaluated) +
			" of other than names, as, and where with a code, were expected.")
	}
	for _, path := range evaluated {
		compiled, err := fhirpath.Compile(s.registry, path)
		if err != nil {
			continue // told below, with the type that it is for
		}
		if name := compiled.Unknown(); name != "" {
			return fault("The expression uses the variable " + quote("%"+name) + ", which nothing defines in the expression of a search parameter.")
		}
	}
	named := *d
	if named.Generation == "" {
		named.Generation = "new" // only what is stored at run time is indexed by itself
	}
	tried := s.Only([]*definition.SearchParameter{&named})
	for _, base := range d.Base {
		found := false
		for _, t := range s.registry.ResourceTypes() {
			if !slices.Contains(s.registry.Lineage(t), base) {
				continue
			}
			compiled, err := tried.parameters(t)
			if err != nil {
				return fault("The expression is no FHIRPath that can be compiled for " + string(t) + ": " + err.Error())
			}
			if found = compiled.byCode[d.Code] != nil; found {
				break
			}
		}
		if !found {
			return fault("The expression leads to no element of " + string(base) + " that a parameter of the type " + d.Type + " can look at.")
		}
	}
	return nil
}

// checkComponents wants the parts of a composite to be parameters of its types
// that can be parts.
func (s *Search) checkComponents(d *definition.SearchParameter) []fhir.Issue {
	fault := func(at, text string) []fhir.Issue {
		return []fhir.Issue{{Severity: fhir.SeverityError, Code: fhir.IssueBusinessRule, Diagnostics: text, Expression: "SearchParameter." + at}}
	}
	if len(d.Components) < 2 {
		return fault("component", "A composite parameter needs two parts at least.")
	}
	for i, component := range d.Components {
		at := "component[" + strconv.Itoa(i) + "]"
		for _, t := range s.TypesOf(d) {
			part := slices.IndexFunc(s.definitions(t), func(other *definition.SearchParameter) bool {
				return other.URL == withoutVersion(component.Definition)
			})
			if part < 0 {
				return fault(at+".definition", string(t)+" has no search parameter "+quote(component.Definition)+".")
			}
			if s.definitions(t)[part].Type == "composite" {
				return fault(at+".definition", "A part cannot be composite itself.")
			}
		}
	}
	return nil
}
