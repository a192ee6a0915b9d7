package search

import (
	"math/big"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// verdict is what the oracle says of a resource and a query: it abstains where it
// would have to know what only the definitions of elements tell, such as the
// system that a binding implies.
type verdict int

const (
	no verdict = iota
	yes
	unsure
)

func verdictOf(holds bool) verdict {
	if holds {
		return yes
	}
	return no
}

// oracle decides a query of one parameter on the elements of a resource: those
// that the FHIRPath engine finds by the definition's expression. It knows neither
// the walk, nor the index, nor the planner.
type oracle struct {
	compiled map[string]*fhirpath.Expression
}

func (o *oracle) elements(t tester, typ fhir.ResourceType, d *definition.SearchParameter, root element.Node) []fhirpath.Item {
	key := string(typ) + "." + d.Code
	if o.compiled[key] == nil {
		var own []string
		for _, branch := range branches(d.Expression) {
			if of := branchType(branch); of == string(typ) || of == "Resource" || of == "DomainResource" {
				own = append(own, branch)
			}
		}
		expression, err := fhirpath.Compile(definition.R4(), strings.Join(own, " | "))
		if err != nil {
			t.Fatal(err)
		}
		o.compiled[key] = expression
	}
	items, err := o.compiled[key].Evaluate(nil, fhirpath.Root(definition.R4(), typ, root))
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// ask gives the verdict on name=value, both decoded, the value without commas.
func (o *oracle) ask(t tester, typ fhir.ResourceType, root element.Node, name, value string) verdict {
	code, modifier, _ := strings.Cut(name, ":")
	d := definition.R4().SearchParameter(typ, code)
	if d == nil || d.Expression == "" || strings.ContainsAny(value, `\,`) {
		return unsure
	}
	answer := no
	items := o.elements(t, typ, d, root)
	if modifier == "missing" {
		if len(items) == 0 {
			return verdictOf(value == "true")
		}
		return unsure
	}
	if modifier == "not" {
		modifier = ""
	}
	for _, item := range items {
		one := unsure
		switch n := item.Node(); {
		case !n.Exists():
		case d.Type == "token":
			one = tokenElement(item.Type(), n, modifier, value)
		case d.Type == "string":
			one = stringElement(item.Type(), n, modifier, value)
		case d.Type == "date" && modifier == "":
			one = dateElement(item.Type(), n, value)
		case d.Type == "number", d.Type == "quantity":
			one = numberElement(item.Type(), n, value)
		case d.Type == "reference":
			one = referenceElement(item.Type(), n, modifier, value)
		case d.Type == "uri":
			one = uriElement(item.Type(), n, modifier, value)
		}
		switch {
		case one == yes:
			answer = yes
		case one == unsure && answer == no:
			answer = unsure
		}
	}
	if strings.HasSuffix(name, ":not") && answer != unsure {
		return verdictOf(answer == no)
	}
	return answer
}

func tokenElement(typ string, n element.Node, modifier, value string) verdict {
	if modifier == "text" {
		names := []element.Node{n.Get("display"), n.Get("text"), n.Get("type").Get("text")}
		for coding := range n.Get("coding").Children() {
			names = append(names, coding.Get("display"))
		}
		return verdictOf(slices.ContainsFunc(names, func(name element.Node) bool {
			return strings.Contains(" "+Fold(name.Str()), " "+Fold(value))
		}))
	}
	if modifier != "" {
		return unsure
	}
	system, code, both := strings.Cut(value, "|")
	if !both {
		system, code = "", value
	}
	same := func(system, a, b string) bool {
		if sensitive, known := definition.R4().CaseSensitive(system); known && !sensitive {
			return strings.EqualFold(a, b)
		}
		return a == b
	}
	pair := func(n element.Node, member string) bool {
		s, c := n.Get("system").Str(), n.Get(member).Str()
		if s == "" && c == "" {
			return false
		}
		return (!both || s == system) && (code == "" && both || same(s, c, code))
	}
	switch typ {
	case "Coding":
		return verdictOf(pair(n, "code"))
	case "CodeableConcept":
		for coding := range n.Get("coding").Children() {
			if pair(coding, "code") {
				return yes
			}
		}
		return no
	case "Identifier":
		s, c := n.Get("system").Str(), n.Get("value").Str()
		return verdictOf((s != "" || c != "") && (!both || s == system) && (code == "" && both || c == code))
	case "ContactPoint":
		return verdictOf(strings.EqualFold(n.Get("value").Str(), code))
	case "boolean", "id", "uri":
		return verdictOf(n.Literal() == code)
	case "string":
		return verdictOf(strings.EqualFold(n.Str(), code))
	}
	return unsure // of codes, the binding says the system
}

func stringElement(typ string, n element.Node, modifier, value string) verdict {
	matches := func(text string, words bool) bool {
		folded, wanted := Fold(text), Fold(value)
		switch {
		case modifier == "exact":
			return text == value
		case text == "":
			return false
		case modifier == "contains":
			return strings.Contains(folded, wanted)
		case words:
			return strings.Contains(" "+folded, " "+wanted)
		}
		return strings.HasPrefix(folded, wanted)
	}
	member := func(of map[string]bool) verdict {
		for child := range n.Children() {
			words, reads := of[child.Name()]
			if !reads {
				continue
			}
			if child.Kind() != element.Array && matches(child.Str(), words) {
				return yes
			}
			for item := range child.Children() {
				if matches(item.Str(), words) {
					return yes
				}
			}
		}
		return no
	}
	switch typ {
	case "HumanName":
		return member(map[string]bool{"family": true, "text": true, "given": false, "prefix": false, "suffix": false})
	case "Address":
		return member(map[string]bool{"text": false, "line": false, "city": false, "district": false, "state": false, "postalCode": false, "country": false})
	case "string", "markdown":
		return verdictOf(matches(n.Str(), n.Name() == "family"))
	}
	return unsure
}

// dates are the forms a date has, and how long what each stands for lasts.
var dates = []struct {
	layout string
	next   func(time.Time) time.Time
}{
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-01-02T15:04Z07:00", func(t time.Time) time.Time { return t.Add(time.Minute) }},
	{"2006-01-02T15:04:05Z07:00", func(t time.Time) time.Time { return t.Add(time.Second) }},
}

func oracleDate(text string) (low, next time.Time, ok bool) {
	for _, form := range dates {
		if t, err := time.Parse(form.layout, text); err == nil && t.Nanosecond() == 0 {
			return t, form.next(t), true
		}
	}
	return low, next, false
}

func dateElement(typ string, n element.Node, value string) verdict {
	prefix, text := cutPrefix(value)
	low, next, ok := oracleDate(text)
	var first, behind time.Time
	switch typ {
	case "date", "dateTime", "instant":
		var of bool
		first, behind, of = oracleDate(n.Str())
		ok = ok && of
	case "Period":
		var before, after bool
		first, _, before = oracleDate(n.Get("start").Str())
		_, behind, after = oracleDate(n.Get("end").Str())
		ok = ok && before && after && first.Before(behind)
	default:
		ok = false
	}
	if !ok {
		return unsure
	}
	within := !first.Before(low) && !behind.After(next)
	after, before := behind.After(next), first.Before(low)
	switch prefix {
	case fhir.PrefixEqual:
		return verdictOf(within)
	case fhir.PrefixNotEqual:
		return verdictOf(!within)
	case fhir.PrefixGreater:
		return verdictOf(after)
	case fhir.PrefixLess:
		return verdictOf(before)
	case fhir.PrefixGreaterOrEqual:
		return verdictOf(after || within)
	case fhir.PrefixLessOrEqual:
		return verdictOf(before || within)
	case fhir.PrefixStartsAfter:
		return verdictOf(!first.Before(next))
	case fhir.PrefixEndsBefore:
		return verdictOf(!behind.After(low))
	}
	return unsure // ap depends on what time it is
}

func numberElement(typ string, n element.Node, value string) verdict {
	whole := false
	switch typ {
	case "integer", "positiveInt", "unsignedInt":
		whole = true
	case "Quantity", "Age", "Duration", "Money":
		if n.Get("comparator").Exists() {
			return unsure
		}
		n = n.Get("value")
	case "decimal":
	default:
		return unsure
	}
	prefix, text := cutPrefix(value)
	wanted, ok := new(big.Rat).SetString(text)
	has, is := new(big.Rat).SetString(n.Literal())
	if !ok || !is || strings.ContainsAny(text, "eE|") || whole && prefix == fhir.PrefixApproximate {
		return unsure
	}
	_, fraction, _ := strings.Cut(text, ".")
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)))
	within := has.Cmp(new(big.Rat).Sub(wanted, half)) >= 0 && has.Cmp(new(big.Rat).Add(wanted, half)) < 0
	if whole {
		return unsure // which of the parameter's other elements are whole decides
	}
	switch c := has.Cmp(wanted); prefix {
	case fhir.PrefixEqual:
		return verdictOf(within)
	case fhir.PrefixNotEqual:
		return verdictOf(!within)
	case fhir.PrefixGreater, fhir.PrefixStartsAfter:
		return verdictOf(c > 0)
	case fhir.PrefixLess, fhir.PrefixEndsBefore:
		return verdictOf(c < 0)
	case fhir.PrefixGreaterOrEqual:
		return verdictOf(c >= 0)
	case fhir.PrefixLessOrEqual:
		return verdictOf(c <= 0)
	}
	return unsure
}

