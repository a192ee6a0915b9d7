package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// variable names the folder of the public suites.
const variable = "CONFORMANCE_DATA"

// suites are the tests of one package that read the public suites.
type suites struct {
	dir   string   // relative to the root, as go test takes it: ./internal/…
	tests []string // sorted names of test functions
}

// findSuites gives the packages under root with such tests, sorted by folder.
func findSuites(root string) ([]suites, error) {
	files := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || len(entry.Name()) > 1 && entry.Name()[0] == '.'):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		files[dir] = append(files[dir], file)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var found []suites
	for dir, parsed := range files {
		if tests := readers(parsed); len(tests) > 0 {
			found = append(found, suites{dir: "./" + filepath.ToSlash(dir), tests: tests})
		}
	}
	slices.SortFunc(found, func(a, b suites) int { return strings.Compare(a.dir, b.dir) })
	return found, nil
}

// readers gives the test functions of a package's files that read the variable,
// themselves or through functions, variables and constants of the same files.
func readers(files []*ast.File) []string {
	uses := map[string]map[string]bool{} // declared name → names and literals in it
	collect := func(name string, node ast.Node) {
		if uses[name] == nil {
			uses[name] = map[string]bool{}
		}
		ast.Inspect(node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				uses[name][n.Name] = true
			case *ast.BasicLit:
				uses[name][n.Value] = true
			}
			return true
		})
	}
	for _, file := range files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Body != nil {
					collect(decl.Name.Name, decl.Body)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if values, ok := spec.(*ast.ValueSpec); ok {
						for _, name := range values.Names {
							collect(name.Name, values)
						}
					}
				}
			}
		}
	}
	reads := map[string]bool{`"` + variable + `"`: true}
	for grew := true; grew; {
		grew = false
		for name, used := range uses {
			if reads[name] {
				continue
			}
			for use := range used {
				if reads[use] {
					reads[name], grew = true, true
					break
				}
			}
		}
	}
	var tests []string
	for name := range uses {
		if reads[name] && strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests
}
