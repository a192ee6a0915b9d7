package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"starling/test/program"
)

// query is one search with what it must give, worked out from the source files.
type query struct {
	search string // below the base: Type?parameters, or ?_type=…
	want   test
	// included, if any, gives what the page has besides matches.
	included func(matches []*item) []*item
	order    func(a, b *item) int // results must be in it
	count    int                  // of a page; 0: the server's largest
}

// The Synthea sample, and a few resources of kinds that it lacks, answer more
// than 120 queries with exactly the resources that plain walks over the source
// files give: every one, once, whatever the pages, by GET and by POST.
func TestSearchesOfSynthea(t *testing.T) {
	bundles := archive(t, "synthea/synthea-r4-smart.sample60.tar.xz")
	server := program.Start(t, "--data-dir", t.TempDir())
	h := &holdings{base: server.URL, byRef: map[string]*item{}}
	for _, name := range sortedNames(bundles) {
		h.load(t, server.URL, bundles[name])
	}
	h.load(t, server.URL, []byte(besides))
	queries := slices.Concat(h.plainQueries(), h.codedQueries(), h.joinedQueries(), h.resultQueries())
	if len(h.all) < 10_000 || len(queries) < 120 {
		t.Fatalf("%d resources, %d queries", len(h.all), len(queries))
	}
	empty := 0
	for n, q := range queries {
		t.Run(q.search, func(t *testing.T) {
			want := h.of(q.types(), q.want)
			if len(want) == 0 {
				empty++
			}
			h.check(t, server.URL, q, want)
			if n%4 == 0 && q.posts() {
				h.checkPost(t, server.URL, q, want)
			}
		})
	}
	// A table of queries that find nothing would show nothing.
	if empty*10 > len(queries) {
		t.Errorf("%d of %d queries find nothing", empty, len(queries))
	}
	t.Logf("%d resources, %d queries", len(h.all), len(queries))
}

func sortedNames(files map[string][]byte) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// load posts a transaction and keeps what it holds under the ids it was given.
func (h *holdings) load(t *testing.T, base string, bundle []byte) {
	t.Helper()
	answer := program.Want(t, http.StatusOK, "POST", base, bundle)
	sent, response := entries(t, bundle), entries(t, answer.Body)
	identities := map[string]string{}
	added := make([]*item, len(sent))
	for n, entry := range response {
		result := entry["response"].(map[string]any)
		match := location.FindStringSubmatch(result["location"].(string))
		if match == nil {
			t.Fatalf("entry %d: %v", n, result)
		}
		added[n] = &item{ref: match[1], typ: match[1][:strings.IndexByte(match[1], '/')], updated: result["lastModified"].(string)}
		if full, ok := sent[n]["fullUrl"].(string); ok {
			identities[full] = match[1]
		}
	}
	for n, entry := range sent {
		added[n].body = rewrite(entry["resource"], identities).(map[string]any)
		h.byRef[added[n].ref] = added[n]
	}
	h.all = append(h.all, added...)
}

// types gives the types the query is for, none for all.
func (q query) types() []string {
	path, text, _ := strings.Cut(q.search, "?")
	if path == "" {
		values, _ := url.ParseQuery(text)
		return strings.Split(values.Get("_type"), ",")
	}
	typ := path[strings.LastIndexByte(path, '/')+1:]
	if typ == "*" || typ == "$everything" {
		return nil
	}
	return []string{typ}
}

func (q query) posts() bool {
	return !strings.Contains(q.search, "$") || strings.Contains(q.search, "?")
}

type page struct {
	Total *int `json:"total"`
	Link  []struct{ Relation, URL string }
	Entry []struct {
		Resource json.RawMessage
		Search   struct{ Mode string }
	}
}

