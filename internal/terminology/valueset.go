package terminology

import (
	"encoding/json"
	"errors"
	"slices"

	"starling/internal/fhir"
)

// valueSetJSON is a ValueSet, as far as it is used.
type valueSetJSON struct {
	URL, Version, Name, Title string
	Compose                   struct {
		Inactive *bool
		Include  []json.RawMessage
		Exclude  []json.RawMessage
	}
	Expansion *struct{ Contains []containsJSON }
}

type includeJSON struct {
	System, Version string
	Concept         []listedJSON
	Filter          []filterJSON
	ValueSet        []string
}

type listedJSON struct {
	Code, Display string
	Designation   []Designation
}

type containsJSON struct {
	System, Version, Code, Display string
	Contains                       []containsJSON
}

// ValueSet is a value set, compiled: the parts of its composition with what
// they select of their systems.
type ValueSet struct {
	URL, Version, Name string
	include, exclude   []*part
	height             int    // how deep value sets are below it
	text               []byte // of the resource
}

// part is an include or exclude: the codes in its system and in all its sets
// (https://hl7.org/fhir/R4/valueset.html#compositions).
type part struct {
	system, version string // "": only sets
	held            *CodeSystem
	// listed are the codes that are named; without any, selected are those of
	// the system that pass the filters, or whole says that all do.
	listed   []listedJSON
	index    map[string]int32 // code, folded if the system ignores case → listed
	whole    bool
	selected bitset
	sets     []*ValueSet
	// unknown is why it cannot be decided here what is in the system's share;
	// nil if it can. include is that share in JSON, for a Remote.
	unknown error
	include []byte
	missing error // of a set that is not known
}

// compiler compiles a value set and those it includes, with Terminology.mu
// held.
type compiler struct {
	*Terminology
	open  []*source // being compiled, each included by the one before
	spent int       // of maxCompile
}

// failed is how a value set that cannot be compiled is kept.
type failed struct{ error }

// ValueSet gives the value set with a canonical: a ValueSet's own, or that of
// all codes of a code system. One that is not known: KindNotFound, with
// ErrNotHeld. One that includes itself, or what is not known, or is beyond
// what may be compiled: KindUnprocessable.
func (t *Terminology) ValueSet(canonical string) (*ValueSet, error) {
	s := t.find("ValueSet", canonical)
	if s == nil {
		return nil, notHeld("value set", canonical)
	}
	return t.compile(s)
}

// ValueSetOf gives the value set that a resource is, which need not be stored.
func (t *Terminology) ValueSetOf(resource []byte) (*ValueSet, error) {
	s, err := newSource(resource)
	if err != nil {
		return nil, err
	}
	return t.compile(s)
}

// StoredValueSet gives the value set that a stored resource is.
func (t *Terminology) StoredValueSet(resource *fhir.Resource) (*ValueSet, error) {
	if s := t.stored(resource); s != nil {
		return t.compile(s)
	}
	return t.ValueSetOf(resource.AppendJSON(nil))
}

func (t *Terminology) compile(s *source) (*ValueSet, error) {
	if known, ok := t.compiled.Load(s); ok {
		return result(known)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := compiler{Terminology: t}
	return c.valueSet(s)
}

func result(known any) (*ValueSet, error) {
	if f, ok := known.(failed); ok {
		return nil, f.error
	}
	return known.(*ValueSet), nil
}

// errTooDeep is not kept: entered further down, the same sets may do.
var errTooDeep = tooCostly("Value sets include each other too deeply.")

func includesItself(s *source) error {
	return fhir.NewError(fhir.KindUnprocessable, fhir.IssueInvalid, "The value set "+shorten(s.url)+" includes itself.")
}

// isOpen reports whether a canonical is that of the value set being compiled, if that
// came with a request: no canonical finds it.
func (c *compiler) isOpen(canonical string) bool {
	s := c.open[len(c.open)-1]
	return s.stored == nil && !s.own && s.url != "" && (canonical == s.url || canonical == withVersion(s.url, s.version))
}

func (c *compiler) valueSet(s *source) (*ValueSet, error) {
	if known, ok := c.compiled.Load(s); ok {
		return result(known)
	}
	if slices.Contains(c.open, s) {
		return nil, includesItself(s)
	}
	if len(c.open) == maxHeight {
		return nil, errTooDeep
	}
	c.open = append(c.open, s)
	v, err := c.compileText(s.text)
	c.open = c.open[:len(c.open)-1]
	switch {
	case errors.Is(err, errTooDeep):
	case err != nil:
		c.keep(s, failed{err})
	default:
		c.keep(s, v)
	}
	return v, err
}

// keep keeps a result, except of a resource that came with a request.
func (c *compiler) keep(s *source, result any) {
	if s.stored != nil || s.own {
		c.compiled.Store(s, result)
	}
}

func (c *compiler) compileText(text []byte) (*ValueSet, error) {
	var j valueSetJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fhir.NewError(fhir.KindUnprocessable, fhir.IssueStructure, "A value set cannot be read.").Because(err)
	}
	v := &ValueSet{URL: j.URL, Version: j.Version, Name: j.Name, text: text}
	if v.Name == "" {
		v.Name = j.Title
	}
	if len(j.Compose.Include) == 0 && j.Expansion != nil {
		v.include = expanded(j.Expansion.Contains)
		return v, nil
	}
	activeOnly := j.Compose.Inactive != nil && !*j.Compose.Inactive
	for _, side := range []struct {
		from []json.RawMessage
		to   *[]*part
	}{{j.Compose.Include, &v.include}, {j.Compose.Exclude, &v.exclude}} {
		for _, raw := range side.from {
			p, err := c.part(raw, activeOnly)
			if err != nil {
				return nil, err
			}
			*side.to = append(*side.to, p)
			for _, set := range p.sets {
				v.height = max(v.height, set.height+1)
			}
		}
	}
	if v.height >= maxHeight {
		return nil, errTooDeep
	}
	return v, nil
}

