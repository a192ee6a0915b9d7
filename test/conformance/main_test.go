package conformance

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xi2/xz"

	"starling/internal/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// archive gives the JSON files of an archive in the folder of public material, by
// their name, and skips the test without that folder.
func archive(t *testing.T, name string) map[string][]byte {
	t.Helper()
	folder := os.Getenv("CONFORMANCE_DATA")
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
