package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/interaction"
	"starling/internal/postgres"
	"starling/internal/postgres/postgrestest"
)

// TestLoadByTheProfilesOfTheDatabase: files are held to the profiles that are stored,
// to those of the packages given with them, and to what the flags say, as a request is.
func TestLoadByTheProfilesOfTheDatabase(t *testing.T) {
	url := postgrestest.New(t)
	r := serve(t, url)
	r.put("StructureDefinition/stored", profileOf("stored", "1.0.0", `"min": 1`))
	r.put("Questionnaire/q", `{"resourceType":"Questionnaire","id":"q","url":"http://example.org/q","status":"active","item":[{"linkId":"1","type":"string","required":true}]}`)
	claims := func(id, profile, more string) string {
		return fmt.Sprintf(`{"resourceType":"Patient","id":%q,"meta":{"profile":["http://example.org/StructureDefinition/%s"]}%s}`, id, profile, more)
	}
	const married = `,"maritalStatus":{"text":"married"}`
	dir := folder(t, map[string]string{
		"lines.ndjson": claims("stored-bad", "stored", "") + "\n" + claims("stored-good", "stored", married) + "\n" +
			claims("packed-bad", "packed", "") + "\n" + claims("packed-good", "packed", married) + "\n" + claims("unknown", "never-heard-of", ""),
		"response.json": `{"resourceType":"QuestionnaireResponse","id":"answers","questionnaire":"http://example.org/q","status":"completed"}`,
	})
	pack(t, dir, "guide", "1.0.0", nil, map[string]string{"p.json": profileOf("packed", "1.0.0", `"min": 1`)})
	present := func(id string) bool { return r.do("GET", id, "").StatusCode == 200 }
	check := func(want map[string]bool) {
		t.Helper()
		for id, there := range want {
			if present(id) != there {
				t.Errorf("%s is there: %v, want %v", id, !there, there)
			}
		}
	}
	stdout, stderr, err := runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(), dir)
	if err == nil || !strings.Contains(stdout, "3 failed") || !strings.Contains(stderr, "Patient.maritalStatus") || !strings.Contains(stderr, "lines.ndjson:3: ") {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
	check(map[string]bool{
		"Patient/stored-bad": false, "Patient/stored-good": true, "Patient/packed-bad": false, "Patient/packed-good": true,
		"Patient/unknown": true, "QuestionnaireResponse/answers": false,
	})
	dir = folder(t, map[string]string{"more.ndjson": claims("unknown-2", "never-heard-of", married) + "\n" + `{"resourceType":"Patient","id":"plain"}` + "\n" + `{"resourceType":"Patient","id":"plain-good"` + married + `}`})
	stdout, stderr, err = runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(),
		"--unknown-profiles=refuse", "--type-profiles=Patient=http://example.org/StructureDefinition/stored", dir)
	if err == nil || !strings.Contains(stdout, "2 failed") {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
	check(map[string]bool{"Patient/unknown-2": false, "Patient/plain": false, "Patient/plain-good": true})
}

// TestLoadByTheProfilesInForce: what another instance stores while a load is under way
// holds for the next resource the load brings, and a refusal is one by what holds.
func TestLoadByTheProfilesInForce(t *testing.T) {
	url := postgrestest.New(t)
	r := serve(t, url)
	store, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	caches, err := newLoadCaches(t.Context(), store, nil, (&profileFlags{}).settle, "off", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	service, err := caches.service(&resourceFlags{Validation: "full"})
	if err != nil {
		t.Fatal(err)
	}
	service.Validator = checker{rules: caches.rules, questionnaires: stored{service}.questionnaire}
	load := func(id string) error {
		_, err := service.Serve(t.Context(), &interaction.Request{
			Interaction: interaction.Update, Type: "Patient", ID: id, Base: "http://example.org/fhir",
			Body: []byte(`{"resourceType":"Patient","id":"` + id + `","meta":{"profile":["http://example.org/StructureDefinition/p"]}}`),
		})
		return err
	}
	if err := load("before"); err != nil {
		t.Errorf("a profile that is not known: %v", err)
	}
	r.put("StructureDefinition/p", profileOf("p", "1.0.0", `"min": 1`))
	if err := load("after"); err == nil || interaction.Failure(err).Kind != fhir.KindInvalid {
		t.Errorf("a profile stored since: %v", err)
	}
	r.put("StructureDefinition/p", profileOf("p", "1.0.0", `"max": "0"`))
	if err := load("again"); err != nil {
		t.Errorf("a profile that allows it since: %v", err)
	}
}
