package oracle

import (
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/fhirpath"
)

// others are the searches that are no one parameter's.
func (a *asker) others(typ string, counts map[string]*tally) (all []search) {
	for range 6 {
		all = a.list(all, typ, counts)
		all = a.inside(all, typ, counts)
	}
	for range 2 {
		all = a.add(all, typ, counts, a.words("_text"))
		all = a.add(all, typ, counts, a.words("_content"))
		if q, ok := a.filter(typ); ok {
			all = a.add(all, typ, counts, q)
		}
		all = a.compartment(all, typ, counts)
		all = a.severalTypes(all, typ, counts)
	}
	return all
}

// list asks for what is on a list that has something of a type.
func (a *asker) list(all []search, typ string, counts map[string]*tally) []search {
	if a.full(counts, "_list") {
		return all
	}
	for _, list := range a.byType["List"] {
		for _, r := range a.byType[typ] {
			if on, _ := a.ask(r, "_list", list.id); on && a.chance(2) {
				return a.add(all, typ, counts, question{kind: "_list", name: "_list", value: pick(a.random, []string{"", "List/"}) + list.id})
			}
		}
	}
	return all
}

// words asks for some of what a resource says.
func (a *asker) words(name string) question {
	word := func() string {
		of := pick(a.random, pick(a.random, a.types()))
		words := strings.Fields(wordsOf(of, name == "_text" || a.chance(2)))
		if len(words) == 0 {
			return "quick"
		}
		word := []rune(pick(a.random, words))
		some := string(word[:1+a.random.IntN(len(word))])
		if slices.Contains([]string{"and", "or", "not"}, some) {
			return "quick" // else an operator
		}
		return some
	}
	value := word()
	switch a.random.IntN(5) {
	case 0:
		value += " " + word()
	case 1:
		value += " or " + word() + " " + word()
	case 2:
		value += " not " + word()
	case 3:
		value = pick(a.random, []string{`"quick fox"`, `"fox-hound"`, `"van der"`, `"quick brown"`})
	}
	return question{kind: name, name: name, value: value}
}

// filter asks for comparisons of parameters of a type.
func (a *asker) filter(typ string) (question, bool) {
	var out []string
	for range 1 + a.random.IntN(3) {
		if len(out) > 0 {
			out = append(out, pick(a.random, []string{"and", "or"}))
		}
		one, ok := a.comparison(typ)
		if !ok {
			return question{}, false
		}
		if a.chance(3) {
			one = "not(" + one + ")"
		}
		out = append(out, one)
	}
	return question{kind: "_filter", name: "_filter", value: strings.Join(out, " ")}, true
}

func (a *asker) comparison(typ string) (string, bool) {
	for range 20 {
		d := pick(a.random, registry.SearchParameters(fhir.ResourceType(typ)))
		pool := a.pool(typ, d)
		if !served(typ, d.Code) || len(pool) == 0 || d.Type == "composite" || d.Type == "special" || d.Type == "uri" {
			continue
		}
		if a.chance(6) {
			return d.Code + " pr " + pick(a.random, []string{"true", "false"}), true
		}
		operators := map[string][]string{
			"string": {"eq", "ne", "co", "sw", "ew"}, "date": {"eq", "ne", "gt", "lt", "ge", "le", "sa", "eb", "po"}, "number": comparisons[:6], "quantity": comparisons[:6],
			"token": {"eq", "ne"}, "reference": {"eq", "ne"},
		}[d.Type]
		operator := pick(a.random, operators)
		modifier := map[string]string{"co": "contains"}[operator]
		if d.Type == "string" && (operator == "eq" || operator == "ne") {
			modifier = "exact"
		}
		value, ok := a.value(pool, d, modifier, "")
		if !ok || strings.ContainsAny(value, `\"`) || d.Type == "reference" && plainID.MatchString(value) {
			continue
		}
		if operator == "ew" {
			texts := textsOf(pick(a.random, pool).item)
			if len(texts) == 0 {
				continue
			}
			folded := []rune(fold(texts[0].s))
			if len(folded) == 0 {
				continue
			}
			if value = strings.TrimSpace(string(folded[a.random.IntN(len(folded)):])); value == "" {
				continue
			}
		}
		return d.Code + " " + operator + ` "` + value + `"`, true
	}
	return "", false
}

