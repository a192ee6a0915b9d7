package search

import (
	"math"
	"strconv"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/ucum"
)

// Location.position (https://hl7.org/fhir/R4/location.html#positional).
var positionReaders = map[string]reader{"BackboneElement": readPosition}

func readPosition(x *extraction, t *take, n element.Node) {
	latitude, ok := degrees(number(n.Get("latitude")), 90)
	longitude, also := degrees(number(n.Get("longitude")), 180)
	if ok && also {
		x.positions.add(fhir.PositionValue{Param: t.param, Latitude: latitude, Longitude: longitude})
	}
}

func degrees(text string, most float64) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && math.Abs(v) <= most
}

// defaultDistance is how near `near` is when the search does not say, in
// metres; R4 leaves it to the server.
const defaultDistance = 50_000

// planNear reads `latitude|longitude`, `…|distance` in km, or
// `…|distance|unit`.
func planNear(_ *planning, t *term, value string) (fhir.Criterion, error) {
	const expected = "latitude|longitude|distance|unit, such as -83.69|42.25|10|km,"
	parts := splitEscaped(value, '|')
	if len(parts) < 2 || len(parts) > 4 {
		return nil, t.badValue(value, expected)
	}
	near := fhir.Near{Param: t.code, Distance: defaultDistance}
	var ok, also bool
	near.Latitude, ok = degrees(parts[0], 90)
	near.Longitude, also = degrees(parts[1], 180)
	if !ok || !also {
		return nil, t.badValue(value, expected)
	}
	if len(parts) == 2 || parts[2] == "" {
		return near, nil
	}
	unit := "km"
	if len(parts) == 4 && parts[3] != "" {
		unit = unescape(parts[3])
	}
	d, ok := parseDecimal(parts[2])
	if !ok || d.sign() < 0 {
		return nil, t.badValue(value, "a distance that is a number")
	}
	metres, dimension, err := ucum.Canonical(d.String(), unit)
	if err != nil || dimension != "m" {
		return nil, t.badValue(value, "a unit of length, in UCUM,")
	}
	if near.Distance, err = strconv.ParseFloat(metres, 64); err != nil {
		return nil, t.badValue(value, expected)
	}
	return near, nil
}
