package validation

import (
	"slices"
	"strings"
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

const specificationBase = "http://hl7.org/fhir/StructureDefinition/"

// profile is a compiled StructureDefinition that constrains a type
// (https://hl7.org/fhir/R4/profiling.html): what it asks beyond the type.
type profile struct {
	url, version string
	typeName     string
	modifier     bool // an extension that changes the meaning of what it is in
	clients      bool // written by a client, not by the specification
	contexts     []context
	conditions   []string // contextInvariant
	root         *constraint
}

// context is where an extension may be used
// (https://hl7.org/fhir/R4/defining-extensions.html#context).
type context struct{ kind, expression string }

// profiles finds StructureDefinitions and compiles each once, when it is first
// asked for.
type profiles struct {
	find        func(canonical string) ([]byte, bool)
	definitions map[string]*storedDefinition // what find finds, of those stored
	sources     map[*fhir.Resource]*storedDefinition
	urls        []string // of those that Compile compiles
	ofType      map[fhir.ResourceType][]string
	compiled    sync.Map // canonical → *profile; nil for what is no profile
	types       sync.Map // canonical → name of the type
}

func newProfiles(find func(string) ([]byte, bool)) *profiles {
	return &profiles{find: find, ofType: map[fhir.ResourceType][]string{}}
}

// profile gives the profile or extension of a canonical, nil if it is not
// known. Where no definition has the version asked for, it is not known.
func (v *Validator) profile(canonical string) *profile { return v.profileIn(canonical, nil) }

// profileIn is profile while the profiles of a chain are being compiled: one
// that derives from itself is not known.
func (v *Validator) profileIn(canonical string, chain []string) *profile {
	for _, from := range []*profiles{v.stored, v.published} {
		if from == nil {
			continue
		}
		if p, ok := from.compiled.Load(canonical); ok {
			if p.(*profile) != nil {
				return p.(*profile)
			}
			continue
		}
		text, ok := from.find(canonical)
		if !ok && from == v.published {
			// A version of another release: R4's own is what there is.
			if url, _, versioned := strings.Cut(canonical, "|"); versioned && strings.HasPrefix(url, specificationBase) {
				text, ok = from.find(url)
			}
		}
		if !ok {
			continue // what is not there is not remembered: names are the client's
		}
		if slices.Contains(chain, canonical) || len(chain) > maxChain {
			return nil
		}
		p := v.compileProfile(text, append(slices.Clip(chain), canonical))
		if p != nil {
			p.clients = from == v.stored
		}
		kept, _ := from.compiled.LoadOrStore(canonical, p)
		if kept.(*profile) != nil {
			return kept.(*profile)
		}
	}
	return nil
}

// maxChain is the longest chain of profiles that derive from each other.
const maxChain = 50

// typeOfProfile is the type that a profile constrains, "" if it is not known.
// It does not compile the profile: profiles refer to each other in circles.
func (v *Validator) typeOfProfile(canonical string) string {
	for _, from := range []*profiles{v.stored, v.published} {
		if from == nil {
			continue
		}
		if name := from.typeOf(canonical); name != "" {
			return name
		}
	}
	return ""
}

func (p *profiles) typeOf(canonical string) string {
	if name, ok := p.types.Load(canonical); ok {
		return name.(string)
	}
	text, ok := p.find(canonical)
	if !ok {
		return ""
	}
	tree, err := element.Parse(text, element.StoredLimits)
	if err != nil {
		return ""
	}
	name := tree.Root().Get("type").Str()
	p.types.Store(canonical, strings.Clone(name))
	return name
}

// typeOfCanonical is the type whose own StructureDefinition a canonical means,
// "" if none.
func (v *Validator) typeOfCanonical(canonical string) string {
	url, _, _ := strings.Cut(canonical, "|")
	name, ok := strings.CutPrefix(url, specificationBase)
	if !ok || v.registry.Type(name) == nil || v.registry.Type(name).URL != url {
		return ""
	}
	return name
}
