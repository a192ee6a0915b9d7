package validation

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// storedDefinition is what a StructureDefinition is found by. Its text is made
// anew when it is compiled.
type storedDefinition struct {
	resource     *fhir.Resource
	url, version string
	base         string            // baseDefinition
	snapshot     bool              // it has one, so that its base is not needed
	profiled     fhir.ResourceType // that it is a profile of, "" for other definitions and retired ones
	// mentions are the canonicals of the profiles that it names, so that it may have
	// to be compiled again with each of them.
	mentions []string
}

// With makes a validator that knows the StructureDefinitions among the
// resources too; they come before the registry's own of the same canonical. Of
// several with one url each is found by its version, and the latest without;
// of several with one version the last is taken. They take the place of those
// that an earlier With has given v; of these, the very same are not read again, and
// not compiled again unless what they lead to has changed.
func (v *Validator) With(resources []*fhir.Resource) *Validator {
	definitions := map[string]*storedDefinition{}
	stored := newProfiles(func(canonical string) ([]byte, bool) {
		found := definitions[canonical]
		if found == nil {
			return nil, false
		}
		return found.resource.AppendJSON(nil), true
	})
	stored.definitions, stored.sources = definitions, map[*fhir.Resource]*storedDefinition{}
	for _, resource := range resources {
		if resource.Type != "StructureDefinition" || resource.Deleted() {
			continue
		}
		added := v.definitionOf(resource)
		if added == nil {
			continue
		}
		stored.sources[resource] = added
		if other := definitions[added.url]; other == nil || fhir.CompareVersions(added.version, other.version) >= 0 {
			definitions[added.url] = added
		}
		if added.version != "" {
			definitions[added.url+"|"+added.version] = added
		}
	}
	for canonical, d := range definitions {
		if strings.Contains(canonical, "|") {
			continue
		}
		stored.urls = append(stored.urls, canonical)
		if d.profiled != "" {
			stored.ofType[d.profiled] = append(stored.ofType[d.profiled], canonical)
		}
	}
	for _, urls := range stored.ofType {
		slices.Sort(urls)
	}
	if v.stored != nil {
		stored.keep(v.stored)
	}
	with := *v
	with.stored = stored
	return &with
}

// definitionOf reads a resource, unless v has; nil for what cannot be read.
func (v *Validator) definitionOf(resource *fhir.Resource) *storedDefinition {
	if v.stored != nil && v.stored.sources[resource] != nil {
		return v.stored.sources[resource]
	}
	n, err := element.ParseStored(resource)
	if err != nil {
		return nil
	}
	d := &storedDefinition{
		resource: resource, url: strings.Clone(n.Get("url").Str()), version: strings.Clone(n.Get("version").Str()),
		base: strings.Clone(n.Get("baseDefinition").Str()), snapshot: !n.Get("snapshot").Get("element").IsEmpty(),
	}
	if n.Get("kind").Str() == "resource" && n.Get("derivation").Str() == "constraint" && n.Get("status").Str() != "retired" {
		d.profiled = fhir.ResourceType(strings.Clone(n.Get("type").Str()))
	}
	d.mention(n.Get("baseDefinition"))
	for _, view := range []string{"snapshot", "differential"} {
		for e := range n.Get(view).Get("element").Children() {
			for t := range e.Get("type").Children() {
				for _, member := range []string{"profile", "targetProfile"} {
					for canonical := range t.Get(member).Children() {
						d.mention(canonical)
					}
				}
			}
		}
	}
	slices.Sort(d.mentions)
	d.mentions = slices.Clip(slices.Compact(d.mentions))
	return d
}

func (d *storedDefinition) mention(canonical element.Node) {
	if text := canonical.Str(); text != "" {
		d.mentions = append(d.mentions, strings.Clone(text))
	}
}

// keep takes over what others have compiled of definitions that are the same
// here, and lead to none that is not.
func (p *profiles) keep(others *profiles) {
	changed := p.changedSince(others)
	others.compiled.Range(func(canonical, compiled any) bool {
		if !changed[canonical.(string)] {
			p.compiled.Store(canonical, compiled)
		}
		return true
	})
	others.types.Range(func(canonical, name any) bool {
		if !changed[canonical.(string)] {
			p.types.Store(canonical, name)
		}
		return true
	})
}

// changedSince gives the canonicals under which something else is found than
// before, or what leads to such.
func (p *profiles) changedSince(before *profiles) map[string]bool {
	changed := map[string]bool{}
	for canonical, d := range p.definitions {
		if before.definitions[canonical] != d {
			changed[canonical] = true
		}
	}
	for canonical := range before.definitions {
		if p.definitions[canonical] == nil {
			changed[canonical] = true
		}
	}
	for grown := len(changed) > 0; grown; {
		grown = false
		for canonical, d := range p.definitions {
			if !changed[canonical] && slices.ContainsFunc(d.mentions, func(m string) bool { return changed[m] }) {
				changed[canonical], grown = true, true
			}
		}
	}
	return changed
}

// Profiles lists the canonicals, sorted, of the profiles of a resource type that
// With was given, but for retired ones and those that cannot be used.
func (v *Validator) Profiles(t fhir.ResourceType) []string {
	if v.stored == nil {
		return nil
	}
	var usable []string
	for _, url := range v.stored.ofType[t] {
		if p, err := v.tried(url); p != nil && err == nil {
			usable = append(usable, url)
		}
	}
	return usable
}

// Compile compiles the profiles that With was given, so that no resource has to
// wait for it, one after the other while wanted says so. Resources may be validated
// meanwhile: what they need before is compiled for them. The error is for a log: it
// has the stacks of what faults of the program kept from being compiled.
func (v *Validator) Compile(wanted func() bool) error {
	if v.stored == nil {
		return nil
	}
	var faults []error
	for _, url := range v.stored.urls {
		if !wanted() {
			break
		}
		if _, err := v.tried(url); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// tried is profile for one that nobody has named: a fault of the program is an error.
func (v *Validator) tried(url string) (p *profile, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("profile %s: panic: %v\n%s", quote(url), fault, debug.Stack())
		}
	}()
	return v.profile(url), nil
}
