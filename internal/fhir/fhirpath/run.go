package fhirpath

import (
	"sync"
	"time"
)

// run is the state of one evaluation. Collections live on one stack: a step
// pushes its result, and its caller takes it off again.
type run struct {
	env   *Environment
	focus Item
	stack []Item

	this  Item // $this: the context of a path that begins
	index int64
	total []Item

	entries []bundleEntry // of the root resource, if that is a Bundle; read when first asked for
	bundled bool          // entries was read

	steps    int
	maxItems int
	high     int // the longest the stack has been
	now      time.Time
}

// step is a compiled part of an expression: it pushes its result.
type step func(r *run) error

// keepStack bounds the stack that is kept for the next evaluation, in items.
const keepStack = 4096

var runs = sync.Pool{New: func() any { return new(run) }}

var emptyEnvironment Environment

func (r *run) begin(env *Environment, focus Item) {
	if env == nil {
		env = &emptyEnvironment
	}
	r.env, r.focus, r.this = env, focus, focus
	r.steps, r.maxItems = env.Limits.Steps, env.Limits.Items
	if r.steps == 0 {
		r.steps = DefaultLimits.Steps
	}
	if r.maxItems == 0 {
		r.maxItems = DefaultLimits.Items
	}
	r.now = env.Now
}

// release clears the state, so that a pooled run holds on to no tree.
func (r *run) release() {
	stack := r.stack[:max(r.high, len(r.stack))]
	clear(stack)
	if cap(stack) > keepStack {
		stack = nil
	}
	*r = run{stack: stack[:0]}
	runs.Put(r)
}

// tick counts n operations against the limit.
func (r *run) tick(n int) error {
	if r.steps -= n; r.steps < 0 {
		return fault(nowhere, "the evaluation takes too many steps")
	}
	return nil
}

func (r *run) push(item Item) error {
	if r.steps--; r.steps < 0 {
		return r.tick(0)
	}
	if len(r.stack) >= r.maxItems {
		return fault(nowhere, "the evaluation has too many items")
	}
	r.stack = append(r.stack, item)
	return nil
}

func (r *run) pushValue(value any) error { return r.push(Item{value: value}) }

// cut takes everything from mark on off the stack.
func (r *run) cut(mark int) {
	r.high = max(r.high, len(r.stack))
	r.stack = r.stack[:mark]
}

// replace drops the items between from and to, keeping those after.
func (r *run) replace(from, to int) {
	n := copy(r.stack[from:], r.stack[to:])
	r.cut(from + n)
}

// scope is what an iteration changes, to be put back after it.
type scope struct {
	this  Item
	index int64
}

func (r *run) enter() scope { return scope{r.this, r.index} }

func (r *run) leave(s scope) { r.this, r.index = s.this, s.index }

// single evaluates a step that must give one item at most; ok is false for
// none. The stack is left as it was.
func (r *run) single(s step) (item Item, ok bool, err error) {
	mark := len(r.stack)
	if err := s(r); err != nil {
		return Item{}, false, err
	}
	switch len(r.stack) - mark {
	case 0:
		return Item{}, false, nil
	case 1:
		item = r.stack[mark]
		r.cut(mark)
		return item, true, nil
	}
	n := len(r.stack) - mark
	r.cut(mark)
	return Item{}, false, fault(nowhere, "one value is needed here, and there are %d", n)
}

func (r *run) clock() time.Time {
	if r.now.IsZero() {
		r.now = time.Now()
	}
	return r.now
}
