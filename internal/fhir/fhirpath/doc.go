// Package fhirpath compiles FHIRPath (http://hl7.org/fhirpath/N1/, with the R4
// additions of https://hl7.org/fhir/R4/fhirpath.html) to closures over the
// element tree.
//
//	e, err := fhirpath.Compile(reg, "Patient.name.where(use = 'official').family")
//	…
//	items, err := e.Evaluate(nil, fhirpath.Root(reg, "Patient", tree.Root()))
//
// An Expression serves all types and all goroutines. Items refer to the tree
// they were found in and live as long as it. docs/fhirpath.md says how it works
// and what was decided where the specifications leave room.
package fhirpath
