package fhir

import (
	"cmp"
	"strings"
)

// CompareVersions orders the versions of canonical resources and packages,
// which are texts of any form (https://hl7.org/fhir/R4/resource.html#canonical):
// numbers by their value, so 1.10 is after 1.9; all else as text; what has a
// label before the same without, as https://semver.org does: 4.0.0-ballot is
// before 4.0.0. No version is before any.
func CompareVersions(a, b string) int {
	numbersA, labelA := cutLabel(a)
	numbersB, labelB := cutLabel(b)
	order := compareVersionParts(numbersA, numbersB)
	if order == 0 && (labelA == "") != (labelB == "") {
		return cmp.Compare(len(labelB), len(labelA))
	}
	return cmp.Or(order, compareVersionParts(labelA, labelB))
}

// cutLabel cuts off a label: what begins with a letter after a hyphen. The
// hyphens of a date begin none.
func cutLabel(version string) (numbers, label string) {
	for i := 1; i < len(version)-1; i++ {
		if letter := version[i+1] | 0x20; version[i] == '-' && letter >= 'a' && letter <= 'z' {
			return version[:i], version[i:]
		}
	}
	return version, ""
}

func compareVersionParts(a, b string) int {
	for a != "" && b != "" {
		x, restA := versionPart(a)
		y, restB := versionPart(b)
		if isNumber(x) && isNumber(y) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if order := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); order != 0 {
				return order
			}
		} else if x != y {
			return strings.Compare(x, y)
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

func isNumber(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// versionPart cuts off the digits, or what is none, at the front.
func versionPart(s string) (part, rest string) {
	end := strings.IndexFunc(s, func(r rune) bool { return (r >= '0' && r <= '9') != isNumber(s) })
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}
