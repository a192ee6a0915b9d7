// Package validation compiles definitions to validators of the element tree
// (https://hl7.org/fhir/R4/validation.html). It touches no storage.
package validation
