package fhirpath

// http://hl7.org/fhirpath/N1/#existence
var existencePredicates = map[string]predicate{
	"empty":    {0, 0, compileEmpty},
	"exists":   {0, 1, compileExists},
	"all":      {1, 1, compileAllCriteria},
	"not":      {0, 0, compileNot},
	"hasValue": {0, 0, compileHasValue},
}

var existenceFunctions = map[string]function{
	"count": onCollection(func(r *run, from int) error {
		return r.settle(from, int64(len(r.stack)-from))
	}),
	"allTrue":  onCollection(func(r *run, from int) error { return r.quantify(from, true, true) }),
	"anyTrue":  onCollection(func(r *run, from int) error { return r.quantify(from, true, false) }),
	"allFalse": onCollection(func(r *run, from int) error { return r.quantify(from, false, true) }),
	"anyFalse": onCollection(func(r *run, from int) error { return r.quantify(from, false, false) }),
	"distinct": onCollection(func(r *run, from int) error { return r.distinct(from) }),
	"isDistinct": onCollection(func(r *run, from int) error {
		n := len(r.stack)
		if err := r.distinct(from); err != nil {
			return err
		}
		return r.settle(from, len(r.stack) == n)
	}),
	"subsetOf": {1, 1, func(c *compiler, call invocation) (step, error) {
		return c.subset(call, false)
	}},
	"supersetOf": {1, 1, func(c *compiler, call invocation) (step, error) {
		return c.subset(call, true)
	}},
}

// quantify answers whether all, or any, of the booleans have that value.
func (r *run) quantify(from int, value, all bool) error {
	result := all
	for i := from; i < len(r.stack); i++ {
		b, ok := r.stack[i].Bool()
		if !ok {
			return fault(nowhere, "a Boolean is needed here, not %s", r.stack[i].describe())
		}
		if (b == value) != all {
			result = !all
		}
	}
	return r.settle(from, result)
}

// count evaluates a step for the number of its items.
func (r *run) count(s step) (int, error) {
	from := len(r.stack)
	if err := s(r); err != nil {
		return 0, err
	}
	n := len(r.stack) - from
	r.cut(from)
	return n, nil
}

func compileEmpty(c *compiler, call *call) (condition, error) {
	recv, err := c.receiver(call.recv)
	return func(r *run) (trilean, error) {
		n, err := r.count(recv)
		return trileanOf(n == 0), err
	}, err
}

func compileNot(c *compiler, call *call) (condition, error) {
	operand, err := conditionOf(pushThis), error(nil)
	if call.recv != nil {
		operand, err = c.condition(call.recv)
	}
	return func(r *run) (trilean, error) {
		t, err := operand(r)
		return -t, err
	}, err
}

func compileHasValue(c *compiler, call *call) (condition, error) {
	if call.recv == nil {
		return func(r *run) (trilean, error) { return trileanOf(r.this.hasValue()), nil }, nil
	}
	recv, err := c.compile(call.recv)
	return func(r *run) (trilean, error) {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return unknown, err
		}
		has := len(r.stack) == from+1 && r.stack[from].hasValue()
		r.cut(from)
		return trileanOf(has), nil
	}, err
}

func compileExists(c *compiler, call *call) (condition, error) {
	if len(call.args) > 0 {
		return c.search(call, yes)
	}
	recv, err := c.receiver(call.recv)
	return func(r *run) (trilean, error) {
		n, err := r.count(recv)
		return trileanOf(n > 0), err
	}, err
}

func compileAllCriteria(c *compiler, call *call) (condition, error) {
	failed, err := c.search(call, no)
	return func(r *run) (trilean, error) {
		t, err := failed(r)
		return -t, err
	}, err
}

// search compiles whether the criteria give wanted for an item; an empty result
// counts as no.
func (c *compiler) search(call *call, wanted trilean) (condition, error) {
	recv, err := c.receiver(call.recv)
	if err != nil {
		return nil, err
	}
	criteria, err := c.condition(call.args[0])
	return func(r *run) (trilean, error) {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return unknown, err
		}
		outer := r.enter()
		defer r.leave(outer)
		found := no
		for i := from; i < len(r.stack) && found == no; i++ {
			r.this, r.index = r.stack[i], int64(i-from)
			t, err := criteria(r)
			if err != nil {
				return unknown, err
			}
			found = trileanOf((t == yes) == (wanted == yes))
		}
		r.cut(from)
		return found, nil
	}, err
}

// subset compiles subsetOf, and supersetOf with the operands exchanged.
func (c *compiler) subset(call invocation, exchanged bool) (step, error) {
	other, err := c.compile(call.args[0])
	if err != nil {
		return nil, err
	}
	small, large := call.recv, other
	if exchanged {
		small, large = other, call.recv
	}
	return func(r *run) error {
		from := len(r.stack)
		if err := small(r); err != nil {
			return err
		}
		middle := len(r.stack)
		if err := large(r); err != nil {
			return err
		}
		for i := from; i < middle; i++ {
			found, err := r.has(middle, len(r.stack), r.stack[i])
			if err != nil {
				return err
			}
			if !found {
				return r.settle(from, false)
			}
		}
		return r.settle(from, true)
	}, nil
}
