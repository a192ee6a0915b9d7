package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/interaction"
)

// packagePlan says what is to be written so that the store has some resources.
type packagePlan struct {
	writes    []packageWrite
	unchanged []*packageResource
}

// packageWrite stores a resource under an id: version is the one it replaces, ""
// for a new resource.
type packageWrite struct {
	resource *packageResource
	id       string
	version  string
}

// held is a resource of the store that has the canonical of one to be loaded.
type held struct {
	id, versionID, version string
	content                fhir.Content
}

// plan compares resources with what is stored. A resource is the stored one that has its
// canonical with the same version; if there is none, it is stored beside
// those of other versions, under its own id if nothing else has that.
func (l *packages) plan(ctx context.Context, resources []*packageResource) (*packagePlan, error) {
	stored, err := l.held(ctx, resources)
	if err != nil {
		return nil, err
	}
	plan := &packagePlan{}
	taken := map[fhir.Key]bool{}
	for _, r := range resources {
		same := r.among(stored[canonical{r.key.Type, r.url}])
		switch {
		case same == nil:
			continue
		case bytes.Equal(same.content.Meta, r.content.Meta) && bytes.Equal(same.content.Body, r.content.Body):
			plan.unchanged = append(plan.unchanged, r)
		default:
			plan.writes = append(plan.writes, packageWrite{r, same.id, same.versionID})
		}
		taken[fhir.Key{Type: r.key.Type, ID: same.id}] = true
	}
	for _, r := range resources {
		if r.among(stored[canonical{r.key.Type, r.url}]) != nil {
			continue
		}
		id, err := l.freeID(ctx, r, taken)
		if err != nil {
			return nil, err
		}
		taken[fhir.Key{Type: r.key.Type, ID: id}] = true
		plan.writes = append(plan.writes, packageWrite{resource: r, id: id})
	}
	return plan, nil
}

// among gives the resource that is this one, nil if there is none: of several the one
// that has its id. Without a canonical the id is all there is to know it by.
func (r *packageResource) among(all []held) *held {
	var same *held
	for i := range all {
		h := &all[i]
		own := h.id == r.key.ID
		if h.version == r.version && (own || r.url != "" && same == nil) {
			same = h
		}
	}
	return same
}

// errOvertaken is that of a plan whose resources another writer has stored since it
// looked for them.
var errOvertaken = errors.New("other loads keep storing what this one has")

// freeID chooses an id that no current resource has. One that the very resource has by
// now is none: others stored it after it was looked for.
func (l *packages) freeID(ctx context.Context, r *packageResource, taken map[fhir.Key]bool) (string, error) {
	for _, id := range r.ids() {
		key := fhir.Key{Type: r.key.Type, ID: id}
		if taken[key] {
			continue
		}
		current, err := l.Store.Read(ctx, key)
		var failure *fhir.Error
		switch {
		case err == nil && current.Deleted():
			return id, nil
		case err == nil && r.isStoredAs(current):
			return "", errOvertaken
		case err == nil:
		case errors.As(err, &failure) && failure.Kind == fhir.KindNotFound:
			return id, nil
		default:
			return "", err
		}
	}
	return "", fmt.Errorf("%s: other resources have all ids that %s could be stored under", r.where, r.key)
}

// isStoredAs reports whether a stored resource has the canonical and the version of
// this one.
func (r *packageResource) isStoredAs(current *fhir.Resource) bool {
	root, err := element.ParseStored(current)
	return err == nil && r.url != "" && root.Get("url").Str() == r.url && root.Get("version").Str() == r.version
}

// canonical is a canonical without version, of a type.
type canonical struct {
	resourceType fhir.ResourceType
	url          string
}

// searchWidth is how many canonicals one search looks for.
const searchWidth = 50

// held finds what is stored under the canonicals of resources.
func (l *packages) held(ctx context.Context, resources []*packageResource) (map[canonical][]held, error) {
	found := map[canonical][]held{}
	urls := map[fhir.ResourceType][]string{}
	for _, r := range resources {
		switch of := (canonical{r.key.Type, r.url}); {
		case r.url == "":
			h, err := l.heldUnder(ctx, r)
			if err != nil {
				return nil, err
			}
			found[of] = append(found[of], h...)
		case found[of] == nil:
			found[of] = []held{}
			urls[r.key.Type] = append(urls[r.key.Type], r.url)
		}
	}
	for resourceType, all := range urls {
		for len(all) > 0 {
			n := min(len(all), searchWidth)
			if err := l.search(ctx, resourceType, all[:n], found); err != nil {
				return nil, err
			}
			all = all[n:]
		}
	}
	return found, nil
}

// escaper makes a value of a search parameter of any text.
var escaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `|`, `\|`, `$`, `\$`)

func (l *packages) search(ctx context.Context, resourceType fhir.ResourceType, urls []string, found map[canonical][]held) error {
	values := make([]string, len(urls))
	for i, text := range urls {
		values[i] = escaper.Replace(text)
	}
	query := url.Values{"url": {strings.Join(values, ",")}, "_count": {"1000"}}
	response, err := l.Service.Serve(ctx, &interaction.Request{
		Interaction: interaction.SearchType, Type: resourceType, Query: query, RawQuery: query.Encode(),
		Base: l.Base, Handling: interaction.HandlingStrict,
	})
	if err != nil {
		return err
	}
	tree, err := element.Parse(response.Body, limits)
	if err != nil {
		return err
	}
	for link := range tree.Root().Get("link").Children() {
		if link.Get("relation").Str() == "next" {
			return fmt.Errorf("more than 1,000 resources of type %s have these canonicals: %s", resourceType, strings.Join(urls, ", "))
		}
	}
	for entry := range tree.Root().Get("entry").Children() {
		resource := entry.Get("resource")
		if resource.Get("resourceType").Str() != string(resourceType) {
			continue
		}
		h := held{id: resource.Get("id").Str(), versionID: resource.Get("meta").Get("versionId").Str(), version: resource.Get("version").Str()}
		if h.content, err = element.Content(resource); err != nil {
			return err
		}
		of := canonical{resourceType, resource.Get("url").Str()}
		found[of] = append(found[of], h)
	}
	return nil
}

// heldUnder finds what is stored under the id of a resource without canonical.
func (l *packages) heldUnder(ctx context.Context, r *packageResource) ([]held, error) {
	if !fhir.ValidID(r.key.ID) {
		return nil, nil
	}
	current, err := l.Store.Read(ctx, r.key)
	var failure *fhir.Error
	switch {
	case errors.As(err, &failure) && failure.Kind == fhir.KindNotFound, err == nil && current.Deleted():
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []held{{id: r.key.ID, versionID: fmt.Sprint(current.VersionID), version: r.version, content: current.Content}}, nil
}

// request is the transaction of the writes. Each holds only if nobody else wrote
// the resource meanwhile.
func (p *packagePlan) request() *interaction.Request {
	body := []byte(`{"resourceType":"Bundle","type":"transaction","entry":[`)
	for i, w := range p.writes {
		if i > 0 {
			body = append(body, ',')
		}
		body = w.resource.appendJSON(append(body, `{"resource":`...), w.id)
		body = fmt.Appendf(body, `,"request":{"method":"PUT","url":"%s/%s",`, w.resource.key.Type, w.id)
		if w.version == "" {
			body = append(body, `"ifNoneMatch":"*"}}`...)
		} else {
			body = fmt.Appendf(body, `"ifMatch":"W/\"%s\""}}`, w.version)
		}
	}
	return &interaction.Request{Interaction: interaction.Batch, Body: append(body, `]}`...)}
}
