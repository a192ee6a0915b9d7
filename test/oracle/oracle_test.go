package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
	"starling/test/program"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// each is how many resources of a type there are.
const each = 12

// served says whether a parameter is not one of those that docs/search.md names as
// refused.
func served(_, code string) bool { return code != "phonetic" }

// seed makes the random resources and searches; ORACLE_SEED and ORACLE_ROUNDS have
// others and more.
func seed(t *testing.T) (first, rounds uint64, most int) {
	number := func(name string, otherwise uint64) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return number("ORACLE_SEED", 1), number("ORACLE_ROUNDS", 1), int(number("ORACLE_MOST", 40))
}

// populate gives the server random resources of every type: some in two versions,
// some deleted again, and a code system with its value sets.
func populate(t *testing.T, base string, random *rand.Rand) *world {
	w := newWorld(base)
	m := &maker{random: random, base: base, ids: map[string][]string{}}
	var types []string
	for _, typ := range registry.ResourceTypes() {
		if typ == "Parameters" || typ == "Binary" {
			continue
		}
		types = append(types, string(typ))
		for i := range each {
			id := fmt.Sprintf("r%d", i) // one that other types have, too
			if i > 2 {
				id = fmt.Sprintf("%s-%d", strings.ToLower(string(typ)), i)
			}
			m.ids[string(typ)] = append(m.ids[string(typ)], id)
		}
	}
	var first, second []string
	for _, typ := range types {
		for i, id := range m.ids[typ] {
			if i%3 == 0 {
				first = append(first, m.resource(typ, id))
			}
			second = append(second, m.resource(typ, id))
		}
		first = append(first, m.resource(typ, "gone"))
	}
	second = append(second, treeText())
	for name := range sets {
		second = append(second, setText(name))
	}
	put(t, base, first, func(string, time.Time) {})
	put(t, base, second, func(text string, updated time.Time) { w.add(t, text, updated) })
	for _, typ := range types {
		if answer, err := program.Do("DELETE", base+"/"+typ+"/gone", nil); err != nil || answer.Status >= 300 {
			t.Fatalf("%v %s", err, answer.Body)
		}
	}
	return w
}