func (c *compiler) part(raw json.RawMessage, activeOnly bool) (*part, error) {
	var j includeJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, fhir.NewError(fhir.KindUnprocessable, fhir.IssueStructure, "An include of a value set cannot be read.").Because(err)
	}
	var err error
	if j.Version, err = c.versions.of(j.System, j.Version); err != nil {
		return nil, err
	}
	p := &part{system: j.System, version: j.Version, listed: j.Concept}
	if c.spent += 1 + len(j.Concept) + len(j.ValueSet); c.spent > maxCompile {
		return nil, tooCostly("The value set is too large.")
	}
	for _, canonical := range j.ValueSet {
		if c.isOpen(canonical) {
			return nil, includesItself(c.open[len(c.open)-1])
		}
		if s := c.find("ValueSet", canonical); s != nil {
			set, err := c.valueSet(s)
			if err != nil {
				return nil, err
			}
			p.sets = append(p.sets, set)
			continue
		}
		p.missing = notHeld("value set", canonical)
	}
	if p.system == "" {
		return p, nil
	}
	if s := c.systemOf(p); s != nil {
		if p.held, err = s.system(); err != nil {
			return nil, err
		}
	}
	return p, c.choose(p, &j, activeOnly)
}

// systemOf finds the code system of a part. The specification's own value sets
// mean its own systems, whatever version they name: task-code names one that
// R4 does not have.
func (c *compiler) systemOf(p *part) *source {
	s := c.find("CodeSystem", withVersion(p.system, p.version))
	if s == nil && p.version != "" && c.open[len(c.open)-1].own && c.versions.Empty() {
		s = c.find("CodeSystem", p.system)
	}
	return s
}

// choose finds what the part selects of its system.
func (c *compiler) choose(p *part, j *includeJSON, activeOnly bool) error {
	switch {
	case len(p.listed) > 0:
		p.indexListed(activeOnly)
		return nil
	case p.held == nil || p.held.content == "not-present":
		p.unknown = notHeld("code system", withVersion(p.system, p.version))
		p.include = appendInclude(nil, j)
		return nil
	case len(j.Filter) == 0 && !activeOnly:
		p.whole = true
		return nil
	}
	p.selected = fullBitset(len(p.held.concepts))
	for i := range j.Filter {
		if c.spent += len(p.held.concepts); c.spent > maxCompile {
			return tooCostly("The filters of the value set look at too many codes.")
		}
		passed, err := p.held.selected(&j.Filter[i])
		if err != nil {
			p.unknown = err
			return nil
		}
		p.selected.and(passed)
	}
	if activeOnly {
		for n := range p.held.concepts {
			if p.held.concepts[n].inactive {
				p.selected.remove(n)
			}
		}
	}
	return nil
}

// indexListed indexes the codes that are named. Of a system that is held,
// inactive ones can be left out.
func (p *part) indexListed(activeOnly bool) {
	if activeOnly && p.held != nil {
		p.listed = slices.DeleteFunc(p.listed, func(l listedJSON) bool {
			n, ok := p.held.find(l.Code)
			return ok && p.held.concepts[n].inactive
		})
	}
	p.index = make(map[string]int32, len(p.listed))
	for i := range p.listed {
		p.index[p.key(p.listed[i].Code)] = int32(i)
	}
}

// key is how a code is compared with those listed.
func (p *part) key(code string) string {
	if p.held != nil && !p.held.caseSensitive {
		return fhir.FoldCase(code)
	}
	return code
}

// expanded makes the parts of a value set that was stored with its expansion
// only: the codes of each system, listed.
func expanded(contains []containsJSON) []*part {
	bySystem := map[string]*part{}
	var all []*part
	var add func(contains []containsJSON)
	add = func(contains []containsJSON) {
		for i := range contains {
			c := &contains[i]
			if c.Code != "" {
				p := bySystem[c.System]
				if p == nil {
					p = &part{system: c.System, version: c.Version}
					bySystem[c.System] = p
					all = append(all, p)
				}
				p.listed = append(p.listed, listedJSON{Code: c.Code, Display: c.Display})
			}
			add(c.Contains)
		}
	}
	add(contains)
	for _, p := range all {
		p.indexListed(false)
	}
	return all
}

// appendInclude appends an include as JSON.
func appendInclude(dst []byte, j *includeJSON) []byte {
	text, err := json.Marshal(struct {
		System  string       `json:"system,omitempty"`
		Version string       `json:"version,omitempty"`
		Filter  []lowerCased `json:"filter,omitempty"`
	}{j.System, j.Version, lowerCase(j.Filter)})
	if err != nil {
		panic(err) // strings alone
	}
	return append(dst, text...)
}

type lowerCased struct {
	Property string `json:"property"`
	Op       string `json:"op"`
	Value    string `json:"value"`
}

func lowerCase(filters []filterJSON) []lowerCased {
	all := make([]lowerCased, len(filters))
	for i, f := range filters {
		all[i] = lowerCased(f)
	}
	return all
}

// Text is the resource, in JSON.
func (v *ValueSet) Text() []byte { return v.text }

// String names the value set in messages.
func (v *ValueSet) String() string {
	if v.URL == "" {
		return "the value set " + v.Name
	}
	return "the value set " + withVersion(v.URL, v.Version)
}
