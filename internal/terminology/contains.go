package terminology

import (
	"context"
	"strings"
)

// Answer is of three values, in this order, so that "and" is min and "or" is
// max.
type Answer uint8

// The answers.
const (
	No Answer = iota
	Unknown
	Yes
)

func (a Answer) not() Answer { return Yes - a }

// question is whether a code is in a value set, with what the answer was found
// on.
type question struct {
	ctx          context.Context
	remote       Remote
	system, code string // system "": of whatever system
	steps        int    // of maxSteps
	why          error  // of the first part that could not be decided
	foundIn      string // the system of the part that had the code
	display      string // what the part, or a Remote, calls it
}

// Member reports whether a code is in a value set, for the validation. system
// is "" where an element gives none, being of type code: the code is then
// sought in all systems. A version of the value set that is not held is the one
// that is. Unknown is also the answer for a value set that is not known or
// cannot be used. Of Unknown the error says why, if there is more to say: that a
// Remote is away is KindUnavailable.
func (t *Terminology) Member(ctx context.Context, valueSet, system, code string) (Answer, error) {
	v := t.member(valueSet)
	if v == nil {
		return Unknown, nil
	}
	q := question{ctx: ctx, remote: t.remote, system: system, code: code}
	if in := v.contains(&q); in != Unknown {
		return in, nil
	}
	return Unknown, q.why
}

// member finds a value set; nil if it is not known or cannot be used. What is
// asked for by the name it has is found fast again.
func (t *Terminology) member(canonical string) *ValueSet {
	if known, ok := t.members.Load(canonical); ok {
		return known.(*ValueSet)
	}
	v, err := t.ValueSet(canonical)
	if err != nil {
		url, _, versioned := strings.Cut(canonical, "|")
		if !versioned {
			return nil
		}
		if v, err = t.ValueSet(url); err != nil {
			return nil
		}
	}
	if canonical == v.URL || canonical == v.URL+"|"+v.Version {
		t.members.Store(canonical, v)
	}
	return v
}

func (v *ValueSet) contains(q *question) Answer {
	in := q.any(v.include)
	if in == No || len(v.exclude) == 0 {
		return in
	}
	foundIn, display := q.foundIn, q.display
	if q.system == "" && foundIn != "" {
		// What is excluded is the code of that system, not its namesakes.
		q.system = foundIn
		defer func() { q.system = "" }()
	}
	in = min(in, q.any(v.exclude).not())
	q.foundIn, q.display = foundIn, display
	return in
}

// any reports whether the code is in one of the parts.
func (q *question) any(parts []*part) Answer {
	in := No
	for _, p := range parts {
		in = max(in, p.contains(q))
		if in == Yes {
			break
		}
	}
	return in
}

func (p *part) contains(q *question) Answer {
	if q.steps++; q.steps > maxSteps {
		q.because(tooCostly("The value set is too large to look a code up."))
		return Unknown
	}
	in := Yes
	if p.system != "" {
		if q.system != "" && q.system != p.system {
			return No
		}
		if in = p.inSystem(q); in == Yes {
			q.foundIn = p.system
		}
	}
	if p.missing != nil && in != No {
		q.because(p.missing)
		in = Unknown
	}
	for _, set := range p.sets {
		if in == No {
			break
		}
		in = min(in, set.contains(q))
	}
	return in
}

func (p *part) inSystem(q *question) Answer {
	switch {
	case p.index != nil:
		n, ok := p.index[p.key(q.code)]
		if !ok {
			return No
		}
		q.display = p.listed[n].Display
		return Yes
	case p.include != nil:
		return p.elsewhere(q)
	case p.unknown != nil:
		q.because(p.unknown)
		return Unknown
	}
	n, ok := p.held.find(q.code)
	switch {
	case ok && (p.whole || p.selected.has(n)):
		q.display = p.held.concepts[n].Display
		return Yes
	case ok || p.held.complete():
		return No
	}
	q.because(notHeld("whole of the code system", p.system))
	return Unknown
}

// elsewhere asks the remote server.
func (p *part) elsewhere(q *question) Answer {
	if q.remote == nil || q.code == "" {
		q.because(p.unknown)
		return Unknown
	}
	in, display, err := q.remote.Contains(q.ctx, p.include, p.system, q.code)
	if err != nil {
		q.because(err)
	} else if in == Unknown {
		q.because(p.unknown)
	}
	if in == Yes {
		q.display = display
	}
	return in
}

func (q *question) because(err error) {
	if q.why == nil {
		q.why = err
	}
}
