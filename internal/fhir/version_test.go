package fhir

import "testing"

func TestCompareVersions(t *testing.T) {
	rising := []string{
		"", "1-alpha", "1", "1.2", "1.2.0", "1.9", "1.10-ballot", "1.10-ballot2", "1.10-ballot10", "1.10", "2.0.0-1", "4.0.1", "2018", "2018-08-12", "2018-10-01", "20190731", "R5",
	}
	for i, a := range rising {
		for k, b := range rising {
			if got := CompareVersions(a, b); got*(i-k) < 0 || (got == 0) != (i == k) {
				t.Errorf("%q, %q: %d", a, b, got)
			}
		}
	}
}
