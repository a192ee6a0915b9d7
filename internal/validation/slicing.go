package validation

import (
	"slices"
	"strings"
	"sync/atomic"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// sliceTest decides by one discriminator whether a value is in a slice
// (https://hl7.org/fhir/R4/profiling.html#discriminator).
type sliceTest func(r *run, item fhirpath.Item) bool

// finishSlices compiles the discriminators of an element's slices. Where the
// slicing does not say any, extensions differ by url and choices by type.
func (v *Validator) finishSlices(c *constraint) {
	if c.slicing == nil {
		c.slicing = &slicing{rules: "open"}
	}
	if len(c.slicing.discriminators) == 0 {
		switch {
		case c.name == "extension" || c.name == "modifierExtension":
			c.slicing.discriminators = []discriminator{{"value", "url"}}
		case c.defined != nil && c.defined.Choice:
			c.slicing.discriminators = []discriminator{{"type", "$this"}}
		}
	}
	for _, s := range c.slices {
		v.finish(s)
		// Not before it is used: a discriminator may look into other profiles.
		s.tests = testsOnce(c.slicing.discriminators, s)
	}
}

// testsOnce makes the tests of a slice when they are first asked for. They serve
// all validators that have what the slice leads to.
func testsOnce(discriminators []discriminator, s *constraint) func(v *Validator) []sliceTest {
	var made atomic.Pointer[[]sliceTest]
	return func(v *Validator) []sliceTest {
		if tests := made.Load(); tests != nil {
			return *tests
		}
		tests := make([]sliceTest, len(discriminators))
		for i, d := range discriminators {
			tests[i] = v.sliceTest(s, d)
		}
		made.Store(&tests)
		return tests
	}
}

func nowhereIn(*run, fhirpath.Item) bool { return false }

func (v *Validator) sliceTest(s *constraint, d discriminator) sliceTest {
	steps := pathSteps(d.path)
	if d.kind == "value" && d.path == "url" && s.child("url") == nil && len(s.types) == 1 && len(s.types[0].Profiles) > 0 {
		return urlTest(s.types[0].Profiles)
	}
	// The constraint that the path leads to, or the last on the way.
	at, taken := s, 0
	for ; taken < len(steps); taken++ {
		if d.kind != "type" && (at.fixed.Exists() || at.pattern.Exists()) {
			break
		}
		next := v.stepInto(at, steps[taken])
		if next == nil {
			break
		}
		at = next
	}
	path := v.expression(strings.Join(steps[:taken], "."))
	if taken == 0 {
		path = nil
	}
	switch d.kind {
	case "value", "pattern":
		if v.saysNothing(at) {
			return nowhereIn
		}
		return anyItem(path, valueTest(at))
	case "exists":
		if taken < len(steps) {
			return nowhereIn
		}
		return existsTest(path, at)
	case "type":
		if taken < len(steps) {
			path = v.expression(d.path)
		}
		return anyItem(path, v.typeTest(at))
	case "profile":
		path = v.expression(d.path)
		if d.path == "$this" {
			path = nil
		}
		return anyItem(path, profileTest(at))
	}
	return nowhereIn
}

// pathSteps splits a discriminator's path: element names, extension('url'),
// resolve() and ofType(type). $this is no step.
func pathSteps(path string) []string {
	var steps []string
	for rest := path; rest != ""; {
		left, _, right, found := splitFirst(rest)
		if left != "$this" {
			steps = append(steps, left)
		}
		if !found {
			break
		}
		rest = right
	}
	return steps
}

// splitFirst splits a path at its first dot outside of parentheses.
func splitFirst(path string) (left, dot, right string, found bool) {
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '(':
			i += closing(path[i:])
		case '.':
			return path[:i], ".", path[i+1:], true
		}
	}
	return path, "", "", false
}

// stepInto follows one step of a discriminator's path to what a slice asks
// there; nil if it asks nothing.
func (v *Validator) stepInto(c *constraint, step string) *constraint {
	switch {
	case step == "resolve()":
		return c
	case strings.HasPrefix(step, "ofType("):
		return c
	case strings.HasPrefix(step, "extension("):
		url := strings.Trim(step[len("extension("):len(step)-1], "'\"")
		extensions := c.child("extension")
		if extensions == nil {
			return nil
		}
		for _, s := range extensions.slices {
			if len(s.types) == 1 && slices.Contains(s.types[0].Profiles, url) {
				return s
			}
			if u := s.child("url"); u != nil && u.fixed.Str() == url {
				return s
			}
		}
		return nil
	}
	if child := c.child(step); child != nil {
		// What is asked of a slice below is asked of the whole here: the
		// values are compared by the constraint above.
		if len(child.children) == 0 && len(child.slices) > 0 && !child.fixed.Exists() && !child.pattern.Exists() {
			return nil
		}
		return child
	}
	types := c.types
	if types == nil && c.defined != nil && c.slice == "" {
		types = c.defined.Types
	}
	if len(types) == 1 && len(types[0].Profiles) == 1 {
		if p := v.profile(types[0].Profiles[0]); p != nil {
			return p.root.child(step)
		}
	}
	return nil
}

