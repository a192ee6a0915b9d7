package record

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are kept in microseconds up to longest, to three digits.
const longest = 10 * time.Minute

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Microseconds(), 3)
}

// Key names a kind of request: an interaction on a type.
type Key struct{ Interaction, Type string }

// Recorder counts requests. It is safe for concurrent use: one lock, held for
// about a tenth of a microsecond.
type Recorder struct {
	mu     sync.Mutex
	keys   []Key
	counts []counts // by the index of their key
	errors map[string]*ErrorKind
	second counts // since the last NextSecond
}

type counts struct {
	histogram *hdrhistogram.Histogram
	errors    int64
	resources int64
}

// NewRecorder counts requests of the given kinds.
func NewRecorder(keys []Key) *Recorder {
	r := &Recorder{keys: keys, errors: map[string]*ErrorKind{}, second: counts{histogram: newHistogram()}}
	for range keys {
		r.counts = append(r.counts, counts{histogram: newHistogram()})
	}
	return r
}

// Outcome is one request that has ended.
type Outcome struct {
	Key      int // index in the recorder's keys
	Latency  time.Duration
	Measured bool // it was to be sent in the measured time
	// Resources is how many a page of a search has.
	Resources int
	Kind      string // of its error, "" if the answer was right
	Sample    string // of its error
}

// maxSample is how much of a wrong answer is kept as a sample, in bytes.
const maxSample = 600

// Record counts an outcome.
func (r *Recorder) Record(o Outcome) {
	micros := min(max(o.Latency, 0), longest).Microseconds()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.second.add(micros, o.Kind != "")
	if !o.Measured {
		return
	}
	r.counts[o.Key].add(micros, o.Kind != "")
	r.counts[o.Key].resources += int64(o.Resources)
	if o.Kind == "" {
		return
	}
	kind := r.errors[o.Kind]
	if kind == nil {
		key := r.keys[o.Key]
		sample := o.Sample[:min(len(o.Sample), maxSample)]
		kind = &ErrorKind{
			Kind: o.Kind, Interaction: key.Interaction, Type: key.Type,
			Sample: strings.ToValidUTF8(strings.Clone(sample), "\uFFFD"),
		}
		r.errors[o.Kind] = kind
	}
	kind.Count++
}

func (c *counts) add(micros int64, failed bool) {
	_ = c.histogram.RecordValue(micros) // cannot fail: micros is within its bounds
	if failed {
		c.errors++
	}
}

// NextSecond gives what was recorded since it was last called.
func (r *Recorder) NextSecond() Second {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.second.histogram
	s := Second{
		Requests: h.TotalCount(), Errors: r.second.errors,
		P50: millis(h.ValueAtPercentile(50)), P99: millis(h.ValueAtPercentile(99)), Max: millis(h.Max()),
	}
	h.Reset()
	r.second.errors = 0
	return s
}

// Fill writes the groups and the errors into the result, whose MeasuredSeconds
// must be set. The most frequent errors come first.
func (r *Recorder) Fill(result *Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	total := counts{histogram: newHistogram()}
	byInteraction := map[string]*counts{}
	var interactions []string
	for i, key := range r.keys {
		c := &r.counts[i]
		result.Requests = append(result.Requests, c.group(key.Interaction, key.Type, result.MeasuredSeconds))
		sum := byInteraction[key.Interaction]
		if sum == nil {
			sum = &counts{histogram: newHistogram()}
			byInteraction[key.Interaction] = sum
			interactions = append(interactions, key.Interaction)
		}
		sum.merge(c)
		total.merge(c)
	}
	for _, name := range interactions {
		result.Interactions = append(result.Interactions, byInteraction[name].group(name, "", result.MeasuredSeconds))
	}
	result.Total = total.group("", "", result.MeasuredSeconds)
	result.Errors = []ErrorKind{}
	for _, kind := range r.errors {
		result.Errors = append(result.Errors, *kind)
	}
	slices.SortFunc(result.Errors, func(a, b ErrorKind) int {
		if a.Count != b.Count {
			return int(b.Count - a.Count)
		}
		return strings.Compare(a.Kind, b.Kind)
	})
}

func (c *counts) merge(from *counts) {
	c.histogram.Merge(from.histogram)
	c.errors += from.errors
	c.resources += from.resources
}

func (c *counts) group(interaction, typ string, seconds float64) Group {
	h := c.histogram
	g := Group{Interaction: interaction, Type: typ, Requests: h.TotalCount(), Errors: c.errors}
	if seconds > 0 {
		g.RPS = float64(g.Requests-g.Errors) / seconds
	}
	if right := g.Requests - g.Errors; right > 0 {
		g.Resources = float64(c.resources) / float64(right)
	}
	if g.Requests > 0 {
		g.Latency = Latency{
			Min: millis(h.Min()), Mean: h.Mean() / 1000, Max: millis(h.Max()),
			P50: millis(h.ValueAtPercentile(50)), P90: millis(h.ValueAtPercentile(90)),
			P95: millis(h.ValueAtPercentile(95)), P99: millis(h.ValueAtPercentile(99)),
			P999: millis(h.ValueAtPercentile(99.9)),
		}
	}
	return g
}

func millis(micros int64) float64 { return float64(micros) / 1000 }
