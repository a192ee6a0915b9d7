package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/fhirpath"
)

// question is one parameter of a search of a type.
type question struct {
	kind, name, value string // kind is what is counted: type, modifier and prefix
	ambiguous         bool   // the server has to ask back
}

func (q question) String() string {
	return url.QueryEscape(q.name) + "=" + url.QueryEscape(q.value)
}

// asker makes questions of what the resources have.
type asker struct {
	*world
	random *rand.Rand
	most   int      // searches of a kind
	only   []string // types of parameters; none: all
	// focus is the one resource of its type whose values are asked for; nil: any.
	focus *resource
}

var escaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `|`, `\|`, `$`, `\$`)

func (a *asker) chance(of int) bool { return a.random.IntN(of) == 0 }

// at is an element that a parameter looks at in a resource.
type at struct {
	r    *resource
	item fhirpath.Item
}

// pool are the elements of a parameter in all resources of a type.
func (a *asker) pool(typ string, d *definition.SearchParameter) (all []at) {
	if d.Expression == "" || d.Code == "_id" || d.Code == "_lastUpdated" {
		return nil
	}
	for _, r := range a.of(typ) {
		for _, item := range a.items(r, d) {
			all = append(all, at{r, item})
		}
	}
	return all
}

// of are the resources of a type that are asked about.
func (a *asker) of(typ string) []*resource {
	if a.focus != nil && a.focus.typ == typ {
		return []*resource{a.focus}
	}
	return a.byType[typ]
}

// aboutOne asks for something that a resource meets, mostly.
func (a *asker) aboutOne(r *resource, depth int) (question, bool) {
	before := a.focus
	defer func() { a.focus = before }()
	a.focus = r
	return a.any(r.typ, depth)
}

var modifiers = map[string][]string{
	"token": {"", "not", "text", "of-type", "in", "not-in", "above", "below", "missing"}, "string": {"", "exact", "contains", "missing"},
	"date": {"", "missing"}, "number": {"", "missing"}, "quantity": {"", "missing"}, "special": {""}, "composite": {"", "missing"},
	"reference": {"", "[type]", "identifier", "above", "below", "missing"}, "uri": {"", "above", "below", "missing"},
}

var ordered = map[string]bool{"date": true, "number": true, "quantity": true}

func isOrdered(c definition.Component) bool {
	return ordered[registry.SearchParameterByURL(c.Definition).Type]
}

// about asks for a parameter with a modifier in each way there is; none where its
// elements do not take it.
func (a *asker) about(typ string, d *definition.SearchParameter, modifier string) (all []question) {
	pool := a.pool(typ, d)
	name := d.Code
	if modifier != "" {
		name += ":" + modifier
	}
	kind := d.Type
	if modifier != "" {
		kind += ":" + modifier
	}
	if len(pool) == 0 {
		if d.Code == "_id" {
			return []question{{kind: "_id", name: "_id", value: pick(a.random, a.of(typ)).id}}
		}
		if d.Code != "_lastUpdated" {
			return nil
		}
	}
	switch {
	case modifier == "missing" && d.Code != "_lastUpdated":
		return []question{{kind: kind, name: name, value: pick(a.random, []string{"true", "false"})}}
	case ordered[d.Type] && modifier == "":
		for _, prefix := range append([]string{""}, comparisons...) {
			if value, ok := a.value(pool, d, "", prefix); ok {
				all = append(all, question{kind: strings.TrimSpace(kind + " " + prefix), name: name, value: value})
			}
		}
		return all
	case d.Code == "_lastUpdated":
		return nil
	case d.Type == "composite" && slices.ContainsFunc(d.Components, isOrdered):
		for _, prefix := range append([]string{""}, comparisons...) {
			if value, ok := a.value(pool, d, "", prefix); ok {
				all = append(all, question{kind: strings.TrimSpace(kind + " " + prefix), name: name, value: value})
			}
		}
		return all
	}
	value, ok := a.value(pool, d, modifier, "")
	if !ok {
		return nil
	}
	q := question{kind: kind, name: name, value: value}
	if d.Type == "reference" && modifier == "[type]" {
		typ, id, _ := strings.Cut(value, "/")
		q.name, q.value = d.Code+":"+typ, id
		if a.chance(3) {
			q.value = value
		}
	}
	if d.Type == "reference" && modifier == "" && plainID.MatchString(value) {
		q.ambiguous = a.ambiguous(typ, d, value)
	}
	return []question{q}
}

// value makes one of what an element has.
func (a *asker) value(pool []at, d *definition.SearchParameter, modifier, prefix string) (string, bool) {
	if d.Code == "_lastUpdated" {
		of := pick(a.random, pick(a.random, a.types()))
		return prefix + of.updated.Format(pick(a.random, []string{"2006", "2006-01-02", "2006-01-02T15:04Z", "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000Z"})), true
	}
	for range 12 {
		from := pick(a.random, pool)
		if value, ok := a.valueOf(from, pool, d, modifier, prefix); ok {
			return value, true
		}
	}
	return "", false
}

