package fhirpath

// http://hl7.org/fhirpath/N1/#combining, intersect and exclude.
var combineFunctions = map[string]function{
	"union": {1, 1, func(c *compiler, call invocation) (step, error) {
		other, err := c.compile(call.args[0])
		return unionOf([]unionPart{{step: call.recv}, {step: other}}), err
	}},
	"combine": {1, 1, func(c *compiler, call invocation) (step, error) {
		other, err := c.compile(call.args[0])
		recv := call.recv
		return func(r *run) error {
			if err := recv(r); err != nil {
				return err
			}
			return other(r)
		}, err
	}},
	"intersect": {1, 1, func(c *compiler, call invocation) (step, error) {
		return c.common(call, true)
	}},
	"exclude": {1, 1, func(c *compiler, call invocation) (step, error) {
		return c.common(call, false)
	}},
}

// common compiles intersect, which keeps what the other collection has too,
// without duplicates, and exclude, which keeps the rest as it is.
func (c *compiler) common(call invocation, keep bool) (step, error) {
	other, err := c.compile(call.args[0])
	if err != nil {
		return nil, err
	}
	recv := call.recv
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		middle := len(r.stack)
		if err := other(r); err != nil {
			return err
		}
		to, end := from, len(r.stack)
		for i := from; i < middle; i++ {
			item := r.stack[i]
			found, err := r.has(middle, end, item)
			if err != nil {
				return err
			}
			if found == keep {
				r.stack[to] = item
				to++
			}
		}
		r.cut(to)
		if keep {
			return r.distinct(from)
		}
		return nil
	}, nil
}
