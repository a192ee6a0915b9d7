package validation

import (
	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// questionnaireRules checks that what items wait for are other items of the
// Questionnaire
// (https://hl7.org/fhir/R4/questionnaire-definitions.html#Questionnaire.item.enableWhen.question).
func (r *run) questionnaireRules(n element.Node) {
	items := map[string]bool{}
	eachItem(n, func(item element.Node) { items[item.Get("linkId").Str()] = true })
	eachItem(n, func(item element.Node) {
		for condition := range item.Get("enableWhen").Children() {
			question := condition.Get("question")
			switch id := question.Str(); {
			case question.Kind() != element.String:
			case !items[id]:
				r.issue(question, fhir.IssueNotFound, "no item has the linkId %s", quote(id))
			case id == item.Get("linkId").Str():
				r.issue(question, fhir.IssueInvalid, "the item waits for itself")
			}
		}
	})
}

// eachItem visits the items in an item, or in a Questionnaire, from above.
func eachItem(n element.Node, visit func(item element.Node)) {
	for item := range n.Get("item").Children() {
		visit(item)
		eachItem(item, visit)
	}
}
