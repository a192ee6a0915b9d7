package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dependencies says where packages that others need are looked for.
type Dependencies struct {
	// None leaves them out: what is given is loaded, and nothing else.
	None bool
	// Folders are searched for package files, after those of the packages
	// given.
	Folders []string
	// Registry is asked last; nil for none.
	Registry Registry
}

// Registry is a server of packages: *registry.Registry.
type Registry interface {
	Versions(ctx context.Context, name string) ([]string, error)
	// Fetch gives the file of a version of a package. anew is set when what it
	// kept of an earlier time cannot be read.
	Fetch(ctx context.Context, name, version string, anew bool) (file string, err error)
}

// resolver puts packages in the order in which they are loaded: each behind those
// it needs.
type resolver struct {
	Dependencies
	known      map[string][]*Package // by name
	unreadable []error               // of files in the folders
	searched   map[string]bool       // folders
	reached    map[string]bool       // packages, by name and version
	order      []*Package
	builtIn    []*Package // of those given
}

// resolve opens packages and finds all they need. Packages that need each other in
// a circle come in the order they were met. Those of builtIn were given, too, and are
// not to be loaded.
func (d Dependencies) resolve(ctx context.Context, files []File) (order, builtIn []*Package, err error) {
	r := resolver{Dependencies: d, known: map[string][]*Package{}, searched: map[string]bool{}, reached: map[string]bool{}}
	var given []*Package
	for _, file := range files {
		p, err := OpenPackage(ctx, file.Path)
		if err != nil {
			return nil, nil, err
		}
		if isBuiltIn(p.Name) {
			r.builtIn = append(r.builtIn, p)
			continue
		}
		given = append(given, p)
		r.add(p)
	}
	for _, p := range given {
		if err := r.reach(ctx, p); err != nil {
			return nil, nil, err
		}
	}
	return r.order, r.builtIn, nil
}

func (r *resolver) add(p *Package) { r.known[p.Name] = append(r.known[p.Name], p) }

// reach takes a package into the order, behind what it needs.
func (r *resolver) reach(ctx context.Context, p *Package) error {
	if r.reached[p.String()] {
		return nil
	}
	r.reached[p.String()] = true
	if !p.isR4() {
		return fmt.Errorf("%s: %s is for FHIR %s; this server is of R4 (4.0.1)", p.Path, p, strings.Join(p.FHIRVersions, ", "))
	}
	if !r.None {
		for _, name := range slices.Sorted(maps.Keys(p.Dependencies)) {
			if isBuiltIn(name) {
				continue
			}
			needed, err := r.find(ctx, p, name, p.Dependencies[name])
			if err != nil {
				return err
			}
			if err := r.reach(ctx, needed); err != nil {
				return err
			}
		}
	}
	r.order = append(r.order, p)
	return nil
}

// find looks for a package that p needs: among those given, beside them, in the
// folders, in the registry.
func (r *resolver) find(ctx context.Context, p *Package, name, wanted string) (*Package, error) {
	if found := best(r.known[name], wanted); found != nil {
		return found, nil
	}
	for _, folder := range append([]string{filepath.Dir(p.Path)}, r.Folders...) {
		if err := r.search(ctx, folder); err != nil {
			return nil, err
		}
		if found := best(r.known[name], wanted); found != nil {
			return found, nil
		}
	}
	missing := fmt.Errorf("%s needs %s#%s, which is neither among the packages given nor in their folders", p, name, wanted)
	if r.Registry == nil {
		for _, other := range r.known[name] {
			missing = errors.Join(missing, fmt.Errorf("%s has version %s", other.Path, other.Version))
		}
		return nil, errors.Join(append([]error{missing}, r.unreadable...)...)
	}
	found, err := r.fetch(ctx, name, wanted)
	if err != nil {
		return nil, errors.Join(missing, err)
	}
	r.add(found)
	return found, nil
}

// search takes in the packages of a folder, once.
func (r *resolver) search(ctx context.Context, folder string) error {
	if folder = filepath.Clean(folder); r.searched[folder] {
		return nil
	}
	r.searched[folder] = true
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || !isPackage(entry.Name()) {
			continue
		}
		p, err := OpenPackage(ctx, filepath.Join(folder, entry.Name()))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // it may not be needed
			r.unreadable = append(r.unreadable, err)
		default:
			r.add(p)
		}
	}
	return nil
}

// fetch gives the version of a package that fits the one wanted: of a series, or of
// "latest", the registry is asked what it has.
func (r *resolver) fetch(ctx context.Context, name, wanted string) (*Package, error) {
	version := wanted
	if isSeries(wanted) {
		versions, err := r.Registry.Versions(ctx, name)
		if err != nil {
			return nil, err
		}
		var all []*Package
		for _, version := range versions {
			all = append(all, &Package{Version: version})
		}
		found := best(all, wanted)
		if found == nil {
			return nil, fmt.Errorf("the registry has no version %s of %s", wanted, name)
		}
		version = found.Version
	}
	p, err := r.fetched(ctx, name, version, false)
	if err != nil {
		p, err = r.fetched(ctx, name, version, true)
	}
	if err == nil && (p.Name != name || p.Version != version) {
		err = fmt.Errorf("the registry gave %s instead of %s#%s", p, name, version)
	}
	return p, err
}

func (r *resolver) fetched(ctx context.Context, name, version string, anew bool) (*Package, error) {
	file, err := r.Registry.Fetch(ctx, name, version, anew)
	if err != nil {
		return nil, err
	}
	return OpenPackage(ctx, file)
}
