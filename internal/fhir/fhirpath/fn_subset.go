package fhirpath

// http://hl7.org/fhirpath/N1/#subsetting
var subsetFunctions = map[string]function{
	"single": onCollection(func(r *run, from int) error {
		if n := len(r.stack) - from; n > 1 {
			return fault(nowhere, "single() needs one item at most, and there are %d", n)
		}
		return nil
	}),
	"first": onCollection(func(r *run, from int) error { return r.slice(from, 0, 1) }),
	"last": onCollection(func(r *run, from int) error {
		n := int64(len(r.stack) - from)
		return r.slice(from, n-1, n)
	}),
	"tail": onCollection(func(r *run, from int) error { return r.slice(from, 1, int64(len(r.stack)-from)) }),
	"skip": withInteger(func(r *run, from int, n int64) error {
		return r.slice(from, n, int64(len(r.stack)-from))
	}),
	"take": withInteger(func(r *run, from int, n int64) error { return r.slice(from, 0, n) }),
	"sort": {0, 8, compileSort},
}

// slice keeps the items from first to before last, counted from a mark.
func (r *run) slice(from int, first, last int64) error {
	n := int64(len(r.stack) - from)
	first, last = max(first, 0), min(last, n)
	if first >= last {
		r.cut(from)
		return nil
	}
	copy(r.stack[from:], r.stack[from+int(first):from+int(last)])
	r.cut(from + int(last-first))
	return nil
}

// withInteger makes a function of a collection and a number.
func withInteger(apply func(r *run, from int, n int64) error) function {
	return function{1, 1, func(c *compiler, call invocation) (step, error) {
		arg, err := c.compile(call.args[0])
		if err != nil {
			return nil, err
		}
		recv, at := call.recv, call.args[0].position()
		return func(r *run) error {
			from := len(r.stack)
			if err := recv(r); err != nil {
				return err
			}
			n, ok, err := r.integer(arg, at)
			if err != nil {
				return err
			}
			if !ok {
				r.cut(from)
				return nil
			}
			return apply(r, from, n)
		}, nil
	}}
}
