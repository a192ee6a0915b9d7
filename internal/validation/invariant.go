package validation

import (
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// invariant is a compiled constraint of an element
// (https://hl7.org/fhir/R4/conformance-rules.html#constraints). It fails where
// its expression is false; an empty result passes.
type invariant struct {
	key, human string
	severity   fhir.Severity
	presence   presence // nil: says nothing
	// presenceDecides says that FHIRPath is never needed.
	presenceDecides bool
	compiled        func() *fhirpath.Expression
}

// byHand are the constraints that functions of this package check: they are on
// every element or resource, or concern the text of JSON.
var byHand = map[string]bool{
	"ele-1": true, "ext-1": true, "txt-1": true, "txt-2": true, "ref-1": true, "per-1": true,
	"dom-2": true, "dom-3": true, "dom-4": true, "dom-5": true, "dom-6": true,
}

// corrected are expressions that do not say what their constraint says; the
// definitions keep the published ones.
var corrected = map[string]string{
	// "If there are more than one enableWhen, …", published with > 2.
	"que-12": "enableWhen.count() > 1 implies enableBehavior.exists()",
}

// invariants compiles constraints that objects of a shape have to meet; of a
// nil shape it asks nothing about presence.
func (v *Validator) invariants(s *shape, constraints []definition.Constraint) []*invariant {
	var compiled []*invariant
	for i := range constraints {
		c := &constraints[i]
		if c.Expression == "" || byHand[c.Key] {
			continue
		}
		compiled = append(compiled, v.invariant(s, c))
	}
	return compiled
}

func (v *Validator) invariant(s *shape, c *definition.Constraint) *invariant {
	i := &invariant{key: c.Key, human: c.Human, severity: fhir.SeverityError}
	if c.Severity == "warning" {
		i.severity = fhir.SeverityWarning
	}
	expression := c.Expression
	if text, ok := corrected[c.Key]; ok {
		expression = text
	}
	if s != nil {
		i.presence, i.presenceDecides = presenceOf(s, expression)
	}
	shared := v.compiled // what is kept of it may outlive v
	i.compiled = sync.OnceValue(func() *fhirpath.Expression { return shared.expression(expression) })
	return i
}

// expression compiles FHIRPath once for all who use it; nil if it cannot be.
func (c *compiled) expression(text string) *fhirpath.Expression {
	if e, ok := c.expressions.Load(text); ok {
		return e.(*fhirpath.Expression)
	}
	e, err := fhirpath.Compile(c.registry, text)
	if err != nil {
		e = nil
	}
	kept, _ := c.expressions.LoadOrStore(text, e)
	return kept.(*fhirpath.Expression)
}

// holds checks the invariants of an object whose elements are known. item is
// made if it is needed and does not exist yet.
func (r *run) holds(n element.Node, s *shape, has slotSet, item fhirpath.Item) {
	for _, i := range s.invariants {
		if i.presence != nil {
			switch i.presence(has) {
			case isTrue:
				continue
			case isFalse:
				r.broken(n, i)
				continue
			}
		}
		if !item.Exists() {
			if item = r.item(n, s); !item.Exists() {
				return
			}
		}
		r.evaluate(n, i, item)
	}
}

// evaluate checks one invariant on an item; n is where its failure is reported.
func (r *run) evaluate(n element.Node, i *invariant, item fhirpath.Item) {
	expression := i.compiled()
	if expression == nil {
		return
	}
	if r.exhausted() {
		return
	}
	value, known, err := expression.Test(r.environment(), item)
	switch {
	case err != nil:
		r.warn(n, fhir.IssueInvariant, i.key, "%s: cannot be evaluated here: %v", i.key, err)
	case known && !value:
		r.broken(n, i)
	}
}

func (r *run) broken(n element.Node, i *invariant) {
	r.add(n, i.severity, fhir.IssueInvariant, i.key, "%s: %s", i.key, shortenTo(i.human, 300))
}

// item is an object of a type as FHIRPath sees it.
func (r *run) item(n element.Node, s *shape) fhirpath.Item {
	switch {
	case s.typeName == "":
		return fhirpath.Item{}
	case s.resource:
		return fhirpath.Root(r.validator.registry, fhir.ResourceType(s.typeName), n)
	}
	return fhirpath.Element(r.validator.registry, s.typeName, n)
}
