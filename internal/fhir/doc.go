// Package fhir is Starling's domain: resources, their versions, the errors a
// client can be told of, and the interfaces a store has to satisfy.
//
// It imports nothing else of the project. What is FHIR grammar lives in the
// packages below it (element, definition, fhirpath, search); what is SQL lives
// in internal/postgres, which implements the interfaces declared here.
package fhir
