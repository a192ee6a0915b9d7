package fhirpath

import "strings"

// https://hl7.org/fhir/R4/fhirpath.html#functions
var fhirFunctions = map[string]function{
	"extension":    {1, 1, compileExtension},
	"hasExtension": {1, 1, compileHasExtension},
	"getValue": onItem(func(r *run, item Item) error {
		if value := item.system(); value != nil && (item.shape == nil || item.shape.primitive) {
			return r.pushValue(value)
		}
		return nil
	}),
	"checkModifiers": {1, 16, compileCheckModifiers},
	"resolve":        onCollection(func(r *run, from int) error { return r.resolveFrom(from) }),
	"memberOf":       {1, 1, compileMemberOf},
	"subsumes":       {1, 1, func(c *compiler, call invocation) (step, error) { return c.subsumes(call, false) }},
	"subsumedBy":     {1, 1, func(c *compiler, call invocation) (step, error) { return c.subsumes(call, true) }},
	"conformsTo":     {1, 1, compileConformsTo},
	"htmlChecks": onItem(func(r *run, item Item) error {
		text, ok := item.str()
		if err := r.tick(len(text)); err != nil {
			return err
		}
		return r.pushValue(ok && htmlAllowed(text))
	}),
}

// extensionsOf evaluates a receiver and replaces each item with its extensions
// of a URL.
func (r *run) extensionsOf(recv, url step, at *site) error {
	from := len(r.stack)
	if err := recv(r); err != nil {
		return err
	}
	wanted, ok, err := r.text(url, nowhere)
	if err != nil {
		return err
	}
	if !ok {
		r.cut(from)
		return nil
	}
	to := len(r.stack)
	for i := from; i < to; i++ {
		if err := r.pushMember(r.stack[i], at); err != nil {
			return err
		}
	}
	kept := to
	for i := to; i < len(r.stack); i++ {
		if item := r.stack[i]; item.node.Get("url").Str() == wanted {
			r.stack[kept] = item
			kept++
		}
	}
	r.cut(kept)
	r.replace(from, to)
	return nil
}

func compileExtension(c *compiler, call invocation) (step, error) {
	url, err := c.compile(call.args[0])
	recv, at := call.recv, &site{name: "extension"}
	return func(r *run) error { return r.extensionsOf(recv, url, at) }, err
}

func compileHasExtension(c *compiler, call invocation) (step, error) {
	url, err := c.compile(call.args[0])
	recv, at := call.recv, &site{name: "extension"}
	return func(r *run) error {
		from := len(r.stack)
		if err := r.extensionsOf(recv, url, at); err != nil {
			return err
		}
		return r.settle(from, len(r.stack) > from)
	}, err
}

func compileMemberOf(c *compiler, call invocation) (step, error) {
	valueSet, err := c.compile(call.args[0])
	recv := call.recv
	return func(r *run) error {
		item, ok, err := r.single(recv)
		if err != nil || !ok {
			return err
		}
		url, ok, err := r.text(valueSet, nowhere)
		if err != nil || !ok || r.env.MemberOf == nil {
			return err
		}
		member, known := r.env.MemberOf(item, url)
		if !known {
			return nil
		}
		return r.pushValue(member)
	}, err
}

func (c *compiler) subsumes(call invocation, exchanged bool) (step, error) {
	other, err := c.compile(call.args[0])
	recv, at := call.recv, call.position()
	return func(r *run) error {
		a, b, ok, err := r.pair(recv, other, at)
		if err != nil || !ok || r.env.Subsumes == nil {
			return err
		}
		if exchanged {
			a, b = b, a
		}
		subsumes, known := r.env.Subsumes(a, b)
		if !known {
			return nil
		}
		return r.pushValue(subsumes)
	}, err
}

func compileConformsTo(c *compiler, call invocation) (step, error) {
	profile, err := c.compile(call.args[0])
	recv, at, model := call.recv, call.position(), c.model
	return func(r *run) error {
		item, ok, err := r.single(recv)
		if err != nil || !ok {
			return err
		}
		url, ok, err := r.text(profile, nowhere)
		if err != nil || !ok {
			return err
		}
		conforms, known := model.conformsToBase(item, url)
		if r.env.ConformsTo != nil {
			conforms, known = r.env.ConformsTo(item, url)
		}
		if !known {
			return fault(at, "unknown profile %s", url)
		}
		return r.pushValue(conforms)
	}, err
}

// conformsToBase decides for the profiles that are R4's own types.
func (m *model) conformsToBase(item Item, url string) (conforms, known bool) {
	name, ok := strings.CutPrefix(url, "http://hl7.org/fhir/StructureDefinition/")
	if !ok || name == "" {
		return false, false
	}
	s := m.shape(name)
	if s.load(); !s.known {
		return false, false
	}
	return item.Is(name), true
}
