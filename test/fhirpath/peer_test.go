package fhirpath

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// question is an expression and the resource, as JSON, that it is evaluated on.
type question struct{ resource, expression string }

// answer is the result of an expression as JSON values, or why there is none.
type answer struct {
	Result []any  `json:"result"`
	Error  string `json:"error"`
}

// install installs the npm package, and skips the test where it is not to be
// had.
func install(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed here: the comparison with the npm package fhirpath needs it", tool)
		}
	}
	command := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
	if out, err := command.CombinedOutput(); err != nil {
		for _, offline := range []string{"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH"} {
			if strings.Contains(string(out), offline) {
				t.Skipf("the npm registry does not answer from here (%s), so fhirpath cannot be installed", offline)
			}
		}
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
}

// askPeer gives the answers of the npm package.
func askPeer(t *testing.T, questions []question) []answer {
	t.Helper()
	var input bytes.Buffer
	encoder := json.NewEncoder(&input)
	resource := ""
	for _, q := range questions {
		if q.resource != resource {
			resource = q.resource
			if err := encoder.Encode(map[string]json.RawMessage{"resource": json.RawMessage(resource)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := encoder.Encode(map[string]string{"expression": q.expression}); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command("node", "evaluate.mjs")
	command.Stdin = &input
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.Bytes())
	}
	answers := make([]answer, 0, len(questions))
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	return answers
}
