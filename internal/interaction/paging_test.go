package interaction

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"starling/internal/fhir"
)

// walkPages follows a link from page to page and gives the ids of the matches.
func (s *server) walkPages(target, relation string) (ids []string, last string) {
	s.t.Helper()
	for target != "" {
		page := s.bundle("searchset", "GET", target, "")
		var here []string
		for entry := range page.Get("entry").Children() {
			if entry.Get("search").Get("mode").Str() == "match" {
				here = append(here, entry.Get("resource").Get("id").Str())
			}
		}
		if relation == "previous" {
			ids = append(here, ids...)
		} else {
			ids = append(ids, here...)
		}
		last, target = target, pageLink(page, relation)
	}
	return ids, last
}

// While others write, a walk shows every resource that stays as it is once,
// forwards and back.
func TestPagingWhileOthersWrite(t *testing.T) {
	s := newServer(t)
	const n = 600
	var want []string
	for i := range n {
		id := fmt.Sprintf("s%d", i)
		want = append(want, id)
		s.do(StatusCreated, "PUT", "Patient/"+id, fmt.Sprintf(`{"resourceType":"Patient","id":"%s","birthDate":"19%02d-01-01","name":[{"family":"F%d"}]}`, id, i%90+10, i%7))
	}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			id := "w" + strconv.Itoa(i%20)
			body := fmt.Sprintf(`{"resourceType":"Patient","id":"%s","birthDate":"19%02d-01-01","name":[{"family":"F%d"}]}`, id, (i*37)%90+10, i%7)
			if _, err := s.try("PUT", "Patient/"+id, body); err != nil {
				t.Error(err)
			}
			if i%3 == 0 {
				if _, err := s.try("DELETE", "Patient/"+id, ""); err != nil {
					t.Error(err)
				}
			}
		}
	})
	defer writer.Wait()
	defer close(stop)
	slices.Sort(want)
	for _, order := range []string{"", "_sort=birthdate&", "_sort=-birthdate,family&", "_sort=family,-_id&", "_sort=-_lastUpdated&", "_sort=gender&"} {
		check := func(direction string, ids []string) {
			ids = slices.DeleteFunc(ids, func(id string) bool { return id[0] == 'w' })
			slices.Sort(ids)
			if !slices.Equal(ids, want) {
				t.Errorf("%s %s: %d ids, want %d; distinct %d", order, direction, len(ids), len(want), len(slices.Compact(ids)))
			}
		}
		ids, last := s.walkPages("Patient?"+order+"_count=50", "next")
		check("forwards", ids)
		ids, _ = s.walkPages(last, "previous")
		check("back", ids)
	}
}

func TestPageLinks(t *testing.T) {
	s := newServer(t)
	for i := range 5 {
		s.do(StatusCreated, "PUT", "Patient/p"+strconv.Itoa(i), patient("p"+strconv.Itoa(i), "1"))
	}
	first := s.bundle("searchset", "GET", "Patient?_count=2&_sort=-_id&_total=accurate&colour=red", "")
	if got := pageLink(first, "self"); got != "Patient?_count=2&_sort=-_id&_total=accurate" {
		t.Errorf("self is %s", got)
	}
	if pageLink(first, "previous") != "" || pageLink(first, "first") == "" {
		t.Errorf("links of the first page: %s", first.Get("link").Raw())
	}
	second := s.bundle("searchset", "GET", pageLink(first, "next"), "")
	if second.Get("total").Literal() != "5" || strings.Join(entriesOf(second, "match"), " ") != "Patient/p1 Patient/p2" {
		t.Errorf("%s", second.Raw())
	}
	again := s.bundle("searchset", "GET", pageLink(second, "previous"), "")
	if strings.Join(entriesOf(again, "match"), " ") != "Patient/p3 Patient/p4" || pageLink(again, "previous") != "" {
		t.Errorf("%s", again.Raw())
	}

	// A cursor cannot be made or changed, nor used for another order.
	next := pageLink(first, "next")
	at := strings.Index(next, cursorParameter+"=") + len(cursorParameter) + 1
	for i := at; i < len(next); i += 5 {
		changed := []byte(next)
		changed[i] ^= 1
		if _, err := s.try("GET", string(changed), ""); err == nil || Failure(err).Kind != fhir.KindInvalid {
			t.Fatalf("changed at %d: %v", i, err)
		}
	}
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", strings.Replace(next, "_sort=-_id", "_sort=_id", 1), "")

	// A long search pages by short links.
	ids := make([]string, 900)
	for i := range ids {
		ids[i] = fmt.Sprintf("p%d", i)
	}
	query := "_count=2&_id=" + strings.Join(ids, ",")
	long := s.bundle("searchset", "POST", "Patient/_search?"+query, "")
	link := pageLink(long, "next")
	if len(link) > 200 || !strings.Contains(link, keptParameter) {
		t.Fatalf("next is %s", link)
	}
	seen, _ := s.walkPages(link, "next")
	if strings.Join(seen, " ") != "p2 p3 p4" {
		t.Errorf("a long search goes on with %s", seen)
	}
	values, err := url.ParseQuery(link[strings.Index(link, "?")+1:])
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(link, values.Get(keptParameter), strings.Repeat("A", 22), 1)
	s.refuse(fhir.KindGone, fhir.IssueNotFound, "GET", other, "")
	s.refuse(fhir.KindInvalid, fhir.IssueValue, "GET", "Patient?_kept=x", "")
	// One with its link's own parameters may be too many, each of them is not.
	s.refuse(fhir.KindInvalid, fhir.IssueTooCostly, "GET", link+strings.Repeat("&a", mostParameters-2), "")
}
