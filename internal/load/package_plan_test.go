package load

import (
	"context"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

const overtakenProfile = `{"resourceType":"StructureDefinition","id":"p","url":"http://example.org/p","version":"1","name":"P"}`

// overtaken is a store where another load stores the profile between the first search
// for it and what follows.
type overtaken struct {
	resource *fhir.Resource
	searches int
	writes   int
}

func (o *overtaken) Serve(_ context.Context, request *interaction.Request) (*interaction.Response, error) {
	if request.Interaction != interaction.SearchType {
		o.writes++
		return &interaction.Response{Body: []byte(`{"resourceType":"Bundle"}`)}, nil
	}
	if o.searches++; o.searches == 1 {
		return &interaction.Response{Body: []byte(`{"resourceType":"Bundle"}`)}, nil
	}
	return &interaction.Response{Body: append(o.resource.AppendJSON([]byte(`{"resourceType":"Bundle","entry":[{"resource":`)), `}]}`...)}, nil
}

func (o *overtaken) Read(_ context.Context, key fhir.Key) (*fhir.Resource, error) {
	if key != o.resource.Key {
		return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotFound, "There is none.")
	}
	return o.resource, nil
}

// Two loads of a package at once store its resources once: one that is overtaken between
// its search for a resource and its choice of an id does not store it beside the other's.
func TestOvertakenPlan(t *testing.T) {
	tree, err := element.Parse([]byte(overtakenProfile), limits)
	if err != nil {
		t.Fatal(err)
	}
	content, err := element.Content(tree.Root())
	if err != nil {
		t.Fatal(err)
	}
	key := fhir.Key{Type: "StructureDefinition", ID: "p"}
	store := &overtaken{resource: &fhir.Resource{Key: key, VersionID: 1, Method: fhir.MethodPut, Content: content}}
	p := &Package{Path: "p.tgz", Name: "p", Version: "1"}
	l := packages{run: &run{Loader: &Loader{Service: store, Store: store, Unchecked: store}}, results: map[*Package]*LoadedPackage{p: {}}}
	resource := &packageResource{of: p, key: key, url: "http://example.org/p", version: "1", content: content}
	if err := l.store(context.Background(), []*packageResource{resource}); err != nil {
		t.Fatal(err)
	}
	if store.writes != 0 || l.results[p].Unchanged != 1 {
		t.Errorf("%d writes, %+v", store.writes, l.results[p])
	}
}