func (a *asker) types() (all [][]*resource) {
	for _, typ := range slices.Sorted(maps.Keys(a.byType)) {
		all = append(all, a.byType[typ])
	}
	return all
}

func (a *asker) valueOf(from at, pool []at, d *definition.SearchParameter, modifier, prefix string) (string, bool) {
	switch d.Type {
	case "token":
		return a.tokenValue(from, pool, modifier)
	case "string":
		return a.stringValue(from, modifier)
	case "date":
		s, ok := spanOf(from.item)
		when := pick(a.random, []time.Time{s.low, s.next})
		if !ok || when.Year() < 1 || when.Year() > 9000 {
			return "", false
		}
		form := pick(a.random, forms)
		text := when.Format(form.layout)
		if t := from.item.Node().Str(); t != "" && a.chance(2) {
			text = t
		}
		return prefix + text, true
	case "number", "quantity":
		return a.amountValue(from, d, prefix)
	case "reference":
		return a.referenceValue(from, d, modifier)
	case "uri":
		value := from.item.Node().Str()
		if modifier != "" {
			if !strings.Contains(value, "://") || strings.Contains(value, "|") {
				return "", false
			}
			if modifier == "above" && a.chance(2) {
				value += "/x/y"
			} else if modifier == "below" && a.chance(2) {
				value = value[:strings.LastIndexByte(value, '/')]
			}
		}
		return escaper.Replace(value), strings.Count(value, "/") != 2 || strings.Count(value, ":") == 0
	case "special":
		latitude, longitude, ok := position(from.item)
		return fmt.Sprintf("%v|%v", latitude+0.1, longitude-float64(a.random.IntN(2))) +
			pick(a.random, []string{"", "|200", "|50|km", "|90000|m", "|60|[mi_i]", "|0.5|km", "|20000"}), ok && longitude > -180
	case "composite":
		return a.compositeValue(from, d, prefix)
	}
	panic(d.Type)
}

func (a *asker) tokenValue(from at, pool []at, modifier string) (string, bool) {
	is := func(types ...string) bool {
		return slices.ContainsFunc(pool, func(p at) bool { return slices.Contains(types, p.item.Type()) })
	}
	systems := is("Coding", "CodeableConcept", "Identifier", "code")
	switch modifier {
	case "text":
		names := namesOf(from.item)
		if len(names) == 0 {
			return "", false
		}
		return a.piece(pick(a.random, names), true)
	case "of-type":
		n := from.item.Node()
		for c := range n.Get("type").Get("coding").Children() {
			system, code, value := c.Get("system").Str(), c.Get("code").Str(), n.Get("value").Str()
			if from.item.Type() == "Identifier" && system != "" && code != "" && value != "" {
				return escaper.Replace(system) + "|" + escaper.Replace(code) + "|" + escaper.Replace(value), true
			}
		}
		return "", false
	case "in", "not-in", "above", "below":
		if !systems || is("Identifier") {
			return "", false
		}
		if strings.HasSuffix(modifier, "in") {
			if from.item.Type() == "code" {
				b := binding(from.r, from.item.Node())
				if b == nil {
					return "", false
				}
				codes, listed := registry.Codes(b.ValueSet)
				url, _, _ := strings.Cut(b.ValueSet, "|")
				return url, listed && len(codes) > 0 && len(codes) < 500
			}
			return valueSets + pick(a.random, []string{"dogs", "mixed"}), true
		}
		return treeSystem + "|" + pick(a.random, []string{"animal", "dog", "poodle", "oak", "plant"}), true
	}
	codes := codesOf(from.r, from.item)
	if len(codes) == 0 {
		return "", false
	}
	c := pick(a.random, codes)
	code := c.code
	if from.item.Type() != "boolean" && from.item.Type() != "System.Boolean" && a.chance(4) {
		code = strings.ToUpper(code)
	}
	code = escaper.Replace(code)
	switch {
	case systems && c.system != "" && (code == "" || a.chance(4)):
		return escaper.Replace(c.system) + "|", true
	case systems && a.chance(2) && code != "":
		return escaper.Replace(c.system) + "|" + code, true
	}
	return code, code != ""
}

// piece takes some of a text in another spelling.
func (a *asker) piece(s string, anywhere bool) (string, bool) {
	folded := []rune(fold(s))
	if len(folded) == 0 {
		return "", false
	}
	if words := strings.Split(string(folded), " "); anywhere && a.chance(2) {
		folded = []rune(strings.Join(words[a.random.IntN(len(words)):], " "))
	}
	text := strings.TrimSpace(string(folded[:1+a.random.IntN(len(folded))]))
	switch a.random.IntN(4) {
	case 0:
		text = strings.ToUpper(text)
	case 1:
		text = strings.NewReplacer("a", "Á", "o", "ø", "e", "è", "s", "ＳS"[:len("Ｓ")]).Replace(text)
	case 2:
		text = strings.ReplaceAll(text, " ", "-") + "."
	}
	return escaper.Replace(text), fold(text) != ""
}

