package fhirpath

import (
	"errors"
	"sync"

	"starling/internal/fhir/definition"
)

// Expression is a compiled expression. It is immutable and safe for concurrent
// use.
type Expression struct {
	text  string
	model *model
	root  node
	start step
	test  func() condition // compiled when first asked for
}

// Compile parses an expression and compiles it. It needs no type to begin
// with: one expression serves every type that its paths name. The error is an
// *Error and names the place at fault.
func Compile(reg *definition.Registry, expr string) (*Expression, error) {
	m := modelOf(reg)
	root, err := parse(expr)
	if err != nil {
		return nil, located(err, expr)
	}
	c := compiler{model: m}
	start, err := c.compile(root)
	if err != nil {
		return nil, located(err, expr)
	}
	test := sync.OnceValue(func() condition {
		test, _ := c.condition(root) // what compiles as a step does as a condition
		return test
	})
	return &Expression{text: expr, model: m, root: root, start: start, test: test}, nil
}

// String gives the expression as it was written.
func (e *Expression) String() string { return e.text }

// Evaluate runs the expression on a focus; env may be nil. An empty collection
// is a result like any other. The error, an *Error, says that the expression
// does not apply to the data (several values where one is needed, operands
// that do not fit) or that a limit was reached.
func (e *Expression) Evaluate(env *Environment, focus Item) (Collection, error) {
	return e.Append(nil, env, focus)
}

// Append is Evaluate with its result appended to dst, which callers reuse. On
// an error dst is returned as it was.
func (e *Expression) Append(dst Collection, env *Environment, focus Item) (Collection, error) {
	r := runs.Get().(*run)
	defer r.release()
	r.begin(env, focus)
	if err := e.start(r); err != nil {
		return dst, located(err, e.text)
	}
	return append(dst, r.stack...), nil
}

// Test runs the expression as a condition, as an invariant or a criterion is:
// an empty result is known false, and one item that is no boolean is true.
func (e *Expression) Test(env *Environment, focus Item) (value, known bool, err error) {
	r := runs.Get().(*run)
	defer r.release()
	r.begin(env, focus)
	answer, err := e.test()(r)
	if err != nil {
		return false, false, located(err, e.text)
	}
	return answer == yes, answer != unknown, nil
}

// located fills in the expression of an Error.
func located(err error, expr string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Expression = expr
	}
	return err
}
