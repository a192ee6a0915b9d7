// Package fhirpath compares the results of internal/fhir/fhirpath with those of
// the npm package fhirpath, on the specification's examples.
package fhirpath
