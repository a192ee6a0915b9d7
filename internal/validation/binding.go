package validation

import (
	"maps"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// binding is the rule of a binding on coded values
// (https://hl7.org/fhir/R4/terminologies.html#strength). Outside of a required
// one a value is an error; outside of an extensible one it is a warning, told
// where all is told; the others say nothing.
type binding struct {
	valueSet string
	required bool
	// most says that the value set is what an extensible or preferred binding allows
	// at most: a concept without codes is not held against it. Others are warnings,
	// since the specification's own examples have some.
	most bool
}

func newBinding(b *definition.Binding) *binding {
	switch {
	case b == nil || b.ValueSet == "":
		return nil
	case b.Strength == "required", b.Strength == "extensible":
		return &binding{valueSet: b.ValueSet, required: b.Strength == "required"}
	}
	return nil
}

// bindingRules makes the rules for values of a type, none for one without codes.
func bindingRules(typeName string, definition *definition.Binding) (rules []rule) {
	switch typeName {
	case "code", "string", "uri", "Coding", "CodeableConcept", "Quantity":
	default:
		return nil
	}
	add := func(b *binding) {
		rules = append(rules, func(r *run, n element.Node) { r.bound(n, typeName, b) })
	}
	if b := newBinding(definition); b != nil {
		add(b)
	}
	if definition != nil && definition.Max != "" {
		add(&binding{valueSet: definition.Max, most: true})
	}
	return rules
}

// bound checks a value of a type against a binding.
func (r *run) bound(n element.Node, typeName string, b *binding) {
	if !b.required && !r.advice || r.validator.memberOf(b.valueSet, typeName, n) != No {
		return
	}
	severity, kind := fhir.SeverityError, "required"
	if !b.required || r.softBindings {
		severity, kind = fhir.SeverityWarning, "extensible"
	}
	if b.most {
		kind = "largest possible"
	}
	if typeName != "CodeableConcept" {
		system, code := codeOf(typeName, n)
		if code == "" && b.most {
			return
		}
		if system != "" {
			system += "|"
		}
		r.add(n, severity, fhir.IssueCodeInvalid, "", "the code %s is not in the %s value set %s%s", quote(system+code), kind, b.valueSet, r.validator.listed(b.valueSet))
		return
	}
	first := n.Get("coding").At(0)
	if !first.Exists() {
		if b.most {
			return
		}
		r.add(n, severity, fhir.IssueCodeInvalid, "", "there is no coding, but one in the %s value set %s is expected", kind, b.valueSet)
		return
	}
	r.add(n, severity, fhir.IssueCodeInvalid, "", "no coding is in the %s value set %s; the first is %s|%s",
		kind, b.valueSet, shorten(first.Get("system").Str()), shorten(first.Get("code").Str()))
}

// maxListed is the most codes of a value set that an issue lists.
const maxListed = 12

// listed lists the codes of one of the specification's value sets that has few.
func (v *Validator) listed(valueSet string) string {
	codes, ok := v.registry.Codes(valueSet)
	if !ok || len(codes) == 0 || len(codes) > maxListed {
		return ""
	}
	return ", which has " + strings.Join(slices.Sorted(maps.Keys(codes)), ", ")
}

// memberOf says whether a value is in a value set: a concept is if one of its
// codings is. A value without code, but with extensions that may say why, is
// not held against it.
func (v *Validator) memberOf(valueSet, typeName string, n element.Node) Membership {
	if typeName != "CodeableConcept" {
		if n.Kind() == element.Object && saysWhyMissing(n, "code") {
			return Unknown
		}
		system, code := codeOf(typeName, n)
		if code == "" {
			return No
		}
		return v.member(valueSet, system, code)
	}
	if saysWhyMissing(n, "coding") {
		return Unknown
	}
	answer := No
	for coding := range n.Get("coding").Children() {
		if saysWhyMissing(coding, "code") {
			answer = Unknown
			continue
		}
		system, code := codeOf("Coding", coding)
		switch m := v.codingMember(valueSet, system, code); m {
		case Yes:
			return Yes
		case Unknown:
			answer = Unknown
		}
	}
	if answer == No && !n.Get("coding").Exists() {
		// Whether the value set is one that can be had.
		return v.terminology.Member(valueSet, "", "")
	}
	return answer
}

// codingMember asks for a coding: one without a system is in no value set, but
// only where the value set can be had.
func (v *Validator) codingMember(valueSet, system, code string) Membership {
	m := v.member(valueSet, system, code)
	if m == Yes && system == "" {
		return No
	}
	return m
}

// codeOf reads the system and code of a value.
func codeOf(typeName string, n element.Node) (system, code string) {
	switch typeName {
	case "Coding", "Quantity":
		return n.Get("system").Str(), n.Get("code").Str()
	}
	return "", n.Str()
}

// saysWhyMissing reports whether a value lacks a member and has extensions
// that may say why, such as data-absent-reason.
func saysWhyMissing(n element.Node, member string) bool {
	return !n.Get(member).Exists() && (n.Get("extension").Exists() || n.Get("_"+member).Exists())
}
