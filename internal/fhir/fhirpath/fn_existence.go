package fhirpath

// http://hl7.org/fhirpath/N1/#existence
var existenceFunctions = map[string]function{
	"empty": onCollection(func(r *run, from int) error {
		return r.settle(from, len(r.stack) == from)
	}),
	"exists": {0, 1, compileExists},
	"all":    {1, 1, compileAllCriteria},
	"count": onCollection(func(r *run, from int) error {
		return r.settle(from, int64(len(r.stack)-from))
	}),
	"not": {0, 0, func(_ *compiler, call invocation) (step, error) {
		recv, at := call.recv, call.position()
		return func(r *run) error {
			t, err := r.trilean(recv, at)
			if err != nil {
				return err
			}
			return r.pushTrilean(-t)
		}, nil
	}},
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

func compileExists(c *compiler, call invocation) (step, error) {
	recv := call.recv
	if len(call.args) == 0 {
		return func(r *run) error {
			from := len(r.stack)
			if err := recv(r); err != nil {
				return err
			}
			return r.settle(from, len(r.stack) > from)
		}, nil
	}
	criteria, err := c.compile(call.args[0])
	if err != nil {
		return nil, err
	}
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		found, err := r.search(from, criteria, true)
		if err != nil {
			return err
		}
		return r.settle(from, found)
	}, nil
}

// search reports whether the criteria give wanted for an item on the stack
// from a mark on; an empty result counts as false.
func (r *run) search(from int, criteria step, wanted bool) (bool, error) {
	outer := r.enter()
	defer r.leave(outer)
	for i := from; i < len(r.stack); i++ {
		r.this, r.index = r.stack[i], int64(i-from)
		value, _, err := r.truth(criteria)
		if err != nil {
			return false, err
		}
		if value == wanted {
			return true, nil
		}
	}
	return false, nil
}

func compileAllCriteria(c *compiler, call invocation) (step, error) {
	criteria, err := c.compile(call.args[0])
	if err != nil {
		return nil, err
	}
	recv := call.recv
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		failed, err := r.search(from, criteria, false)
		if err != nil {
			return err
		}
		return r.settle(from, !failed)
	}, nil
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
