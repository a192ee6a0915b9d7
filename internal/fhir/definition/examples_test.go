package definition

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/xi2/xz"
)

// TestConformanceExamples looks every member of the specification's examples
// up: all must be known, and repeat only where the definition lets them.
func TestConformanceExamples(t *testing.T) {
	for name, data := range readExamples(t) {
		t.Run(name, func(t *testing.T) {
			var resource map[string]any
			if err := json.Unmarshal(data, &resource); err != nil {
				t.Fatal(err)
			}
			if err := walkResource(resource); err != nil {
				t.Error(err)
			}
		})
	}
}

func readExamples(t *testing.T) map[string][]byte {
	t.Helper()
	dir := os.Getenv("CONFORMANCE_DATA")
	if dir == "" {
		t.Skip("CONFORMANCE_DATA is not set")
	}
	f, err := os.Open(filepath.Join(dir, "r4-examples.tar.xz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := xz.NewReader(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string][]byte{}
	for archive := tar.NewReader(x); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return examples
		}
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(h.Name) == ".json" {
			if examples[filepath.Base(h.Name)], err = io.ReadAll(archive); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func walkResource(resource map[string]any) error {
	name, _ := resource["resourceType"].(string)
	if !R4().IsResourceType(name) {
		return fmt.Errorf("resourceType %q", name)
	}
	delete(resource, "resourceType")
	return walk(name, R4().Type(name).Root, resource)
}

// walk checks an object of an element; at is where it stands.
func walk(at string, e *Element, object map[string]any) error {
	for name, value := range object {
		here := at + "." + name
		p, ok := e.Property(name)
		if !ok {
			return fmt.Errorf("%s is unknown", here)
		}
		items, repeats := value.([]any)
		if repeats != (p.Element.Max == Unbounded || p.Element.Max > 1) {
			return fmt.Errorf("%s: max is %d", here, p.Element.Max)
		}
		if !repeats {
			items = []any{value}
		}
		for _, item := range items {
			if err := walkItem(here, p, item); err != nil {
				return err
			}
		}
	}
	return nil
}

func walkItem(at string, p Property, item any) error {
	object, isObject := item.(map[string]any)
	primitive := R4().isPrimitive(p.Type)
	switch {
	case p.Extra && item == nil:
		return nil
	case p.Extra:
		return walk(at, R4().Type(p.Type).Root, object)
	case isObject == primitive:
		return fmt.Errorf("%s: %v is no %s", at, item, p.Type)
	case !isObject:
		return nil
	case p.Type == "Resource":
		return walkResource(object)
	case p.Element.Children != nil:
		return walk(at, p.Element, object)
	}
	return walk(at, R4().Type(p.Type).Root, object)
}
