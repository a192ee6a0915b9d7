package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"starling/internal/load"
	"starling/internal/load/registry"
)

// loadCommand loads files into the database, without a server.
type loadCommand struct {
	databaseFlags
	resourceFlags
	profileFlags
	terminologyFlags
	logFlags

	packageFlags

	Files   []string `arg:"" name:"file" help:"Files (.json, .ndjson, also .gz; FHIR packages, .tgz), or folders of them."`
	BaseURL string   `env:"FHIR_BASE_URL" default:"http://127.0.0.1:8080/fhir" placeholder:"URL" help:"Base URL of the server: absolute references to it are local (${default})."`
	Workers int      `env:"FHIR_LOAD_WORKERS" placeholder:"N" help:"Bundles, or chunks of lines, in work at once (two for each core)."`
}

// packageFlags say where the packages are that loaded packages need.
type packageFlags struct {
	PackageDir            []string `env:"FHIR_PACKAGE_DIR" placeholder:"DIR" help:"Folders with packages that others need, beside those of the packages given."`
	PackageRegistry       string   `env:"FHIR_PACKAGE_REGISTRY" placeholder:"URL" help:"Registry to fetch packages from that others need, such as https://packages.fhir.org. Without it, none is asked."`
	PackageNoDependencies bool     `name:"package-no-dependencies" env:"FHIR_PACKAGE_NO_DEPENDENCIES" help:"Load only the packages given, not those they need."`
}

func (f *packageFlags) check() error {
	for _, folder := range f.PackageDir {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return fmt.Errorf("--package-dir: there is no folder %q", folder)
		}
	}
	if u, err := url.Parse(f.PackageRegistry); f.PackageRegistry != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return fmt.Errorf("--package-registry must be a URL such as https://packages.fhir.org, not %q", f.PackageRegistry)
	}
	return nil
}

// dependencies is the setting as the loader has it. What is fetched is kept in the data folder.
func (f *packageFlags) dependencies(dataDir string) load.Dependencies {
	d := load.Dependencies{None: f.PackageNoDependencies, Folders: f.PackageDir}
	if f.PackageRegistry != "" {
		d.Registry = &registry.Registry{URL: f.PackageRegistry, Folder: filepath.Join(dataDir, "packages")}
	}
	return d
}

// maxDocument is the largest document loaded.
const maxDocument = 1 << 30

// Validate checks the flags. Kong calls it.
func (c *loadCommand) Validate() error {
	if c.Workers < 0 {
		return errors.New("--workers must be positive")
	}
	return errors.Join(c.databaseFlags.check(), c.profileFlags.check(), c.terminologyFlags.check(), c.packageFlags.check(), checkBaseURL(c.BaseURL))
}

// errNotLoaded makes the exit code tell of failures, which were printed.
var errNotLoaded = errors.New("not all was loaded")

// Run implements command.
func (c *loadCommand) Run(ctx context.Context, p *program) (err error) {
	files, err := load.Find(c.Files)
	if err != nil {
		return err
	}
	logger, registry := c.logger(p.stderr), prometheus.NewRegistry()
	database, err := c.open(ctx, logger, registry, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.close()) }()
	other, err := c.remote(logger, registry)
	if err != nil {
		return err
	}
	caches, err := newLoadCaches(ctx, database.Store, other, c.settle, c.TextSearch, logger)
	if err != nil {
		return err
	}
	service, err := caches.service(&c.resourceFlags)
	if err != nil {
		return err
	}
	if c.Validation == "full" {
		service.Validator = caches.parameters.Validator(checker{
			rules: caches.rules, refuse: c.TerminologyAway == "fail", questionnaires: stored{service}.questionnaire,
		})
	}
	// What a package defines is stored as it is; a search parameter in it that
	// cannot be served is named by the CapabilityStatement.
	asIs, err := caches.service(&resourceFlags{Validation: "off"})
	if err != nil {
		return err
	}
	asIs.Validator = unchecked{}
	ofPackages, err := newValidator(service.Definitions, c.Validation)
	if err != nil {
		return err
	}
	journal, err := load.OpenJournal(filepath.Join(c.DataDir, "load.journal"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	loader := &load.Loader{
		Service: service, Store: database, Base: c.BaseURL, Workers: c.workers(), Journal: journal,
		Checker: ofPackages, Unchecked: asIs, Dependencies: c.dependencies(c.DataDir),
	}
	progress := newProgress(p.stderr, files)
	result, err := loader.Run(ctx, files, progress)
	progress.end()
	report(p.stdout, &result)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted: run it again to load the rest")
	case err == nil && len(result.Failures) > 0:
		return errNotLoaded
	}
	return err
}

func (c *loadCommand) workers() int {
	if c.Workers > 0 {
		return c.Workers
	}
	return 2 * runtime.GOMAXPROCS(0)
}

// report prints the sum of a load.
func report(w io.Writer, r *load.Result) {
	seconds := r.Duration.Seconds()
	fmt.Fprintf(w, "loaded %d resources in %d bundles or chunks of %d files (%.1f MB) in %.1f s: %.0f resources/s, %.1f bundles/s, %.1f MB/s\n",
		r.Resources, r.Units, r.Files, float64(r.Bytes)/1e6, seconds,
		float64(r.Resources)/seconds, float64(r.Units)/seconds, float64(r.Bytes)/1e6/seconds)
	for _, p := range r.Packages {
		if p.BuiltIn > 0 {
			fmt.Fprintf(w, "%s: left out, with its %d resources: the server has what the packages of the specification itself (hl7.fhir.r4.*) define\n", &p.Package, p.BuiltIn)
			continue
		}
		fmt.Fprintf(w, "%s: %d new, %d changed, %d unchanged\n", &p.Package, p.New, p.Changed, p.Unchanged)
		if p.Others > 0 {
			fmt.Fprintf(w, "%s: %d left out, which are of types that define nothing: examples, mostly\n", &p.Package, p.Others)
		}
		if p.Faulty > 0 {
			fmt.Fprintf(w, "%s: %d resources break rules of the specification and were taken as they are; the first:\n", &p.Package, p.Faulty)
		}
		for _, fault := range p.Faults {
			writeFailure(w, fault)
		}
	}
	if r.Skipped > 0 {
		fmt.Fprintf(w, "left out %d that an earlier load brought in\n", r.Skipped)
	}
	if len(r.Failures) > 0 {
		fmt.Fprintf(w, "%d failed\n", len(r.Failures))
	}
}
