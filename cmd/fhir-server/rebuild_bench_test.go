package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"starling/internal/cache"
	"starling/internal/fhir"
	"starling/internal/postgres"
	"starling/internal/postgres/postgrestest"
	"starling/internal/validation"
)

// storedProfile is a profile of Patient with a snapshot of some 50 KB, as those
// of packages have.
func storedProfile(n, edition int) *fhir.Write {
	id := fmt.Sprintf("profile-%d", n)
	var elements strings.Builder
	elements.WriteString(`{"id":"Patient","path":"Patient","min":0,"max":"*","base":{"path":"Patient","min":0,"max":"*"}}`)
	for i := range 60 {
		fmt.Fprintf(&elements, `,{"id":"Patient.identifier:s%[1]d","path":"Patient.identifier","sliceName":"s%[1]d","short":"An identifier of this kind",`+
			`"definition":%[2]q,"min":0,"max":"1","base":{"path":"Patient.identifier","min":0,"max":"*"},`+
			`"type":[{"code":"Identifier"}],"mustSupport":true,"isModifier":false,"mapping":[{"identity":"rim","map":"n/a"}]}`, i, strings.Repeat("What it is for, and when it is used. ", 12))
	}
	body := fmt.Sprintf(`,"url":"http://example.org/%s","name":"P%d","title":"Edition %d","status":"active","kind":"resource","abstract":false,"type":"Patient",`+
		`"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","derivation":"constraint","snapshot":{"element":[%s]}`, id, n, edition, elements.String())
	return &fhir.Write{
		Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: "StructureDefinition", ID: id},
		Content: fhir.Content{Body: []byte(body)}, Index: &fhir.Index{},
	}
}

// storedParameter is a search parameter of some 2 KB.
func storedParameter(n, edition int) *fhir.Write {
	id := fmt.Sprintf("parameter-%d", n)
	body := fmt.Sprintf(`,"url":"http://example.org/%[1]s","name":"P%[2]d","version":"%[3]d","status":"active","description":%[4]q,"code":"%[1]s",`+
		`"base":["Patient"],"type":"string","expression":"Patient.extension('http://example.org/%[1]s').value"`, id, n, edition, strings.Repeat("What is found. ", 100))
	return &fhir.Write{
		Op: fhir.OpUpdate, Method: fhir.MethodPut, Key: fhir.Key{Type: "SearchParameter", ID: id},
		Content: fhir.Content{Body: []byte(body)}, Index: &fhir.Index{},
	}
}

// BenchmarkRebuild changes one profile, or search parameter, of many and rebuilds
// what is made of them.
func BenchmarkRebuild(b *testing.B) {
	for _, resources := range []int{100, 1000} {
		b.Run(fmt.Sprint("profiles=", resources), func(b *testing.B) {
			rules := cache.New(fhir.DomainValidation, newRules(nil, func(v *validation.Validator) *validation.Validator { return v }, slog.New(slog.DiscardHandler)))
			rebuild(b, resources, storedProfile, rules, func() {
				if err := rules.Current().Value.validator.Compile(func() bool { return true }); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(fmt.Sprint("parameters=", resources), func(b *testing.B) {
			routing, _ := newParameters(nil, nil, "off")
			rebuild(b, resources, storedParameter, routing, func() {})
		})
	}
}

func rebuild(b *testing.B, resources int, stored func(n, edition int) *fhir.Write, domain cache.Filled, finish func()) {
	store, err := postgres.Open(b.Context(), postgres.Config{URL: postgrestest.New(b), Registerer: prometheus.NewRegistry(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	writes := make([]*fhir.Write, resources)
	for n := range writes {
		writes[n] = stored(n, 0)
	}
	if err := store.Transact(b.Context(), nil, func(tx fhir.Tx) error {
		_, err := tx.Apply(b.Context(), writes)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	fill := func() {
		if err := cache.FillOnce(context.Background(), store, domain); err != nil {
			b.Fatal(err)
		}
	}
	fill()
	finish()
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		if _, err := store.Write(b.Context(), stored(i%resources, i+1)); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		fill()
		finish()
	}
}
