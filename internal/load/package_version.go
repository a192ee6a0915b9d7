package load

import (
	"cmp"
	"strconv"
	"strings"
)

// best gives the package with the version wanted, or the latest of those that
// fit it; nil if there is none.
func best(of []*Package, wanted string) *Package {
	var found *Package
	for _, p := range of {
		if versionFits(p.Version, wanted) && (found == nil || compareVersions(p.Version, found.Version) > 0) {
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

// compareVersions orders versions as https://semver.org does: numbers by their value, and
// what has a label before the same without.
func compareVersions(a, b string) int {
	numbersA, labelA, _ := strings.Cut(a, "-")
	numbersB, labelB, _ := strings.Cut(b, "-")
	return cmp.Or(compareParts(numbersA, numbersB), cmp.Compare(unlabelled(labelA), unlabelled(labelB)), compareParts(labelA, labelB))
}

func unlabelled(label string) int {
	if label == "" {
		return 1
	}
	return 0
}

func compareParts(a, b string) int {
	for a != "" || b != "" {
		var partA, partB string
		partA, a, _ = strings.Cut(a, ".")
		partB, b, _ = strings.Cut(b, ".")
		x, errX := strconv.Atoi(partA)
		y, errY := strconv.Atoi(partB)
		order := strings.Compare(partA, partB)
		if errX == nil && errY == nil {
			order = cmp.Compare(x, y)
		}
		if order != 0 {
			return order
		}
	}
	return 0
}
