package validation

import (
	"slices"
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// binding is the rule of a required binding on values of a type; nil if the
// type has no codes. The value set is expanded when the first value comes; one
// that cannot be enumerated here accepts everything.
func (v *Validator) binding(typeName, valueSet string) rule {
	b := &binding{valueSet: valueSet}
	b.codes = sync.OnceValue(func() map[string][]string {
		codes, ok := v.registry.Codes(valueSet)
		if !ok {
			return nil
		}
		return codes
	})
	switch typeName {
	case "code", "string", "uri":
		return b.code
	case "Coding":
		return b.coding
	case "CodeableConcept":
		return b.concept
	}
	return nil
}

type binding struct {
	valueSet string
	codes    func() map[string][]string // code → systems; nil if not enumerable
}

func (b *binding) code(r *run, n element.Node) {
	codes := b.codes()
	if codes == nil {
		return
	}
	if _, ok := codes[n.Str()]; !ok {
		r.issue(n, fhir.IssueCodeInvalid, "the code %s is not in the required value set %s", describe(n), b.valueSet)
	}
}

func (b *binding) coding(r *run, n element.Node) {
	if codes := b.codes(); codes != nil && !isIn(codes, n) && !saysWhyMissing(n, "code") {
		r.issue(n, fhir.IssueCodeInvalid, "the coding %s|%s is not in the required value set %s",
			shorten(n.Get("system").Str()), shorten(n.Get("code").Str()), b.valueSet)
	}
}

// concept wants one of the codings to be in the value set.
func (b *binding) concept(r *run, n element.Node) {
	codes := b.codes()
	if codes == nil {
		return
	}
	codings := n.Get("coding")
	for coding := range codings.Children() {
		if isIn(codes, coding) {
			return
		}
	}
	switch {
	case codings.Len() > 0:
		first := codings.At(0)
		r.issue(n, fhir.IssueCodeInvalid, "no coding is in the required value set %s; the first is %s|%s",
			b.valueSet, shorten(first.Get("system").Str()), shorten(first.Get("code").Str()))
	case !saysWhyMissing(n, "coding"):
		r.issue(n, fhir.IssueCodeInvalid, "there is no coding, but one in the value set %s is required", b.valueSet)
	}
}

func isIn(codes map[string][]string, coding element.Node) bool {
	return slices.Contains(codes[coding.Get("code").Str()], coding.Get("system").Str())
}

// saysWhyMissing reports whether a value lacks a member and has extensions
// that may say why, such as data-absent-reason.
func saysWhyMissing(n element.Node, member string) bool {
	return !n.Get(member).Exists() && (n.Get("extension").Exists() || n.Get("_"+member).Exists())
}
