package interaction

import (
	"errors"
	"strings"
	"testing"

	"starling/internal/fhir"
)

// What cannot be read is named, and is never the server's own fault.
func TestParseQuery(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a=1&b=%20&&c": "", strings.Repeat("a&", mostParameters-1): "",
		strings.Repeat("a&", mostParameters): "too many",
		"a=1&name=%zz&b=2":                   `"name=%zz" is not percent-encoded`,
		"a=1&na%me=x":                        `"na%me=x" is not percent-encoded`,
		"a=1&name=x;y":                       `"name=x;y" has a semicolon`,
	} {
		query, err := ParseQuery(text)
		var failure *fhir.Error
		switch {
		case want == "" && (err != nil || query == nil):
			t.Errorf("%.20s: %v", text, err)
		case want != "" && (!errors.As(err, &failure) || failure.Kind != fhir.KindInvalid || !strings.Contains(failure.Issues[0].Diagnostics, want)):
			t.Errorf("%.20s: %v, want %s", text, err, want)
		}
	}
}
