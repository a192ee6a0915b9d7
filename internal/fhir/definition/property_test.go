package definition

import "testing"

func TestProperty(t *testing.T) {
	for _, test := range []struct {
		element  string // type, then names from its root
		names    []string
		typeName string // "": not a property
		extra    bool
		repeats  bool
	}{
		{element: "Patient", names: []string{"active"}, typeName: "boolean"},
		{element: "Patient", names: []string{"_active"}, typeName: "boolean", extra: true},
		{element: "Patient", names: []string{"name"}, typeName: "HumanName", repeats: true},
		{element: "Patient", names: []string{"_name"}},
		{element: "Patient", names: []string{"id"}, typeName: "id"},
		{element: "Patient", names: []string{"_id"}},
		{element: "Patient", names: []string{"resourceType"}},
		{element: "Patient", names: []string{"implicitRules"}, typeName: "uri"},
		{element: "Patient", names: []string{"contained"}, typeName: "Resource", repeats: true},
		{element: "Patient", names: []string{"_contained"}},
		{element: "Patient", names: []string{"text"}, typeName: "Narrative"},
		{element: "Patient", names: []string{"deceased"}},
		{element: "Patient", names: []string{"deceased[x]"}},
		{element: "Patient", names: []string{"deceasedBoolean"}, typeName: "boolean"},
		{element: "Patient", names: []string{"_deceasedDateTime"}, typeName: "dateTime", extra: true},
		{element: "Patient", names: []string{"deceasedString"}},
		{element: "Patient", names: []string{"contact"}, typeName: "BackboneElement", repeats: true},
		{element: "Patient", names: []string{"contact", "name"}, typeName: "HumanName"},
		{element: "Patient", names: []string{"contact", "modifierExtension"}, typeName: "Extension", repeats: true},
		{element: "Patient", names: []string{"contact", "id"}, typeName: "string"},
		{element: "HumanName", names: []string{"given"}, typeName: "string", repeats: true},
		{element: "HumanName", names: []string{"_given"}, typeName: "string", extra: true, repeats: true},
		{element: "Narrative", names: []string{"div"}, typeName: "xhtml"},
		{element: "Narrative", names: []string{"_div"}},
		{element: "Extension", names: []string{"url"}, typeName: "uri"},
		{element: "Extension", names: []string{"_url"}},
		{element: "Extension", names: []string{"valueDosage"}, typeName: "Dosage"},
		{element: "Extension", names: []string{"valueBase64Binary"}, typeName: "base64Binary"},
		{element: "Extension", names: []string{"_valueUuid"}, typeName: "uuid", extra: true},
		{element: "Extension", names: []string{"value"}},
		{element: "Reference", names: []string{"reference"}, typeName: "string"},
		{element: "Bundle", names: []string{"entry", "resource"}, typeName: "Resource"},
		{element: "Bundle", names: []string{"entry", "link", "url"}, typeName: "uri"},
		{element: "Bundle", names: []string{"entry", "response", "outcome"}, typeName: "Resource"},
		{element: "Parameters", names: []string{"parameter", "part", "part", "valueHumanName"}, typeName: "HumanName"},
		{element: "Questionnaire", names: []string{"item", "item", "item", "linkId"}, typeName: "string"},
		{element: "Questionnaire", names: []string{"item", "item", "_linkId"}, typeName: "string", extra: true},
		{element: "Timing", names: []string{"repeat", "boundsPeriod"}, typeName: "Period"},
		{element: "Meta", names: []string{"project"}},
		{element: "Observation", names: []string{"component", "valueSampledData"}, typeName: "SampledData"},
		{element: "Observation", names: []string{"component", "referenceRange", "low"}, typeName: "Quantity"},
		{element: "ElementDefinition", names: []string{"fixedMeta"}, typeName: "Meta"},
		{element: "date", names: []string{"extension"}, typeName: "Extension", repeats: true},
		{element: "date", names: []string{"value"}},
	} {
		e := R4().Type(test.element).Root
		var p Property
		ok := true
		for i, name := range test.names {
			if p, ok = e.Property(name); !ok && i < len(test.names)-1 {
				t.Fatalf("%s %v: no %s", test.element, test.names, name)
			}
			e = p.Element
		}
		if ok != (test.typeName != "") || p.Type != test.typeName || p.Extra != test.extra {
			t.Errorf("%s %v: %+v", test.element, test.names, p)
			continue
		}
		if ok && (p.Element.Max == Unbounded) != test.repeats {
			t.Errorf("%s %v: max %d", test.element, test.names, p.Element.Max)
		}
	}
}

func TestOpenChoiceHasEveryDataType(t *testing.T) {
	n := 0
	for _, e := range R4().Type("Extension").Root.Children {
		if e.Name == "value" {
			n = len(e.Types)
		}
	}
	if n != 50 {
		t.Errorf("%d types", n)
	}
}

func TestContentSharesChildren(t *testing.T) {
	item, _ := R4().Type("Questionnaire").Root.Property("item")
	nested, _ := item.Element.Property("item")
	if nested.Element == item.Element || nested.Element.Content != item.Element {
		t.Fatalf("%+v", nested.Element)
	}
	if len(nested.Element.Children) != len(item.Element.Children) || nested.Element.Parent() != item.Element {
		t.Error("the nested item has not the children of the item, or not its parent")
	}
	if nested.Element.Path != "Questionnaire.item.item" || nested.Type != "BackboneElement" {
		t.Errorf("%s, %s", nested.Element.Path, nested.Type)
	}
}
