package definition

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestEmbeddedFileIsTheText compares the compressed file with the one that is
// read in reviews.
func TestEmbeddedFileIsTheText(t *testing.T) {
	text, err := os.ReadFile("r4.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	var unpacked []byte
	for n := range f.frames {
		unpacked = append(unpacked, f.frame(uint32(n))...)
	}
	if !bytes.Equal(unpacked, text) {
		t.Fatal("r4.ndjson.zst does not hold r4.ndjson: run the definitions tool")
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(lines) != len(f.lines)+1 {
		t.Fatalf("%d lines, %d in the index", len(lines), len(f.lines))
	}
	for n := range f.lines {
		if !bytes.Equal(f.line(n), lines[n+1]) {
			t.Fatalf("line %d of the index is not %.80s", n, lines[n+1])
		}
	}
}

func TestOpenFileRefusesDamage(t *testing.T) {
	damaged := bytes.Clone(packed)
	damaged[20] ^= 0xff
	for name, data := range map[string][]byte{
		"empty": nil, "short": packed[:100], "no index": packed[8:], "damaged": damaged,
	} {
		if _, err := openFile(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestResource(t *testing.T) {
	for canonical, id := range map[string]string{
		"http://hl7.org/fhir/StructureDefinition/Patient":             "Patient",
		"http://hl7.org/fhir/StructureDefinition/Patient|4.0.1":       "Patient",
		"http://hl7.org/fhir/StructureDefinition/bp":                  "bp",
		"http://hl7.org/fhir/StructureDefinition/patient-nationality": "patient-nationality",
		"http://hl7.org/fhir/SearchParameter/Patient-birthdate":       "",
		"http://hl7.org/fhir/SearchParameter/individual-birthdate":    "individual-birthdate",
		"http://hl7.org/fhir/OperationDefinition/Resource-validate":   "Resource-validate",
		"http://hl7.org/fhir/CompartmentDefinition/patient":           "patient",
		"http://hl7.org/fhir/ConceptMap/103":                          "103",
		"http://terminology.hl7.org/CodeSystem/v2-0360":               "v2-2.7-0360",
		"http://terminology.hl7.org/CodeSystem/v2-0360|2.3.1":         "v2-2.3.1-0360",
		"http://hl7.org/fhir/StructureDefinition/Patient|4.0.0":       "",
		"http://hl7.org/fhir/StructureDefinition/SubscriptionStatus":  "",
		"": "",
	} {
		data, ok := R4().Resource(canonical)
		var d struct{ ID string }
		if ok {
			if err := json.Unmarshal(data, &d); err != nil {
				t.Errorf("%s: %v", canonical, err)
			}
		}
		if ok != (id != "") || d.ID != id {
			t.Errorf("%s: %v, id %q", canonical, ok, d.ID)
		}
	}
}

func TestNothingOfThePackager(t *testing.T) {
	f, err := openFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	for n := range f.frames {
		for line := range strings.Lines(string(f.frame(uint32(n)))) {
			if strings.Contains(line, `"resourceType"`) && strings.Contains(strings.ToLower(line), "medplum") {
				t.Errorf("%.200s", line)
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	r, err := open(packed)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, name := range tuned {
				if r.Type(name).Root == nil {
					t.Errorf("no %s", name)
				}
			}
			if _, ok := r.Codes(valueSetBase + "administrative-gender"); !ok {
				t.Error("no codes")
			}
			if r.SearchParameter("Patient", "name") == nil || r.Compartment("Patient") == nil || len(r.Operations()) == 0 {
				t.Error("something is missing")
			}
		})
	}
	wg.Wait()
}
