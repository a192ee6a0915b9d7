package fhirpath

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/test/program"
)

// common are expressions such as people write.
var common = []string{
	"id", "meta.lastUpdated", "meta.profile.first()", "text.status", "text.`div`.exists()", "extension.url", "extension.count()",
	"identifier.where(system.exists()).value", "identifier.first().value", "name.given", "name.where(use = 'official').family", "name.select(given.first() & ' ' & family)",
	"telecom.where(system = 'phone').value", "status", "status in ('active' | 'final' | 'draft')", "code.coding.where(system.startsWith('http')).code",
	"code.coding.code.distinct().count() > 1", "code.text | code.coding.display", "subject.reference.replace('Patient/', '')", "subject.reference.split('/').last()",
	"birthDate <= today()", "birthDate.toString().length()", "birthDate > @1970-01-01", "contained.count()", "contained.ofType(Medication).code.text", "contained.id",
	"children().count()", "descendants().count()", "descendants().where($this is Reference).reference.distinct()", "descendants().ofType(Coding).code.distinct().count()",
	"descendants().ofType(dateTime)", "descendants().where(extension.exists()).count()", "value.ofType(Quantity).value * 2", "(value as Quantity).unit", "value is Quantity",
	"value.ofType(Quantity) > 1 'mg'", "component.select(code.coding.first().code & '=' & value.ofType(Quantity).value.toString())", "effective.ofType(dateTime) < now()",
	"component.value.ofType(Quantity).value.aggregate($this + $total, 0)", "iif(status.exists(), status, 'none')", "repeat(item).linkId", "repeat(contains).code", "item.item.all(linkId.exists())",
	"%resource.id = id", "%context = %resource", "$this is DomainResource", "type().name", "text.exists() implies text.`div`.exists()", "meta.tag.code.join(',')",
	"period.start <= period.end", "onset.ofType(Age).value.round(0)", "entry.resource.count()", "entry.resource.ofType(Patient).id", "entry.fullUrl.isDistinct()", "photo.empty() or photo.contentType.exists()",
	"id.matches('^[A-Za-z0-9.-]{1,64}$')", "id.toChars().count() = id.length()", "id.upper().lower() = id.lower()", "id.substring(1, 3)", "id.indexOf('e')", "contact.telecom.combine(telecom).count()",
	"telecom.union(contact.telecom).count()", "telecom.exclude(telecom.first()).count()", "telecom.intersect(telecom.tail()).count()", "text.hasValue()", "status.hasValue()", "active.not()",
	"telecom.skip(1).take(1).value", "name[0].given[0]", "name.given.trace('given').count()", "name.exists(use = 'usual')", "name.all(family.exists())", "identifier.value.allTrue()",
}

// examples are the examples of the specification, by file name.
func examples(t *testing.T) (names []string, texts map[string]string) {
	t.Helper()
	texts = map[string]string{}
	for name, text := range program.Archive(t, os.Getenv("CONFORMANCE_DATA"), "r4-examples.tar.xz") {
		texts[name] = string(text)
		names = append(names, name)
	}
	slices.Sort(names)
	return names, texts
}

func typeOf(t *testing.T, text string) fhir.ResourceType {
	t.Helper()
	var resource struct{ ResourceType fhir.ResourceType }
	if err := json.Unmarshal([]byte(text), &resource); err != nil {
		t.Fatal(err)
	}
	return resource.ResourceType
}

// Every search parameter and every invariant of R4, and common expressions, on
// the examples of the specification: invariants on up to three of each type.
func TestPublishedExpressions(t *testing.T) {
	names, texts := examples(t)
	install(t)
	var questions []question
	ofType := map[fhir.ResourceType]int{}
	for _, name := range names {
		text := texts[name]
		if len(text) > 200_000 {
			continue
		}
		typ := typeOf(t, text)
		var expressions []string
		for _, p := range definition.R4().SearchParameters(typ) {
			if p.Expression != "" {
				expressions = append(expressions, p.Expression)
			}
		}
		expressions = append(expressions, common...)
		if ofType[typ]++; ofType[typ] <= 3 {
			expressions = append(expressions, invariants(typ)...)
		}
		slices.Sort(expressions)
		for _, expression := range slices.Compact(expressions) {
			questions = append(questions, question{text, expression})
		}
	}
	compare(t, published, questions)
}

// invariants are those of a type and of what its elements have, each asked of
// every element that it is for.
func invariants(typ fhir.ResourceType) []string {
	var all []string
	add := func(path string, constraints []definition.Constraint) {
		for _, c := range constraints {
			if c.Expression == "" || c.Key == "ele-1" && strings.Contains(path, ".") {
				continue
			}
			all = append(all, path+".select("+c.Expression+")")
		}
	}
	var visit func(path string, e *definition.Element)
	visit = func(path string, e *definition.Element) {
		add(path, e.Constraint)
		if len(e.Types) == 1 && !e.Choice && len(e.Children) == 0 && e.Content == nil {
			if found := definition.R4().Type(e.Types[0].Code); found != nil && found.Kind != definition.KindResource {
				add(path, found.Root.Constraint)
			}
		}
		if e.Content != nil {
			return // it goes round
		}
		for _, child := range e.Children {
			visit(path+"."+quoted(child.Name), child)
		}
	}
	visit(string(typ), definition.R4().Type(string(typ)).Root)
	return all
}

// quoted is the name as an identifier of FHIRPath.
func quoted(name string) string {
	switch name {
	case "div", "contains", "in", "is", "as", "mod", "and", "or", "xor", "implies":
		return "`" + name + "`"
	}
	return name
}
