package parameter

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// essenceLength is that of what essence gives, in hexadecimal digits.
const essenceLength = 16

// generationOf tells the versions of a SearchParameter apart by which resources have
// other values. custom has the parameters that may be parts of a composite.
func generationOf(r *fhir.Resource, d *definition.SearchParameter, custom []*definition.SearchParameter) string {
	return r.ID + "." + essence(d, custom)
}

// isOf reports whether a generation is one of the SearchParameter with an id.
func isOf(generation, id string) bool {
	return len(generation) == len(id)+1+essenceLength && generation[:len(id)+1] == id+"."
}

// essence is the same for definitions by which resources have the same values: a
// SearchParameter whose description is changed need not be indexed anew.
func essence(d *definition.SearchParameter, custom []*definition.SearchParameter) string {
	type part struct{ Definition, Type, Expression string }
	said := struct {
		Code, Type, Expression string
		Base, Target           []fhir.ResourceType
		Parts                  []part
	}{d.Code, d.Type, d.Expression, slices.Sorted(slices.Values(d.Base)), slices.Sorted(slices.Values(d.Target)), nil}
	for _, c := range d.Components {
		p := part{Definition: c.Definition, Expression: c.Expression}
		for _, other := range custom {
			if other.URL == c.Definition {
				p.Type = other.Type
			}
		}
		said.Parts = append(said.Parts, p)
	}
	text, err := json.Marshal(said)
	if err != nil {
		panic(err) // there are texts in it alone
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:essenceLength]
}
