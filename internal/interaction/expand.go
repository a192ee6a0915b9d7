package interaction

import (
	"context"
	"strconv"
	"strings"
	"time"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
	"starling/internal/terminology"
)

// expand lists the codes of a value set, flat
// (https://hl7.org/fhir/R4/valueset-operation-expand.html).
func (s *Service) expand(ctx context.Context, t *terminologyCall) ([]byte, error) {
	asked := terminology.Expansion{
		Filter: t.text("filter"), Offset: t.number("offset", 0), Count: t.number("count", -1), ActiveOnly: t.flag("activeOnly", false),
		Selectable: t.flag("excludeNotForUI", false), Exclude: t.texts("exclude-system"),
		// Another server may know all of what is held here in part.
		Unclosed: !t.codes.HasRemote(),
	}
	shown := expansionForm{
		designations: t.flag("includeDesignations", false), definition: t.flag("includeDefinition", false), language: t.text("displayLanguage"),
		versions: map[string][]string{},
	}
	for _, name := range versionParameters {
		shown.versions[name] = t.texts(name)
	}
	if len(asked.Exclude) > maxExcluded {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueTooCostly, "There are too many of exclude-system.")
	}
	v, err := t.valueSet(ctx)
	if err != nil {
		return nil, err
	}
	expanded, err := t.codes.Expand(ctx, v, asked)
	if err != nil {
		return nil, err
	}
	const perCode = 150 // bytes that one takes, about
	dst, err := shown.appendHead(make([]byte, 0, 2000+perCode*len(expanded.Codes)), v)
	if err != nil {
		return nil, err
	}
	dst = append(dst, `"expansion":{`...)
	if expanded.Unclosed {
		dst = append(dst, `"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/valueset-unclosed","valueBoolean":true}],`...)
	}
	dst = append(dst, `"identifier":"urn:uuid:`+newID()+`","timestamp":"`+time.Now().UTC().Format(time.RFC3339)+`",`...)
	if expanded.Total >= 0 {
		dst = append(strconv.AppendInt(append(dst, `"total":`...), int64(expanded.Total), 10), ',')
	}
	if asked.Offset > 0 || asked.Count >= 0 {
		dst = append(strconv.AppendInt(append(dst, `"offset":`...), int64(asked.Offset), 10), ',')
	}
	dst = shown.appendParameters(dst, &asked, expanded)
	if len(expanded.Codes) > 0 {
		dst = append(dst, `"contains":[`...)
		for i := range expanded.Codes {
			dst = append(shown.appendCode(dst, &expanded.Codes[i]), ',')
		}
		dst = append(closed(dst, ']'), ',')
	}
	return append(closed(dst, '}'), '}'), nil
}

// maxExcluded is the most code systems that each code is compared with.
const maxExcluded = 50

// expansionForm is how much of the codes and of the value set is shown.
type expansionForm struct {
	designations, definition bool
	language                 string
	versions                 map[string][]string // of code systems asked for, by the parameter
}

// appendHead appends what the value set says of itself, open for its
// expansion.
func (f *expansionForm) appendHead(dst []byte, v *terminology.ValueSet) ([]byte, error) {
	tree, err := element.Parse(v.Text(), element.StoredLimits)
	if err != nil {
		return nil, err
	}
	dst = append(dst, `{"resourceType":"ValueSet",`...)
	if !tree.Root().Get("status").Exists() {
		dst = append(dst, `"status":"unknown",`...)
	}
	for member := range tree.Root().Children() {
		switch name := member.Name(); {
		case name == "resourceType" || name == "meta" || name == "text" || name == "expansion" || name == "contained":
		case name == "compose" && !f.definition:
		default:
			dst = append(appendString(dst, name), ':')
			dst = append(append(dst, member.Raw()...), ',')
		}
	}
	return dst, nil
}

// appendParameters says what the expansion was made with.
func (f *expansionForm) appendParameters(dst []byte, asked *terminology.Expansion, expanded *terminology.Expanded) []byte {
	dst = append(dst, `"parameter":[`...)
	add := func(name, member, value string) {
		dst = append(append(append(dst, `{"name":"`+name+`","`+member+`":`...), value...), "},"...)
	}
	if asked.Filter != "" {
		add("filter", "valueString", string(appendString(nil, asked.Filter)))
	}
	if asked.Count >= 0 {
		add("count", "valueInteger", strconv.Itoa(asked.Count))
	}
	if asked.ActiveOnly {
		add("activeOnly", "valueBoolean", "true")
	}
	if asked.Selectable {
		add("excludeNotForUI", "valueBoolean", "true")
	}
	for _, canonical := range asked.Exclude {
		add("exclude-system", "valueUri", string(appendString(nil, canonical)))
	}
	for _, name := range versionParameters {
		for _, canonical := range f.versions[name] {
			add(name, "valueUri", string(appendString(nil, canonical)))
		}
	}
	if f.language != "" {
		add("displayLanguage", "valueCode", string(appendString(nil, f.language)))
	}
	for _, system := range expanded.Systems {
		add("used-codesystem", "valueUri", string(appendString(nil, system)))
	}
	if dst[len(dst)-1] == '[' {
		return dst[:len(dst)-len(`"parameter":[`)]
	}
	return append(closed(dst, ']'), ',')
}

func (f *expansionForm) appendCode(dst []byte, c *terminology.Code) []byte {
	dst = append(dst, '{')
	if c.System != "" {
		dst = append(appendString(append(dst, `"system":`...), c.System), ',')
	}
	if c.Abstract {
		dst = append(dst, `"abstract":true,`...)
	}
	if c.Inactive {
		dst = append(dst, `"inactive":true,`...)
	}
	if c.Version != "" {
		dst = append(appendString(append(dst, `"version":`...), c.Version), ',')
	}
	dst = append(appendString(append(dst, `"code":`...), c.Code), ',')
	if display := inLanguage(f.language, c.Display, c.Designations); display != "" {
		dst = append(appendString(append(dst, `"display":`...), display), ',')
	}
	if f.designations && len(c.Designations) > 0 {
		dst = append(dst, `"designation":[`...)
		for i := range c.Designations {
			dst = append(appendDesignation(dst, &c.Designations[i]), ',')
		}
		dst = append(closed(dst, ']'), ',')
	}
	return closed(dst, '}')
}

func appendDesignation(dst []byte, d *terminology.Designation) []byte {
	dst = append(dst, '{')
	if d.Language != "" {
		dst = append(appendString(append(dst, `"language":`...), d.Language), ',')
	}
	if len(d.Use) > 0 {
		dst = append(append(append(dst, `"use":`...), d.Use...), ',')
	}
	return append(appendString(append(dst, `"value":`...), d.Value), '}')
}

// inLanguage gives the designation in a language, or of its region, if there is
// one; else the display.
func inLanguage(language, display string, designations []terminology.Designation) string {
	if language == "" {
		return display
	}
	for _, d := range designations {
		if strings.EqualFold(d.Language, language) || strings.HasPrefix(strings.ToLower(d.Language), strings.ToLower(language)+"-") {
			return d.Value
		}
	}
	return display
}
