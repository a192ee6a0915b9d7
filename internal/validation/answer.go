package validation

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
	"starling/internal/fhir/ucum"
)

// answer checks an answer: the type of its value, and what the question and
// its extensions bound.
func (q *response) answer(answer, question element.Node, kind string) {
	value := element.Node{}
	for member := range answer.Children() {
		if strings.HasPrefix(member.Name(), "value") {
			value = member
		}
	}
	if !value.Exists() {
		return
	}
	id := question.Get("linkId").Str()
	if wanted := answerTypes[kind]; wanted != nil && !slices.Contains(wanted, value.Name()) {
		q.issue(value, fhir.IssueInvariant, "the answer to %s is a %s, expected %s", quote(id), value.Name(), wanted[0])
		return
	}
	text := value.Str()
	if most, err := strconv.Atoi(question.Get("maxLength").Literal()); err == nil && utf8.RuneCountInString(text) > most {
		q.issue(value, fhir.IssueInvariant, "the answer to %s has more than %d characters", quote(id), most)
	}
	for extension := range question.Get("extension").Children() {
		q.bounds(answer, value, extension, id)
	}
	switch kind {
	case "reference":
		q.reference(value, question)
	case "quantity":
		q.unit(value, question)
	}
	q.choice(answer, value, question, kind)
}

const (
	minQuantity = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-minQuantity"
	maxQuantity = "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-maxQuantity"
)

// options are the values of a question's extensions of one kind.
func options(question element.Node, name, member string) []element.Node {
	var values []element.Node
	for extension := range question.Get("extension").Children() {
		if extension.Get("url").Str() == specificationBase+name {
			values = append(values, extension.Get(member))
		}
	}
	return values
}

// reference checks that an answer refers to a type there is, and one that the
// question allows.
func (q *response) reference(value, question element.Node) {
	text := value.Get("reference").Str()
	name, _ := q.targetOf(value)
	if name == "" {
		if parts := strings.Split(text, "/"); strings.HasPrefix(text, "http") && len(parts) > 4 {
			q.issue(value, fhir.IssueInvariant, "there is no resource type %s", quote(parts[len(parts)-2]))
		}
		return
	}
	allowed := options(question, "questionnaire-referenceResource", "valueCode")
	if len(allowed) > 0 && !slices.ContainsFunc(allowed, func(n element.Node) bool { return n.Str() == name }) {
		q.issue(value, fhir.IssueInvariant, "the answer to %s refers to a %s, which is not among the types it may", quote(question.Get("linkId").Str()), name)
	}
}

// unit checks the unit of an answer against those the question allows.
func (q *response) unit(value, question element.Node) {
	id := quote(question.Get("linkId").Str())
	units := options(question, "questionnaire-unitOption", "valueCoding")
	if len(units) > 0 && !slices.ContainsFunc(units, func(n element.Node) bool {
		return n.Get("code").Str() == value.Get("code").Str() && n.Get("system").Str() == value.Get("system").Str()
	}) {
		q.issue(value, fhir.IssueInvariant, "the unit of the answer to %s is none of those it may have", id)
	}
	for _, set := range options(question, "questionnaire-unitValueSet", "valueCanonical") {
		if q.validator.memberOf(set.Str(), "Quantity", value) == No {
			q.issue(value, fhir.IssueInvariant, "the unit of the answer to %s is not in the value set %s", id, shorten(set.Str()))
		}
	}
}

// bounds checks an answer against the extensions minValue, maxValue,
// minLength and maxDecimalPlaces of its question.
func (q *response) bounds(answer, value, extension element.Node, id string) {
	limit := element.Node{}
	for member := range extension.Children() {
		if strings.HasPrefix(member.Name(), "value") {
			limit = member
		}
	}
	typeName := lowerFirst(strings.TrimPrefix(limit.Name(), "value"))
	switch strings.TrimPrefix(extension.Get("url").Str(), specificationBase) {
	case minQuantity, maxQuantity:
		if limit.Get("code").Str() == "" || value.Get("code").Str() == "" || !ucum.Comparable(limit.Get("code").Str(), value.Get("code").Str()) {
			q.issue(value, fhir.IssueInvariant, "the answer to %s, %s, cannot be compared with %s: both need the codes of units that measure the same", quote(id), show(value), show(limit))
			return
		}
		operator, which := "<", "less"
		if strings.HasSuffix(extension.Get("url").Str(), "maxQuantity") {
			operator, which = ">", "more"
		}
		if q.ordered(q.typedValue(value), operator, extreme{limit, "Quantity"}) {
			q.issue(value, fhir.IssueInvariant, "the answer to %s is %s, %s than %s", quote(id), show(value), which, show(limit))
		}
	case "minValue":
		if q.ordered(q.typedValue(value), "<", extreme{limit, typeName}) {
			q.issue(value, fhir.IssueInvariant, "the answer to %s is %s, less than %s", quote(id), show(value), show(limit))
		}
	case "maxValue":
		if q.ordered(q.typedValue(value), ">", extreme{limit, typeName}) {
			q.issue(value, fhir.IssueInvariant, "the answer to %s is %s, more than %s", quote(id), show(value), show(limit))
		}
	case "maxSize":
		size, most := value.Get("size"), extreme{limit, typeName}
		if size.Exists() && q.ordered(fhirpath.Element(q.validator.registry, typeName, size), ">", most) {
			q.issue(answer, fhir.IssueRequired, "the attachment that answers %s has %s bytes, more than %s", quote(id), show(size), show(limit))
		}
	case "minLength":
		if least, err := strconv.Atoi(limit.Literal()); err == nil && utf8.RuneCountInString(value.Str()) < least {
			q.issue(value, fhir.IssueInvariant, "the answer to %s has fewer than %d characters", quote(id), least)
		}
	case "maxDecimalPlaces":
		_, places, _ := strings.Cut(value.Literal(), ".")
		if most, err := strconv.Atoi(limit.Literal()); err == nil && len(places) > most {
			q.issue(value, fhir.IssueInvariant, "the answer to %s has more than %d decimal places", quote(id), most)
		}
	}
}

func (q *response) typedValue(value element.Node) fhirpath.Item {
	return fhirpath.Element(q.validator.registry, lowerFirst(strings.TrimPrefix(value.Name(), "value")), value)
}

// choice checks an answer against the options or the value set of its
// question. An open choice may have a text of its own.
func (q *response) choice(answer, value, question element.Node, kind string) {
	if kind == "open-choice" && value.Name() == "valueString" {
		return
	}
	if set := question.Get("answerValueSet").Str(); set != "" && value.Name() == "valueCoding" {
		if q.validator.memberOf(set, "Coding", value) == No {
			q.issue(answer, fhir.IssueCodeInvalid, "the answer to %s is not in the value set %s", quote(question.Get("linkId").Str()), shorten(set))
		}
		return
	}
	options := question.Get("answerOption")
	if !options.Exists() {
		return
	}
	for option := range options.Children() {
		o := option.Get(value.Name())
		if value.Kind() != element.Object && o.Exists() && samePrimitive(o, value) {
			return
		}
		if value.Kind() == element.Object && o.Exists() && o.Get("code").Str() == value.Get("code").Str() &&
			o.Get("system").Str() == value.Get("system").Str() && o.Get("reference").Str() == value.Get("reference").Str() {
			return
		}
	}
	at := value
	if value.Name() == "valueCoding" {
		at = answer // which may have other Codings below it
	}
	q.issue(at, fhir.IssueInvariant, "the answer to %s, %s, is none of its options", quote(question.Get("linkId").Str()), show(value))
}
