package load

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a file to be loaded.
type File struct {
	Path string
	Size int64 // on disk
	// Lines says that it is NDJSON; else it is one document.
	Lines bool
	// Gzip says that it is compressed.
	Gzip bool
	// Package says that it is a FHIR package.
	Package bool
}

// Find lists the files that paths name: files as they are, folders with what
// they hold, at any depth, that is called .json, .ndjson or .jsonl, or one of
// these with .gz. Each file is named once, in the order of paths and, within a
// folder, of the alphabet.
func Find(paths []string) ([]File, error) {
	var files []File
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			file, ok := known(path, info)
			if !ok {
				return nil, fmt.Errorf("%s: is called neither .json, .ndjson nor .jsonl, with or without .gz, nor .tgz", path)
			}
			files = append(files, file)
			continue
		}
		found, err := findIn(path)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no .json or .ndjson files, or packages (.tgz), to load in %s", strings.Join(paths, ", "))
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f File) bool {
		repeated := seen[f.Path]
		seen[f.Path] = true
		return repeated
	}), nil
}

func findIn(folder string) ([]File, error) {
	var files []File
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		// Stat follows links.
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			return err
		}
		if file, ok := known(path, info); ok {
			files = append(files, file)
		}
		return nil
	})
	return files, err
}

func known(path string, info fs.FileInfo) (File, bool) {
	file := File{Path: filepath.Clean(path), Size: info.Size()}
	name := strings.ToLower(info.Name())
	if isPackage(name) {
		file.Package = true
		return file, true
	}
	name, file.Gzip = strings.CutSuffix(name, ".gz")
	switch filepath.Ext(name) {
	case ".ndjson", ".jsonl":
		file.Lines = true
	case ".json":
	default:
		return file, false
	}
	return file, true
}

// isPackage reports whether a file is called as packages are.
func isPackage(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}
