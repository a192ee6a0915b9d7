package interaction

import (
	"slices"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// addContained adds the contained resources that meet a search, and the matches
// that meet it themselves (https://hl7.org/fhir/R4/search.html#contained).
func (s *Service) addContained(b *bundle, plan *searchPlan, page *fhir.SearchPage) error {
	contained, ok := plan.query.Criteria.(fhir.Contained)
	if !ok || len(page.Contained) != len(page.Matches) {
		return nil // a count alone
	}
	for i, match := range page.Matches {
		root, err := element.ParseStored(match)
		if err != nil {
			return err
		}
		if slices.Contains(page.Contained[i], fhir.Itself) {
			s.addMatch(b, plan, match.Key.String(), match.Type, root)
		}
		place := 0
		for resource := range root.Get("contained").Children() {
			if resource.Get("resourceType").Str() != string(contained.Type) {
				continue
			}
			if slices.Contains(page.Contained[i], place) {
				s.addMatch(b, plan, match.Key.String()+"#"+resource.Get("id").Str(), contained.Type, resource)
			}
			place++
		}
	}
	return nil
}

func (s *Service) addMatch(b *bundle, plan *searchPlan, address string, t fhir.ResourceType, resource element.Node) {
	b.entry()
	b.member("fullUrl")
	b.json = appendString(b.json, plan.request.Base+"/"+address)
	b.member("resource")
	if plan.form.whole() {
		b.json = append(b.json, resource.Raw()...)
	} else {
		b.json = s.appendPartial(b.json, t, resource, plan.form)
	}
	b.member("search")
	b.json = append(b.json, `{"mode":"match"}`...)
	b.close()
}
