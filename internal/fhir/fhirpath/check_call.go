package fhirpath

// Functions by what they do to the types of what they are called on.
var (
	// The argument is evaluated for each item.
	iterating = map[string]bool{"where": true, "select": true, "all": true, "exists": true, "repeat": true, "iif": true, "sort": true, "aggregate": true}
	// The result is some of the items.
	keeping = map[string]bool{
		"where": true, "sort": true, "first": true, "last": true, "tail": true, "skip": true, "take": true, "single": true,
		"distinct": true, "intersect": true, "exclude": true, "trace": true,
	}
	// The result depends on the order of the items.
	ordering = map[string]bool{"first": true, "last": true, "tail": true, "skip": true, "take": true}
)

func (c checker) call(n *call, context typeSet) (typeSet, error) {
	recv := context
	if n.recv != nil {
		var err error
		if recv, err = c.check(n.recv, context); err != nil {
			return anything, err
		}
	}
	switch n.name {
	case "is":
		return anything, nil
	case "as", "ofType":
		typ, _ := typeArgument(n.args[0])
		return c.narrow(recv, typ), nil
	}
	if ordering[n.name] && recv.unordered {
		return anything, fault(n.position(), "%s() needs an order, which these items do not have", n.name)
	}
	inner := context
	if iterating[n.name] {
		inner = recv
		inner.unordered = false
	}
	args := make([]typeSet, len(n.args))
	for i, arg := range n.args {
		scope := inner
		if n.name == "trace" && i == 1 {
			scope = recv
		}
		var err error
		if args[i], err = c.check(arg, scope); err != nil {
			return anything, err
		}
	}
	return c.result(n.name, recv, args), nil
}

// result is what a function gives; most give a value of no further interest.
func (c checker) result(name string, recv typeSet, args []typeSet) typeSet {
	switch {
	case name == "sort":
		recv.unordered = false
		return recv
	case keeping[name]:
		return recv
	}
	switch name {
	case "select":
		return args[0]
	case "union", "combine":
		return recv.or(args[0])
	case "iif":
		result := args[1]
		if len(args) == 3 {
			result = result.or(args[2])
		}
		return result
	case "extension":
		return c.named("Extension")
	case "children", "descendants":
		return typeSet{open: true, unordered: true}
	}
	return anything
}
