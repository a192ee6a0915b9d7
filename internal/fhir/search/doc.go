// Package search is the grammar of FHIR search
// (https://hl7.org/fhir/R4/search.html): from a query to a plan, and from a
// resource to the values it is found by. It knows no SQL.
package search
