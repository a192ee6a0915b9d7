package validation

import (
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// typeRules are the rules of a whole type that belong to its structure.
func typeRules(name string) []rule {
	if name == "Extension" {
		return []rule{extensionRule}
	}
	return nil
}

// extensionRule: an extension has a value or extensions of its own, never both
// (ext-1, https://hl7.org/fhir/R4/extensibility.html).
func extensionRule(r *run, n element.Node) {
	value, nested := false, false
	for member := range n.Children() {
		switch name := member.Name(); {
		case name == "extension":
			nested = true
		case strings.HasPrefix(name, "value"), strings.HasPrefix(name, "_value"):
			value = true
		}
	}
	switch {
	case value && nested:
		r.issue(n, fhir.IssueExtension, "ext-1: the extension has both a value and extensions, but may have one of them only")
	case !value && !nested:
		r.issue(n, fhir.IssueExtension, "ext-1: the extension has neither a value nor extensions")
	}
}
