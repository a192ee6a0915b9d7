package fhirpath

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// suiteFloor is how many cases of the official suite pass.
const suiteFloor = 931

type suiteCase struct {
	Name       string `xml:"name,attr"`
	Input      string `xml:"inputfile,attr"`
	Mode       string `xml:"mode,attr"`
	Predicate  bool   `xml:"predicate,attr"`
	Unordered  string `xml:"ordered,attr"`
	Expression struct {
		Text    string `xml:",chardata"`
		Invalid string `xml:"invalid,attr"`
	} `xml:"expression"`
	Outputs []struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	} `xml:"output"`
}

// TestOfficialSuite runs the FHIRPath R4 suite of HL7
// (github.com/FHIR/fhir-test-cases, r4/fhirpath) if CONFORMANCE_DATA names a
// folder that has it.
func TestOfficialSuite(t *testing.T) {
	folder := os.Getenv("CONFORMANCE_DATA")
	if folder == "" {
		t.Skip("CONFORMANCE_DATA is not set")
	}
	folder = filepath.Join(folder, "fhirpath")
	data, err := os.ReadFile(filepath.Join(folder, "tests-fhir-r4.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Groups []struct {
			Cases []suiteCase `xml:"test"`
		} `xml:"group"`
	}
	if err := xml.Unmarshal(data, &suite); err != nil {
		t.Fatal(err)
	}
	passed, total := 0, 0
	for _, group := range suite.Groups {
		for _, c := range group.Cases {
			total++
			if why := c.run(t, folder); why == "" {
				passed++
			} else {
				t.Logf("%s: %s: %s", c.Name, strings.TrimSpace(c.Expression.Text), why)
			}
		}
	}
	t.Logf("fhirpath: %d passed of %d", passed, total)
	if passed < suiteFloor {
		t.Errorf("%d cases passed; at least %d did before", passed, suiteFloor)
	}
}

// run gives "" if the case passes, else why it does not.
func (c *suiteCase) run(t *testing.T, folder string) string {
	focus := Item{}
	if c.Input != "" {
		focus = suiteInput(t, filepath.Join(folder, "input", strings.TrimSuffix(c.Input, filepath.Ext(c.Input))+".json"))
	}
	result, err := c.evaluate(focus)
	if c.Expression.Invalid != "" {
		if err == nil {
			return "accepted, but is invalid: " + c.Expression.Invalid
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if c.Predicate {
		result = Collection{Value(len(result) > 0)}
	}
	return c.compare(result)
}

func (c *suiteCase) evaluate(focus Item) (Collection, error) {
	e, err := Compile(definition.R4(), c.Expression.Text)
	if err != nil {
		return nil, err
	}
	if c.Expression.Invalid == "semantic" {
		if err := e.Check(fhir.ResourceType(focus.Type())); err != nil {
			return nil, err
		}
	}
	return e.Evaluate(nil, focus)
}

func (c *suiteCase) compare(result Collection) string {
	var found, wanted []string
	for _, item := range result {
		found = append(found, item.describe()+" "+item.suiteText())
	}
	for _, o := range c.Outputs {
		wanted = append(wanted, o.Type+" "+o.Text)
	}
	mismatch := "got [" + strings.Join(found, ", ") + "], want [" + strings.Join(wanted, ", ") + "]"
	if len(result) != len(c.Outputs) {
		return mismatch
	}
	for i, item := range result {
		if !sameOutput(item, c.Outputs[i].Type, strings.TrimPrefix(c.Outputs[i].Text, "@")) {
			return mismatch
		}
	}
	return ""
}

func (i Item) suiteText() string {
	if q := i.Quantity(); q != nil {
		return q.String()
	}
	return i.Text()
}

func sameOutput(item Item, typ, text string) bool {
	name := strings.TrimPrefix(item.Type(), "System.")
	if typ != "" && !strings.EqualFold(name, typ) && (typ != "string" || name != "String") {
		// The suite writes the result of 2 / 2 as a decimal.
		if typ != "decimal" && typ != "integer" || item.Decimal() == nil {
			return false
		}
	}
	got := item.suiteText()
	if got == text || strings.TrimPrefix(got, "T") == strings.TrimPrefix(text, "T") {
		return true
	}
	d, _, err := apd.NewFromString(text)
	return err == nil && item.Decimal() != nil && item.Decimal().Cmp(d) == 0
}

var suiteInputs = map[string]Item{}

func suiteInput(t *testing.T, path string) Item {
	t.Helper()
	if item, ok := suiteInputs[path]; ok {
		return item
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := element.Parse(data, element.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	item := Root(definition.R4(), fhir.ResourceType(tree.Root().Get("resourceType").Str()), tree.Root())
	suiteInputs[path] = item
	return item
}
