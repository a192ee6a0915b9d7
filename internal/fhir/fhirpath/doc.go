// Package fhirpath compiles FHIRPath (http://hl7.org/fhirpath/N1/, with the R4
// additions of https://hl7.org/fhir/R4/fhirpath.html) to closures over the
// element tree.
package fhirpath
