// Package terminology answers what codes mean: which a value set holds, how
// they relate, what they are called, and what they are in another system
// (https://hl7.org/fhir/R4/terminology-service.html).
//
// A Terminology is a snapshot: the specification's code systems, value sets
// and concept maps, and over them those that users have stored. Each is
// compiled when first asked for. Whether a value set holds a code is decided
// by the compiled composition, so no expansion is ever kept; what it costs in
// time and memory is bounded (see limits.go), whatever was stored.
//
// Answers are of three values: what rests on a code system that is not held is
// Unknown, unless a Remote knows.
package terminology
