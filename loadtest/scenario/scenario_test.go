package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	if len(Steps) != 36 {
		t.Fatalf("%d steps", len(Steps))
	}
	for i, want := range map[int]string{
		0: "create Patient", 8: "create ExplanationOfBenefit", 9: "read Patient", 18: "update Patient",
		27: "delete ExplanationOfBenefit", 35: "delete Patient",
	} {
		if got := Steps[i].Interaction.String() + " " + Types[Steps[i].Type]; got != want {
			t.Errorf("step %d: %s, want %s", i, got, want)
		}
	}
}

func TestBodies(t *testing.T) {
	bodies, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	it := Iteration{Bodies: bodies}
	it.Start("run", 3, 14)
	for i := range Types {
		it.ids[i] = fmt.Sprintf("id-%d", i)
	}
	for i, typ := range Types {
		created := it.AppendBody(nil, Step{Create, i})
		updated := it.AppendBody(nil, Step{Update, i})
		for name, text := range map[string][]byte{"created": created, "updated": updated} {
			var resource map[string]any
			if err := json.Unmarshal(text, &resource); err != nil {
				t.Fatalf("%s, %s: %v", typ, name, err)
			}
			if len(text) < 1000 || len(text) > 3072 {
				t.Errorf("%s, %s: %d bytes, want 1–3 KB", typ, name, len(text))
			}
			if strings.Contains(string(text), "{{") {
				t.Errorf("%s, %s: a hole is left", typ, name)
			}
			if !strings.Contains(string(text), "run-3-14") {
				t.Errorf("%s, %s: not marked with its iteration", typ, name)
			}
			if id := resource["id"]; (name == "updated") != (id == it.ids[i]) {
				t.Errorf("%s, %s: id %v", typ, name, id)
			}
		}
		b := bodies.byType[i]
		if containsQuoted(created, b.after) || containsQuoted(updated, b.before) || !containsQuoted(updated, b.after) {
			t.Errorf("%s: the change from %q to %q does not show", typ, b.before, b.after)
		}
	}
}

func TestCheck(t *testing.T) {
	bodies, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	it := Iteration{Bodies: bodies}
	it.Start("run", 1, 1)
	create, read, update := Step{Create, 0}, Step{Read, 0}, Step{Update, 0}
	answer := func(step Step, id, version string) Answer {
		text := strings.Replace(string(it.AppendBody(nil, step)), `"resourceType":"Patient",`,
			fmt.Sprintf(`"resourceType": "Patient", "id" : %q,"meta":{"versionId": %q},`, id, version), 1)
		text = strings.Replace(text, `"id":"`+it.ID(0)+`",`, "", 1)
		return Answer{Status: 200, ETag: `W/"` + version + `"`, Body: []byte(text)}
	}
	created := answer(create, "a", "1")
	created.Status, created.Location = 201, "http://x/fhir/Patient/a/_history/1"
	if fault := it.Check(create, created); fault != nil || it.ID(0) != "a" {
		t.Fatalf("create: %+v, id %q", fault, it.ID(0))
	}
	if fault := it.Check(read, answer(create, "a", "1")); fault != nil {
		t.Fatalf("read: %+v", fault)
	}
	if fault := it.Check(update, answer(update, "a", "2")); fault != nil {
		t.Fatalf("update: %+v", fault)
	}
	other := answer(create, "a", "1")
	other.Body = []byte(strings.ReplaceAll(string(other.Body), "run-1-1", "run-1-12"))
	noTag := answer(create, "a", "1")
	noTag.ETag = ""
	noLocation := created
	noLocation.Location = ""
	otherType := created
	otherType.Location = "http://x/fhir/NotPatient/a"
	disagree := answer(create, "a", "1")
	disagree.Body = []byte(strings.Replace(string(disagree.Body), `"versionId": "1"`, `"versionId": "7"`, 1))
	for name, c := range map[string]struct {
		step   Step
		answer Answer
	}{
		"another id":              {read, answer(create, "b", "1")},
		"another version":         {read, answer(create, "a", "2")},
		"another resource":        {read, other},
		"no ETag":                 {read, noTag},
		"ETag and body disagree":  {read, disagree},
		"an update that is none":  {update, answer(update, "a", "1")},
		"an update without trace": {update, answer(create, "a", "2")},
		"no Location":             {create, noLocation},
		"Location of other type":  {create, otherType},
		"500":                     {read, Answer{Status: 500}},
		"delete not found":        {Step{Delete, 0}, Answer{Status: 404}},
	} {
		if fault := it.Check(c.step, c.answer); fault == nil {
			t.Errorf("%s: passed as right", name)
		}
	}
}

func BenchmarkBodyAndCheck(b *testing.B) {
	bodies, err := Load()
	if err != nil {
		b.Fatal(err)
	}
	it := Iteration{Bodies: bodies}
	it.Start("run", 1, 1)
	it.ids[0], it.versions[0] = "0190-aaaa", "1"
	var out []byte
	body := []byte(strings.Replace(string(it.AppendBody(nil, Step{Create, 0})), `"resourceType":"Patient",`,
		`"resourceType":"Patient","id":"0190-aaaa","meta":{"versionId":"1"},`, 1))
	b.ReportAllocs()
	for b.Loop() {
		out = it.AppendBody(out[:0], Step{Create, 0})
		if fault := it.Check(Step{Read, 0}, Answer{Status: 200, ETag: `W/"1"`, Body: body}); fault != nil {
			b.Fatal(fault)
		}
	}
}