func (a *asker) stringValue(from at, modifier string) (string, bool) {
	texts := textsOf(from.item)
	if len(texts) == 0 {
		return "", false
	}
	t := pick(a.random, texts)
	switch modifier {
	case "exact":
		return escaper.Replace(t.s), true
	case "contains":
		folded := []rune(fold(t.s))
		if len(folded) == 0 {
			return "", false
		}
		return a.piece(string(folded[a.random.IntN(len(folded)):]), false)
	}
	return a.piece(t.s, t.words)
}

func (a *asker) amountValue(from at, d *definition.SearchParameter, prefix string) (string, bool) {
	has, ok := amountOf(from.item)
	if !ok {
		return "", false
	}
	n := has.low
	if n == nil || has.high != nil && a.chance(2) {
		n = has.high
	}
	text := n.FloatString(a.random.IntN(4))
	if a.chance(5) {
		text = pick(a.random, []string{"1e2", "1.0e2", "0", "100.0", "-3", "7.25", "1E-1"})
	}
	value := prefix + text
	if d.Type != "quantity" {
		return value, true
	}
	other := pick(a.random, []string{"kg", "g", "mg", "[lb_av]", "cm", "m", "min", "d", "K", "Cel"})
	return value + pick(a.random, []string{
		"", "||" + escaper.Replace(has.code), "||" + escaper.Replace(has.unit), "|" + ucum + "|" + other, escaper.Replace("") + "|" + escaper.Replace(has.system) + "|" + escaper.Replace(has.code),
	}), has.code != "" || d.Type == "number"
}

func (a *asker) referenceValue(from at, d *definition.SearchParameter, modifier string) (string, bool) {
	l := a.linkOf(from.item)
	typ, id, _ := strings.Cut(l.key, "/")
	switch modifier {
	case "[type]":
		return l.key, l.key != "" && !l.canonical
	case "identifier":
		value := escaper.Replace(l.value)
		if a.chance(2) {
			value = escaper.Replace(l.system) + "|" + value
		}
		return value, l.value != ""
	case "above", "below":
		if l.canonical {
			return l.address, modifier == "below" && l.address != "" && !strings.Contains(strings.Join(leadTo(from.r.typ, d), " "), "Location")
		}
		if modifier == "below" && wholes[typ] != "" && slices.Contains(leadTo(from.r.typ, d), typ) {
			// Something that this is a part of.
			if part := a.byKey[l.key]; part != nil {
				a.partOf(part, a.random.IntN(3), func(whole string) bool { l.key = whole; return a.chance(2) })
			}
		}
		if modifier == "above" {
			for _, other := range a.byType[typ] {
				if wholes[typ] != "" && a.partOf(other, 3, func(whole string) bool { return whole == l.key }) && a.chance(2) {
					l.key = other.key()
				}
			}
		}
		return l.key, wholes[typ] != "" && slices.Contains(leadTo(from.r.typ, d), typ)
	}
	version := l.version
	if l.canonical {
		if version != "" && a.chance(2) {
			return escaper.Replace(l.address) + "|" + version, true
		}
		return escaper.Replace(l.address), l.address != "" && l.address[0] != '#'
	}
	if version != "" && a.chance(2) {
		version = "/_history/" + version
	} else {
		version = ""
	}
	if l.key == "" {
		return escaper.Replace(l.address + version), strings.Contains(l.address, ":")
	}
	switch a.random.IntN(3) {
	case 0:
		return id, true
	case 1:
		return a.base + "/" + l.key + version, true
	}
	return l.key + version, true
}

func (a *asker) compositeValue(from at, d *definition.SearchParameter, prefix string) (string, bool) {
	var out []string
	for _, c := range a.componentsAt(from.r, d, from.item) {
		var pool []at
		for _, item := range c.items {
			pool = append(pool, at{from.r, item})
		}
		if len(pool) == 0 {
			return "", false
		}
		with := ""
		if ordered[c.of.Type] {
			with = prefix
		}
		value, ok := a.value(pool, c.of, "", with)
		if !ok || strings.HasSuffix(value, "|") || c.of.Type == "reference" && plainID.MatchString(value) && len(c.of.Target) != 1 {
			return "", false
		}
		out = append(out, value)
	}
	return strings.Join(out, "$"), true
}

// joined asks for a parameter of resources at the other end of a reference: by a
// chain, or by _has.
func (a *asker) joined(typ string, depth int) (question, bool) {
	if a.chance(2) {
		return a.chain(typ, depth)
	}
	return a.referring(typ, depth)
}

