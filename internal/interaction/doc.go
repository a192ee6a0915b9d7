// Package interaction carries out the FHIR interactions
// (https://hl7.org/fhir/R4/http.html), one file each. It knows no HTTP: a
// request of its own and an entry of a Bundle run the same code.
package interaction
