package validation

import (
	"strconv"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// responseRules checks a QuestionnaireResponse against its Questionnaire, if
// that is contained or known
// (https://hl7.org/fhir/R4/questionnaireresponse.html#link).
func (r *run) responseRules(n element.Node) {
	canonical := n.Get("questionnaire").Str()
	questionnaire := element.Node{}
	if id, local := strings.CutPrefix(canonical, "#"); local {
		questionnaire = r.containedOf(id)
	} else if canonical != "" && r.validator.questions != nil {
		questionnaire, _ = r.validator.questions(canonical)
	}
	if questionnaire.Get("resourceType").Str() != "Questionnaire" {
		return
	}
	status := n.Get("status").Str()
	q := response{run: r, complete: status == "completed" || status == "amended" || status == "", questions: map[string]element.Node{}}
	eachItem(questionnaire, func(item element.Node) { q.questions[item.Get("linkId").Str()] = item })
	q.items(n, n.Get("item"), questionnaire.Get("item"))
}

// response is the check of one QuestionnaireResponse.
type response struct {
	*run
	complete  bool
	questions map[string]element.Node // by linkId
}

// items checks the items of a parent against the questions they may answer:
// known, in order, present where required, once unless they repeat.
func (q *response) items(parent, items, questions element.Node) {
	counts, position, last := map[string]int{}, map[string]int{}, -1
	index := 0
	for question := range questions.Children() {
		position[question.Get("linkId").Str()] = index
		index++
	}
	for item := range items.Children() {
		if q.full() {
			return
		}
		id := item.Get("linkId").Str()
		question, known := q.questions[id]
		at, here := position[id]
		switch {
		case !known:
			q.issue(item, fhir.IssueNotFound, "the questionnaire has no item with the linkId %s", quote(id))
			continue
		case !here:
			q.issue(item, fhir.IssueStructure, "the item %s does not belong here", quote(id))
			continue
		case at < last:
			q.issue(item, fhir.IssueStructure, "the item %s is not in the order of the questionnaire", quote(id))
		}
		last = max(last, at)
		counts[id]++
		q.item(item, question)
	}
	for question := range questions.Children() {
		id := question.Get("linkId").Str()
		kind := question.Get("type").Str()
		if counts[id] > 1 && (kind != "group" || question.Get("repeats").Kind() != element.True) {
			q.issue(parent, fhir.IssueBusinessRule, "the item %s occurs %d times, but may occur once", quote(id), counts[id])
		}
		required := question.Get("required").Kind() == element.True && !question.Get("enableWhen").Exists()
		if required && counts[id] == 0 && q.complete && kind != "display" {
			q.issue(parent, fhir.IssueRequired, "the item %s is required, but missing", quote(id))
		}
	}
}

func (q *response) item(item, question element.Node) {
	kind, id := question.Get("type").Str(), question.Get("linkId").Str()
	answers := item.Get("answer")
	switch kind {
	case "group":
		if answers.Len() > 0 {
			q.issue(item, fhir.IssueStructure, "the item %s is a group, and may have no answer", quote(id))
		}
		if question.Get("required").Kind() == element.True && item.Get("item").IsEmpty() && q.complete {
			q.issue(item, fhir.IssueInvariant, "the group %s is required, but has no items", quote(id))
		}
		q.items(item, item.Get("item"), question.Get("item"))
		return
	case "display":
		if answers.Len() > 0 || item.Get("item").Exists() {
			q.issue(item, fhir.IssueStructure, "the item %s is for display, and may have neither answers nor items", quote(id))
		}
		return
	}
	if item.Get("item").Exists() {
		q.issue(item, fhir.IssueStructure, "the items of the question %s belong into its answer", quote(id))
	}
	if question.Get("required").Kind() == element.True && answers.Len() == 0 && q.complete {
		q.issue(item, fhir.IssueRequired, "the question %s must be answered", quote(id))
	}
	for _, least := range options(question, "questionnaire-minOccurs", "valueInteger") {
		if n, err := strconv.Atoi(least.Literal()); err == nil && answers.Len() < n && q.complete {
			q.issue(item, fhir.IssueInvalid, "the question %s needs at least %d answers, found %d", quote(id), n, answers.Len())
		}
	}
	if answers.Len() > 1 && question.Get("repeats").Kind() != element.True {
		q.issue(item, fhir.IssueStructure, "the question %s may have one answer, found %d", quote(id), answers.Len())
	}
	for answer := range answers.Children() {
		q.answer(answer, question, kind)
		q.items(answer, answer.Get("item"), question.Get("item"))
	}
}

// answerTypes are the members that answers of each type may have
// (https://hl7.org/fhir/R4/valueset-item-type.html).
var answerTypes = map[string][]string{
	"boolean": {"valueBoolean"}, "decimal": {"valueDecimal"}, "integer": {"valueInteger"}, "date": {"valueDate"},
	"dateTime": {"valueDateTime"}, "time": {"valueTime"}, "string": {"valueString"}, "text": {"valueString"},
	"url": {"valueUri"}, "attachment": {"valueAttachment"}, "reference": {"valueReference"}, "quantity": {"valueQuantity"},
	"choice":      {"valueCoding", "valueString", "valueDate", "valueTime", "valueInteger", "valueReference", "valueDecimal", "valueQuantity"},
	"open-choice": {"valueString", "valueCoding", "valueDate", "valueTime", "valueInteger", "valueReference", "valueDecimal", "valueQuantity"},
}
