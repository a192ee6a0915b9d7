package element_test

import (
	"bytes"
	_ "embed"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"testing"

	"starling/internal/fhir/element"
)

//go:embed testdata/observation.json
var observation []byte

func BenchmarkParse(b *testing.B) {
	b.Run("tree", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(observation)))
		for b.Loop() {
			if _, err := element.Parse(observation, element.DefaultLimits); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("jsontext", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(observation)))
		for b.Loop() {
			decoder := jsontext.NewDecoder(bytes.NewReader(observation))
			for {
				if _, err := decoder.ReadToken(); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("v2", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(observation)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal(observation, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkContent(b *testing.B) {
	indented := jsontext.Value(observation).Clone()
	if err := indented.Indent(); err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{"compact": observation, "indented": indented} {
		root := parse(b, string(text))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := element.Content(root); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
