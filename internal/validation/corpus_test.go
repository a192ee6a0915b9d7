package validation_test

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// corpus gives the JSON files of an archive in the folder of the public
// suites, by name; it skips the test where there is no such folder.
func corpus(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	folder := os.Getenv("CONFORMANCE_DATA")
	if folder == "" {
		t.Skip("CONFORMANCE_DATA is not set")
	}
	xz := exec.Command("xz", "--decompress", "--stdout", filepath.Join(folder, archive))
	out, err := xz.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := xz.Start(); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(out); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(header.Name, ".json") {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(path.Base(header.Name), ".json")] = text
	}
	if err := xz.Wait(); err != nil {
		t.Fatal(err)
	}
	return files
}
