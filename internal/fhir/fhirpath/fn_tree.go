package fhirpath

// http://hl7.org/fhirpath/N1/#tree-navigation
var treeFunctions = map[string]function{
	"children": onCollection(func(r *run, from int) error {
		to := len(r.stack)
		for i := from; i < to; i++ {
			if err := r.pushChildren(r.stack[i]); err != nil {
				return err
			}
		}
		r.replace(from, to)
		return nil
	}),
	// descendants are the children, their children and so on, level by level.
	"descendants": onCollection(func(r *run, from int) error {
		to := len(r.stack)
		for i := from; i < len(r.stack); i++ {
			if err := r.pushChildren(r.stack[i]); err != nil {
				return err
			}
		}
		r.replace(from, to)
		return nil
	}),
}
