package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/test/program"
)

// note is a resource whose pages are walked: what it is sorted by, each perhaps
// missing.
type note struct {
	id, date, until, code, text, subject, source, amount string
}

func randomNote(random *rand.Rand, id string) note {
	n := note{id: id}
	maybe := func(into *string, value string) {
		if random.IntN(4) > 0 {
			*into = value
		}
	}
	maybe(&n.date, fmt.Sprintf("20%02d-%02d-%02d", random.IntN(20), 1+random.IntN(3), 1+random.IntN(9)))
	if n.date != "" && random.IntN(3) == 0 {
		n.until = "2031-01-" + fmt.Sprintf("%02d", 1+random.IntN(9))
	}
	maybe(&n.code, fmt.Sprintf("c%d", random.IntN(40)))
	maybe(&n.text, fmt.Sprintf("text %c%d", 'a'+rune(random.IntN(26)), random.IntN(3)))
	maybe(&n.subject, fmt.Sprintf("Patient/p%d", random.IntN(30)))
	maybe(&n.source, fmt.Sprintf("http://example.org/%d", random.IntN(5)))
	maybe(&n.amount, fmt.Sprintf("%d.%d", random.IntN(50)-25, random.IntN(3)))
	return n
}

// observation has all but the number; riskAssessment has that.
func (n note) observation() string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"resourceType":"Observation","id":"%s","status":"final"`, n.id)
	if n.source != "" {
		fmt.Fprintf(&b, `,"meta":{"source":"%s"}`, n.source)
	}
	b.WriteString(`,"code":{"text":"x"`)
	if n.code != "" {
		fmt.Fprintf(&b, `,"coding":[{"system":"http://example.org/s","code":"%s"}]`, n.code)
	}
	b.WriteString(`}`)
	switch {
	case n.until != "":
		fmt.Fprintf(&b, `,"effectivePeriod":{"start":"%s","end":"%s"}`, n.date, n.until)
	case n.date != "":
		fmt.Fprintf(&b, `,"effectiveDateTime":"%s"`, n.date)
	}
	if n.subject != "" {
		fmt.Fprintf(&b, `,"subject":{"reference":"%s"}`, n.subject)
	}
	if n.text != "" {
		fmt.Fprintf(&b, `,"valueString":"%s"`, n.text)
	} else if n.amount != "" {
		fmt.Fprintf(&b, `,"valueQuantity":{"value":%s}`, n.amount)
	}
	return b.String() + `}`
}

func (n note) riskAssessment() string {
	text := `{"resourceType":"RiskAssessment","id":"` + n.id + `","status":"final","subject":{"reference":"Patient/p1"}`
	if n.date != "" {
		text += `,"occurrenceDateTime":"` + n.date + `"`
	}
	if n.amount != "" {
		text += `,"prediction":[{"probabilityDecimal":` + n.amount + `}]`
	}
	return text + `}`
}

// key gives what a resource is sorted by, as texts and numbers in order; false if it
// has nothing.
func (n note) key(name string, down bool) (string, float64, bool) {
	switch name {
	case "date":
		if down && n.until != "" {
			return n.until, 0, true
		}
		return n.date, 0, n.date != ""
	case "code":
		return n.code, 0, n.code != ""
	case "subject":
		return n.subject, 0, n.subject != ""
	case "_source":
		return n.source, 0, n.source != ""
	case "_id":
		return n.id, 0, true
	case "value-string":
		return n.text, 0, n.text != ""
	case "value-quantity", "probability":
		var v float64
		_, err := fmt.Sscan(n.amount, &v)
		return "", v, err == nil && (name == "probability" || n.text == "")
	}
	panic(name)
}

func compareNotes(order string, a, b note) int {
	for name := range strings.SplitSeq(order, ",") {
		name, down := strings.CutPrefix(name, "-")
		if name == "" || name == "_lastUpdated" {
			return 0 // looked at apart
		}
		s, x, has := a.key(name, down)
		t, y, also := b.key(name, down)
		switch c := cmp.Or(cmp.Compare(s, t), cmp.Compare(x, y)); {
		case has != also && has:
			return -1
		case has != also:
			return 1
		case !has || c == 0:
		case down:
			return -c
		default:
			return c
		}
	}
	return 0
}

type page struct {
	Link  []struct{ Relation, URL string }
	Entry []struct {
		Resource struct {
			ID   string
			Meta struct{ LastUpdated time.Time }
		}
	}
}

func (p page) link(relation string) string {
	for _, link := range p.Link {
		if link.Relation == relation {
			return link.URL
		}
	}
	return ""
}

// Pages in every order, forwards and back, show each resource that stays as it is
// once and in its place, while others are written, whichever instance is asked, and
// after one is killed. Links stay short.
func TestPages(t *testing.T) {
	database := program.Database(t)
	servers := []*program.Server{program.Start(t, "--database-url", database), program.Start(t, "--database-url", database)}
	random := rand.New(rand.NewPCG(8, 9))
	const stable = 2500 // more than are sorted in memory
	notes := map[string]note{}
	var texts []string
	for i := range stable {
		n := randomNote(random, fmt.Sprintf("s%d", i))
		notes[n.id] = n
		texts = append(texts, n.observation())
		if i < 300 {
			texts = append(texts, n.riskAssessment())
		}
	}
	put(t, servers[0].URL, texts, func(string, time.Time) {})

	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 3 {
		own := rand.New(rand.NewPCG(uint64(w), 1))
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				n := randomNote(own, fmt.Sprintf("w%d-%d", w, own.IntN(200)))
				method, body := "PUT", []byte(n.observation())
				if own.IntN(3) == 0 {
					method, body = "DELETE", nil
				}
				if answer, err := program.Do(method, servers[0].URL+"/Observation/"+n.id, body); err != nil || answer.Status >= 300 {
					t.Errorf("%v %s", err, answer.Body)
					return
				}
			}
		})
	}
	turn := 0
	// visit reads a page by its link, on one instance after the other.
	visit := func(link string) page {
		_, rest, _ := strings.Cut(link, "/fhir")
		turn++
		var p page
		if err := json.Unmarshal(program.Want(t, http.StatusOK, "GET", servers[turn%2].URL+rest, nil).Body, &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	walk := func(name, order string, first page, count int) {
		var forwards, back []string
		var last time.Time
		p := first
		for pages := 0; ; pages++ {
			for _, e := range p.Entry {
				if _, stays := notes[e.Resource.ID]; !stays {
					continue
				}
				forwards = append(forwards, e.Resource.ID)
				if at := e.Resource.Meta.LastUpdated; strings.TrimPrefix(order, "-") == "_lastUpdated" {
					if !last.IsZero() && (at.Before(last) != (order[0] == '-')) && !at.Equal(last) {
						t.Errorf("%s: %v behind %v", name, at, last)
					}
					last = at
				}
			}
			next := p.link("next")
			if len(next) > 2500 {
				t.Fatalf("%s: a link of %d bytes", name, len(next))
			}
			if next == "" {
				break
			}
			if p = visit(next); pages > 100 {
				t.Fatalf("%s: the pages do not end", name)
			}
		}
		for pages := 0; ; pages++ {
			var some []string
			for _, e := range p.Entry {
				if _, stays := notes[e.Resource.ID]; stays {
					some = append(some, e.Resource.ID)
				}
			}
			back = append(some, back...)
			previous := p.link("previous")
			if previous == "" {
				break
			}
			if p = visit(previous); pages > 100 {
				t.Fatalf("%s: the pages do not end backwards", name)
			}
		}
		for direction, seen := range map[string][]string{"forwards": forwards, "back": back} {
			distinct := slices.Compact(slices.Sorted(slices.Values(seen)))
			if len(seen) != count || len(distinct) != count {
				t.Errorf("%s %s: %d shown, %d different ones, want %d", name, direction, len(seen), len(distinct), count)
			}
			for i := 1; i < len(seen); i++ {
				if compareNotes(order, notes[seen[i-1]], notes[seen[i]]) > 0 {
					t.Errorf("%s %s: %+v before %+v", name, direction, notes[seen[i-1]], notes[seen[i]])
					break
				}
			}
		}
		if !slices.Equal(forwards, back) {
			t.Errorf("%s: another order backwards", name)
		}
	}
	start := func(search string) page {
		var p page
		if err := json.Unmarshal(program.Want(t, http.StatusOK, "GET", servers[turn%2].URL+"/"+search, nil).Body, &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for i, order := range []string{
		"", "_id", "-_id", "_lastUpdated", "-_lastUpdated", "date", "-date", "value-quantity", "-value-quantity", "value-string", "-value-string", "code", "-code",
		"subject", "-_source", "code,-date", "date,value-quantity,-_id", "-value-quantity,value-string,date", "value-string,-date,subject", "-date,-code,_id", "_source,subject,-code",
	} {
		walk("Observation by "+order, order, start(fmt.Sprintf("Observation?_count=%d&_sort=%s", 350+random.IntN(400), order)), stable)
		if i == 10 {
			servers[1].Kill()
			servers[1] = program.Start(t, "--database-url", database)
		}
	}
	for id, n := range notes {
		n.until = "" // of Observations alone
		notes[id] = n
	}
	for _, order := range []string{"probability", "-probability", "date,-probability", "-probability,-date"} {
		walk("RiskAssessment by "+order, order, start("RiskAssessment?_count=37&_sort="+order), 300)
	}
	var long []string
	for i := range 800 {
		long = append(long, fmt.Sprintf("http://example.org/tags|no-such-tag-%d", i))
	}
	form := url.Values{"_tag:not": {strings.Join(long, ",")}, "_sort": {"date"}, "_count": {"400"}}.Encode()
	var first page
	answer := program.Want(t, http.StatusOK, "POST", servers[0].URL+"/Observation/_search", []byte(form), "Content-Type", "application/x-www-form-urlencoded")
	if err := json.Unmarshal(answer.Body, &first); err != nil {
		t.Fatal(err)
	}
	walk("a long POST", "date", first, stable)
	close(stop)
	writers.Wait()
}
