package validation

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

const loinc = "http://loinc.org"

// vitalSigns are the profiles that Observations of these LOINC codes "SHALL
// conform to" (https://hl7.org/fhir/R4/observation-vitalsigns.html).
var vitalSigns = map[string]string{
	"85353-1": "vitalspanel", "9279-1": "resprate", "8867-4": "heartrate", "2708-6": "oxygensat", "8310-5": "bodytemp",
	"8302-2": "bodyheight", "9843-4": "headcircum", "29463-7": "bodyweight", "39156-5": "bmi", "85354-9": "bp", //nolint:misspell // the profile is called bodyheight
}

// vitalSign holds an Observation to the profile of its code. It is not asked of
// what is written: much data that is otherwise right was not made for it. The
// bindings of these profiles are taken as extensible: as published, that of units
// (required) leaves none for a flow of oxygen, which is a component of one of them.
func (r *run) vitalSign(n element.Node) {
	for coding := range n.Get("code").Get("coding").Children() {
		name, ok := vitalSigns[coding.Get("code").Str()]
		if !ok || coding.Get("system").Str() != loinc {
			continue
		}
		if profile := specificationBase + name; !claims(n, profile) {
			r.softBindings = true
			r.claimed(n, profile, fhir.SeverityError)
			r.softBindings = false
		}
		return
	}
}