func referenceElement(typ string, n element.Node, modifier, value string) verdict {
	if typ != "Reference" {
		if modifier != "" || strings.Contains(value, "|") {
			return unsure
		}
		return verdictOf(withoutVersion(n.Str()) == value)
	}
	to := strings.TrimPrefix(n.Get("reference").Str(), base+"/")
	to, _, _ = strings.Cut(to, "/_history/")
	target, id, local := strings.Cut(to, "/")
	local = local && definition.R4().IsResourceType(target) && !strings.Contains(id, "/")
	value = strings.TrimPrefix(value, base+"/")
	switch {
	case modifier != "" && !definition.R4().IsResourceType(modifier):
		return unsure
	case modifier != "":
		return verdictOf(local && target == modifier && (value == id || value == to))
	case strings.Contains(value, ":"):
		return verdictOf(to == value)
	case strings.Contains(value, "/"):
		return verdictOf(local && to == value)
	}
	return verdictOf(local && id == value)
}

func uriElement(_ string, n element.Node, modifier, value string) verdict {
	has := []string{n.Str(), withoutVersion(n.Str())}
	return verdictOf(slices.ContainsFunc(has, func(uri string) bool {
		below := func(a, b string) bool { return a == b || strings.HasPrefix(a, strings.TrimSuffix(b, "/")+"/") }
		switch modifier {
		case "below":
			return uri == strings.TrimSuffix(value, "/") || below(uri, value)
		case "above":
			return uri == value || strings.Contains(uri, "://") && below(value, uri)
		}
		return uri == value
	}))
}

