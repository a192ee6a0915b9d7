package interaction

import (
	"starling/internal/fhir"
	"starling/internal/fhir/search"
)

// capabilityStatement describes the server for these types
// (https://hl7.org/fhir/R4/capabilitystatement.html). The implementation's url
// stands between the two parts.
func (s *Service) capabilityStatement(types []fhir.ResourceType) (before, after []byte) {
	before = s.appendHead(nil, "CapabilityStatement", "Starling Capability Statement")
	dst := append([]byte(nil), `},"fhirVersion":"4.0.1","format":["json","application/fhir+json"],"patchFormat":["`+jsonPatchType+`"],`+
		`"rest":[{"mode":"server"`...)
	dst = appendUnserved(dst, "Search parameters whose definitions name no resource type are not served", s.Planner.Unserved(""))
	dst = append(dst, `,"security":{"cors":true},"resource":[`...)
	for _, t := range types {
		if s.hasEndpoint(string(t)) {
			dst = append(s.appendCapability(dst, t), ',')
		}
	}
	dst = append(closed(dst, ']'), `,"interaction":[`...)
	for _, code := range []string{"transaction", "batch", "search-system", "history-system"} {
		dst = append(dst, `{"code":"`+code+`"},`...)
	}
	dst = append(closed(dst, ']'), `,"compartment":[`...)
	for _, t := range s.Definitions.ResourceTypes() {
		if compartment := s.Definitions.Compartment(t); compartment != nil {
			dst = append(appendString(dst, compartment.URL), ',')
		}
	}
	dst = s.appendOperations(closed(dst, ']'), s.operationsAt(""))
	return before, append(dst, `}]}`...)
}

// typeInteractions are the codes of
// http://hl7.org/fhir/ValueSet/type-restful-interaction that all types serve.
var typeInteractions = []string{
	"read", "vread", "update", "patch", "delete", "history-instance", "history-type", "create", "search-type",
}

// appendCapability appends a type's rest.resource.
func (s *Service) appendCapability(dst []byte, t fhir.ResourceType) []byte {
	profile := s.Profiles[t]
	if profile == "" {
		profile = s.Definitions.Type(string(t)).URL
	}
	dst = appendString(append(dst, `{"type":"`+string(t)+`","profile":`...), profile)
	if s.Supported != nil {
		dst = appendSupported(dst, s.Supported(t))
	}
	dst = append(dst, `,"interaction":[`...)
	for _, code := range typeInteractions {
		if code != "search-type" || searchable(t) {
			dst = append(dst, `{"code":"`+code+`"},`...)
		}
	}
	dst = append(closed(dst, ']'), `,"versioning":"versioned-update","readHistory":true,"updateCreate":true,`+
		`"conditionalCreate":true,"conditionalRead":"full-support","conditionalUpdate":true,"conditionalDelete":"single",`+
		`"referencePolicy":["literal","logical"]`...)
	dst = s.appendOperations(dst, s.operationsAt(t))
	if !searchable(t) {
		return append(dst, '}')
	}
	dst = appendUnserved(dst, "Search parameters that are not served, and refused", s.Planner.Unserved(t))
	dst = append(dst, `,"searchInclude":["*",`...)
	for _, link := range s.Planner.Includes(t) {
		dst = append(appendString(dst, link), ',')
	}
	dst = append(closed(dst, ']'), `,"searchRevInclude":["*",`...)
	for _, link := range s.Planner.RevIncludes(t) {
		dst = append(appendString(dst, string(link.Source)+":"+search.CodeOf(link.Param)), ',')
	}
	dst = append(closed(dst, ']'), `,"searchParam":[`...)
	for _, p := range s.Served(t) {
		dst = appendString(append(dst, `{"name":`...), p.Code)
		dst = appendString(append(dst, `,"definition":`...), p.URL)
		dst = appendString(append(dst, `,"type":`...), p.Type)
		if s.Note != nil && s.Note(p) != "" {
			dst = appendString(append(dst, `,"documentation":`...), "Not to be searched by yet: "+s.Note(p)+".")
		}
		dst = append(dst, "},"...)
	}
	return append(closed(dst, ']'), '}')
}

// appendSupported appends the member that names profiles, if there are any.
func appendSupported(dst []byte, profiles []string) []byte {
	if len(profiles) == 0 {
		return dst
	}
	dst = append(dst, `,"supportedProfile":[`...)
	for _, profile := range profiles {
		dst = append(appendString(dst, profile), ',')
	}
	return closed(dst, ']')
}

// appendUnserved appends the member documentation, which names parameters and why
// they are not served; nothing if there are none.
func appendUnserved(dst []byte, about string, all []search.Unserved) []byte {
	if len(all) == 0 {
		return dst
	}
	text := about + ":\n"
	for _, p := range all {
		text += "\n* `" + p.Code + "` (" + p.URL + "): " + p.Reason
	}
	return appendString(append(dst, `,"documentation":`...), text)
}

// appendOperations appends the member that names operations, if there are any.
func (s *Service) appendOperations(dst []byte, all []*operation) []byte {
	if len(all) == 0 {
		return dst
	}
	dst = append(dst, `,"operation":[`...)
	for _, o := range all {
		dst = appendString(append(dst, `{"name":`...), o.Code)
		dst = append(appendString(append(dst, `,"definition":`...), o.URL), "},"...)
	}
	return closed(dst, ']')
}

// searchable reports whether a type has searches: all but Binary, which has no
// content to search (https://hl7.org/fhir/R4/binary.html#rest).
func searchable(t fhir.ResourceType) bool { return t != "Binary" }
