package terminology

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Property is CodeSystem.concept.property.
type Property struct {
	Code string
	// Member is the name of its value's JSON member, "valueCode".
	Member string
	Value  json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler: value[x] is one of several
// members.
func (p *Property) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for name, value := range members {
		switch {
		case name == "code":
			if err := json.Unmarshal(value, &p.Code); err != nil {
				return err
			}
		case strings.HasPrefix(name, "value"):
			p.Member, p.Value = name, bytes.Clone(value)
		}
	}
	return nil
}

// text is the value as filters compare it: of a Coding its code, of a decimal
// its digits.
func (p *Property) text() string {
	if len(p.Value) == 0 {
		return ""
	}
	switch p.Value[0] {
	case '"':
		var s string
		_ = json.Unmarshal(p.Value, &s) // what is no string is no value
		return s
	case '{':
		var coding struct{ Code string }
		_ = json.Unmarshal(p.Value, &coding)
		return coding.Code
	}
	return string(p.Value)
}
