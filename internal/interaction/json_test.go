package interaction

import "testing"

// TestAppendStringKeepsDocumentsValid: text from a URL may hold what FHIR's
// strings may not.
func TestAppendStringKeepsDocumentsValid(t *testing.T) {
	if got := string(appendString(nil, "a\x00b\xffc\x01")); got != `"a`+"\ufffd"+`b`+"\ufffd"+`c\u0001"` {
		t.Errorf("%s", got)
	}
}
