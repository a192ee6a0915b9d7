package validation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/validation/schema"
)

// replacements are put in the place of values at random.
var replacements = []string{
	`""`, `" "`, `"a b"`, `0`, `-1`, `1.5`, `1e2`, `true`, `null`, `[]`, `{}`, `["x"]`, `[null]`, `{"id":"a"}`, `{"x":1}`, `"2020-13-01"`,
	`"2020"`, `"é"`, `"\n"`, `"x "`, `"http://x y"`, `"12:00:00"`, `"2020-01-01T00:00:00Z"`, `4294967296`, `[{"text":"x"}]`, `{"text":"x"}`,
}

// TestSchemaIsNoStricter: what the JSON Schema of R4 refuses, full validation
// refuses, too. Each example is changed at random, once where an element stands
// as the definitions have it, and a dozen times anyhow.
func TestSchemaIsNoStricter(t *testing.T) {
	files := corpus(t, examples)
	names := make([]string, 0, len(files))
	for name := range files {
		if rightlyRefused[name] == "" && len(files[name]) < 60_000 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	random := rand.New(rand.NewPCG(1, 2))
	oracle := schema.New()
	var changed, refused, missed int
	check := func(name, kind string, text []byte) {
		tree, err := element.Parse(text, element.DefaultLimits)
		if err != nil {
			return // no JSON, whoever reads it
		}
		root := tree.Root()
		of := fhir.ResourceType(root.Get("resourceType").Str())
		changed++
		broken := slices.DeleteFunc(oracle.Validate(of, root), tooStrict)
		if len(broken) == 0 {
			return
		}
		refused++
		if !hasErrors(validator().Validate(of, root)) {
			if missed++; missed < 20 {
				t.Errorf("%s, %s: full validation accepts what the schema refuses: %+v", name, kind, broken[0])
			}
		}
	}
	for _, name := range names {
		text := files[name]
		found := mutations(t, text)
		random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
		for _, m := range found[:min(6, len(found))] {
			check(name, m.kind+" "+m.path, m.text)
		}
		all := below(parse(t, string(text)), nil)
		for range 12 {
			n, with := all[random.IntN(len(all))], replacements[random.IntN(len(replacements))]
			start, end := n.Span()
			check(name, element.Path(n)+" is "+with, slices.Concat(text[:start], []byte(with), text[end:]))
		}
	}
	fmt.Printf("mutated examples: %d, of which the JSON Schema refuses %d; full validation finds %d of those\n", changed, refused, refused-missed)
	if refused < 5000 {
		t.Errorf("only %d were refused", refused)
	}
}

// tooStrict tells the one fault of the schema: it lists the codes of
// Expression.language, whose binding is extensible.
func tooStrict(i fhir.Issue) bool {
	return i.Code == fhir.IssueCodeInvalid && strings.HasSuffix(i.Expression, ".language") && strings.Contains(i.Diagnostics, "text/fhirpath")
}

func below(n element.Node, all []element.Node) []element.Node {
	for child := range n.Children() {
		all = below(child, append(all, child))
	}
	return all
}
