package postgres

import (
	"strconv"
	"strings"

	"starling/internal/fhir"
)

// few is what a search looks at without a second thought: a set of no more rids
// drives it, and so many candidates are tested before all sets are joined.
const (
	few = 2000
	// fewJoined is the same where a test goes to other resources.
	fewJoined = 200
	// gathered is how many rids are looked up together though a page may need fewer.
	gathered = 400
)

// everywhere is a place in the order of rids that is no bound.
var everywhere = place{}

// place is where a page of an order by rid begins.
type place struct {
	at   string // placeholder of the rid it begins behind; "" for an end
	down bool   // the page is walked towards smaller rids
}

func (p place) bound(column string) string {
	switch {
	case p.at == "":
		return ``
	case p.down:
		return ` AND ` + column + ` < ` + p.at
	}
	return ` AND ` + column + ` > ` + p.at
}

func (p place) order(column string) string {
	if p.down {
		return ` ORDER BY ` + column + ` DESC`
	}
	return ` ORDER BY ` + column
}

// scan is how the matches of one type are found: one set drives, and the current
// row of each of its rids is tested for the rest.
type scan struct {
	sql   *sqlBuilder
	typ   int16 // 0: any
	parts []compiled
	// never says that no resource of the type can match.
	never bool
	// sizes are those of the parts' sets, few at most; nil if not looked at.
	sizes []int
}

// scan prepares the search of one type.
func (s *Store) scan(b *sqlBuilder, t fhir.ResourceType, criteria fhir.Criterion, sizes sizes) (*scan, error) {
	typ, c, err := s.compile(b, t, criteria)
	if err != nil {
		return nil, err
	}
	one := &scan{sql: b, typ: typ, never: c.fixed && !c.holds, sizes: sizes[t]}
	if !c.fixed {
		one.parts = c.list()
	}
	return one, nil
}

// driver gives the part that drives, -1 if none has a set; large says that all
// sets looked at have more than few rids.
func (c *scan) driver() (driver int, large bool) {
	if c.sizes == nil {
		return likely(c.parts), false
	}
	driver = -1
	for i := range c.parts {
		if c.parts[i].set != nil && (driver < 0 || c.sizes[i] < c.sizes[driver]) {
			driver = i
		}
	}
	return driver, driver >= 0 && c.sizes[driver] >= few
}

// from writes FROM and WHERE of all matches behind a place, as the row r of
// resource, and gives the column that has the rids in order. Where all sets are
// large their common rids drive, which is a matter of the sets' sizes and no
// more; else the smallest. limit is the placeholder of how many are wanted; "" for
// all.
//
// OFFSET 0 keeps the planner from turning round what drives and what is looked
// up, which without statistics it does.
func (c *scan) from(at place, limit string) (order string) {
	driver, large := c.driver()
	switch {
	case driver < 0:
		c.sql.write(` FROM resource r WHERE `, c.current(), c.tests(-1), at.bound(`r.rid`))
		return `r.rid`
	case large && limit == ``:
		c.gather(c.common(at), ``, c.setless())
		return `r.rid`
	case large:
		c.sql.write(` FROM (SELECT d.rid FROM (`, c.common(at), `) d`, at.order(`d.rid`), ` OFFSET 0) d`)
		c.lookup(c.setless())
		return `d.rid`
	}
	part, tests := &c.parts[driver], c.tests(driver)
	switch {
	case c.sizes != nil && (limit == `` || c.sizes[driver] <= gathered):
		c.gather(part.set(), at.bound(`d.rid`), tests)
		return `r.rid`
	case tests == `` && limit != ``:
		c.gather(part.distinct(), at.bound(`d.rid`)+at.order(`d.rid`)+` LIMIT `+limit, tests)
		return `r.rid`
	}
	c.sql.write(` FROM (SELECT d.rid FROM (`, part.distinct(), `) d WHERE true`, at.bound(`d.rid`), at.order(`d.rid`), ` OFFSET 0) d`)
	c.lookup(tests)
	return `d.rid`
}

// gather looks up the rids of a set all together, which takes a third of the time
// of one after the other: many stand side by side. An array may have a rid more
// than once. The type is asked for apart, or a planner may take the index of types.
func (c *scan) gather(set, which, tests string) {
	c.sql.write(` FROM (SELECT * FROM resource g WHERE g.rid = ANY (ARRAY (SELECT d.rid FROM (`, set, `) d WHERE true`, which, `)) OFFSET 0) r WHERE `, c.current(), tests)
}

