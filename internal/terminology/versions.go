package terminology

import (
	"strings"

	"starling/internal/fhir"
)

// Versions are the versions of code systems that a question asks for
// (https://hl7.org/fhir/R4/valueset-operation-expand.html), by the url of the
// system.
type Versions struct {
	// Default are of systems for which the value set names no version, Check the
	// same, and any other that it names is an error; Force are whatever it names.
	Default, Check, Force map[string]string
}

// add notes a canonical with a version.
func addVersion(to *map[string]string, canonical string) error {
	url, version, ok := strings.Cut(canonical, "|")
	if !ok || url == "" || version == "" {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "A code system and its version, system|version, were expected instead of "+shorten(canonical)+".")
	}
	if *to == nil {
		*to = map[string]string{}
	}
	if other, twice := (*to)[url]; twice && other != version {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueValue, "Two versions of "+shorten(url)+" are asked for.")
	}
	(*to)[url] = version
	return nil
}

// NewVersions reads the parameters system-version, check-system-version and
// force-system-version.
func NewVersions(defaults, checks, forces []string) (Versions, error) {
	var v Versions
	for _, side := range []struct {
		from []string
		to   *map[string]string
	}{{defaults, &v.Default}, {checks, &v.Check}, {forces, &v.Force}} {
		for _, canonical := range side.from {
			if err := addVersion(side.to, canonical); err != nil {
				return Versions{}, err
			}
		}
	}
	return v, nil
}

// Empty reports whether no version is asked for.
func (v Versions) Empty() bool { return v.Default == nil && v.Check == nil && v.Force == nil }

// of is the version of a system where a composition names one, or none ("").
func (v Versions) of(system, named string) (string, error) {
	if forced, ok := v.Force[system]; ok {
		return forced, nil
	}
	if check, ok := v.Check[system]; ok {
		if named != "" && named != check {
			return "", fhir.NewError(fhir.KindUnprocessable, fhir.IssueBusinessRule,
				"The value set uses the version "+shorten(named)+" of "+shorten(system)+", but "+shorten(check)+" is asked for.")
		}
		return check, nil
	}
	if version, ok := v.Default[system]; ok && named == "" {
		return version, nil
	}
	return named, nil
}

// WithVersions is the snapshot for a question that asks for versions of code
// systems. Value sets are compiled anew for it.
func (t *Terminology) WithVersions(v Versions) *Terminology {
	return &Terminology{
		specification: t.specification, remote: t.remote, byURL: t.byURL, byKey: t.byKey, maps: t.maps, supplements: t.supplements, versions: v,
	}
}
