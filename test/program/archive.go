package program

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xi2/xz"
)

// Archive gives the JSON files of an archive in the folder of public material,
// CONFORMANCE_DATA, by their name, and skips the test without that folder. It is
// given by the test, since `make conformance` finds its tests by that name.
func Archive(t *testing.T, folder, name string) map[string][]byte {
	t.Helper()
	if folder == "" {
		t.Skip("CONFORMANCE_DATA names no folder of public material")
	}
	file, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := xz.NewReader(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for entries := tar.NewReader(unpacked); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(header.Name)
		if header.Typeflag != tar.TypeReg || !strings.HasSuffix(base, ".json") || strings.HasPrefix(base, ".") {
			continue
		}
		if files[base], err = io.ReadAll(entries); err != nil {
			t.Fatal(err)
		}
	}
}
