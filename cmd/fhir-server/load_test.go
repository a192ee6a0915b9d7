package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"starling/internal/postgres/postgrestest"
)

// folder writes files, by their names, into a folder of their own.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			var buffer bytes.Buffer
			writer := gzip.NewWriter(&buffer)
			_, _ = writer.Write([]byte(text)) // a buffer takes everything
			_ = writer.Close()
			text = buffer.String()
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runLoad runs the command and gives what it printed.
func runLoad(t *testing.T, arguments ...string) (stdout, stderr string, err error) {
	t.Helper()
	out, errors := &safeBuffer{}, &safeBuffer{}
	p := &program{stdout: out, stderr: errors}
	if err := p.parseFlags(append([]string{"load"}, arguments...)); err != nil {
		t.Fatal(err)
	}
	err = p.run(context.Background())
	return out.String(), errors.String(), err
}

const (
	needsPractitioner = `{"resourceType":"Bundle","type":"transaction","entry":[{"resource":{"resourceType":"Observation","status":"final",` +
		`"code":{"text":"x"},"performer":[{"reference":"Practitioner?identifier=http://s|p1"}]},"request":{"method":"POST","url":"Observation"}}]}`
	practitioner = `{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Practitioner",` +
		`"identifier":[{"system":"http://s","value":"p1"}]},"request":{"method":"POST","url":"Practitioner"}}]}`
	collection = `{"resourceType":"Bundle","type":"collection","entry":[` +
		`{"fullUrl":"urn:uuid:6a7a5c2e-0f4b-4f0c-9d31-6e1b7d0b3a11","resource":{"resourceType":"Patient"}},` +
		`{"resource":{"resourceType":"Observation","id":"of-collection","status":"final","code":{"text":"x"},` +
		`"valueQuantity":{"value":1.10},"subject":{"reference":"urn:uuid:6a7a5c2e-0f4b-4f0c-9d31-6e1b7d0b3a11"}}}]}`
)

func patients(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "{\"resourceType\":\"Patient\",\"id\":\"line-%d\"}\n", i)
	}
	return text.String()
}

func TestLoad(t *testing.T) {
	url := postgrestest.New(t)
	dir := folder(t, map[string]string{
		"a-first.json":        needsPractitioner, // by name before the one it needs
		"z/practitioner.json": practitioner,
		"collection.json":     collection,
		"single.json.gz":      `{"resourceType":"Patient","id":"single"}`,
		"many.ndjson":         patients(250),
		"zipped.ndjson.gz":    `{"resourceType":"Patient","id":"zipped"}` + "\n\n" + `{"resourceType":"Patient","id":"no-end"}`,
		"README.md":           "not for loading",
	})
	data := "--data-dir=" + t.TempDir()
	stdout, stderr, err := runLoad(t, "--database-url="+url, data, dir)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	if !strings.HasPrefix(stdout, "loaded 257 resources in 8 bundles or chunks of 6 files") {
		t.Errorf("%s", stdout)
	}
	r := serve(t, url)
	for _, target := range []string{"Patient/single", "Patient/line-0", "Patient/line-249", "Patient/zipped", "Patient/no-end", "Observation/of-collection"} {
		if a := r.do("GET", target, ""); a.StatusCode != 200 || a.Header.Get("ETag") != `W/"1"` {
			t.Errorf("%s: %d %s", target, a.StatusCode, a.Header.Get("ETag"))
		}
	}
	if a := r.do("GET", "Observation/of-collection", ""); !strings.Contains(string(a.body), `"value":1.10`) || !strings.Contains(string(a.body), `"reference":"Patient/`) {
		t.Errorf("link or number changed: %s", a.body)
	}

	// Again: everything is there, so nothing is done.
	stdout, stderr, err = runLoad(t, "--database-url="+url, data, dir)
	if err != nil || !strings.HasPrefix(stdout, "loaded 0 resources") || !strings.Contains(stdout, "left out 8") {
		t.Errorf("again: %v\n%s%s", err, stdout, stderr)
	}
	if a := r.do("GET", "Patient/line-0", ""); a.Header.Get("ETag") != `W/"1"` {
		t.Errorf("again made version %s", a.Header.Get("ETag"))
	}
	// The journal is believed only of a database that has the resources.
	stdout, stderr, err = runLoad(t, "--database-url="+postgrestest.New(t), data, dir)
	if err != nil || !strings.HasPrefix(stdout, "loaded 257 resources") {
		t.Errorf("another database: %v\n%s%s", err, stdout, stderr)
	}
}

