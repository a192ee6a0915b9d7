package terminology

import (
	"context"
	"slices"
	"strings"
)

// Expansion asks for the codes of a value set.
type Expansion struct {
	Filter        string // text that the display or code has to have; "" for all
	Offset, Count int    // Count -1: all
	ActiveOnly    bool
	Selectable    bool     // without abstract codes
	Exclude       []string // canonicals of code systems, with a version or all
	// Unclosed allows an expansion that lacks codes, of code systems that are held in
	// part: the codes that they are held with.
	Unclosed bool
}

// leavesOut reports whether a code of the value set is not asked for.
func (x *Expansion) leavesOut(c *Code) bool {
	if x.ActiveOnly && c.Inactive || x.Selectable && c.Abstract {
		return true
	}
	for _, canonical := range x.Exclude {
		url, version, versioned := strings.Cut(canonical, "|")
		if url == c.System && (!versioned || version == c.Version) {
			return true
		}
	}
	return false
}

// Code is a code of an expansion.
type Code struct {
	System, Version, Code, Display string
	Abstract, Inactive             bool
	Designations                   []Designation

	held   *CodeSystem // that has it; nil: none
	number int         // of the concept in it
}

// Expanded is an expansion, or a page of it.
type Expanded struct {
	Codes []Code
	Total int // of all pages; -1 if there are more than MaxExpansion
	// Systems are the canonicals of the code systems used, with their
	// versions.
	Systems []string
	// Unclosed says that the value set has codes that are not known here.
	Unclosed bool
}

// Expand lists the codes of a value set
// (https://hl7.org/fhir/R4/valueset-operation-expand.html). A part whose code
// system is not held: ErrNotHeld. More than MaxWhole codes asked for:
// KindUnprocessable, too-costly.
func (t *Terminology) Expand(ctx context.Context, v *ValueSet, x Expansion) (*Expanded, error) {
	e := expander{ctx: ctx, remote: t.remote, mayBeUnclosed: x.Unclosed}
	out := &Expanded{}
	words := strings.Fields(strings.ToLower(x.Filter))
	last := MaxWhole
	if x.Count >= 0 {
		last = min(x.Count, MaxWhole)
	}
	var system, version string // of the code before, which most have, too
	err := e.each(v, func(c *Code) bool {
		if x.leavesOut(c) || !c.matches(words) || e.again(c) {
			return true
		}
		if c.System != system || c.Version != version || out.Total == 0 {
			system, version = c.System, c.Version
			if used := withVersion(system, version); !slices.Contains(out.Systems, used) && len(out.Systems) < maxSystems {
				out.Systems = append(out.Systems, used)
			}
		}
		out.Total++
		if out.Total > x.Offset && len(out.Codes) < last {
			if out.Codes == nil {
				out.Codes = make([]Code, 0, min(last, max(v.most()-x.Offset, 1)))
			}
			out.Codes = append(out.Codes, *c)
		}
		return out.Total <= MaxExpansion
	})
	switch {
	case err != nil:
		return nil, err
	case x.Count < 0 && out.Total-x.Offset > MaxWhole:
		return nil, tooCostly("The expansion has more than 10,000 codes: ask for a page with count and offset, or filter it.")
	case out.Total > MaxExpansion:
		out.Total = -1
	}
	out.Unclosed = e.unclosed
	return out, nil
}

// most is how many codes the includes may have, as far as can be told at once.
func (v *ValueSet) most() int {
	n := 0
	for _, p := range v.include {
		switch {
		case p.index != nil:
			n += len(p.listed)
		case p.whole:
			n += len(p.held.concepts)
		default:
			n += p.selected.count()
		}
	}
	return n
}

// maxSystems is how many code systems an expansion names.
const maxSystems = 100

// matches reports whether each of the words begins a word of the display, or
// the code.
func (c *Code) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	display, code := strings.ToLower(c.Display), strings.ToLower(c.Code)
	for _, word := range words {
		if !strings.HasPrefix(code, word) && !startsWord(display, word) {
			return false
		}
	}
	return true
}

// startsWord reports whether word stands in text at its start or behind
// something that is no letter or digit.
func startsWord(text, word string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		if at == 0 || !isWordByte(text[at-1]) {
			return true
		}
		from = at + 1
	}
}

func isWordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// expander is an expansion being made.
type expander struct {
	ctx    context.Context
	remote Remote
	seen   map[string]*seen // by the url of the system
	steps  int
	err    error

	mayBeUnclosed, unclosed bool
}

// seen are the codes of a system that were given: of the first version held that was
// met by their numbers, others by their text.
type seen struct {
	held    *CodeSystem
	numbers bitset
	codes   map[string]bool
}