// begin writes FROM and WHERE of the matches among the first candidates behind a
// place: those of a set that can be walked in order, else the type's resources.
func (c *scan) begin(at place, _ string) (order string) {
	walked := -1
	for i := range c.parts {
		if c.parts[i].ordered() {
			walked = i
			break
		}
	}
	most := few
	for i := range c.parts {
		if c.parts[i].joined && i != walked {
			most = fewJoined
		}
	}
	if walked < 0 {
		c.sql.write(` FROM (SELECT r.* FROM resource r WHERE `, c.current(), at.bound(`r.rid`), at.order(`r.rid`), ` LIMIT `, strconv.Itoa(most), `) r WHERE true`, c.tests(-1))
		return `r.rid`
	}
	c.sql.write(` FROM (SELECT d.rid FROM (`, c.parts[walked].distinct(), `) d WHERE true`, at.bound(`d.rid`), at.order(`d.rid`), ` LIMIT `, strconv.Itoa(most), `) d`)
	c.lookup(c.tests(walked))
	return `d.rid`
}

// told reports whether indexes alone tell the number of matches, and no small set
// does it sooner.
func (c *scan) told() bool {
	if driver, large := c.driver(); driver >= 0 && !large && c.sizes != nil {
		return false
	}
	if len(c.parts) == 1 && c.parts[0].of != nil {
		of := c.parts[0].of
		return of.set != nil && of.exact && !of.joined
	}
	for i := range c.parts {
		if c.parts[i].set == nil || !c.parts[i].exact {
			return false
		}
	}
	return true
}

// counted is that number as an expression.
func (c *scan) counted() string {
	switch {
	case len(c.parts) == 0:
		return c.ofType()
	case len(c.parts) > 1:
		return `(SELECT count(*) FROM (` + c.common(everywhere) + `) m)`
	case c.parts[0].of != nil:
		// What an index has is of current resources alone.
		return c.ofType() + ` - ` + c.parts[0].of.counted()
	}
	return c.parts[0].counted()
}

// ofType is the number of current resources of the type.
func (c *scan) ofType() string { return `(SELECT count(*) FROM resource r WHERE ` + c.current() + `)` }

// counted is the number of rids that set has.
func (c *compiled) counted() string {
	if c.ordered() {
		return `(SELECT count(*) FROM (` + c.set() + `) m)`
	}
	return `(SELECT count(DISTINCT m.rid) FROM (` + c.set() + `) m)`
}

func (c *scan) current() string {
	if c.typ == 0 {
		return `NOT r.deleted`
	}
	return `r.type = ` + c.sql.arg(c.typ) + ` AND NOT r.deleted`
}

// lookup finds the current row for each rid of d.
func (c *scan) lookup(tests string) {
	c.sql.write(` CROSS JOIN LATERAL (SELECT * FROM resource r WHERE r.rid = d.rid AND `, c.current(), tests, ` OFFSET 0) r`)
}

// tests are the conditions that a set which drives leaves to be met.
func (c *scan) tests(driver int) string {
	var text strings.Builder
	for i := range c.parts {
		if i != driver || !c.parts[i].exact {
			text.WriteString(` AND ` + c.parts[i].test())
		}
	}
	return text.String()
}

// common are the rids that all sets have: one pass over each, whatever the
// planner expects.
func (c *scan) common(at place) string {
	var sets []string
	for i := range c.parts {
		if part := &c.parts[i]; part.set != nil {
			sets = append(sets, `SELECT s.rid FROM (`+part.set()+`) s WHERE true`+at.bound(`s.rid`))
		}
	}
	if len(sets) == 1 {
		return `SELECT DISTINCT s.rid FROM (` + sets[0] + `) s`
	}
	return strings.Join(sets, ` INTERSECT `)
}

// setless are the tests of what common does not tell.
func (c *scan) setless() string {
	var text strings.Builder
	for i := range c.parts {
		if c.parts[i].set == nil || !c.parts[i].exact {
			text.WriteString(` AND ` + c.parts[i].test())
		}
	}
	return text.String()
}