// inside asks for contained resources.
func (a *asker) inside(all []search, typ string, counts map[string]*tally) []search {
	if !slices.Contains(containable, typ) {
		return all
	}
	var inner []*resource
	for _, list := range a.types() {
		for _, r := range list {
			for _, c := range r.contained {
				if c.typ == typ {
					inner = append(inner, c)
				}
			}
		}
	}
	q, ok := a.any(typ, 1)
	if len(inner) == 0 || !ok || strings.HasPrefix(q.name, "_has") || q.ambiguous {
		return all
	}
	from, mode, as := inner, "true", pick(a.random, []string{"container", "contained"})
	if a.chance(2) {
		from, mode = append(slices.Clone(inner), a.byType[typ]...), "both"
	}
	q.kind = "_contained=" + mode + " " + as
	more := a.ofThose(nil, typ, from, counts, q)
	for i := range more {
		more[i].at += "&_contained=" + mode + "&_containedType=" + as
		more[i].want = a.asContained(from, q, as == "contained")
	}
	return append(all, more...)
}

// asContained names what meets a question: containers, or the resources in them.
func (a *asker) asContained(from []*resource, q question, alone bool) (keys []string) {
	for _, r := range from {
		holds, err := a.ask(r, q.name, q.value)
		if err != nil || !holds {
			continue
		}
		key := r.outer().key()
		if alone && r.container != nil {
			key += "#" + r.id
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// compartment asks for the resources of one type about a patient or another.
func (a *asker) compartment(all []search, typ string, counts map[string]*tally) []search {
	about := pick(a.random, []string{"Patient", "Encounter", "Practitioner", "RelatedPerson", "Device"})
	params := registry.Compartment(fhir.ResourceType(about)).Params[fhir.ResourceType(typ)]
	q, ok := a.any(typ, 0)
	if len(params) == 0 || !ok || q.ambiguous {
		return all
	}
	within := func(focus *resource) (from []*resource) {
		for _, r := range a.byType[typ] {
			if slices.ContainsFunc(params, func(code string) bool {
				if code == "{def}" {
					return r == focus
				}
				return slices.ContainsFunc(a.items(r, registry.SearchParameter(fhir.ResourceType(typ), code)), func(item fhirpath.Item) bool { return a.linkOf(item).key == focus.key() })
			}) {
				from = append(from, r)
			}
		}
		return from
	}
	focus := pick(a.random, a.byType[about])
	from := within(focus)
	for try := 0; len(from) < 2 && try < 20; try++ {
		focus = pick(a.random, a.byType[about])
		from = within(focus)
	}
	if a.chance(2) {
		q = question{name: "_id", value: ""}
		if len(from) == 0 {
			return all
		}
		q.value = pick(a.random, from).id
	}
	q.kind = "compartment"
	return a.ofThose(all, focus.key()+"/"+typ, from, counts, q)
}

// severalTypes asks for what all resources have, of two types.
func (a *asker) severalTypes(all []search, typ string, counts map[string]*tally) []search {
	d := registry.SearchParameter("Patient", pick(a.random, []string{"_tag", "_security", "_profile", "_source"}))
	pool := a.pool(typ, d)
	if len(pool) == 0 {
		return all
	}
	value, ok := a.value(pool, d, "", "")
	if !ok {
		return all
	}
	other := pick(a.random, []string{"Patient", "Observation", "Task"})
	if other == typ {
		return all
	}
	more := a.ofThose(nil, "", append(slices.Clone(a.byType[typ]), a.byType[other]...), counts, question{kind: "_type", name: d.Code, value: value})
	for i := range more {
		more[i].at += "&_type=" + typ + "," + other
	}
	return append(all, more...)
}
