package fhirpath

import "slices"

// compileCheckModifiers is the identity on elements whose modifier extensions
// are all among the arguments, and an error on others.
func compileCheckModifiers(c *compiler, call invocation) (step, error) {
	args, err := c.compileAll(call.args)
	if err != nil {
		return nil, err
	}
	recv, at, modifiers := call.recv, call.position(), &site{name: "modifierExtension"}
	return func(r *run) error {
		from := len(r.stack)
		if err := recv(r); err != nil {
			return err
		}
		known := make([]string, 0, len(args))
		for _, arg := range args {
			url, _, err := r.text(arg, at)
			if err != nil {
				return err
			}
			known = append(known, url)
		}
		to := len(r.stack)
		for i := from; i < to; i++ {
			if err := r.pushMember(r.stack[i], modifiers); err != nil {
				return err
			}
		}
		for i := to; i < len(r.stack); i++ {
			if url := r.stack[i].node.Get("url").Str(); !slices.Contains(known, url) {
				return fault(at, "unknown modifier extension %s", url)
			}
		}
		r.cut(to)
		return nil
	}, nil
}
