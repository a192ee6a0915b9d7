package fhirpath

// function is an entry of the function table.
type function struct {
	least, most int // arguments
	compile     func(c *compiler, call invocation) (step, error)
}

// invocation is a call with its receiver compiled. Arguments are compiled by
// the function, for some are conditions and some are names of types.
type invocation struct {
	*call
	recv step
}

// functions is the table of all functions, by name.
var functions map[string]function

func init() {
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
	f, ok := functions[n.name]
	if !ok {
		return nil, fault(n.position(), "unknown function %s()", n.name)
	}
	if len(n.args) < f.least || len(n.args) > f.most {
		return nil, fault(n.position(), "%s() takes %s, not %d", n.name, arity(f.least, f.most), len(n.args))
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
