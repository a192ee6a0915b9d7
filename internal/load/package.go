package load

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Package is a FHIR package (https://hl7.org/fhir/packages.html): a tarball of
// conformance resources with a manifest, "package/package.json".
type Package struct {
	Path          string
	Name, Version string
	// FHIRVersions are those that the package says it is for; may be empty.
	FHIRVersions []string
	// Dependencies are the versions needed of other packages, by their names.
	Dependencies map[string]string

	size int64 // of the file
}

// String names a package as FHIR tools do, "hl7.fhir.us.core#6.1.0".
func (p *Package) String() string { return p.Name + "#" + p.Version }

// bounds are what is read of a package at most.
type bounds struct {
	files int
	bytes int64 // of all files, decompressed
}

// packageBounds are beyond the largest package that is published, of value sets,
// which has some 2 GB in 20,000 files.
var packageBounds = bounds{files: 200_000, bytes: 8 << 30}

// The bounds of a file in a package.
const (
	maxPackageDocument = 256 << 20
	maxManifest        = 4 << 20
)

// manifestName is where a package says what it is.
const manifestName = "package/package.json"

// packageFile is a file of a package, to be read before the next is asked for.
type packageFile struct {
	name string // with its folder
	size int64
	io.Reader
}

// all reads the file, which must not be larger than most.
func (f *packageFile) all(most int64) ([]byte, error) {
	if f.size > most {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are read", f.name, f.size, most)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, unreadable(err))
	}
	return text, nil
}

// errEnough ends a walk without being its error.
var errEnough = errors.New("enough")

// walk gives the regular files of a package in their order. Nothing is
// written anywhere, so their names can do no harm. The error names the package's file.
func walk(ctx context.Context, file string, most bounds, visit func(*packageFile) error) error {
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	unzipped, err := gzip.NewReader(opened)
	if err != nil {
		return fmt.Errorf("%s: is no gzip file", file)
	}
	bounded := &io.LimitedReader{R: unzipped, N: most.bytes}
	archive := tar.NewReader(bounded)
	for files := 0; ; files++ {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && bounded.N > 0:
			// The checksum of all stands behind the archive.
			if _, err := io.Copy(io.Discard, bounded); err != nil {
				return fmt.Errorf("%s: %w", file, unreadable(err))
			}
			return nil
		case bounded.N <= 0 || files == most.files:
			return fmt.Errorf("%s: is too large: at most %d files and %d bytes are read", file, most.files, most.bytes)
		case err != nil:
			return fmt.Errorf("%s: %w", file, unreadable(err))
		case ctx.Err() != nil:
			return ctx.Err()
		case header.Typeflag != tar.TypeReg:
			continue
		}
		err = visit(&packageFile{name: legible(path.Clean(header.Name)), size: header.Size, Reader: archive})
		switch {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		}
	}
}

// verify reads all of a package, and counts the files that may be conformance
// resources.
func (p *Package) verify(ctx context.Context) (resources int, err error) {
	err = walk(ctx, p.Path, packageBounds, func(f *packageFile) error {
		if isResourceFile(f.name) {
			resources++
		}
		return nil
	})
	return resources, err
}

// OpenPackage reads the manifest of a package.
func OpenPackage(ctx context.Context, file string) (*Package, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	p := &Package{Path: file, size: info.Size()}
	err = walk(ctx, file, packageBounds, func(f *packageFile) error {
		if f.name != manifestName {
			return nil
		}
		text, err := f.all(maxManifest)
		if err != nil {
			return err
		}
		if err := p.read(text); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		return errEnough
	})
	if err == nil && p.Name == "" {
		err = fmt.Errorf("%s: is no FHIR package: it has no %s", file, manifestName)
	}
	return p, err
}

func (p *Package) read(text []byte) error {
	var manifest struct {
		Name, Version   string
		FHIRVersions    []string `json:"fhirVersions"`
		FHIRVersionList []string `json:"fhir-version-list"` // in older packages
		Dependencies    map[string]string
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return notManifest(err)
	}
	if manifest.Name == "" || manifest.Version == "" {
		return errors.New("has no name, or no version")
	}
	p.Name, p.Version, p.Dependencies = manifest.Name, manifest.Version, manifest.Dependencies
	p.FHIRVersions = append(manifest.FHIRVersions, manifest.FHIRVersionList...)
	return nil
}

// isR4 reports whether the package is for this version of FHIR, or does not say.
func (p *Package) isR4() bool {
	for _, version := range p.FHIRVersions {
		if strings.HasPrefix(version, "4.0") {
			return true
		}
	}
	return len(p.FHIRVersions) == 0
}

// isBuiltIn reports whether a package is one of the specification itself, whose
// content the server has.
func isBuiltIn(name string) bool { return strings.HasPrefix(name, "hl7.fhir.r4.") }