func urlTest(canonicals []string) sliceTest {
	return func(_ *run, item fhirpath.Item) bool {
		url := item.Node().Get("url").Str()
		return slices.ContainsFunc(canonicals, func(canonical string) bool {
			canonical, _, _ = strings.Cut(canonical, "|")
			return canonical == url
		})
	}
}

// saysNothing reports whether a constraint cannot tell values apart.
func (v *Validator) saysNothing(c *constraint) bool {
	return !c.fixed.Exists() && !c.pattern.Exists() && (c.binding == nil || c.binding.Strength != "required") &&
		len(c.children) == 0 && len(c.slices) == 0 && len(c.types) == 0
}

// valueTest holds for values that meet a constraint.
func valueTest(c *constraint) sliceTest {
	switch {
	case c.fixed.Exists():
		return func(_ *run, item fhirpath.Item) bool { return equal(c.fixed, item.Node()) }
	case c.pattern.Exists():
		return func(_ *run, item fhirpath.Item) bool { return holdsPattern(c.pattern, item.Node()) }
	}
	return func(r *run, item fhirpath.Item) bool {
		return r.passes(func() { r.meets(c, item) })
	}
}

func existsTest(path *fhirpath.Expression, c *constraint) sliceTest {
	return func(r *run, item fhirpath.Item) bool {
		found, err := path.Evaluate(r.environment(), item)
		switch {
		case err != nil:
			return false
		case c.max == 0:
			return len(found) == 0
		}
		return len(found) > 0
	}
}

func (v *Validator) typeTest(c *constraint) sliceTest {
	codes := map[string]bool{}
	for _, t := range c.types {
		codes[t.Code] = true
		for _, target := range t.TargetProfiles {
			if name := v.typeOfCanonical(target); name != "" {
				codes[name] = true
			} else if name := v.typeOfProfile(target); name != "" {
				codes[name] = true
			}
		}
		for _, url := range t.Profiles {
			if name := v.typeOfProfile(url); name != "" {
				codes[name] = true
			}
		}
	}
	return func(_ *run, item fhirpath.Item) bool { return codes[item.Type()] }
}

func profileTest(c *constraint) sliceTest {
	var canonicals []string
	for _, t := range c.types {
		canonicals = append(append(canonicals, t.Profiles...), t.TargetProfiles...)
	}
	return func(r *run, item fhirpath.Item) bool {
		for _, canonical := range canonicals {
			if conforms, known := r.conformsTo(item, canonical); known && conforms {
				return true
			}
		}
		return false
	}
}

// anyItem holds if a test does for one of the items that a path leads to; nil
// stands for the item itself.
func anyItem(path *fhirpath.Expression, test sliceTest) sliceTest {
	if path == nil {
		return test
	}
	return func(r *run, item fhirpath.Item) bool {
		mark := len(r.items)
		found, err := path.Append(r.items, r.environment(), item)
		if err != nil {
			return false
		}
		r.items = found
		defer func() { r.items = r.items[:mark] }()
		for _, candidate := range found[mark:] {
			if test(r, candidate) {
				return true
			}
		}
		return false
	}
}

// slices sorts values into the slices of an element and checks what each
// slice asks.
func (r *run) slices(c *constraint, parent element.Node, values []fhirpath.Item) {
	if len(c.slicing.discriminators) == 0 && len(c.slices) > 0 {
		return // nothing tells the slices apart
	}
	counts := make([]int, len(c.slices))
	members := make([][]fhirpath.Item, len(c.slices))
	last, open := -1, false
	for i := range values {
		in := r.sliceOf(c, values[i])
		switch {
		case in < 0 && c.slicing.rules == "closed":
			r.issue(at(values[i]), fhir.IssueStructure, "%s allows only the slices it names (%s); the value %s is in none of them", c.path, shortenTo(c.sliceNames(), 300), show(at(values[i])))
		case in < 0:
			open = true
			if c.path == "Extension.extension" && len(c.slices) > 0 {
				r.noPart(c, at(values[i]))
			}
		case c.slicing.rules == "openAtEnd" && open:
			r.issue(at(values[i]), fhir.IssueStructure, "%s: values outside of the slices must come at the end", c.path)
		case c.slicing.ordered && in < last:
			r.issue(at(values[i]), fhir.IssueStructure, "%s must be in the order of its slices; %s comes after %s", c.path, c.slices[in].slice, c.slices[last].slice)
		}
		if in < 0 {
			continue
		}
		last = max(last, in)
		counts[in]++
		if s := c.slices[in]; len(s.slices) > 0 {
			members[in] = append(members[in], values[i])
		}
		r.meets(c.slices[in], values[i])
	}
	for i, s := range c.slices {
		r.count(s, parent, counts[i])
		if len(s.slices) > 0 {
			r.slices(s, parent, members[i])
		}
	}
}

// sliceOf is the slice that a value is in, -1 for none.
func (r *run) sliceOf(c *constraint, item fhirpath.Item) int {
next:
	for i, s := range c.slices {
		for _, test := range s.tests(r.validator) {
			if !test(r, item) {
				continue next
			}
		}
		return i
	}
	return -1
}

func (c *constraint) sliceNames() string {
	names := make([]string, len(c.slices))
	for i, s := range c.slices {
		names[i] = s.slice
	}
	return strings.Join(names, ", ")
}
