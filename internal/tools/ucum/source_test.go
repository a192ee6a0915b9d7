package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testUnits = `// Generated
export interface Unit {
  value: string;
}

export const units: Record<string, Unit> = {
  "m": {
    CODE: "M",
    isMetric: true,
    isBaseUnit: true,
    dimension: { L: 1 },
    name: "meter",
    value: {
      Unit: "1",
      UNIT: "1",
      value: "1"
    }
  },
  "[degF]": {
    isMetric: false,
    isSpecial: true,
    value: {
      Unit: "degf(5 K/9)",
      UNIT: "DEGF(5 K/9)",
      value: "undefined",
      function: {
        name: "degF",
        value: "5",
        Unit: "K/9"
      }
    }
  },
  "'": {
    isMetric: false,
    value: {
      Unit: "deg/60",
      UNIT: "DEG/60",
      value: "1"
    }
  }
};
`

const testPrefixes = `export const prefixes: Record<string, Prefix> = {
  "y": {
    CODE: "YO",
    value: 1e-24
  }
};
`

func TestReadSource(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"units.ts": testUnits, "prefixes.ts": testPrefixes} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := readSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.prefixes["y"].Value; got != "1e-24" {
		t.Errorf("prefix y: %s", got)
	}
	for code, want := range map[string]string{
		"m":      "unit\tm\tbase\tmetric\t1\t1\n",
		"[degF]": "unit\t[degF]\tdegF\t-\t5\tK/9\n",
		"'":      "unit\t'\tratio\t-\t1\tdeg/60\n",
	} {
		if got, err := s.units[code].line(code); err != nil || got != want {
			t.Errorf("%s: got %q, %v", code, got, err)
		}
	}
	if _, err := s.text(); err == nil || !strings.Contains(err.Error(), "is no arbitrary unit") {
		t.Errorf("a table without the arbitrary units: %v", err)
	}
}

func TestJSONOfAnythingElse(t *testing.T) {
	if text, err := jsonOf("export const x = 1;"); err == nil {
		t.Errorf("got %q", text)
	}
}
