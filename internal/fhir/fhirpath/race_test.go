//go:build race

package fhirpath

// slowdown is what the race detector costs.
const slowdown = 20