// What is answered from the index is what the elements say: random resources, and
// queries made of the values of each asked of the others.
func TestMatcherAnswersAsTheElements(t *testing.T) {
	o := oracle{map[string]*fhirpath.Expression{}}
	random := rand.New(rand.NewPCG(5, 6))
	count := map[string]map[verdict]int{}
	for _, typ := range append([]fhir.ResourceType{"Measure", "CarePlan", "MedicationRequest"}, storedTypes...) {
		var roots []element.Node
		var indexes []*fhir.Index
		var asked []string
		maker := rapid.Custom(func(t *rapid.T) string { return (&resourceMaker{t: t}).resource(string(typ)) })
		for n := range 30 {
			root := parse(t, maker.Example(n))
			index, err := r4.Index(typ, root, base)
			if err != nil {
				t.Fatal(err)
			}
			roots, indexes = append(roots, root), append(indexes, index)
			asked = append(append(asked, queriesFor(index)...), comparisonsWith(index, random)...)
		}
		slices.Sort(asked)
		for _, query := range slices.Compact(asked) {
			name, value, _ := strings.Cut(query, "=")
			name, _ = url.QueryUnescape(name)
			value, _ = url.QueryUnescape(value)
			plan, _, err := r4.Plan([]fhir.ResourceType{typ}, query, true, base)
			if err != nil || value == "" { // without a value it asks nothing
				continue
			}
			code, modifier, _ := strings.Cut(name, ":")
			kind := definition.R4().SearchParameter(typ, code).Type
			if definition.R4().IsResourceType(modifier) {
				modifier = "[type]"
			}
			kind = strings.TrimSuffix(kind+":"+modifier, ":")
			for i, root := range roots {
				want := o.ask(t, typ, root, name, value)
				if count[kind] == nil {
					count[kind] = map[verdict]int{}
				}
				count[kind][want]++
				if got := verdictOf(matches(plan.Criteria, indexes[i])); want != unsure && got != want {
					t.Errorf("%s?%s=%s (%s): %v, but by its elements %v: %s", typ, name, value, show(plan.Criteria), got, want, root.Raw())
				}
			}
		}
	}
	for _, kind := range []string{
		"token", "token:not", "token:text", "token:missing", "string", "string:exact", "string:contains", "date", "number", "quantity", "reference", "reference:[type]",
		"uri", "uri:below", "uri:above",
	} {
		c := count[kind]
		t.Logf("%s: %d yes, %d no, %d unsure", kind, c[yes], c[no], c[unsure])
		if c[yes] < 10 || c[no] < 10 {
			t.Errorf("%s: the oracle says yes %d times and no %d times", kind, c[yes], c[no])
		}
	}
}
