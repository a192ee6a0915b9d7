package validation

import (
	"crypto/sha1" // FHIR defines Attachment.hash so
	"encoding/base64"
	"strconv"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// typeRules are the rules of whole types that functions check.
func typeRules(name string) []rule {
	switch name {
	case "Extension":
		return []rule{extensionRule}
	case "Reference":
		return []rule{referenceRule}
	case "Period":
		return []rule{periodRule}
	case "Attachment":
		return []rule{attachmentRule}
	case "Coding", "Identifier", "Quantity":
		return []rule{systemRule}
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
		r.breach(n, fhir.IssueExtension, "ext-1", "the extension has both a value and extensions, but may have one of them only")
	case !value && !nested:
		r.breach(n, fhir.IssueExtension, "ext-1", "the extension has neither a value nor extensions")
	}
}

// referenceRule: a literal reference has a form that leads somewhere, to a contained
// resource one that there is (ref-1, https://hl7.org/fhir/R4/references.html#contained),
// and is of the type it says.
func referenceRule(r *run, n element.Node) {
	reference := n.Get("reference").Str()
	id, local := strings.CutPrefix(reference, "#")
	if !local && reference != "" && !r.literal(n.Get("reference"), reference) {
		return
	}
	if !local && r.bundle.Exists() {
		r.versionRule(n)
	}
	if reference != "" {
		r.typeRule(n)
	}
	if !local || id == "" {
		return
	}
	if !r.containedOf(id).Exists() {
		r.breach(n, fhir.IssueInvariant, "ref-1", "the reference is to the contained resource %s, and there is none with that id", quote(id))
	}
}

// systemRule advises on systems that nobody else can know, and codes that their system
// does not have. The specification has neither as a rule, and code systems grow.
func systemRule(r *run, n element.Node) {
	if !r.advice {
		return
	}
	at := n.Get("system")
	system, code := at.Str(), n.Get("code").Str()
	switch {
	case system == "":
	case !isAbsolute(system):
		r.warn(at, fhir.IssueInvalid, "", "the system is %s, expected an absolute URI", describe(at))
	case code != "" && r.validator.terminology.Defines(system, code) == No:
		r.warn(n.Get("code"), fhir.IssueCodeInvalid, "", "the code system %s, as it is known here, does not have the code %s", shorten(system), quote(code))
	}
}

// elementIDRule: the id of an element is that of no other one of its resource
// (https://hl7.org/fhir/R4/element.html#id). Those of a StructureDefinition are the same
// in its snapshot and its differential; sdf-16 and sdf-17 are about each of them.
func elementIDRule(r *run, n element.Node) {
	if r.current.Get("resourceType").Str() == "StructureDefinition" {
		return
	}
	id := n.Str()
	if r.ids == nil {
		r.ids = map[string]bool{}
	}
	if r.ids[id] {
		r.issue(n, fhir.IssueInvalid, "another element of the resource has the id %s, too", quote(id))
	}
	r.ids[id] = true
}

// periodRule: a period does not end before it starts (per-1). Times that are
// not equally precise are compared by FHIRPath, which leaves some open.
func periodRule(r *run, n element.Node) {
	start, end := n.Get("start").Str(), n.Get("end").Str()
	if start == "" || end == "" {
		return
	}
	before := start <= end
	if !sameForm(start, end) {
		expression := r.validator.expression("start <= end")
		value, known, err := expression.Test(nil, fhirpath.Element(r.validator.registry, "Period", n))
		before = err != nil || !known || value
	}
	if !before {
		r.breach(n, fhir.IssueInvariant, "per-1", "the period starts at %s, after its end at %s", quote(start), quote(end))
	}
}

// sameForm reports whether two times order as their texts do: as precise as
// each other, in one zone.
func sameForm(a, b string) bool {
	if len(a) != len(b) || len(a) < len("2000-01-01T00:00:00Z") {
		return len(a) == len(b)
	}
	zone := len(a) - 1
	if a[zone] != 'Z' {
		zone = len(a) - len("+00:00")
	}
	return a[zone:] == b[zone:]
}

// attachmentRule: data is what size and hash say. Another hash is a warning,
// since the specification's own examples have it of what data was made from
// (https://hl7.org/fhir/R4/datatypes.html#Attachment).
func attachmentRule(r *run, n element.Node) {
	data := n.Get("data")
	size, hash := n.Get("size"), n.Get("hash")
	if !data.Exists() || !size.Exists() && !hash.Exists() {
		return
	}
	content, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(data.Str()), ""))
	if err != nil {
		return
	}
	if size.Exists() && size.Literal() != strconv.Itoa(len(content)) {
		r.issue(n, fhir.IssueStructure, "the attachment says its size is %s, but its data has %d bytes", describe(size), len(content))
	}
	if sum := sha1.Sum(content); hash.Exists() && hash.Str() != base64.StdEncoding.EncodeToString(sum[:]) {
		r.warn(n, fhir.IssueValue, "", "the hash of the attachment is not the SHA-1 of its data")
	}
}
