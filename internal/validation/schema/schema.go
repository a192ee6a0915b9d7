package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// Validator checks resources. It compiles a type's schema on its first use, once,
// and is safe for concurrent use.
type Validator struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	types    sync.Map // by resource type: *jsonschema.Schema
}

// place is below what definitions have as their address; none of it is fetched.
const place = "https://starling.invalid/r4/"

// New makes a Validator.
func New() *Validator {
	v := &Validator{compiler: jsonschema.NewCompiler()}
	v.compiler.Draft = jsonschema.Draft6
	v.compiler.LoadURL = func(url string) (io.ReadCloser, error) {
		text, ok := definitions()[url[min(len(place), len(url)):]]
		if !ok {
			return nil, errors.New("no definition " + url)
		}
		return io.NopCloser(bytes.NewReader(text)), nil
	}
	return v
}

// Validate implements interaction.Validator: it gives an issue for each place
// where the resource is not as its type's schema says, and so for resources
// inside of it.
func (v *Validator) Validate(t fhir.ResourceType, root element.Node) []fhir.Issue {
	return v.validate(nil, t, root, string(t))
}

func (v *Validator) validate(issues []fhir.Issue, t fhir.ResourceType, root element.Node, path string) []fhir.Issue {
	schema, err := v.schema(t)
	if err != nil {
		return append(issues, fhir.Issue{
			Severity: fhir.SeverityError, Code: fhir.IssueNotSupported, Expression: path,
			Diagnostics: fmt.Sprintf("there is no resource type %q", t),
		})
	}
	document := json.NewDecoder(bytes.NewReader(root.Raw()))
	document.UseNumber()
	var value any
	if err := document.Decode(&value); err != nil {
		return append(issues, fhir.Issue{
			Severity: fhir.SeverityError, Code: fhir.IssueInvalid, Expression: path, Diagnostics: "the resource is no JSON",
		})
	}
	var failed *jsonschema.ValidationError
	if errors.As(schema.Validate(value), &failed) {
		issues = report(issues, failed, path)
	}
	return v.inside(issues, root, path)
}

// inside validates the resources that stand in an element.
func (v *Validator) inside(issues []fhir.Issue, n element.Node, path string) []fhir.Issue {
	i := -1
	for child := range n.Children() {
		at := path
		if n.Kind() == element.Array {
			i++
			at = fmt.Sprintf("%s[%d]", path, i)
		} else {
			at += "." + child.Name()
		}
		switch child.Kind() {
		case element.Object:
			if t := child.Get("resourceType"); t.Exists() && isResource(child, n) {
				issues = v.validate(issues, fhir.ResourceType(t.Str()), child, at)
				continue
			}
			issues = v.inside(issues, child, at)
		case element.Array:
			issues = v.inside(issues, child, at)
		}
		if len(issues) > maxIssues {
			return issues[:maxIssues]
		}
	}
	return issues
}

// isResource tells resources from elements that a client gave a resourceType:
// the schema of what they stand in refuses those.
func isResource(n, in element.Node) bool {
	name := n.Name()
	if in.Kind() == element.Array {
		name = in.Name()
	}
	return name == "contained" || name == "resource" || name == "outcome"
}

// maxIssues bounds the answer.
const maxIssues = 100

// schema gives a type's schema.
func (v *Validator) schema(t fhir.ResourceType) (*jsonschema.Schema, error) {
	if schema, ok := v.types.Load(t); ok {
		return schema.(*jsonschema.Schema), nil
	}
	if definitions()[string(t)] == nil {
		return nil, fmt.Errorf("no definition %s", t)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	schema, err := v.compiler.Compile(place + string(t))
	if err == nil {
		v.types.Store(t, schema)
	}
	return schema, err
}
