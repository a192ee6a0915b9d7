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

// bindingRule makes the rule for values of a type, nil for one without codes.
func bindingRule(typeName string, definition *definition.Binding) rule {
	b := newBinding(definition)
	if b == nil {
		return nil
	}
	switch typeName {
	case "code", "string", "uri", "Coding", "CodeableConcept", "Quantity":
		return func(r *run, n element.Node) { r.bound(n, typeName, b) }
	}
	return nil
}

// bound checks a value of a type against a binding.
func (r *run) bound(n element.Node, typeName string, b *binding) {
	if !b.required && !r.advice || r.validator.memberOf(b.valueSet, typeName, n) != No && !b.wrongMIME(n) {
		return
	}
	severity, kind := fhir.SeverityError, "required"
	if !b.required || r.softBindings {
		severity, kind = fhir.SeverityWarning, "extensible"
	}
	if typeName != "CodeableConcept" {
		system, code := codeOf(typeName, n)
		if system != "" {
			system += "|"
		}
		r.add(n, severity, fhir.IssueCodeInvalid, "", "the code %s is not in the %s value set %s%s", quote(system+code), kind, b.valueSet, r.validator.listed(b.valueSet))
		return
	}
	first := n.Get("coding").At(0)
	if !first.Exists() {
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

// expressionLanguages is a value set of a few codes and all MIME types, which
// cannot be listed. What does not look like one is in neither.
const expressionLanguages = "http://hl7.org/fhir/ValueSet/expression-language"

func (b *binding) wrongMIME(n element.Node) bool {
	if url, _, _ := strings.Cut(b.valueSet, "|"); url != expressionLanguages {
		return false
	}
	kind, subtype, ok := strings.Cut(n.Str(), "/")
	return !ok || kind == "" || subtype == "" || strings.ContainsAny(kind, ": ")
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
		return v.terminology.Member(valueSet, system, code)
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
	m := v.terminology.Member(valueSet, system, code)
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
