package main

import (
	"fmt"

	"github.com/samber/lo"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/validation"
)

// profileFlags say which profiles resources have to meet.
type profileFlags struct {
	UnknownProfiles string            `env:"FHIR_UNKNOWN_PROFILES" enum:"warn,refuse" default:"warn" help:"What becomes of a resource whose meta.profile is not known: warn (stored) or refuse (${default})."`
	TypeProfiles    map[string]string `env:"FHIR_TYPE_PROFILES" placeholder:"TYPE=CANONICAL" help:"Profiles that all resources of a type have to meet, and that the CapabilityStatement names (Patient=http://example.org/p;Group=…)."`
}

func (f *profileFlags) check() error {
	for name := range f.TypeProfiles {
		if !definition.R4().IsResourceType(name) {
			return fmt.Errorf("--type-profiles names %s, which is no resource type", name)
		}
	}
	return nil
}

// byType are the profiles of --type-profiles.
func (f *profileFlags) byType() map[fhir.ResourceType]string {
	return lo.MapKeys(f.TypeProfiles, func(_, name string) fhir.ResourceType { return fhir.ResourceType(name) })
}

// settle makes a validator that does as the flags say.
func (f *profileFlags) settle(v *validation.Validator) *validation.Validator {
	if f.UnknownProfiles == "refuse" {
		v = v.RefusingUnknownProfiles()
	}
	if len(f.TypeProfiles) > 0 {
		v = v.Requiring(f.byType())
	}
	return v
}
