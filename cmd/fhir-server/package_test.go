package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"starling/internal/postgres/postgrestest"
)

// pack writes a package of files, by their names below "package/", into a folder.
func pack(t *testing.T, dir, name, version string, dependencies, files map[string]string) string {
	t.Helper()
	var needs []string
	for name, version := range dependencies {
		needs = append(needs, fmt.Sprintf("%q:%q", name, version))
	}
	path := filepath.Join(dir, name+"-"+version+".tgz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(file)
	packed := tar.NewWriter(zipped)
	add := func(name, text string) {
		if err := packed.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := packed.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	add("package.json", fmt.Sprintf(`{"name":%q,"version":%q,"fhirVersions":["4.0.1"],"dependencies":{%s}}`, name, version, strings.Join(needs, ",")))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add(name, files[name])
	}
	for _, end := range []func() error{packed.Close, zipped.Close, file.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func profileOf(id, version, extra string) string {
	return fmt.Sprintf(`{
  "resourceType": "StructureDefinition", "id": %q, "url": "http://example.org/StructureDefinition/%s", "version": %q,
  "name": "P", "status": "active", "kind": "resource", "abstract": false, "type": "Patient", "derivation": "constraint",
  "baseDefinition": "http://hl7.org/fhir/StructureDefinition/Patient",
  "differential": {"element": [{"id": "Patient", "path": "Patient"}, {"id": "Patient.maritalStatus", "path": "Patient.maritalStatus", %s}]}
}`, id, id, version, extra)
}

const (
	colours = `{"resourceType":"CodeSystem","id":"colours","url":"http://example.org/colours","version":"1","status":"active","content":"complete","concept":[{"code":"RED"}]}`
	reds    = `{"resourceType":"ValueSet","id":"reds","url":"http://example.org/reds","status":"active","compose":{"include":[{"system":"http://example.org/colours"}]}}`
	bound   = `"binding": {"strength": "required", "valueSet": "http://example.org/reds"}`
)

// versions reads how often the caches had to be rebuilt.
func versions(t *testing.T, url, domain string) (version int64) {
	t.Helper()
	connection, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	if err := connection.QueryRow(context.Background(), `SELECT version FROM cache_version WHERE domain = $1`, domain).Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// TestLoadPackage loads a package and the one it needs while two instances run:
// its profile takes effect on both, they rebuild once, and a second load writes nothing.
func TestLoadPackage(t *testing.T) {
	url, dir := postgrestest.New(t), t.TempDir()
	profiles := map[string]string{
		"StructureDefinition-p.json": profileOf("p", "1.0.0", bound),
		"example/Patient-x.json":     `{"resourceType":"Patient","id":"x"}`,
		"Patient-y.json":             `{"resourceType":"Patient","id":"y"}`,
		".index.json":                `{"index-version":1}`,
		"other/notes.txt":            "text",
	}
	for n := range 300 {
		id := fmt.Sprintf("many-%d", n)
		profiles["StructureDefinition-"+id+".json"] = profileOf(id, "1.0.0", `"min": 1`)
	}
	guide := pack(t, dir, "example.guide", "1.0.0", map[string]string{"example.terms": "1.x", "hl7.fhir.r4.core": "4.0.1"}, profiles)
	pack(t, dir, "example.terms", "1.2.0", nil, map[string]string{"CodeSystem-colours.json": colours, "ValueSet-reds.json": reds})
	one, other := serve(t, url), serve(t, url)
	before := versions(t, url, "validation")
	data := "--data-dir=" + t.TempDir()
	stdout, stderr, err := runLoad(t, "--database-url="+url, data, guide)
	if err != nil || !strings.HasPrefix(stdout, "loaded 303 resources") ||
		!strings.Contains(stdout, "example.terms#1.2.0: 2 new, 0 changed, 0 unchanged\nexample.guide#1.0.0: 301 new, 0 changed, 0 unchanged") {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	if after := versions(t, url, "validation"); after != before+1 {
		t.Errorf("the caches were outdated %d times", after-before)
	}
	const patient = `{"resourceType":"Patient","meta":{"profile":["http://example.org/StructureDefinition/p"]},"maritalStatus":{"coding":[{"system":"http://example.org/colours","code":"GRAY"}]}}`
	for _, instance := range []*running{one, other} {
		eventually(t, "the profile takes effect", func() bool { return instance.do("POST", "Patient", patient).StatusCode == 422 })
		if a := instance.do("POST", "Patient", strings.Replace(patient, "GRAY", "RED", 1)); a.StatusCode != 201 {
			t.Errorf("what the profile allows: %d %s", a.StatusCode, a.body)
		}
		for _, absent := range []string{"Patient/x", "Patient/y"} {
			if a := instance.do("GET", absent, ""); a.StatusCode != 404 {
				t.Errorf("%s was loaded", absent)
			}
		}
	}
	for _, again := range []string{data, "--data-dir=" + t.TempDir()} {
		stdout, stderr, err = runLoad(t, "--database-url="+url, again, dir) // as a folder
		if err != nil || !strings.HasPrefix(stdout, "loaded 0 resources") || !strings.Contains(stdout, "example.guide#1.0.0: 0 new, 0 changed, 301 unchanged") {
			t.Errorf("again: %v\n%s%s", err, stdout, stderr)
		}
	}
	if again := versions(t, url, "validation"); again != before+1 {
		t.Errorf("a second load outdated the caches %d times", again-before-1)
	}
	if a := one.do("GET", "StructureDefinition/p", ""); a.Header.Get("ETag") != `W/"1"` {
		t.Errorf("a second load made version %s", a.Header.Get("ETag"))
	}
}

// TestLoadPackageLeavesOut: what a package has and the server does not take is counted,
// with the reason.
func TestLoadPackageLeavesOut(t *testing.T) {
	url, dir := postgrestest.New(t), t.TempDir()
	core := pack(t, dir, "hl7.fhir.r4.core", "4.0.1", nil, map[string]string{"CodeSystem-colours.json": colours, "ValueSet-reds.json": reds, ".index.json": `{}`})
	examples := pack(t, dir, "example.people", "1.0.0", map[string]string{"hl7.fhir.r4.core": "4.0.1"}, map[string]string{"Patient-y.json": `{"resourceType":"Patient","id":"y"}`})
	stdout, stderr, err := runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(), core, examples)
	if err != nil || !strings.HasPrefix(stdout, "loaded 0 resources") {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	for _, want := range []string{
		"hl7.fhir.r4.core#4.0.1: left out, with its 2 resources: the server has what the packages of the specification itself (hl7.fhir.r4.*) define\n",
		"example.people#1.0.0: 0 new, 0 changed, 0 unchanged\nexample.people#1.0.0: 1 left out, which are of types that define nothing: examples, mostly\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%s: want %s", stdout, want)
		}
	}
	if strings.Contains(stdout, "core#4.0.1: 0 new") {
		t.Error(stdout)
	}
}

// TestLoadPackageIDs holds what becomes of ids that are taken, and of another version of
// what is there.
func TestLoadPackageIDs(t *testing.T) {
	url, dir := postgrestest.New(t), t.TempDir()
	r := serve(t, url)
	taken := strings.ReplaceAll(profileOf("q", "1.0.0", `"min": 1`), "http://example.org/", "http://elsewhere.example.org/")
	for target, body := range map[string]string{"StructureDefinition/q": taken, "StructureDefinition/mine": strings.Replace(profileOf("r", "1.0.0", `"min": 1`), `"id": "r"`, `"id": "mine"`, 1)} {
		if a := r.put(target, body); a.StatusCode != 201 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	load := func(version, want string) {
		t.Helper()
		file := pack(t, dir, "ids", version, nil, map[string]string{
			"p.json":      profileOf("p", version, `"min": 1`),
			"q.json":      profileOf("q", version, `"min": 1`),
			"r.json":      profileOf("r", "1.0.0", `"max": "0"`),
			"naming.json": `{"resourceType":"NamingSystem","id":"n","name":"N","status":"active","kind":"root","date":"2020","uniqueId":[{"type":"oid","value":"1.2.3"}]}`,
		})
		if stdout, stderr, err := runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(), file); err != nil || !strings.Contains(stdout, want) {
			t.Errorf("%s: %v\n%s%s", version, err, stdout, stderr)
		}
	}
	load("1.0.0", "3 new, 1 changed, 0 unchanged")
	load("1.0.0", "0 new, 0 changed, 4 unchanged")
	load("2.0.0", "2 new, 0 changed, 2 unchanged")
	load("2.0.0", "0 new, 0 changed, 4 unchanged")
	for target, want := range map[string]string{
		"p": `example.org/StructureDefinition/p","version":"1.0.0"`, "p-2.0.0": `example.org/StructureDefinition/p","version":"2.0.0"`,
		"q": `http://elsewhere.example.org/StructureDefinition/q`, "q-1.0.0": `http://example.org/StructureDefinition/q","version":"1.0.0"`,
		"q-2.0.0": `http://example.org/StructureDefinition/q","version":"2.0.0"`, "mine": `"max":"0"`,
	} {
		if a := r.do("GET", "StructureDefinition/"+target, ""); a.StatusCode != 200 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s", target, a.StatusCode, a.body)
		}
	}
	if a := r.do("GET", "StructureDefinition/r", ""); a.StatusCode != 404 {
		t.Errorf("what a user stored under another id is there twice: %s", a.body)
	}
}

func TestLoadPackageFailures(t *testing.T) {
	url := postgrestest.New(t)
	t.Run("refused resources cost no other", func(t *testing.T) {
		file := pack(t, t.TempDir(), "partly", "1.0.0", nil, map[string]string{
			"a.json": colours, "b.json": `{"resourceType":"ValueSet","id":"b","url":"http://example.org/b","status":"wrong"}`,
			"c.json": `{"resourceType":`, "d.json": strings.Replace(reds, `"id":"reds"`, `"id":"reds","extension":[{"url":"http://hl7.org/fhir/StructureDefinition/structuredefinition-normative-version","valueCode":"4.0.0"}]`, 1), "e.json": `{"resourceType":"ValueSet","id":"e","url":"http://example.org/e","status":"active","nonsense":1}`,
		})
		stdout, stderr, err := runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(), file)
		if err == nil || !strings.Contains(stdout, "partly#1.0.0: 2 new") || !strings.Contains(stdout, "partly#1.0.0: 1 resources break") || !strings.Contains(stdout, "d.json: extension: ") || !strings.Contains(stdout, "3 failed") {
			t.Errorf("%v\n%s%s", err, stdout, stderr)
		}
		for _, want := range []string{"package/b.json: ", "package/c.json: structure", "package/e.json: "} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s is not in\n%s", want, stderr)
			}
		}
	})
	t.Run("what is cut short loads nothing", func(t *testing.T) {
		files := map[string]string{}
		for i := range 2500 { // more than one transaction takes
			id := fmt.Sprint("cut-", i)
			files[id+".json"] = strings.ReplaceAll(colours, "colours", id)
		}
		file := pack(t, t.TempDir(), "cut", "1.0.0", nil, files)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text[:len(text)-100], 0o600); err != nil {
			t.Fatal(err)
		}
		stdout, _, err := runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(), file)
		if err == nil || !strings.Contains(err.Error(), "cut-1.0.0.tgz: is cut short") || !strings.HasPrefix(stdout, "loaded 0 resources") {
			t.Errorf("%v\n%s", err, stdout)
		}
	})
	t.Run("a missing dependency loads nothing", func(t *testing.T) {
		file := pack(t, t.TempDir(), "needy", "1.0.0", map[string]string{"absent": "3.0.0"}, map[string]string{"a.json": strings.ReplaceAll(colours, "colours", "shades")})
		stdout, _, err := runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(), file)
		if err == nil || !strings.Contains(err.Error(), "needy#1.0.0 needs absent#3.0.0") || !strings.HasPrefix(stdout, "loaded 0 resources") {
			t.Errorf("%v\n%s", err, stdout)
		}
		stdout, _, err = runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(), "--package-no-dependencies", file)
		if err != nil || !strings.Contains(stdout, "needy#1.0.0: 1 new") {
			t.Errorf("%v\n%s", err, stdout)
		}
	})
}

