package fhirpath

// http://hl7.org/fhirpath/N1/#filtering-and-projection, and aggregate.
var filterFunctions = map[string]function{
	"where":     {1, 1, compileWhere},
	"select":    {1, 1, compileSelect},
	"repeat":    {1, 1, compileRepeat},
	"aggregate": {1, 2, compileAggregate},
	"iif":       {2, 3, compileIif},
	"trace":     {1, 2, compileTrace},
}

func compileWhere(c *compiler, call invocation) (step, error) {
	criteria, err := c.condition(call.args[0])
	if err != nil {
		return nil, err
	}
	recv := call.recv
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		return r.filter(from, criteria)
	}, nil
}

// filter keeps the items on the stack from a mark on that meet the criteria.
func (r *run) filter(from int, criteria condition) error {
	if len(r.stack) == from {
		return nil
	}
	outer := r.enter()
	defer r.leave(outer)
	to, end := from, len(r.stack)
	for i := from; i < end; i++ {
		item := r.stack[i]
		r.this, r.index = item, int64(i-from)
		met, err := criteria(r)
		if err != nil {
			return err
		}
		if met == yes {
			r.stack[to] = item
			to++
		}
	}
	r.cut(to)
	return nil
}

func compileSelect(c *compiler, call invocation) (step, error) {
	projection, err := c.compile(call.args[0])
	if err != nil {
		return nil, err
	}
	recv := call.recv
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		outer := r.enter()
		defer r.leave(outer)
		to := len(r.stack)
		for i := from; i < to; i++ {
			r.this, r.index = r.stack[i], int64(i-from)
			if err := projection(r); err != nil {
				return err
			}
		}
		r.replace(from, to)
		return nil
	}, nil
}

// repeat applies the projection to its own results until nothing new comes.
func compileRepeat(c *compiler, call invocation) (step, error) {
	projection, err := c.compile(call.args[0])
	if err != nil {
		return nil, err
	}
	recv := call.recv
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		outer := r.enter()
		defer r.leave(outer)
		results, seen := len(r.stack), itemSet{}
		for i := from; i < len(r.stack); i++ {
			r.this = r.stack[i]
			fresh := len(r.stack)
			if err := projection(r); err != nil {
				return err
			}
			to, err := r.keepFresh(seen, fresh)
			if err != nil {
				return err
			}
			r.cut(to)
		}
		r.replace(from, results)
		return nil
	}, nil
}

func compileAggregate(c *compiler, call invocation) (step, error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv := call.recv
	return func(r *run) error {
		total := r.total
		defer func() { r.total = total }()
		from := len(r.stack)
		var start []Item
		if len(args) == 2 {
			if err := args[1](r); err != nil {
				return err
			}
			start = append(start, r.stack[from:]...)
			r.cut(from)
		}
		if err := recv(r); err != nil {
			return err
		}
		outer := r.enter()
		defer r.leave(outer)
		r.total = start
		to := len(r.stack)
		for i := from; i < to; i++ {
			r.this, r.index = r.stack[i], int64(i-from)
			if err := args[0](r); err != nil {
				return err
			}
			r.total = append([]Item(nil), r.stack[to:]...)
			r.cut(to)
		}
		r.cut(from)
		for _, item := range r.total {
			if err := r.push(item); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// iif evaluates only the branch that its criterion chooses. Called on an item,
// that is $this.
func compileIif(c *compiler, call invocation) (step, error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv, at := call.recv, call.args[0].position()
	onContext := call.call.recv == nil
	return func(r *run) error {
		outer := r.enter()
		defer r.leave(outer)
		if !onContext {
			item, _, err := r.single(recv)
			if err != nil {
				return err
			}
			r.this = item
		}
		criterion, ok, err := r.single(args[0])
		if err != nil {
			return placed(err, at)
		}
		value, isBool := criterion.Bool()
		if ok && !isBool {
			return fault(at, "the criterion of iif() must be a Boolean, not %s", criterion.describe())
		}
		switch {
		case ok && value:
			return args[1](r)
		case len(args) == 3:
			return args[2](r)
		}
		return nil
	}, nil
}

func compileTrace(c *compiler, call invocation) (step, error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv, at := call.recv, call.position()
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		if r.env.Trace == nil {
			return nil
		}
		name, _, err := r.text(args[0], at)
		if err != nil {
			return err
		}
		if len(args) == 1 {
			r.env.Trace(name, append(Collection(nil), r.stack[from:]...))
			return nil
		}
		outer := r.enter()
		defer r.leave(outer)
		to := len(r.stack)
		for i := from; i < to; i++ {
			r.this, r.index = r.stack[i], int64(i-from)
			if err := args[1](r); err != nil {
				return err
			}
		}
		r.env.Trace(name, append(Collection(nil), r.stack[to:]...))
		r.cut(to)
		return nil
	}, nil
}
