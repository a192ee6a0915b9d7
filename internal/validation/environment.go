package validation

import (
	"strings"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// Bounds of the FHIRPath of one validation. A resource that needs more is
// refused, so that none keeps a server busy.
const (
	evaluationTime  = 5 * time.Second
	evaluationSteps = 2_000_000 // of one expression on a small resource
	clockEvery      = 64        // evaluations between looks at the clock
)

// environment is what expressions know besides their focus.
func (r *run) environment() *fhirpath.Environment {
	if r.env.Resolve == nil {
		r.env.Resolve = r.resolve
		r.env.MemberOf = r.memberOf
		r.env.ConformsTo = r.conformsTo
		r.env.Limits = r.limits(fhirpath.Limits{Items: fhirpath.DefaultLimits.Items, Steps: evaluationSteps})
	}
	if !r.env.Resource.Exists() {
		r.env.Resource = r.resourceItem(r.current)
		r.env.RootResource = r.resourceItem(r.container)
	}
	return &r.env
}

// limits are those of an expression, given what it may take on a small resource.
func (r *run) limits(l fhirpath.Limits) fhirpath.Limits { return l.ForSize(len(r.root.Raw())) }

func (r *run) resourceItem(n element.Node) fhirpath.Item {
	return fhirpath.Root(r.validator.registry, fhir.ResourceType(n.Get("resourceType").Str()), n)
}

// exhausted reports whether the time for expressions is over, which check makes
// an error of its own: here it could be lost, if issues are only counted.
func (r *run) exhausted() bool {
	if r.tooCostly {
		return true
	}
	if r.evaluations++; r.evaluations%clockEvery != 1 {
		return false
	}
	now := time.Now()
	if r.started.IsZero() {
		r.started = now
	}
	if now.Sub(r.started) > evaluationTime {
		r.tooCostly = true
	}
	return r.tooCostly
}

// resolve finds the target of a reference within the document: another entry
// of the Bundle.
func (r *run) resolve(reference string) (fhirpath.Item, bool) {
	target := r.entryOf(reference)
	if !target.Exists() {
		return fhirpath.Item{}, false
	}
	return r.resourceItem(target), true
}

// entryOf is the resource of the Bundle's entry that a reference means: by its
// fullUrl, to which a relative reference is completed
// (https://hl7.org/fhir/R4/bundle.html#references).
func (r *run) entryOf(reference string) element.Node {
	if r.bundle.Kind() != element.Object || reference == "" {
		return element.Node{}
	}
	if r.entries == nil {
		r.entries = map[string]element.Node{}
		for entry := range r.bundle.Get("entry").Children() {
			url := entry.Get("fullUrl").Str()
			if resource := entry.Get("resource"); url != "" && resource.Kind() == element.Object {
				r.entries[url] = resource
				if version := resource.Get("meta").Get("versionId").Str(); version != "" {
					r.entries[url+"/_history/"+version] = resource
				}
			}
		}
	}
	if target, ok := r.entries[reference]; ok {
		return target
	}
	if strings.Contains(reference, ":") {
		return element.Node{}
	}
	return r.entries[r.base+reference]
}

// memberOf implements Environment.MemberOf.
func (r *run) memberOf(item fhirpath.Item, valueSet string) (member, known bool) {
	switch r.validator.memberOf(valueSet, item.Type(), item.Node()) {
	case Yes:
		return true, true
	case No:
		return false, true
	}
	return false, false
}
