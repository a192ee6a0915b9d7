package postgres

import (
	"slices"
	"strconv"

	"starling/internal/fhir"
)

// tokenIn finds the codes of a list, without their systems, and tests for both.
func (c *criterionCompiler) tokenIn(k fhir.TokenIn) compiled {
	if len(k.Codes) == 0 {
		return constant(false)
	}
	var rows, terms []int64
	for _, v := range k.Codes {
		code, kind, systemKind := v.Code, termCode, termSystemCode
		if v.FoldCase {
			code, kind, systemKind = fhir.FoldCase(v.Code), termFolded, termSysFolded
		}
		rows = append(rows, c.hash.term(c.typ, k.Param, kind, code))
		terms = append(terms, c.hash.term(c.typ, k.Param, systemKind, v.System, code))
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	return c.keys(false, func() string { return `r.terms && ` + c.sql.arg(terms) }, rows...)
}

// ofType finds an identifier by its value and tests for its type.
func (c *criterionCompiler) ofType(k fhir.OfType) compiled {
	return c.filtered(k.Param, termCode, k.Value, termOfType, k.System, k.Code, k.Value)
}

// referenceBy finds a reference by its identifier's value and tests for the
// system.
func (c *criterionCompiler) referenceBy(k fhir.ReferenceBy) compiled {
	if k.System == nil {
		return c.keyed(k.Param, termIdentifier, k.Code)
	}
	return c.filtered(k.Param, termIdentifier, k.Code, termSysIdent, *k.System, k.Code)
}

// uriBelow is a range of the texts of a uri parameter.
func (c *criterionCompiler) uriBelow(k fhir.URIBelow) compiled {
	return c.texts(c.hash.param(c.typ, k.Param), c.belowURI(k.URI))
}

// belowURI is the condition that a value is a URI or goes on from it; the first
// part, in which "0" follows "/", is for the index.
func (c *criterionCompiler) belowURI(uri string) func() string {
	return func() string {
		return `value COLLATE "C" >= ` + c.sql.arg(uri) + ` AND value COLLATE "C" < ` + c.sql.arg(uri+"0") +
			` AND (value COLLATE "C" = ` + c.sql.arg(uri) + ` OR value COLLATE "C" >= ` + c.sql.arg(uri+"/") + `)`
	}
}

// Of the Earth, as a sphere: its mean radius, and a degree of latitude, in metres.
const (
	earthRadius   = 6371008.8
	metresADegree = 111195.0
)

// near walks a band of latitudes, a row's low, and keeps what is within the
// distance by the haversine formula; its high is the longitude.
func (c *criterionCompiler) near(k fhir.Near) compiled {
	return c.numbers(c.hash.param(c.typ, k.Param), func() string {
		number := func(v float64) string { return c.sql.arg(v) + `::float8` }
		latitude, longitude := number(k.Latitude), number(k.Longitude)
		margin := k.Distance/metresADegree + 0.001
		return `low >= ` + number(k.Latitude-margin) + `::numeric AND low <= ` + number(k.Latitude+margin) + `::numeric AND ` +
			strconv.FormatFloat(2*earthRadius, 'f', -1, 64) + ` * asin(least(1, sqrt(sin(radians(low::float8 - ` + latitude + `) / 2) ^ 2 + cos(radians(` +
			latitude + `)) * cos(radians(low::float8)) * sin(radians(high::float8 - ` + longitude + `) / 2) ^ 2))) <= ` + number(k.Distance)
	})
}