// any asks anything of a type, perhaps of what it refers to.
func (a *asker) any(typ string, depth int) (question, bool) {
	if depth > 0 && a.chance(3) {
		return a.joined(typ, depth-1)
	}
	for range 10 {
		d := pick(a.random, registry.SearchParameters(fhir.ResourceType(typ)))
		if d.Code == "_lastUpdated" || d.Expression == "" && d.Code != "_id" || !served(typ, d.Code) {
			continue
		}
		if all := a.about(typ, d, pick(a.random, modifiers[d.Type])); len(all) > 0 {
			return pick(a.random, all), true
		}
	}
	return question{}, false
}

// references are the reference parameters of a type.
func (a *asker) references(typ string) (all []*definition.SearchParameter) {
	for _, d := range registry.SearchParameters(fhir.ResourceType(typ)) {
		if d.Type == "reference" && d.Expression != "" && served(typ, d.Code) {
			all = append(all, d)
		}
	}
	return all
}

func (a *asker) chain(typ string, depth int) (question, bool) {
	links := a.references(typ)
	if len(links) == 0 {
		return question{}, false
	}
	d := pick(a.random, links)
	var tos []*resource
	for _, from := range a.pool(typ, d) {
		for _, to := range a.targets(from.r, from.item) {
			if slices.Contains(leadTo(typ, d), to.typ) && len(a.byType[to.typ]) > 0 {
				tos = append(tos, to)
			}
		}
	}
	if len(tos) == 0 {
		return question{}, false
	}
	slices.SortFunc(tos, func(a, b *resource) int { return strings.Compare(a.key(), b.key()) })
	target := pick(a.random, tos)
	to := target.typ
	inner, ok := a.aboutOne(target, depth)
	if !ok || strings.HasPrefix(inner.name, "_lastUpdated") {
		return question{}, false
	}
	kind := "chain"
	if strings.Contains(inner.kind, "chain") || strings.Contains(inner.kind, "_has") {
		kind = "chain " + strings.Fields(inner.kind)[0]
	}
	if code, _, _ := strings.Cut(inner.name, ":"); a.chance(3) && !strings.ContainsAny(inner.name, ".") && code != "_has" && a.agree(typ, d, code) && !inner.ambiguous && !plainID.MatchString(inner.value) {
		return question{kind: "untyped " + kind, name: d.Code + "." + inner.name, value: inner.value}, true
	}
	if len(leadTo(typ, d)) == 1 && a.chance(2) {
		return question{kind: kind, name: d.Code + "." + inner.name, value: inner.value, ambiguous: inner.ambiguous}, true
	}
	return question{kind: kind, name: d.Code + ":" + to + "." + inner.name, value: inner.value, ambiguous: inner.ambiguous}, true
}

// agree says whether a code is a parameter of one type wherever a reference leads.
func (a *asker) agree(from string, d *definition.SearchParameter, code string) bool {
	types := map[string]bool{}
	for _, typ := range leadTo(from, d) {
		if of := registry.SearchParameter(fhir.ResourceType(typ), code); of != nil {
			types[of.Type] = true
		}
	}
	return len(types) == 1
}

func (a *asker) referring(typ string, depth int) (question, bool) {
	for range 100 {
		typeOf := string(pick(a.random, registry.ResourceTypes()))
		links := a.references(typeOf)
		if len(links) == 0 || len(a.byType[typeOf]) == 0 {
			continue
		}
		d := pick(a.random, links)
		if !slices.Contains(leadTo(typeOf, d), typ) {
			continue
		}
		from := a.refersTo(typeOf, d, a.of(typ))
		if from == nil {
			if !a.chance(20) {
				continue
			}
			from = pick(a.random, a.byType[typeOf])
		}
		inner, ok := a.aboutOne(from, depth)
		if !ok {
			continue
		}
		kind := "_has"
		if strings.Contains(inner.kind, "chain") || strings.Contains(inner.kind, "_has") {
			kind = "_has " + strings.Fields(inner.kind)[0]
		}
		return question{kind: kind, name: "_has:" + typeOf + ":" + d.Code + ":" + inner.name, value: inner.value, ambiguous: inner.ambiguous}, true
	}
	return question{}, false
}

// refersTo gives a resource of a type that refers by a parameter to one of others;
// nil if there is none.
func (a *asker) refersTo(from string, d *definition.SearchParameter, to []*resource) *resource {
	var all []*resource
	for _, r := range a.byType[from] {
		if slices.ContainsFunc(a.items(r, d), func(item fhirpath.Item) bool {
			return slices.ContainsFunc(a.targets(r, item), func(target *resource) bool { return slices.Contains(to, target) })
		}) {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return pick(a.random, all)
}
