package load

import (
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

func TestRequestOf(t *testing.T) {
	for text, want := range map[string]interaction.Request{
		`{"resourceType":"Patient"}`:                   {Interaction: interaction.Create, Type: "Patient"},
		`{"resourceType":"Patient","id":"1"}`:          {Interaction: interaction.Update, Type: "Patient", ID: "1"},
		`{"resourceType":"Bundle","type":"batch"}`:     {Interaction: interaction.Batch},
		`{"resourceType":"Bundle","type":"searchset"}`: {Interaction: interaction.Batch},
		`{"resourceType":"Bundle","type":"document"}`:  {Interaction: interaction.Create, Type: "Bundle"},
	} {
		got, err := requestOf([]byte(text))
		if err != nil || got.Interaction != want.Interaction || got.Type != want.Type || got.ID != want.ID {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
}

func TestCollectionBecomesTransaction(t *testing.T) {
	got, err := requestOf([]byte(`{"resourceType":"Bundle","type":"collection","entry":[` +
		`{"fullUrl":"urn:uuid:1","resource":{"resourceType":"Patient","multipleBirthInteger":1.0}},{"fullUrl":"urn:uuid:2"},` +
		`{"resource":{"resourceType":"Patient","id":"b"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"resourceType":"Bundle","type":"transaction","entry":[` +
		`{"fullUrl":"urn:uuid:1","resource":{"resourceType":"Patient","multipleBirthInteger":1.0},"request":{"method":"POST","url":"Patient"}},` +
		`{"resource":{"resourceType":"Patient","id":"b"},"request":{"method":"PUT","url":"Patient/b"}}]}`
	if string(got.Body) != want {
		t.Errorf("%s", got.Body)
	}
}

func TestJournalEntry(t *testing.T) {
	const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for line, want := range map[string]fhir.Key{
		sum + " Patient/1":           {Type: "Patient", ID: "1"},
		sum + " Patient":             {},
		sum + " ":                    {},
		sum[:60] + " Patient/1":      {},
		"z" + sum[1:] + " Patient/1": {},
		"":                           {},
	} {
		_, key, ok := parseEntry(line)
		if ok != (want != fhir.Key{}) || ok && key != want {
			t.Errorf("%q: %v %v", line, key, ok)
		}
	}
}

// FuzzDocument holds that what is made of any document is JSON again.
func FuzzDocument(f *testing.F) {
	f.Add(`{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"a","resource":{"resourceType":"Patient","id":"x\\"y"}}]}`)
	f.Add(`{"resourceType":"Bundle","type":"searchset","entry":{"resource":{"resourceType":7,"id":[1]}}}`)
	f.Add(`{"resourceType":"Patient","id":123}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		request, err := requestOf([]byte(text))
		if err != nil {
			return
		}
		if _, err := element.Parse(request.Body, limits); err != nil {
			t.Fatalf("%s became %s: %v", text, request.Body, err)
		}
	})
}
