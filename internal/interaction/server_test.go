package interaction

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/search"
	"starling/internal/terminology"
	"starling/internal/validation"
)

const base = "http://test/fhir"

// server is the interactions on a database of its own.
type server struct {
	*Service
	t *testing.T
}

func newServer(t *testing.T) *server {
	t.Helper()
	r4 := definition.R4()
	planner := search.New(r4)
	store := openStore(t)
	return &server{t: t, Service: &Service{
		Store: store, Terminology: terminologyOf(t, store.(fhir.DomainStore), nil), Definitions: r4, Validator: validation.New(r4), Indexer: planner, Planner: planner, Served: planner.Served,
		Software: Software{Version: "test", Date: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	}}
}

// terminologyOf gives snapshots of what is stored when they are asked for.
func terminologyOf(t *testing.T, store fhir.DomainStore, remote terminology.Remote) func() *terminology.Terminology {
	specification := terminology.NewSpecification(definition.R4())
	var last *terminology.Terminology
	return func() *terminology.Terminology {
		read, err := store.Load(context.Background(), fhir.DomainValidation, fhir.DomainSnapshot{})
		if err != nil {
			t.Error(err)
		}
		last = terminology.New(specification, read.Resources, last, remote)
		return last
	}
}

// try carries out a request as package rest would; with changes the caller can
// set headers.
func (s *server) try(method, target, body string, changes ...func(*Request)) (*Response, error) {
	path, query, _ := strings.Cut(target, "?")
	request, err := s.Route(method, path, query)
	if err != nil {
		return nil, err
	}
	request.Base, request.Body = base, []byte(body)
	for _, change := range changes {
		change(request)
	}
	return s.Serve(context.Background(), request)
}

// do is try for what has to succeed with that status.
func (s *server) do(status Status, method, target, body string, changes ...func(*Request)) *Response {
	s.t.Helper()
	response, err := s.try(method, target, body, changes...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, target, err)
	}
	if response.Status != status {
		s.t.Fatalf("%s %s: %s, want %s", method, target, response.Status, status)
	}
	return response
}

// refuse is try for what has to fail.
func (s *server) refuse(kind fhir.Kind, code fhir.IssueType, method, target, body string, changes ...func(*Request)) *fhir.Error {
	s.t.Helper()
	_, err := s.try(method, target, body, changes...)
	if err == nil {
		s.t.Fatalf("%s %s was not refused", method, target)
	}
	failure := Failure(err)
	if failure.Kind != kind || failure.Issues[0].Code != code {
		s.t.Fatalf("%s %s: %s %v, want %s %s", method, target, StatusOf(failure.Kind), err, StatusOf(kind), code)
	}
	return failure
}

// bundle carries out what gives a Bundle; it must be valid and of that type.
func (s *server) bundle(kind, method, target, body string, changes ...func(*Request)) element.Node {
	s.t.Helper()
	root := valid(s.t, s.do(StatusOK, method, target, body, changes...).Body)
	if got := root.Get("type").Str(); got != kind {
		s.t.Fatalf("%s %s gives a Bundle of type %s, want %s", method, target, got, kind)
	}
	checkBundle(s.t, root)
	return root
}

// checkBundle checks the invariants of Bundle that concern what is generated
// (https://hl7.org/fhir/R4/bundle.html#invs), and those in it.
func checkBundle(t *testing.T, bundle element.Node) {
	t.Helper()
	kind := bundle.Get("type").Str()
	history, responses := kind == "history", strings.HasSuffix(kind, "-response")
	if bundle.Get("total").Exists() && kind != "searchset" && !history {
		t.Errorf("bdl-1: a %s has a total", kind)
	}
	seen := map[string]bool{}
	for entry := range bundle.Get("entry").Children() {
		has := func(name string) bool { return entry.Get(name).Exists() }
		if has("search") != (kind == "searchset") {
			t.Errorf("bdl-2: %s", entry.Raw())
		}
		if has("request") != history || has("response") != (history || responses) {
			t.Errorf("bdl-3, bdl-4: %s", entry.Raw())
		}
		if !has("resource") && !has("request") && !has("response") {
			t.Errorf("bdl-5: %s", entry.Raw())
		}
		fullURL := entry.Get("fullUrl").Str()
		if version := fullURL + entry.Get("resource").Get("meta").Get("versionId").Str(); fullURL != "" && !history {
			if seen[version] {
				t.Errorf("bdl-7: %s comes twice", version)
			}
			seen[version] = true
		}
		if strings.Contains(fullURL, "/_history/") {
			t.Errorf("bdl-8: %s", fullURL)
		}
		if !responses && !strings.Contains(fullURL, ":") {
			t.Errorf("no absolute fullUrl: %s", entry.Raw())
		}
		if inner := entry.Get("resource"); responses && inner.Get("resourceType").Str() == "Bundle" {
			checkBundle(t, inner)
		}
	}
}

// id gives the id in a location.
func id(location string) string {
	parts := strings.Split(strings.TrimPrefix(location, base+"/"), "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// json is the resource as a client reads it.
func (s *server) json(target string) element.Node {
	s.t.Helper()
	response := s.do(StatusOK, "GET", target, "")
	tree, err := element.Parse(response.Resource.AppendJSON(nil), element.DefaultLimits)
	if err != nil {
		s.t.Fatal(err)
	}
	return tree.Root()
}

// statuses lists the statuses of a response Bundle.
func statusesOf(bundle element.Node) []string {
	var out []string
	for entry := range bundle.Get("entry").Children() {
		status, _, _ := strings.Cut(entry.Get("response").Get("status").Str(), " ")
		out = append(out, status)
	}
	return out
}

func locationOf(bundle element.Node, entry int) string {
	return bundle.Get("entry").At(entry).Get("response").Get("location").Str()
}

// pageLink gives a link of a Bundle as a target relative to the base.
func pageLink(bundle element.Node, relation string) string {
	for link := range bundle.Get("link").Children() {
		if link.Get("relation").Str() == relation {
			return strings.TrimPrefix(strings.TrimPrefix(link.Get("url").Str(), base), "/")
		}
	}
	return ""
}

func handling(h Handling) func(*Request) { return func(r *Request) { r.Handling = h } }
func ifMatch(tag string) func(*Request)  { return func(r *Request) { r.IfMatch = tag } }
func ifNoneMatch(tag string) func(*Request) {
	return func(r *Request) { r.IfNoneMatch = tag }
}

func ifNoneExist(criteria string) func(*Request) {
	return func(r *Request) { r.IfNoneExist = criteria }
}

func identifier(value string) string {
	return "identifier=" + url.QueryEscape("http://ids|"+value)
}

func patient(id, value string) string {
	if id != "" {
		id = `"id":"` + id + `",`
	}
	return `{"resourceType":"Patient",` + id + `"identifier":[{"system":"http://ids","value":"` + value + `"}]}`
}
