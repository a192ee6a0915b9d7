// Package validation checks resources against their StructureDefinitions
// (https://hl7.org/fhir/R4/validation.html).
//
// A type is compiled on first use into shapes: tables that say which members an
// object may have and what each holds. Whatever is no question of structure is
// a rule, a function compiled from one line of a definition and run on every
// value it concerns. Checking a resource walks its tree once along the shapes;
// nothing is built unless there is something to report.
package validation
