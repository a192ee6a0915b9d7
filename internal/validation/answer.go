package validation

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
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
		q.issue(answer, fhir.IssueStructure, "the answer to %s is a %s, expected %s", quote(id), value.Name(), wanted[0])
		return
	}
	text := value.Str()
	if most, err := strconv.Atoi(question.Get("maxLength").Literal()); err == nil && utf8.RuneCountInString(text) > most {
		q.issue(answer, fhir.IssueTooLong, "the answer to %s has more than %d characters", quote(id), most)
	}
	for extension := range question.Get("extension").Children() {
		q.bounds(answer, value, extension, id)
	}
	q.choice(answer, value, question, kind)
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
	case "minValue":
		if q.ordered(q.typedValue(value), "<", extreme{limit, typeName}) {
			q.issue(answer, fhir.IssueInvalid, "the answer to %s is %s, less than %s", quote(id), show(value), show(limit))
		}
	case "maxValue":
		if q.ordered(q.typedValue(value), ">", extreme{limit, typeName}) {
			q.issue(answer, fhir.IssueInvalid, "the answer to %s is %s, more than %s", quote(id), show(value), show(limit))
		}
	case "minLength":
		if least, err := strconv.Atoi(limit.Literal()); err == nil && utf8.RuneCountInString(value.Str()) < least {
			q.issue(answer, fhir.IssueInvalid, "the answer to %s has fewer than %d characters", quote(id), least)
		}
	case "maxDecimalPlaces":
		_, places, _ := strings.Cut(value.Literal(), ".")
		if most, err := strconv.Atoi(limit.Literal()); err == nil && len(places) > most {
			q.issue(answer, fhir.IssueInvalid, "the answer to %s has more than %d decimal places", quote(id), most)
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
	q.issue(answer, fhir.IssueCodeInvalid, "the answer to %s, %s, is none of its options", quote(question.Get("linkId").Str()), show(value))
}
