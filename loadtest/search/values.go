// Package search makes searches of the kinds a clinical application sends, with
// values drawn from the data that the server holds, so that what they find is as
// much as it would be in use.
package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"starling/loadtest/replicate"
)

// Values are what the bundles hold that can be searched for.
type Values struct {
	patients   []patient
	conditions []string // codes, each as often as it occurs, so that a draw follows the data
}

// patient is one of the bundles', in any copy of them.
type patient struct {
	system, identifier, family, given, city, birthDate string
	observations                                       []observation
	components                                         []observation
	encounters                                         []string // starts
}

// observation is one with a quantity.
type observation struct{ system, code, value, unit, unitSystem, date string }

type coding struct{ System, Code string }

type concept struct{ Coding []coding }

type measured struct {
	Code          concept
	ValueQuantity *struct {
		Value        json.Number
		System, Code string
	}
}

// resource has the elements that values are taken from.
type resource struct {
	ResourceType string
	Identifier   []struct{ System, Value string }
	Name         json.RawMessage
	Address      []struct{ City string }
	BirthDate    string
	Period       struct{ Start string }
	measured
	EffectiveDateTime string
	Component         []measured
}

// Learn reads the values of the bundles.
func Learn(bundles []replicate.Bundle) (*Values, error) {
	v := &Values{}
	for _, b := range bundles {
		var bundle struct{ Entry []struct{ Resource resource } }
		if err := json.Unmarshal(b.Text, &bundle); err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name, err)
		}
		var p patient
		for i := range bundle.Entry {
			v.learn(&p, &bundle.Entry[i].Resource)
		}
		if p.identifier != "" && p.family != "" && len(p.observations) > 0 && len(p.encounters) > 0 {
			v.patients = append(v.patients, p)
		}
	}
	if len(v.patients) == 0 || len(v.conditions) == 0 {
		return nil, errors.New("the bundles hold no patient with observations, encounters and conditions")
	}
	return v, nil
}

func (v *Values) learn(p *patient, r *resource) {
	switch r.ResourceType {
	case "Patient":
		var names []struct {
			Family string
			Given  []string
		}
		if json.Unmarshal(r.Name, &names) != nil || len(names) == 0 || len(names[0].Given) == 0 || len(r.Identifier) == 0 {
			return
		}
		p.family, p.given = names[0].Family, names[0].Given[0]
		p.system, p.identifier, p.birthDate = r.Identifier[0].System, r.Identifier[0].Value, r.BirthDate
		if len(r.Address) > 0 {
			p.city = r.Address[0].City
		}
	case "Observation":
		if o, ok := r.quantity(); ok {
			o.date = r.EffectiveDateTime
			p.observations = append(p.observations, o)
		}
		for i := range r.Component {
			if o, ok := r.Component[i].quantity(); ok {
				p.components = append(p.components, o)
			}
		}
	case "Encounter":
		p.encounters = append(p.encounters, r.Period.Start)
	case "Condition":
		if len(r.Code.Coding) > 0 {
			v.conditions = append(v.conditions, r.Code.Coding[0].System+"|"+r.Code.Coding[0].Code)
		}
	}
}

func (m *measured) quantity() (observation, bool) {
	if m.ValueQuantity == nil || len(m.Code.Coding) == 0 || m.ValueQuantity.Code == "" {
		return observation{}, false
	}
	return observation{
		system: m.Code.Coding[0].System, code: m.Code.Coding[0].Code,
		value: m.ValueQuantity.Value.String(), unit: m.ValueQuantity.Code, unitSystem: m.ValueQuantity.System,
	}, true
}

// rounded gives the value to four significant digits.
func (o *observation) rounded() string {
	f, err := strconv.ParseFloat(o.value, 64)
	if err != nil {
		return o.value
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
