package load

import (
	"strings"

	"starling/internal/fhir"
)

// best gives the package with the version wanted, or the latest of those that
// fit it; nil if there is none.
func best(of []*Package, wanted string) *Package {
	var found *Package
	for _, p := range of {
		if versionFits(p.Version, wanted) && (found == nil || fhir.CompareVersions(p.Version, found.Version) > 0) {
			found = p
		}
	}
	return found
}

// versionFits reports whether a version is the one wanted: that itself, one of
// those that "6.1.x" or "6.x" stands for, or any for "latest", "current" and
// "dev".
func versionFits(version, wanted string) bool {
	switch wanted {
	case "", "*", "latest", "current", "dev", version:
		return true
	}
	series := strings.TrimRight(wanted, "x*")
	return isSeries(wanted) && strings.HasSuffix(series, ".") && strings.HasPrefix(version, series)
}

// isSeries reports whether several versions may be the one wanted.
func isSeries(wanted string) bool {
	switch wanted {
	case "", "latest", "current", "dev":
		return true
	}
	return strings.HasSuffix(wanted, "x") || strings.HasSuffix(wanted, "*")
}
