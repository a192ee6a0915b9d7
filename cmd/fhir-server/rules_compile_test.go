package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/validation"
)

// A fault of the program that keeps profiles from being compiled is logged, for each
// of them, with its stack; whoever writes them is not told.
func TestFaultsOfCompilationAreLogged(t *testing.T) {
	log := &safeBuffer{}
	broken := func(*validation.Validator) *validation.Validator { return validation.New(nil) } // without any definitions
	build := newRules(nil, broken, slog.New(slog.NewTextHandler(log, nil)))
	var profiles []*fhir.Resource
	for _, name := range []string{"a", "b"} {
		body := fmt.Sprintf(`,"url":"http://example.org/%s","status":"active","kind":"resource","type":"Patient","derivation":"constraint",
			"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","differential":{"element":[{"id":"Patient","path":"Patient"}]}`, name)
		profiles = append(profiles, &fhir.Resource{Key: fhir.Key{Type: "StructureDefinition", ID: name}, VersionID: 1, Content: fhir.Content{Body: []byte(body)}})
	}
	made := build(profiles)
	for _, want := range []string{"profiles cannot be compiled", "http://example.org/a", "http://example.org/b", "nil pointer", "profile_compile.go"} {
		eventually(t, "the log has "+want, func() bool { return strings.Contains(log.String(), want) })
	}
	if listed := made.validator.Profiles("Patient"); listed != nil {
		t.Errorf("listed as supported: %v", listed)
	}
}
