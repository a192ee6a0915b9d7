package interaction

import (
	"strconv"
	"time"

	"starling/internal/fhir"
)

// bundle writes a Bundle by appending: stored resources go in as they are
// (https://hl7.org/fhir/R4/bundle.html). Its methods are called in the order
// of the elements: link, total, entries, end.
type bundle struct {
	json    []byte
	links   int
	entries int
}

// newBundle begins a Bundle of that type. updated is meta.lastUpdated, left
// out if zero.
func newBundle(kind string, updated time.Time) *bundle {
	b := &bundle{json: make([]byte, 0, 4096)}
	b.json = append(b.json, `{"resourceType":"Bundle"`...)
	if !updated.IsZero() {
		b.json = append(appendInstant(append(b.json, `,"meta":{"lastUpdated":`...), updated), '}')
	}
	b.json = append(append(append(b.json, `,"type":"`...), kind...), '"')
	return b
}

// total adds the number of matches; none if it is negative, not counted.
func (b *bundle) total(n int64) {
	if n >= 0 {
		b.json = strconv.AppendInt(append(b.json, `,"total":`...), n, 10)
	}
}

func (b *bundle) link(relation, url string) {
	if b.links == 0 {
		b.json = append(b.json, `,"link":[`...)
	} else {
		b.json = append(b.json, ',')
	}
	b.links++
	b.json = appendString(append(b.json, `{"relation":`...), relation)
	b.json = append(appendString(append(b.json, `,"url":`...), url), '}')
}

// entry opens an entry; its members follow, each with the comma before it left
// to member, then the closing }.
func (b *bundle) entry() {
	if b.entries == 0 {
		if b.links > 0 {
			b.json = append(b.json, ']')
			b.links = 0
		}
		b.json = append(b.json, `,"entry":[`...)
	} else {
		b.json = append(b.json, ',')
	}
	b.entries++
	b.json = append(b.json, '{')
}

// member opens a member of an entry.
func (b *bundle) member(name string) {
	if b.json[len(b.json)-1] != '{' {
		b.json = append(b.json, ',')
	}
	b.json = append(append(append(b.json, '"'), name...), `":`...)
}

func (b *bundle) fullURL(base string, key fhir.Key) {
	b.member("fullUrl")
	b.json = appendString(b.json, base+"/"+key.String())
}

func (b *bundle) close() { b.json = append(b.json, '}') }

// end completes the Bundle.
func (b *bundle) end() []byte {
	if b.entries > 0 || b.links > 0 {
		b.json = append(b.json, ']')
	}
	return append(b.json, '}')
}

// answer is what a Bundle.entry.response says.
type answer struct {
	status      Status
	location    string // relative, as Response.Location
	etag        string // "": none
	lastUpdated time.Time
	outcome     []byte // an OperationOutcome; nil: none
}

// response adds an entry's response.
func (b *bundle) response(base string, a *answer) {
	b.member("response")
	b.json = appendString(append(b.json, `{"status":`...), a.status.String())
	if a.location != "" {
		b.json = appendString(append(b.json, `,"location":`...), base+"/"+a.location)
	}
	if a.etag != "" {
		b.json = appendString(append(b.json, `,"etag":`...), a.etag)
	}
	if !a.lastUpdated.IsZero() {
		b.json = appendInstant(append(b.json, `,"lastModified":`...), a.lastUpdated)
	}
	if a.outcome != nil {
		b.json = append(append(b.json, `,"outcome":`...), a.outcome...)
	}
	b.json = append(b.json, '}')
}

func appendInstant(dst []byte, at time.Time) []byte {
	return append(at.UTC().AppendFormat(append(dst, '"'), fhir.InstantFormat), '"')
}
