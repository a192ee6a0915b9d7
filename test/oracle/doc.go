// Package oracle asks the running server random searches and works out the answers
// by brute force: on every resource, with what FHIRPath gives for the definition's
// expression. It shares the definitions, the element tree and the FHIRPath engine
// with the server, and nothing of how that reads queries, indexes and finds.
package oracle
