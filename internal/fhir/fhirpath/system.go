package fhirpath

import (
	"strconv"

	"github.com/cockroachdb/apd/v3"

	"starling/internal/fhir/element"
)

// typeInfo is the result of type().
type typeInfo struct{ namespace, name string }

// systemTypeName is the name of a computed value's type, "" for no value.
func systemTypeName(value any) string {
	switch v := value.(type) {
	case bool:
		return "Boolean"
	case string:
		return "String"
	case int64:
		return "Integer"
	case *apd.Decimal:
		return "Decimal"
	case *Quantity:
		return "Quantity"
	case *Temporal:
		return v.Kind.String()
	case typeInfo:
		return "TypeInfo"
	}
	return ""
}

// systemText writes a computed value as toString does; "" if it has no text.
func systemText(value any) string {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case *apd.Decimal:
		return v.Text('f')
	case *Quantity:
		return v.String()
	case *Temporal:
		return v.String()
	}
	return ""
}

// system converts the item to a system value
// (https://hl7.org/fhir/R4/fhirpath.html#types): nil for an element that has
// no such value.
func (i Item) system() any {
	if i.shape == nil {
		return i.value
	}
	switch i.shape.systemType() {
	case "":
		return nil
	case "Boolean":
		if b, ok := i.Bool(); ok {
			return b
		}
	case "Integer":
		if n, err := strconv.ParseInt(i.node.Literal(), 10, 64); err == nil && i.node.Kind() == element.Number {
			return n
		}
		fallthrough // 1e2, which a validator may yet refuse
	case "Decimal":
		if i.node.Kind() == element.Number {
			if d, ok := parseDecimal(i.node.Literal()); ok {
				return d
			}
		}
	case "String":
		if i.node.Kind() == element.String {
			return i.node.Str()
		}
	case "Quantity":
		if q := quantityOf(i.node); q != nil {
			return q
		}
	case "Date":
		if t, ok := ParseTemporal(i.node.Str()); ok && t.Kind == KindDate {
			return t
		}
	case "DateTime":
		if t, ok := ParseTemporal(i.node.Str()); ok && t.Kind != KindTime {
			return t.asDateTime()
		}
	case "Time":
		if t, ok := parseTime(i.node.Str()); ok {
			return t
		}
	}
	return nil
}

// systemType names the system type that a FHIR type converts to by itself.
func (s *shape) systemType() string {
	if !s.primitive {
		if s.nested == nil && s.isType("Quantity") {
			return "Quantity"
		}
		return ""
	}
	switch s.name {
	case "boolean":
		return "Boolean"
	case "integer", "positiveInt", "unsignedInt":
		return "Integer"
	case "decimal":
		return "Decimal"
	case "date":
		return "Date"
	case "dateTime", "instant":
		return "DateTime"
	case "time":
		return "Time"
	}
	return "String"
}

// str is the item's text if it converts to a String. It does not allocate
// unless the JSON has escapes.
func (i Item) str() (string, bool) {
	if i.shape == nil {
		s, ok := i.value.(string)
		return s, ok
	}
	if i.shape.primitive && i.node.Kind() == element.String && i.shape.systemType() == "String" {
		return i.node.Str(), true
	}
	return "", false
}
