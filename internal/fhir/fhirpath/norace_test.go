//go:build !race

package fhirpath

const slowdown = 1