func TestLoadResumes(t *testing.T) {
	url, dir := postgrestest.New(t), folder(t, map[string]string{"many.ndjson": patients(250)})
	data := t.TempDir()
	if stdout, stderr, err := runLoad(t, "--database-url="+url, "--data-dir="+data, dir); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	// A crash left the journal with one whole line and half of another.
	path := filepath.Join(data, "load.journal")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.SplitAfter(string(text), "\n")
	if len(entries) != 4 {
		t.Fatalf("%d entries in %q", len(entries), text)
	}
	if err := os.WriteFile(path, []byte(entries[0]+entries[1][:20]), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := runLoad(t, "--database-url="+url, "--data-dir="+data, dir)
	if err != nil || !strings.Contains(stdout, "left out 1") || !strings.Contains(stdout, " 2 bundles or chunks") {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
	if stdout, _, err := runLoad(t, "--database-url="+url, "--data-dir="+data, dir); err != nil || !strings.Contains(stdout, "left out 3") {
		t.Errorf("the journal was not mended: %v\n%s", err, stdout)
	}
}

// TestLoadInterrupted breaks a load off as the first signal does, then goes on:
// each Bundle must be there once.
func TestLoadInterrupted(t *testing.T) {
	const bundles = 60
	files := map[string]string{}
	for n := range bundles {
		files[fmt.Sprintf("%d.json", n)] = fmt.Sprintf(`{"resourceType":"Bundle","type":"transaction","entry":[{"resource":{"resourceType":"Patient",`+
			`"identifier":[{"system":"http://s","value":"%d"}]},"request":{"method":"POST","url":"Patient"}}]}`, n)
	}
	url, dir, data := postgrestest.New(t), folder(t, files), t.TempDir()
	ctx, interrupt := context.WithCancel(context.Background())
	p := &program{stdout: &safeBuffer{}, stderr: &safeBuffer{}}
	if err := p.parseFlags([]string{"load", "--workers=1", "--database-url=" + url, "--data-dir=" + data, dir}); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(data, "load.journal")
	go func() {
		for ctx.Err() == nil {
			if text, err := os.ReadFile(journal); err == nil && bytes.Count(text, []byte("\n")) > 3 {
				interrupt()
			}
		}
	}()
	if err := p.run(ctx); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Fatalf("%v: all was loaded before the interruption; %s", err, p.stdout)
	}
	stdout, stderr, err := runLoad(t, "--database-url="+url, "--data-dir="+data, dir)
	if err != nil || !strings.Contains(stdout, "left out") {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	r := serve(t, url)
	if total := r.do("GET", "Patient?_summary=count", "").json(t)["total"]; total != float64(bundles) {
		t.Errorf("%v Patients", total)
	}
}

func TestLoadReportsFailures(t *testing.T) {
	url := postgrestest.New(t)
	dir := folder(t, map[string]string{
		"broken.json":   `{"resourceType":`,
		"nothing.json":  `{"a":1}`,
		"history.json":  `{"resourceType":"Bundle","type":"history"}`,
		"dangling.json": strings.ReplaceAll(needsPractitioner, "p1", "nobody"),
		"lines.ndjson":  `{"resourceType":"Patient","id":"good-1"}` + "\n" + `{"resourceType":"Patient","nonsense":1}` + "\nnot json\n" + `{"resourceType":"Patient","id":"good-2"}`,
		"batch.json": `{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient","id":"good-3"},"request":{"method":"PUT","url":"Patient/good-3"}},` +
			`{"resource":{"resourceType":"Patient","nonsense":1},"request":{"method":"POST","url":"Patient"}}]}`,
		"good.json": `{"resourceType":"Patient","id":"good-4"}`,
	})
	stdout, stderr, err := runLoad(t, "--database-url="+url, "--data-dir="+t.TempDir(), dir)
	if err == nil || !strings.Contains(stdout, "7 failed") || !strings.HasPrefix(stdout, "loaded 4 resources") {
		t.Errorf("%v\n%s", err, stdout)
	}
	for _, want := range []string{
		"broken.json: structure: ", "nothing.json: structure: ", "history.json: not-supported: ", "dangling.json: ",
		"lines.ndjson:2: ", "lines.ndjson:3: structure: ", "batch.json: Bundle.entry[1]: ", "nonsense",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
	}
	r := serve(t, url)
	for n := 1; n <= 4; n++ {
		if a := r.do("GET", fmt.Sprintf("Patient/good-%d", n), ""); a.StatusCode != 200 {
			t.Errorf("good-%d: %d", n, a.StatusCode)
		}
	}
}

func TestLoadOfNothing(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none.json"), folder(t, map[string]string{"a.xml": ""}) + "/a.xml"} {
		if _, _, err := runLoad(t, "--database-url=postgres://none", path); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}
