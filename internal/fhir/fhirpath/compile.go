package fhirpath

import "sync/atomic"

// compiler turns the syntax tree into steps.
type compiler struct{ model *model }

func (c *compiler) compile(n node) (step, error) {
	switch n := n.(type) {
	case *literal:
		return constant(n.value), nil
	case *variable:
		return c.variable(n)
	case *special:
		return specialStep(n), nil
	case *member:
		return c.member(n)
	case *call:
		return c.call(n)
	case *indexer:
		return c.indexer(n)
	case *unary:
		return c.unary(n)
	case *typeTest:
		return c.typeTest(n)
	case *binary:
		return c.binary(n)
	}
	return nil, fault(n.position(), "unexpected expression")
}

// compileAll compiles arguments.
func (c *compiler) compileAll(nodes []node) ([]step, error) {
	steps := make([]step, len(nodes))
	for i, n := range nodes {
		s, err := c.compile(n)
		if err != nil {
			return nil, err
		}
		steps[i] = s
	}
	return steps, nil
}

// receiver compiles what a call or path applies to: without one, the context.
func (c *compiler) receiver(n node) (step, error) {
	if n == nil {
		return pushThis, nil
	}
	return c.compile(n)
}

func pushThis(r *run) error {
	if !r.this.Exists() {
		return nil
	}
	return r.push(r.this)
}

func constant(value any) step {
	if value == nil {
		return func(*run) error { return nil }
	}
	item := Item{value: value}
	return func(r *run) error { return r.push(item) }
}

func specialStep(n *special) step {
	switch n.name {
	case "index":
		return func(r *run) error { return r.pushValue(r.index) }
	case "total":
		return func(r *run) error {
			for _, item := range r.total {
				if err := r.push(item); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return pushThis
}

// member compiles a name. The first of a path may also be a type: then it is
// the context itself, if it is of that type.
func (c *compiler) member(n *member) (step, error) {
	at := &site{name: n.name}
	if n.recv == nil {
		if isTypeLike(n.name) {
			return typeOrMember(at), nil
		}
		return func(r *run) error {
			if !r.this.Exists() {
				return nil
			}
			return r.pushMember(r.this, at)
		}, nil
	}
	recv, err := c.compile(n.recv)
	if err != nil {
		return nil, err
	}
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		to := len(r.stack)
		if to == from {
			return nil
		}
		for i := from; i < to; i++ {
			if err := r.pushMember(r.stack[i], at); err != nil {
				return err
			}
		}
		r.replace(from, to)
		return nil
	}, nil
}

// typeOrMember is the first name of a path that is written like a type.
func typeOrMember(at *site) step {
	var cache atomic.Pointer[typeCache]
	return func(r *run) error {
		s := r.this.shape
		if s == nil {
			return nil
		}
		c := cache.Load()
		if c == nil || c.shape != s {
			c = &typeCache{s, s.isType(at.name)}
			cache.Store(c)
		}
		if c.is {
			return r.push(r.this)
		}
		return r.pushMember(r.this, at)
	}
}

// typeCache remembers whether the shape met last is of the type.
type typeCache struct {
	shape *shape
	is    bool
}

func (c *compiler) indexer(n *indexer) (step, error) {
	recv, err := c.receiver(n.recv)
	if err != nil {
		return nil, err
	}
	index, err := c.compile(n.index)
	if err != nil {
		return nil, err
	}
	at := n.position()
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		i, ok, err := r.integer(index, at)
		if err != nil {
			return err
		}
		if !ok || i < 0 || i >= int64(len(r.stack)-from) {
			r.cut(from)
			return nil
		}
		r.stack[from] = r.stack[from+int(i)]
		r.cut(from + 1)
		return nil
	}, nil
}

// integer evaluates a step that must give an Integer.
func (r *run) integer(s step, at int) (value int64, ok bool, err error) {
	item, ok, err := r.single(s)
	if err != nil || !ok {
		return 0, false, err
	}
	value, ok = item.system().(int64)
	if !ok {
		return 0, false, fault(at, "an Integer is needed here, not %s", item.describe())
	}
	return value, true, nil
}

// text evaluates a step that must give a String.
func (r *run) text(s step, at int) (value string, ok bool, err error) {
	item, ok, err := r.single(s)
	if err != nil || !ok {
		return "", false, err
	}
	value, ok = item.str()
	if !ok {
		if item.isPrimitive() && !item.hasValue() {
			return "", false, nil
		}
		return "", false, fault(at, "a String is needed here, not %s", item.describe())
	}
	return value, true, nil
}

// describe names the item's type in a message.
func (i Item) describe() string {
	if t := i.Type(); t != "" {
		return t
	}
	return "nothing"
}