// again reports whether a code was given before, and notes that it is given.
func (e *expander) again(c *Code) bool {
	s := e.seen[c.System]
	if s == nil {
		s = &seen{held: c.held}
		if c.held != nil {
			s.numbers = newBitset(len(c.held.concepts))
		}
		if e.seen == nil {
			e.seen = map[string]*seen{}
		}
		e.seen[c.System] = s
	}
	number, ok := c.number, c.held != nil && c.held == s.held
	if !ok && s.held != nil {
		number, ok = s.held.find(c.Code)
	}
	if ok {
		again := s.numbers.has(number)
		s.numbers.add(number)
		return again
	}
	if s.codes[c.Code] {
		return true
	}
	if s.codes == nil {
		s.codes = map[string]bool{}
	}
	s.codes[c.Code] = true
	return false
}

// each gives the codes of a value set, some maybe more than once, until yield
// returns false.
func (e *expander) each(v *ValueSet, yield func(*Code) bool) error {
	for _, p := range v.include {
		more := e.part(p, func(c *Code) bool {
			if e.excluded(v, c) {
				return e.err == nil
			}
			return yield(c)
		})
		if e.err != nil || !more {
			break
		}
	}
	return e.err
}

// step notes work done; false if there was too much.
func (e *expander) step() bool {
	if e.steps++; e.steps > maxCompile && e.err == nil {
		e.err = tooCostly("The value set is too large to expand.")
	}
	if e.steps%1024 == 0 && e.err == nil {
		e.err = e.ctx.Err()
	}
	return e.err == nil
}

// excluded reports whether a code is in one of the excludes.
func (e *expander) excluded(v *ValueSet, c *Code) bool {
	if len(v.exclude) == 0 {
		return false
	}
	q := e.question(c)
	in := q.any(v.exclude)
	return e.decide(q, in) == Yes
}

func (e *expander) question(c *Code) *question {
	return &question{ctx: e.ctx, remote: e.remote, system: c.System, code: c.Code}
}

// decide notes the cost of a question and, if it could not be answered, that
// the expansion cannot be made.
func (e *expander) decide(q *question, in Answer) Answer {
	e.steps += q.steps
	if in == Unknown && e.err == nil {
		e.err = q.why
	}
	return in
}

// part gives the codes of an include; false if yield said to end.
func (e *expander) part(p *part, yield func(*Code) bool) bool {
	switch {
	case !e.step():
		return false
	case p.missing != nil:
		e.err = p.missing
		return false
	case p.system == "":
		return e.common(p, yield)
	case p.unknown != nil:
		e.err = p.unknown
		return false
	case p.index == nil && !p.held.complete():
		if !e.mayBeUnclosed {
			e.err = notHeld("whole of the code system", p.system)
			return false
		}
		e.unclosed = true
	}
	return p.each(func(c *Code) bool {
		return e.step() && (!e.inAll(p.sets, c) && e.err == nil || e.err == nil && yield(c))
	})
}

// common gives the codes that are in all the sets of a part without a system.
func (e *expander) common(p *part, yield func(*Code) bool) bool {
	if len(p.sets) == 0 {
		return true
	}
	more := true
	_ = e.each(p.sets[0], func(c *Code) bool { // e.err has it
		if !e.step() {
			return false
		}
		if e.inAll(p.sets[1:], c) {
			more = yield(c)
		}
		return more && e.err == nil
	})
	return more && e.err == nil
}

// inAll reports whether a code is in all of the sets.
func (e *expander) inAll(sets []*ValueSet, c *Code) bool {
	for _, set := range sets {
		q := e.question(c)
		if e.decide(q, set.contains(q)) != Yes {
			return false
		}
	}
	return true
}

// each gives the codes that the part selects of its system; false if yield
// said to end.
func (p *part) each(yield func(*Code) bool) bool {
	code := Code{System: p.system, Version: p.version}
	if p.held != nil {
		code.Version = p.held.Version
	}
	if p.index != nil {
		for i := range p.listed {
			l, c := &p.listed[i], code
			c.Code = l.Code
			if p.held != nil {
				if n, ok := p.held.find(l.Code); ok {
					c.fill(p.held, n)
					c.Code = l.Code
				}
			}
			if l.Display != "" {
				c.Display = l.Display
			}
			if len(l.Designation) > 0 {
				c.Designations = l.Designation
			}
			if !yield(&c) {
				return false
			}
		}
		return true
	}
	more := true
	take := func(n int) bool {
		c := code
		c.fill(p.held, n)
		more = yield(&c)
		return more
	}
	if p.whole {
		for n := range p.held.concepts {
			if !take(n) {
				break
			}
		}
	} else {
		p.selected.each(take)
	}
	return more
}

func (c *Code) fill(held *CodeSystem, number int) {
	from := &held.concepts[number]
	c.held, c.number = held, number
	c.Code, c.Display, c.Abstract, c.Inactive, c.Designations = from.Code, from.Display, from.abstract, from.inactive, from.Designation
}
