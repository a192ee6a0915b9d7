// Package schema checks resources against the JSON Schema of R4
// (https://hl7.org/fhir/R4/downloads.html), which knows structure and formats
// and no other rules. It is the validation level `schema`; full validation is
// package validation.
package schema
