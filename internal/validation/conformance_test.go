package validation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
	"starling/internal/terminology"
	"starling/internal/validation"
)

// terms asks the server's terminology.
type terms struct{ *terminology.Terminology }

func (t terms) Member(valueSet, system, code string) validation.Membership {
	answer, _ := t.Terminology.Member(context.Background(), valueSet, system, code)
	switch answer {
	case terminology.Yes:
		return validation.Yes
	case terminology.No:
		return validation.No
	}
	return validation.Unknown
}

func (t terms) Defines(string, string) validation.Membership { return validation.Unknown }

// validatorCase is a case of the FHIR validator's own tests.
type validatorCase struct {
	Name, File, Module   string
	Expect               json.RawMessage
	Supporting, Profiles []string
	Packages             []string
	Profile              *struct {
		Source     string
		Expect     json.RawMessage
		Supporting []string
	}
}

type outcome struct {
	Issue []struct {
		Severity, Code string
		Expression     []string
	}
}

func (o *outcome) invalid() bool {
	for _, i := range o.Issue {
		if i.Severity == "error" || i.Severity == "fatal" {
			return true
		}
	}
	return false
}

// TestValidatorCases compares with the outcomes of the reference validator and
// prints what differs, for docs/conformance.md.
func TestValidatorCases(t *testing.T) {
	folder := os.Getenv("CONFORMANCE_DATA")
	if folder == "" {
		t.Skip("CONFORMANCE_DATA is not set")
	}
	folder = filepath.Join(folder, "validator")
	var manifest struct{ Cases []validatorCase }
	readJSON(t, filepath.Join(folder, "manifest.json"), &manifest)
	specification := terminology.NewSpecification(definition.R4())
	var all, tx tally
	for i := range manifest.Cases {
		c := &manifest.Cases[i]
		count := &all
		switch {
		case c.Module == "cdshooks":
			continue // no FHIR resources
		case strings.HasPrefix(c.Module, "tx"), needsTerminology[c.Name]:
			count = &tx
		}
		resources := c.resources(folder)
		v := validation.New(definition.R4()).With(resources).WithTerminology(terms{terminology.New(specification, resources, nil, nil)})
		v = v.WithQuestionnaires(c.questionnaires(folder))
		count.add(t, folder, c, "", c.Expect, v, nil)
		if c.Profile != nil {
			source := c.load(folder, c.Profile.Source)
			profiles := append(c.resources(folder, c.Profile.Supporting...), source...)
			if len(source) == 1 {
				url := parse(t, string(source[0].AppendJSON(nil))).Get("url").Str()
				with := v.With(profiles).WithTerminology(terms{terminology.New(specification, profiles, nil, nil)})
				count.add(t, folder, c, " with its profile", c.Profile.Expect, with, []string{url})
			}
		}
	}
	fmt.Printf("validator cases: %d of %d agree on error or no error, %d of %d in expressions and codes too\n", all.agree, all.total, all.same, all.total)
	fmt.Printf("validator cases that need terminologies: %d of %d agree\n", tx.agree, tx.total)
	if all.agree*100 < all.total*minAgreement {
		t.Errorf("%d of %d cases agree", all.agree, all.total)
	}
}

// needsTerminology are the other cases whose only errors concern codes of
// systems that are not in the specification.
var needsTerminology = needTerminology(`qr-vr us-docref.json shc-cvx shc-file package-versioning-wrapped-0.1.0-bad
	package-versioning-wrapped-0.2.0-bad package-versioning-wrapped2-0.2.0-bad uk-msg no.gastronet
	choice-gender-coding-async-qr
	additional-bindings-observation-2`)

