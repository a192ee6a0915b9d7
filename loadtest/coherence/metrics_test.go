package coherence

import "testing"

func TestSumOf(t *testing.T) {
	const text = "# HELP a A.\n# TYPE a counter\na{x=\"1\"} 2\na{x=\"2\"} 3.5\nab 7\nb 1e3\n"
	for name, want := range map[string]float64{"a": 5.5, `a{x="2"}`: 3.5, "ab": 7, "b": 1000, "c": -1, `a{x="3"}`: -1} {
		got, found := sumOf(text, name)
		if !found {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
