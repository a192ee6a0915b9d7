package main

import "starling/internal/fhir"

// referenceFlags say what becomes of references to what is not there.
type referenceFlags struct {
	ReferenceExistence string `env:"FHIR_REFERENCE_EXISTENCE" enum:"off,warn,refuse" default:"off" help:"What becomes of a resource that refers to one which this server does not have: off (not looked at), warn (stored) or refuse (${default})."`
}

// severity is that of such a reference; empty: not looked at.
func (f *referenceFlags) severity() fhir.Severity {
	switch f.ReferenceExistence {
	case "warn":
		return fhir.SeverityWarning
	case "refuse":
		return fhir.SeverityError
	}
	return ""
}
