package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"starling/internal/fhir"
)

// BenchmarkDecoded is the JSON Schema alone, its form of the resource read before, for
// each of the nine types of the load test.
func BenchmarkDecoded(b *testing.B) {
	files, err := filepath.Glob("../../../loadtest/scenario/bodies/*.json")
	if err != nil || len(files) != 9 {
		b.Fatal(files, err)
	}
	choice := regexp.MustCompile(`\{\{change:([^|}]*)[^}]*\}\}`)
	name := regexp.MustCompile(`\{\{[A-Za-z]+\}\}`)
	v := New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		text = name.ReplaceAll(choice.ReplaceAll(text, []byte("$1")), []byte("0a1b2c3d"))
		t := strings.TrimSuffix(filepath.Base(file), ".json")
		schema, err := v.schema(fhir.ResourceType(t))
		if err != nil {
			b.Fatal(err)
		}
		decode := func() (value any) {
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if err := d.Decode(&value); err != nil {
				b.Fatal(err)
			}
			return value
		}
		value := decode()
		b.Run(t+"/schema decoded", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := schema.Validate(value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