func needTerminology(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// minAgreement is the least share of cases that agree, in percent.
const minAgreement = 90

type tally struct{ total, agree, same int }

func (count *tally) add(t *testing.T, folder string, c *validatorCase, what string, expect json.RawMessage, v *validation.Validator, profiles []string) {
	var want outcome
	var file string
	if json.Unmarshal(expect, &file) == nil {
		readJSON(t, filepath.Join(folder, "outcomes", file), &want)
	} else if err := json.Unmarshal(expect, &want); err != nil {
		return
	}
	text, err := os.ReadFile(filepath.Join(folder, "files", c.File))
	if err != nil {
		t.Error(err)
		return
	}
	count.total++
	var issues []fhir.Issue
	// A byte order mark is no part of JSON.
	tree, err := element.Parse(bytes.TrimPrefix(text, []byte("\ufeff")), element.DefaultLimits)
	if err != nil {
		issues = []fhir.Issue{{Severity: fhir.SeverityFatal, Code: fhir.IssueInvalid, Diagnostics: err.Error()}}
	} else {
		root := tree.Root()
		issues = v.ValidateProfile(fhir.ResourceType(root.Get("resourceType").Str()), root, profiles, "")
		if d, err := definition.ParseSearchParameter(root.Raw()); err == nil && root.Get("resourceType").Str() == "SearchParameter" {
			// As $validate of a server does.
			for _, issue := range search.New(definition.R4()).Check(d) {
				if issue.Code != fhir.IssueDuplicate && issue.Code != fhir.IssueNotSupported {
					issues = append(issues, issue)
				}
			}
		}
		issues = onlyErrors(issues)
	}
	if (len(issues) > 0) == want.invalid() {
		count.agree++
		if sameIssues(issues, &want) {
			count.same++
		}
		return
	}
	t.Logf("%s %s%s: reference invalid: %v %v; here: %.3v", c.Module, c.Name, what, want.invalid(), errorsOf(&want), issues)
}

func errorsOf(o *outcome) []string {
	var s []string
	for _, i := range o.Issue {
		if i.Severity == "error" || i.Severity == "fatal" {
			// FHIRPath has comments: entry[0].resource/*Patient/1*/.name.
			s = append(s, i.Code+" "+comment.ReplaceAllString(strings.Join(i.Expression, ","), ""))
		}
	}
	return s
}

var comment = regexp.MustCompile(`/\*.*?\*/`)

// sameIssues compares where errors are, and their codes.
func sameIssues(issues []fhir.Issue, want *outcome) bool {
	var got, expected []string
	for _, i := range issues {
		got = append(got, string(i.Code)+" "+i.Expression)
	}
	expected = errorsOf(want)
	slices.Sort(got)
	slices.Sort(expected)
	return slices.Equal(slices.Compact(got), slices.Compact(expected))
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(path, err)
	}
}

// resources are the definitions that a case brings along.
func (c *validatorCase) resources(folder string, more ...string) []*fhir.Resource {
	var resources []*fhir.Resource
	for _, name := range slices.Concat(c.Supporting, c.Profiles, more) {
		resources = append(resources, c.load(folder, name)...)
	}
	return resources
}

// load reads a JSON file of the suite; those in XML are not there for us.
func (c *validatorCase) load(folder, name string) []*fhir.Resource {
	for _, path := range []string{filepath.Join(folder, "files", name), filepath.Join(folder, "files", filepath.Dir(c.File), name)} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		tree, err := element.Parse(bytes.TrimPrefix(text, []byte("\ufeff")), element.DefaultLimits)
		if err != nil {
			return nil
		}
		content, err := element.Content(tree.Root())
		if err != nil {
			return nil
		}
		return []*fhir.Resource{{
			Key:    fhir.Key{Type: fhir.ResourceType(tree.Root().Get("resourceType").Str()), ID: "x"},
			Method: fhir.MethodPut, Content: content,
		}}
	}
	return nil
}

func (c *validatorCase) questionnaires(folder string) func(string) (element.Node, bool) {
	found := map[string]element.Node{}
	for _, resource := range c.resources(folder) {
		if resource.Type != "Questionnaire" {
			continue
		}
		tree, err := element.Parse(resource.AppendJSON(nil), element.DefaultLimits)
		if err == nil {
			found[tree.Root().Get("url").Str()] = tree.Root()
		}
	}
	return func(canonical string) (element.Node, bool) {
		url, _, _ := strings.Cut(canonical, "|")
		n, ok := found[url]
		return n, ok
	}
}