// check reads all pages and compares matches, included resources, order and total.
func (h *holdings) check(t *testing.T, base string, q query, want []*item) {
	t.Helper()
	count := q.count
	if count == 0 {
		count = 1000
	}
	at := base + "/" + q.search
	if strings.HasPrefix(q.search, "?") {
		at = base + q.search
	}
	everything := strings.Contains(q.search, "$everything")
	separator := "&"
	if !strings.Contains(q.search, "?") {
		separator = "?"
	}
	at += separator + "_count=" + strconv.Itoa(count)
	if !everything {
		at += "&_total=accurate"
	}
	var matches, included []*item
	for pages := 0; at != ""; pages++ {
		p := h.page(t, program.Want(t, http.StatusOK, "GET", at, nil).Body)
		if p.Total != nil && *p.Total != len(want) {
			t.Fatalf("total %d, want %d", *p.Total, len(want))
		} else if p.Total == nil && !everything {
			t.Fatal("no total")
		}
		m, i := h.divide(t, p)
		if len(m) > count {
			t.Fatalf("%d matches on a page of %d", len(m), count)
		}
		if q.included != nil {
			same(t, "included", i, h.without(q.included(m), m))
		} else {
			included = append(included, i...)
		}
		matches = append(matches, m...)
		if pages > len(want)/count+1 {
			t.Fatal("the pages do not end")
		}
		at = next(p)
	}
	same(t, "matches", matches, want)
	if q.included == nil && !everything && len(included) > 0 {
		t.Errorf("%d resources included that nobody asked for", len(included))
	}
	if q.order != nil && !slices.IsSortedFunc(matches, q.order) {
		t.Error("not in order")
	}
}

func (h *holdings) checkPost(t *testing.T, base string, q query, want []*item) {
	t.Helper()
	path, form, _ := strings.Cut(q.search, "?")
	at := base + "/" + path + "/_search"
	if path == "" {
		at = base + "/_search"
	}
	// A vertical bar must be encoded in a form as in a link.
	answer := program.Want(t, http.StatusOK, "POST", at, []byte(form+"&_summary=count"),
		"Content-Type", "application/x-www-form-urlencoded")
	if p := h.page(t, answer.Body); p.Total == nil || *p.Total != len(want) || len(p.Entry) != 0 {
		t.Errorf("POST: %.300s, want a total of %d", answer.Body, len(want))
	}
}

func (h *holdings) page(t *testing.T, body []byte) page {
	t.Helper()
	var p page
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// divide gives the matches and the included resources of a page.
func (h *holdings) divide(t *testing.T, p page) (matches, included []*item) {
	t.Helper()
	for _, entry := range p.Entry {
		var head struct{ ResourceType, ID string }
		if err := json.Unmarshal(entry.Resource, &head); err != nil {
			t.Fatal(err)
		}
		found := h.byRef[head.ResourceType+"/"+head.ID]
		switch {
		case found == nil:
			t.Fatalf("%s/%s (%s) was never sent: %.300s", head.ResourceType, head.ID, entry.Search.Mode, entry.Resource)
		case entry.Search.Mode == "match":
			matches = append(matches, found)
		case entry.Search.Mode == "include":
			included = append(included, found)
		default:
			t.Fatalf("mode %q: %.300s", entry.Search.Mode, entry.Resource)
		}
	}
	return matches, included
}

func next(p page) string {
	for _, link := range p.Link {
		if link.Relation == "next" {
			return link.URL
		}
	}
	return ""
}

// without gives each item once that is not in the others.
func (h *holdings) without(items, others []*item) []*item {
	seen := map[*item]bool{}
	for _, o := range others {
		seen[o] = true
	}
	var rest []*item
	for _, i := range items {
		if !seen[i] {
			seen[i] = true
			rest = append(rest, i)
		}
	}
	return rest
}

func same(t *testing.T, what string, got, want []*item) {
	t.Helper()
	wanted := map[*item]bool{}
	for _, w := range want {
		wanted[w] = true
	}
	seen := map[*item]bool{}
	for _, g := range got {
		if seen[g] {
			t.Errorf("%s: %s is shown twice", what, g.ref)
		}
		seen[g] = true
		if !wanted[g] {
			t.Fatalf("%s: %d found, want %d; %s should not be: %.1500v", what, len(got), len(want), g.ref, g.body)
		}
	}
	for _, w := range want {
		if !seen[w] {
			t.Fatalf("%s: %d found, want %d; %s is missing: %.1500v", what, len(got), len(want), w.ref, w.body)
		}
	}
}
