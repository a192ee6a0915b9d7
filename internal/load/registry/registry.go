// Package registry fetches FHIR packages from a server of them.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Registry is a server that packages are fetched from, by the protocol of npm,
// such as https://packages.fhir.org. It implements load.Registry.
type Registry struct {
	URL string
	// Folder is where fetched packages are kept; it is made if need be.
	Folder string
}

// The bounds of what is fetched.
const (
	timeout    = 5 * time.Minute
	maxListing = 32 << 20
	maxFetched = 1 << 30
)

// Versions lists the versions that the registry has of a package.
func (r *Registry) Versions(ctx context.Context, name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := r.get(ctx, url.PathEscape(name))
	if err != nil {
		return nil, r.failure(name, err)
	}
	defer body.Close()
	var listing struct{ Versions map[string]json.RawMessage }
	if err := json.NewDecoder(io.LimitReader(body, maxListing)).Decode(&listing); err != nil {
		return nil, r.failure(name, err)
	}
	var all []string
	for version := range listing.Versions {
		all = append(all, version)
	}
	return all, nil
}

// Fetch gives the file of a version of a package. One that was fetched before is
// not fetched again, unless anew is set.
func (r *Registry) Fetch(ctx context.Context, name, version string, anew bool) (file string, err error) {
	file = filepath.Join(r.Folder, url.PathEscape(name+"#"+version)+".tgz")
	if _, err := os.Stat(file); err == nil && !anew {
		return file, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := r.download(ctx, url.PathEscape(name)+"/"+url.PathEscape(version), file); err != nil {
		return "", r.failure(name+"#"+version, err)
	}
	return file, nil
}

func (r *Registry) failure(what string, err error) error {
	return fmt.Errorf("the registry %s: %s: %w", r.URL, what, err)
}

// download brings a package into a file, which is there whole or not at all.
func (r *Registry) download(ctx context.Context, path, file string) error {
	if err := os.MkdirAll(r.Folder, 0o700); err != nil {
		return err
	}
	body, err := r.get(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	partial, err := os.CreateTemp(r.Folder, "fetched-*")
	if err != nil {
		return err
	}
	defer os.Remove(partial.Name()) //nolint:errcheck // it is gone if it was renamed
	n, err := io.Copy(partial, io.LimitReader(body, maxFetched+1))
	if n > maxFetched {
		err = errors.New("the package is too large")
	}
	if err := errors.Join(err, partial.Close()); err != nil {
		return err
	}
	return os.Rename(partial.Name(), file)
}

func (r *Registry) get(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(r.URL, "/")+"/"+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("status %d", response.StatusCode), response.Body.Close())
	}
	return response.Body, nil
}
