package fhirpath

// function is an entry of the function table.
type function struct {
	least, most int // arguments
	compile     func(c *compiler, call invocation) (step, error)
}

// predicate is an entry of the table of functions that are conditions. It
// compiles the receiver itself, which may be a condition too.
type predicate struct {
	least, most int // arguments
	compile     func(c *compiler, call *call) (condition, error)
}

// invocation is a call with its receiver compiled. Arguments are compiled by
// the function, for some are conditions and some are names of types.
type invocation struct {
	*call
	recv step
}

// functions and predicates are the tables of all functions, by name.
var (
	functions  map[string]function
	predicates map[string]predicate
)

func init() {
	predicates = existencePredicates
	functions = map[string]function{}
	for _, table := range []map[string]function{
		existenceFunctions, filterFunctions, subsetFunctions, combineFunctions, conversionFunctions,
		stringFunctions, patternFunctions, encodingFunctions, mathFunctions, treeFunctions, typeFunctions,
		fhirFunctions, boundaryFunctions, clockFunctions,
	} {
		for name, f := range table {
			functions[name] = f
		}
	}
}

func (c *compiler) call(n *call) (step, error) {
	if p, ok := predicates[n.name]; ok {
		answer, err := c.predicate(n, p)
		return answer.step(), err
	}
	f, ok := functions[n.name]
	if !ok {
		return nil, fault(n.position(), "unknown function %s()", n.name)
	}
	if err := n.takes(f.least, f.most); err != nil {
		return nil, err
	}
	recv, err := c.receiver(n.recv)
	if err != nil {
		return nil, err
	}
	s, err := f.compile(c, invocation{n, recv})
	if err != nil {
		return nil, placed(err, n.position())
	}
	at := n.position()
	return func(r *run) error {
		if err := s(r); err != nil {
			return placed(err, at)
		}
		return nil
	}, nil
}

func (c *compiler) predicate(n *call, p predicate) (condition, error) {
	if err := n.takes(p.least, p.most); err != nil {
		return nil, err
	}
	answer, err := p.compile(c, n)
	if err != nil {
		return nil, placed(err, n.position())
	}
	at := n.position()
	return func(r *run) (trilean, error) {
		t, err := answer(r)
		if err != nil {
			return unknown, placed(err, at)
		}
		return t, r.tick(1)
	}, nil
}

// takes checks the number of arguments.
func (n *call) takes(least, most int) error {
	if len(n.args) < least || len(n.args) > most {
		return fault(n.position(), "%s() takes %s, not %d", n.name, arity(least, most), len(n.args))
	}
	return nil
}

func arity(least, most int) string {
	switch {
	case most == 0:
		return "no arguments"
	case least == 1 && most == 1:
		return "1 argument"
	case least == most:
		return string(rune('0'+least)) + " arguments"
	}
	return string(rune('0'+least)) + " to " + string(rune('0'+most)) + " arguments"
}

// onCollection makes a function without arguments that replaces what is on the
// stack from a mark on.
func onCollection(apply func(r *run, from int) error) function {
	return function{0, 0, func(_ *compiler, call invocation) (step, error) {
		recv := call.recv
		return func(r *run) error {
			from := len(r.stack)
			if err := recv(r); err != nil {
				return err
			}
			return apply(r, from)
		}, nil
	}}
}

// onItem makes a function without arguments of a single item; apply pushes
// the result. Without an item the result is empty.
func onItem(apply func(r *run, item Item) error) function {
	return function{0, 0, func(_ *compiler, call invocation) (step, error) {
		recv := call.recv
		return func(r *run) error {
			item, ok, err := r.single(recv)
			if err != nil || !ok {
				return err
			}
			return apply(r, item)
		}, nil
	}}
}

// settle replaces the stack from a mark on with one value.
func (r *run) settle(from int, value any) error {
	r.cut(from)
	return r.pushValue(value)
}