func put(t *testing.T, base string, texts []string, stored func(text string, updated time.Time)) {
	t.Helper()
	for some := range slices.Chunk(texts, 200) {
		var b strings.Builder
		b.WriteString(`{"resourceType":"Bundle","type":"batch","entry":[`)
		for i, text := range some {
			var head struct{ ResourceType, ID string }
			if err := json.Unmarshal([]byte(text), &head); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"resource":%s,"request":{"method":"PUT","url":"%s/%s"}}`, text, head.ResourceType, head.ID)
		}
		b.WriteString(`]}`)
		var answer struct {
			Entry []struct {
				Response struct {
					Status       string
					LastModified time.Time
					Outcome      json.RawMessage
				}
			}
		}
		body := program.Want(t, http.StatusOK, "POST", base, []byte(b.String())).Body
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatal(err)
		}
		for i, text := range some {
			r := answer.Entry[i].Response
			if !strings.HasPrefix(r.Status, "20") {
				t.Fatalf("%s %s: %s", r.Status, r.Outcome, text)
			}
			stored(text, r.LastModified)
		}
	}
}

func treeText() string {
	var concepts func(of string) string
	concepts = func(of string) string {
		var all []string
		for _, code := range slices.Sorted(maps.Keys(tree)) {
			if tree[code] == of {
				all = append(all, `{"code":"`+code+`"`+concepts(code)+`}`)
			}
		}
		if len(all) == 0 {
			return ""
		}
		return `,"concept":[` + strings.Join(all, ",") + `]`
	}
	return `{"resourceType":"CodeSystem","id":"tree","url":"` + treeSystem + `","status":"active","caseSensitive":true,"hierarchyMeaning":"is-a","content":"complete"` + concepts("") + `}`
}

func setText(name string) string {
	var includes []string
	for _, c := range sets[name] {
		includes = append(includes, `{"system":"`+c.system+`","concept":[{"code":"`+c.code+`"}]}`)
	}
	return `{"resourceType":"ValueSet","id":"` + name + `","url":"` + valueSets + name + `","status":"active","compose":{"include":[` + strings.Join(includes, ",") + `]}}`
}

// search is a whole search, with what it has to give.
type search struct {
	kind, at string
	want     []string // keys, sorted
	refused  string   // what has to be said instead
}

// tally counts by kind: asked, with some and not all found, and unsure.
type tally struct{ asked, some, unsure int }

// What the server finds is what brute force finds.
func TestAnswers(t *testing.T) {
	from, rounds, most := seed(t)
	counts := map[string]*tally{}
	for round := range rounds {
		random := rand.New(rand.NewPCG(from+round, 7))
		server := program.Start(t, "--database-url", program.Database(t), "--validation=off", "--text-search=all")
		a := &asker{world: populate(t, server.URL, random), random: random, most: most * int(round+1)}
		began := time.Now()
		types := slices.Sorted(maps.Keys(a.byType))
		random.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
		var searches []search
		for _, typ := range types {
			searches = append(searches, a.searches(typ, counts)...)
		}
		// Few parameters are of these types.
		a.only = []string{"number", "composite", "special", "quantity"}
		for range 6 {
			for _, typ := range types {
				searches = append(searches, a.searches(typ, counts)...)
			}
		}
		t.Logf("%d searches worked out in %v", len(searches), time.Since(began))
		began = time.Now()
		run(t, searches)
		t.Logf("asked in %v", time.Since(began))
	}
	report(t, counts)
}

// searches makes those of a type.
func (a *asker) searches(typ string, counts map[string]*tally) (all []search) {
	for _, d := range registry.SearchParameters(fhir.ResourceType(typ)) {
		if len(a.only) > 0 && !slices.Contains(a.only, d.Type) {
			continue
		}
		if !served(typ, d.Code) || d.Expression == "" && d.Code != "_id" && d.Code != "_lastUpdated" {
			continue
		}
		for _, modifier := range modifiers[d.Type] {
			if a.enough(counts, d.Type, modifier) {
				continue
			}
			questions := a.about(typ, d, modifier)
			for _, q := range questions {
				all = a.add(all, typ, counts, q)
			}
			// Two values, and two parameters.
			if len(questions) > 1 && a.chance(3) || len(questions) == 1 && modifier != "missing" && d.Code != "_id" && a.chance(4) {
				q := pick(a.random, questions)
				if more := a.about(typ, d, modifier); len(more) > 0 && more[0].name == q.name {
					other := pick(a.random, more)
					all = a.add(all, typ, counts, question{"several values", q.name, q.value + "," + other.value, q.ambiguous || other.ambiguous})
				}
				if other, ok := a.any(typ, 1); ok {
					all = a.add(all, typ, counts, question{"several parameters", q.name, q.value, q.ambiguous}, other)
				}
			}
		}
	}
	if len(a.only) > 0 {
		return all
	}
	for range 6 {
		if q, ok := a.chain(typ, 2); ok && !a.full(counts, "chain", "untyped chain", "chain chain", "chain _has") {
			all = a.add(all, typ, counts, q)
		}
		if a.full(counts, "_has", "_has chain", "_has _has") {
			break
		}
		if q, ok := a.referring(typ, 2); ok {
			all = a.add(all, typ, counts, q)
		}
	}
	return append(all, a.others(typ, counts)...)
}

// quota is how often a kind shall be asked. Of a composite all parts have to be met, so
// less is found.
func (a *asker) quota(kind string) int {
	if strings.HasPrefix(kind, "composite") {
		return 4 * a.most
	}
	return a.most
}

// full says whether all of some kinds have been asked as often as they shall be.
func (a *asker) full(counts map[string]*tally, kinds ...string) bool {
	return !slices.ContainsFunc(kinds, func(kind string) bool { return counts[kind] == nil || counts[kind].asked < a.quota(kind) })
}

// enough is full for a type of parameter with a modifier and all prefixes.
func (a *asker) enough(counts map[string]*tally, typ, modifier string) bool {
	if modifier != "" {
		return a.full(counts, typ+":"+modifier)
	}
	if !ordered[typ] {
		return a.full(counts, typ)
	}
	return !slices.ContainsFunc(comparisons, func(prefix string) bool { return !a.full(counts, typ+" "+prefix) })
}

// add works out what a search gives.
func (a *asker) add(all []search, typ string, counts map[string]*tally, questions ...question) []search {
	return a.ofThose(all, typ, a.byType[typ], counts, questions...)
}

// ofThose is add for the resources that a path chooses.
func (a *asker) ofThose(all []search, path string, from []*resource, counts map[string]*tally, questions ...question) []search {
	s := search{kind: questions[0].kind, at: a.base + "/" + path + "?"}
	if counts[s.kind] == nil {
		counts[s.kind] = &tally{}
	}
	count := counts[s.kind]
	if count.asked >= a.quota(s.kind) {
		return all
	}
	count.asked++
	for _, q := range questions {
		s.at += q.String() + "&"
		if q.ambiguous {
			s.refused = "multiple-matches"
		}
	}
	s.at = strings.Replace(s.at+"_count=1000", a.base+"/?", a.base+"?", 1)
	for _, r := range from {
		holds := true
		for _, q := range questions {
			one, err := a.ask(r, q.name, q.value)
			if errors.Is(err, errUnsure) {
				count.unsure++
				return all
			} else if err != nil {
				panic(fmt.Sprintf("%s?%s=%s: %v", path, q.name, q.value, err))
			}
			holds = holds && one
		}
		if holds {
			s.want = append(s.want, r.key())
		}
	}
	if len(s.want) > 0 && len(s.want) < len(from) && s.refused == "" {
		count.some++
	}
	slices.Sort(s.want)
	return append(all, s)
}

// run asks the server, some at once.
func run(t *testing.T, searches []search) {
	t.Helper()
	next := make(chan search)
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for s := range next {
				s.check(t)
			}
		})
	}
	for _, s := range searches {
		next <- s
	}
	close(next)
	asking.Wait()
}

func (s search) check(t *testing.T) {
	answer, err := program.Do("GET", s.at, nil, "Prefer", "handling=strict")
	if err != nil {
		t.Error(err)
		return
	}
	text, _ := url.QueryUnescape(s.at)
	if s.refused != "" {
		if answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Body), s.refused) {
			t.Errorf("%s: %d %.300s, want it refused: %s", text, answer.Status, answer.Body, s.refused)
		}
		return
	}
	if answer.Status != http.StatusOK {
		t.Errorf("%s (%s): %d %.400s", text, s.kind, answer.Status, answer.Body)
		return
	}
	var page struct {
		Entry []struct{ FullURL string }
	}
	if err := json.Unmarshal(answer.Body, &page); err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	var got []string
	for _, e := range page.Entry {
		parts := strings.Split(e.FullURL, "/")
		got = append(got, strings.Join(parts[len(parts)-2:], "/"))
	}
	slices.Sort(got)
	if !slices.Equal(got, s.want) {
		t.Errorf("%s (%s)\n got  %s\n want %s", text, s.kind, got, s.want)
	}
}

// kinds are all that have to be asked: each type of parameter with each modifier and
// prefix, and what is no parameter's.
func kinds() []string {
	all := []string{
		"_id", "_text", "_content", "_filter", "_list", "_type", "compartment", "several values", "several parameters",
		"chain", "untyped chain", "chain chain", "chain _has", "_has", "_has chain", "_has _has",
	}
	for typ, takes := range modifiers {
		for _, modifier := range takes {
			kind := typ
			if modifier != "" {
				kind += ":" + modifier
			}
			all = append(all, kind)
			if modifier == "" && (ordered[typ] || typ == "composite") {
				for _, prefix := range comparisons {
					all = append(all, typ+" "+prefix)
				}
			}
		}
	}
	for _, mode := range []string{"true", "both"} {
		all = append(all, "_contained="+mode+" container", "_contained="+mode+" contained")
	}
	slices.Sort(all)
	return all
}

// report demands that each kind of search was asked often, found something often,
// and was seldom in doubt.
func report(t *testing.T, counts map[string]*tally) {
	t.Helper()
	asked, unsure := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		c := counts[kind]
		t.Logf("%-28s %5d asked, %5d found some, %3d in doubt", kind, c.asked, c.some, c.unsure)
		asked, unsure = asked+c.asked, unsure+c.unsure
	}
	t.Logf("%d asked, %d in doubt", asked, unsure)
	if unsure*100 > asked {
		t.Errorf("%d of %d searches are in doubt", unsure, asked)
	}
	for _, kind := range kinds() {
		if c := counts[kind]; c == nil || c.asked < 4 || c.some < 2 {
			t.Errorf("%s: asked and found too seldom: %+v", kind, c)
		}
	}
}
