package load

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/load/registry"
)

// archive makes the bytes of a package of files, given by their names.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	packed := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		if err := packed.WriteHeader(&tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1])), ModTime: time.Unix(0, 0)}); err != nil {
			t.Fatal(err)
		}
		if _, err := packed.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// manifest is a package.json; dependencies are names and versions in turn.
func manifest(name, version string, dependencies ...string) string {
	var needs []string
	for i := 0; i < len(dependencies); i += 2 {
		needs = append(needs, fmt.Sprintf("%q:%q", dependencies[i], dependencies[i+1]))
	}
	return fmt.Sprintf(`{"name":%q,"version":%q,"fhirVersions":["4.0.1"],"dependencies":{%s}}`, name, version, strings.Join(needs, ","))
}

// place writes files into a folder of their own.
func place(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func resolved(t *testing.T, d Dependencies, paths ...string) (string, error) {
	t.Helper()
	files, err := Find(paths)
	if err != nil {
		t.Fatal(err)
	}
	order, _, err := d.resolve(context.Background(), files)
	var names []string
	for _, p := range order {
		names = append(names, p.String())
	}
	return strings.Join(names, " "), err
}

func TestDependencyOrder(t *testing.T) {
	dir := place(t, map[string][]byte{
		"a.tgz":       archive(t, manifestName, manifest("a", "1.0.0", "b", "2.x", "hl7.fhir.r4.core", "4.0.1", "d", "1.0.0")),
		"b-2.0.tgz":   archive(t, manifestName, manifest("b", "2.0.0", "c", "latest")),
		"b-2.1.tgz":   archive(t, manifestName, manifest("b", "2.1.0", "c", "1.0.0-ballot")),
		"b-2.10.tgz":  archive(t, manifestName, manifest("b", "2.10.0", "c", "1.0.0")),
		"b-3.tgz":     archive(t, manifestName, manifest("b", "3.0.0")),
		"c.tar.gz":    archive(t, "package/a.json", "{}", manifestName, manifest("c", "1.0.0", "b", "2.10.0", "d", "1.0.0")), // a circle
		"d.TGZ":       archive(t, "./package/package.json", manifest("d", "1.0.0")),
		"unasked.tgz": []byte("no gzip"),
	})
	if got, err := resolved(t, Dependencies{}, dir+"/a.tgz"); err != nil || got != "d#1.0.0 c#1.0.0 b#2.10.0 a#1.0.0" {
		t.Errorf("%s %v", got, err)
	}
	if got, err := resolved(t, Dependencies{None: true}, dir+"/a.tgz", dir+"/d.TGZ"); err != nil || got != "a#1.0.0 d#1.0.0" {
		t.Errorf("alone: %s %v", got, err)
	}
	// In a folder of its own it needs the other named.
	alone := place(t, map[string][]byte{"a.tgz": archive(t, manifestName, manifest("a", "1.0.0", "d", "1.0.0"))})
	if _, err := resolved(t, Dependencies{}, alone); err == nil || !strings.Contains(err.Error(), "a#1.0.0 needs d#1.0.0") {
		t.Errorf("missing: %v", err)
	}
	if got, err := resolved(t, Dependencies{Folders: []string{dir}}, alone); err != nil || got != "d#1.0.0 a#1.0.0" {
		t.Errorf("a folder: %s %v", got, err)
	}
	if _, err := resolved(t, Dependencies{}, place(t, map[string][]byte{
		"a.tgz": archive(t, manifestName, manifest("a", "1.0.0", "d", "1.0.0")), "d.tgz": archive(t, manifestName, manifest("d", "2.0.0")),
	})+"/a.tgz"); err == nil || !strings.Contains(err.Error(), "d.tgz has version 2.0.0") {
		t.Errorf("another version: %v", err)
	}
}

func TestPackageThatCannotBeRead(t *testing.T) {
	whole := archive(t, manifestName, manifest("a", "1.0.0"), "package/x.json", strings.Repeat("0123456789abcdef", 1000))
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6] ^= 0xff // of the checksum
	for says, content := range map[string][]byte{
		"is no gzip file":                      []byte("PK is the beginning of another format"),
		"is cut short":                         whole[:len(whole)/2],
		"p.tgz: is no gzip file":               nil,
		"is damaged":                           damaged,
		"has no package/package.json":          archive(t, "package.json", manifest("a", "1.0.0")),
		"is no JSON, from byte 1 on":           archive(t, manifestName, "{"),
		"must be a JSON object, not of the ki": archive(t, manifestName, "[]"),
		`"name" must not be a number`:          archive(t, manifestName, `{"name":1}`),
		"has no name":                          archive(t, manifestName, `{"version":"1"}`),
		"is for FHIR 5.0.0":                    archive(t, manifestName, `{"name":"a","version":"1","fhirVersions":["5.0.0"]}`),
		"more than the 4194304":                archive(t, manifestName, strings.Repeat(" ", maxManifest)+manifest("a", "1.0.0")),
	} {
		file := filepath.Join(place(t, map[string][]byte{"p.tgz": content}), "p.tgz")
		_, err := resolved(t, Dependencies{}, file)
		if err == nil { // the manifest may stand before what is damaged
			_, err = (&Package{Path: file}).verify(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// A terminal obeys what stands in the names of files.
func TestNamesInPackagesAreLegible(t *testing.T) {
	file := filepath.Join(place(t, map[string][]byte{"p.tgz": archive(t, "package/\x1b[31mé\a.json", "{}")}), "p.tgz")
	err := walk(context.Background(), file, packageBounds, func(f *packageFile) error {
		if want := `package/\x1b[31mé\a.json`; f.name != want {
			t.Errorf("%q, want %q", f.name, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPackageBounds holds that a package that decompresses to more than it may is
// left at the bound.
func TestPackageBounds(t *testing.T) {
	file := filepath.Join(place(t, map[string][]byte{
		"p.tgz": archive(t, manifestName, manifest("a", "1.0.0"), "package/x.json", strings.Repeat(" ", 1<<20), "package/y.json", "{}"),
	}), "p.tgz")
	for _, most := range []bounds{{files: 2, bytes: 1 << 30}, {files: 100, bytes: 1 << 20}} {
		err := walk(context.Background(), file, most, func(*packageFile) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%+v: %v", most, err)
		}
	}
}

func TestVersions(t *testing.T) {
	ascending := []string{"1.0.0-alpha.2", "1.0.0-alpha.10", "1.0.0-beta", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0-ballot", "2.0.0"}
	for i, a := range ascending {
		for k, b := range ascending {
			if got, want := fhir.CompareVersions(a, b), i-k; got*want < 0 || (got == 0) != (want == 0) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
	for wanted, fits := range map[string]bool{"1.2.0": true, "1.2.x": true, "1.x": true, "current": true, "1.2": false, "1.1.x": false, "2.x": false} {
		if versionFits("1.2.0", wanted) != fits {
			t.Errorf("%s", wanted)
		}
	}
}

func TestRegistry(t *testing.T) {
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		switch r.URL.Path {
		case "/base/b":
			fmt.Fprint(w, `{"versions":{"1.0.0":{},"1.1.0":{},"2.0.0":{}}}`)
		case "/base/b/1.1.0":
			_, _ = w.Write(archive(t, manifestName, manifest("b", "1.1.0", "c", "1.0.0")))
		case "/base/c/1.0.0":
			_, _ = w.Write(archive(t, manifestName, manifest("c", "1.0.0")))
		case "/base/wrong/1.0.0":
			_, _ = w.Write(archive(t, manifestName, manifest("c", "1.0.0")))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	d := Dependencies{Registry: &registry.Registry{URL: server.URL + "/base/", Folder: filepath.Join(t.TempDir(), "packages")}}
	a := place(t, map[string][]byte{"a.tgz": archive(t, manifestName, manifest("a", "1.0.0", "b", "1.x"))})
	for range 2 {
		if got, err := resolved(t, d, a); err != nil || got != "c#1.0.0 b#1.1.0 a#1.0.0" {
			t.Errorf("%s %v", got, err)
		}
	}
	if asked["/base/b/1.1.0"] != 1 || asked["/base/c/1.0.0"] != 1 {
		t.Errorf("what was fetched is not kept: %v", asked)
	}
	for needs, want := range map[string]string{"none": "status 404", "wrong": "gave c#1.0.0 instead of wrong#1.0.0"} {
		dir := place(t, map[string][]byte{"a.tgz": archive(t, manifestName, manifest("a", "1.0.0", needs, "1.0.0"))})
		if _, err := resolved(t, d, dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "a#1.0.0 needs "+needs) {
			t.Errorf("%s: %v", needs, err)
		}
	}
}
