package interaction

import (
	"net/url"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// summary is a value of _summary
// (https://hl7.org/fhir/R4/search.html#summary).
type summary string

const (
	summaryTrue  summary = "true"
	summaryText  summary = "text"
	summaryData  summary = "data"
	summaryCount summary = "count"
	summaryFalse summary = "false"
)

// form is how much of a resource an answer shows.
type form struct {
	summary  summary  // "" as false
	elements []string // names of base elements; none: all
}

// whole reports whether all of the resource is shown.
func (f form) whole() bool {
	return (f.summary == "" || f.summary == summaryFalse) && len(f.elements) == 0
}

// parseForm reads _summary and _elements.
func parseForm(query url.Values) (form, error) {
	var f form
	value, err := onlyValue(query, "_summary")
	if err != nil {
		return f, err
	}
	f.summary = summary(value)
	switch f.summary {
	case "", summaryTrue, summaryText, summaryData, summaryCount, summaryFalse:
	default:
		return f, fhir.NewError(fhir.KindInvalid, fhir.IssueValue,
			"_summary is "+quote(value)+"; true, text, data, count or false was expected.")
	}
	for _, list := range query["_elements"] {
		for name := range strings.SplitSeq(list, ",") {
			// Patient.name names the element for one type of several.
			if name = strings.TrimSuffix(strings.TrimSpace(name), "[x]"); name != "" {
				f.elements = append(f.elements, name)
			}
		}
	}
	if len(f.elements) > 0 && f.summary != "" && f.summary != summaryFalse {
		return f, fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "_summary and _elements exclude each other.")
	}
	return f, nil
}

// onlyValue gives the value of a parameter that may stand once; "" if it is
// not there.
func onlyValue(query url.Values, name string) (string, error) {
	values := query[name]
	if len(values) > 1 {
		return "", fhir.NewError(fhir.KindInvalid, fhir.IssueInvalid, "The parameter "+name+" may be given once only.")
	}
	if len(values) == 0 {
		return "", nil
	}
	return values[0], nil
}

// subsetted is the tag of a resource not shown whole.
const subsetted = `{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"SUBSETTED",` +
	`"display":"Resource encoded in summary mode"}`

// appendForm appends a resource in the form asked for.
func (s *Service) appendForm(dst []byte, resource *fhir.Resource, f form) ([]byte, error) {
	if f.whole() {
		return resource.AppendJSON(dst), nil
	}
	root, err := element.ParseStored(resource)
	if err != nil {
		return nil, err
	}
	return s.appendPartial(dst, resource.Type, root, f), nil
}

// appendPartial appends a resource that is not shown whole.
func (s *Service) appendPartial(dst []byte, t fhir.ResourceType, root element.Node, f form) []byte {
	definitions := s.Definitions.Type(string(t)).Root
	dst = appendString(append(dst, `{"resourceType":`...), string(t))
	if !root.Get("meta").Exists() {
		dst = append(append(append(dst, `,"meta":{"tag":[`...), subsetted...), "]}"...)
	}
	for member := range root.Children() {
		switch name := member.Name(); name {
		case "resourceType":
		case "meta":
			dst = appendSubsetted(append(dst, `,"meta":`...), member)
		default:
			property, known := definitions.Property(name)
			if known && f.shows(t, property.Element) {
				dst = append(appendString(append(dst, ','), name), ':')
				dst = f.appendPart(dst, member, property)
			}
		}
	}
	return append(dst, '}')
}

// shows reports whether the form has that element of the resource itself.
// Mandatory elements and those that may change all others' meaning always are.
func (f form) shows(t fhir.ResourceType, e *definition.Element) bool {
	switch {
	case e.Min > 0, e.Name == "id", e.Name == "implicitRules", e.Name == "modifierExtension":
		return true
	case len(f.elements) > 0:
		return slices.Contains(f.elements, e.Name) || slices.Contains(f.elements, string(t)+"."+e.Name)
	case f.summary == summaryText:
		return e.Name == "text"
	case f.summary == summaryData:
		return e.Name != "text"
	}
	return e.IsSummary
}

// appendPart appends the value of a member that is shown. Only a summary looks
// inside: of elements the type itself defines it shows those of the summary.
func (f form) appendPart(dst []byte, value element.Node, property definition.Property) []byte {
	if f.summary != summaryTrue || property.Extra || len(property.Element.Children) == 0 {
		return append(dst, value.Raw()...)
	}
	switch value.Kind() {
	case element.Array:
		dst = append(dst, '[')
		for item := range value.Children() {
			dst = append(f.appendPart(dst, item, property), ',')
		}
		return closed(dst, ']')
	case element.Object:
		dst = append(dst, '{')
		for member := range value.Children() {
			inner, known := property.Element.Property(member.Name())
			if known && (inner.Element.IsSummary || inner.Element.Min > 0 || inner.Element.Name == "id") {
				dst = append(appendString(dst, member.Name()), ':')
				dst = append(f.appendPart(dst, member, inner), ',')
			}
		}
		return closed(dst, '}')
	}
	return append(dst, value.Raw()...)
}

// closed replaces the comma after the last part by the bracket.
func closed(dst []byte, bracket byte) []byte {
	if dst[len(dst)-1] == ',' {
		dst[len(dst)-1] = bracket
		return dst
	}
	return append(dst, bracket)
}

// appendSubsetted appends meta with the tag that says the resource is not
// whole.
func appendSubsetted(dst []byte, meta element.Node) []byte {
	dst = append(dst, '{')
	tagged := false
	for member := range meta.Children() {
		dst = append(appendString(dst, member.Name()), ':')
		if member.Name() == "tag" && member.Kind() == element.Array {
			tagged = true
			dst = append(dst, '[')
			for tag := range member.Children() {
				dst = append(append(dst, tag.Raw()...), ',')
			}
			dst = append(append(dst, subsetted...), "],"...)
			continue
		}
		dst = append(append(dst, member.Raw()...), ',')
	}
	if !tagged {
		dst = append(append(append(dst, `"tag":[`...), subsetted...), "],"...)
	}
	return closed(dst, '}')
}
