// Package element is the JSON of a resource as a tree: one arena of nodes with
// offsets into the text, so a document costs no allocation a node and numbers
// keep the digits they were sent with
// (https://hl7.org/fhir/R4/json.html).
//
// The parser is strict RFC 8259, and stricter where FHIR or the database needs
// it: duplicate names, lone surrogates, U+0000, exponents over MaxExponent,
// numbers longer than MaxNumberLength, names longer than MaxNameLength, nesting
// over Limits.Depth and more values than Limits.Nodes are refused.
package element
