package load

import (
	"context"
	"net/url"
	"strings"
	"time"

	"starling/loadtest/procs"
	"starling/loadtest/record"
	"starling/loadtest/search"
	"starling/loadtest/wire"
)

// Searches is what a run of searches sends.
type Searches struct {
	Kinds  []search.Kind
	Values *search.Values
	People []search.Person
	Seed   uint64
}

// Search runs a mix of searches; an iteration is one search with its pages.
func Search(ctx context.Context, config Config, searches Searches) (*record.Result, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	watch, err := procs.NewWatch(config.Watch)
	if err != nil {
		return nil, err
	}
	keys := search.Keys(searches.Kinds)
	pages := make([]int, len(searches.Kinds))
	for i, n := 0, len(searches.Kinds); i < len(pages); i++ {
		if pages[i] = i; searches.Kinds[i].Pages > 1 {
			pages[i] = n
			n++
		}
	}
	return drive(ctx, &config, "search", keys, watch, func(r *run, number int, p pacer, conn *wire.Conn) iterator {
		return &searcher{
			run: r, conn: conn, pacer: p, searches: &searches, pages: pages,
			draw: search.NewDraw(searches.Values, searches.People, searches.Seed+uint64(number)),
		}
	}), nil
}

// searcher is one virtual user that searches.
type searcher struct {
	run      *run
	conn     *wire.Conn
	pacer    pacer
	searches *Searches
	draw     *search.Draw
	pages    []int // by kind: the key of its further pages
}

func (s *searcher) iterate(ctx context.Context) {
	defer s.conn.Close()
	for s.run.another(ctx) {
		begun := time.Now()
		kind, path := s.draw.Next(s.searches.Kinds)
		key := kind
		for page := range s.searches.Kinds[kind].Pages {
			next, answered := s.send(ctx, key, path, page == 0)
			if !answered {
				time.Sleep(pause)
			}
			if path = next; path == "" {
				break
			}
			key = s.pages[kind]
		}
		if s.run.window.measures(begun) {
			s.run.iterations.Add(1)
		}
	}
	s.run.countUnsent(&s.pacer)
}

// send asks for one page, records the outcome and gives the next one's path.
func (s *searcher) send(ctx context.Context, key int, path string, first bool) (next string, answered bool) {
	intended := s.pacer.next(ctx)
	outcome := record.Outcome{Key: key, Measured: s.run.window.measures(intended)}
	response, err := s.conn.Do("GET", path, nil)
	outcome.Latency = time.Since(intended)
	if err != nil {
		outcome.Kind, outcome.Sample = wire.Kind(err), err.Error()
	} else if fault := search.Check(response.Status, response.Body, first); fault != nil {
		outcome.Kind, outcome.Sample = fault.Kind, path+": "+fault.Detail
	} else {
		next = s.below(search.NextLink(response.Body))
		outcome.Resources = search.Resources(response.Body)
	}
	s.run.recorder.Record(outcome)
	return next, err == nil
}

// below gives a link's path below the base that this user's requests go to.
func (s *searcher) below(link string) string {
	u, err := url.Parse(link)
	if err != nil || link == "" {
		return ""
	}
	return strings.TrimPrefix(u.RequestURI(), s.conn.Target().Base)
}
