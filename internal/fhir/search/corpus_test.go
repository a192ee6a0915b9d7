package search

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// archived gives each JSON file of a .tar.xz of CONFORMANCE_DATA.
func archived(t *testing.T, name string, each func(name string, data []byte)) {
	t.Helper()
	folder := os.Getenv("CONFORMANCE_DATA")
	if folder == "" {
		t.Skip("CONFORMANCE_DATA is not set")
	}
	unpack := exec.Command("xz", "-dc", filepath.Join(folder, name))
	out, err := unpack.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := unpack.Start(); err != nil {
		t.Fatal(err)
	}
	defer unpack.Wait()
	for files := tar.NewReader(out); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg || !strings.HasSuffix(header.Name, ".json") || strings.HasPrefix(filepath.Base(header.Name), ".") {
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		each(filepath.Base(header.Name), data)
	}
}

func resourceType(n element.Node) fhir.ResourceType {
	return fhir.ResourceType(n.Get("resourceType").Str())
}

func TestIndexSpecificationExamples(t *testing.T) {
	s := New(definition.R4())
	resources, values := 0, 0
	archived(t, "r4-examples.tar.xz", func(name string, data []byte) {
		tree, err := element.Parse(data, element.DefaultLimits)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if !definition.R4().IsResourceType(string(resourceType(tree.Root()))) {
			return
		}
		index, err := s.Index(resourceType(tree.Root()), tree.Root(), "http://localhost/fhir")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		resources++
		values += count(index)
	})
	t.Logf("%d resources, %d values", resources, values)
	if resources < 700 {
		t.Errorf("only %d resources", resources)
	}
}

func TestIndexSynthea(t *testing.T) {
	s := New(definition.R4())
	resources, values, urns := 0, 0, 0
	archived(t, "synthea/synthea-r4-smart.sample60.tar.xz", func(name string, data []byte) {
		tree, err := element.Parse(data, element.DefaultLimits)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		for entry := range tree.Root().Get("entry").Children() {
			resource := entry.Get("resource")
			index, err := s.Index(resourceType(resource), resource, "http://localhost/fhir")
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			resources++
			values += count(index)
			for _, r := range index.References {
				if strings.HasPrefix(r.URL, "urn:uuid:") {
					urns++
				}
			}
		}
	})
	t.Logf("%d resources, %d values, %d references to other entries", resources, values, urns)
	if resources < 10000 || urns < resources {
		t.Errorf("only %d resources and %d references", resources, urns)
	}
}

func count(i *fhir.Index) int {
	return len(i.Tokens) + len(i.References) + len(i.Strings) + len(i.Dates) + len(i.Numbers) + len(i.Quantities) + len(i.URIs)
}
