// Package client drives the server with the npm client fhir-kit-client, as an
// application would.
package client

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"starling/test/program"
)

func TestClient(t *testing.T) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed here: the test with fhir-kit-client needs it", tool)
		}
	}
	install := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
	if out, err := install.CombinedOutput(); err != nil {
		for _, offline := range []string{"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH"} {
			if strings.Contains(string(out), offline) {
				t.Skipf("the npm registry does not answer from here (%s), so fhir-kit-client cannot be installed", offline)
			}
		}
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	server := program.Start(t, "--data-dir", t.TempDir())
	test := exec.Command("node", "--test", "client.test.js")
	test.Env = append(os.Environ(), "FHIR_BASE="+server.URL, "NODE_NO_WARNINGS=1")
	out, err := test.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