// TestLoadPackageAtOnce loads one package by several processes at once: each resource
// is stored once.
func TestLoadPackageAtOnce(t *testing.T) {
	url := postgrestest.New(t)
	files := map[string]string{}
	for n := range 50 {
		files[fmt.Sprintf("%d.json", n)] = profileOf(fmt.Sprintf("p-%d", n), "1.0.0", `"min": 1`)
	}
	file := pack(t, t.TempDir(), "many", "1.0.0", nil, files)
	var loads sync.WaitGroup
	for range 3 {
		data := t.TempDir()
		loads.Go(func() {
			p := &program{stdout: &safeBuffer{}, stderr: &safeBuffer{}}
			if err := p.parseFlags([]string{"load", "--database-url=" + url, "--data-dir=" + data, file}); err != nil {
				t.Error(err)
			} else if err := p.run(context.Background()); err != nil {
				t.Errorf("%v: %s", err, p.stderr)
			}
		})
	}
	loads.Wait()
	r := serve(t, url)
	if total := r.do("GET", "StructureDefinition?_summary=count", "").json(t)["total"]; total != float64(50) {
		t.Errorf("%v resources", total)
	}
	for n := range 50 {
		if a := r.do("GET", fmt.Sprintf("StructureDefinition/p-%d", n), ""); a.Header.Get("ETag") != `W/"1"` {
			t.Errorf("p-%d: version %s", n, a.Header.Get("ETag"))
		}
	}
}
