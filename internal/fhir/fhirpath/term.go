package fhirpath

import (
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// term parses a literal, a variable, a bracketed expression or the first part
// of a path.
func (p *parser) term() (node, error) {
	t := p.token
	switch t.kind {
	case tokenString:
		return &literal{place(t.at), t.text}, p.advance()
	case tokenNumber:
		return p.number()
	case tokenDate:
		value, ok := parseTemporalLiteral(t.text)
		if !ok {
			return nil, fault(t.at, "@%s is not a date, dateTime or time", t.text)
		}
		return &literal{place(t.at), value}, p.advance()
	case tokenVariable:
		return &variable{place(t.at), t.text}, p.advance()
	case tokenSpecial:
		switch t.text {
		case "this", "index", "total":
			return &special{place(t.at), t.text}, p.advance()
		}
		return nil, fault(t.at, "unknown variable $%s", t.text)
	case tokenSymbol:
		return p.bracketed()
	case tokenName:
		switch t.text {
		case "true", "false":
			return &literal{place(t.at), t.text == "true"}, p.advance()
		case "and", "or", "xor", "implies", "div", "mod":
			return nil, fault(t.at, "an operand must stand before %s", t.text)
		}
	}
	return p.invocation(nil)
}

func (p *parser) bracketed() (node, error) {
	t := p.token
	switch t.text {
	case "(":
		if err := p.advance(); err != nil {
			return nil, err
		}
		inner, err := p.expression(1)
		if err != nil {
			return nil, err
		}
		return inner, p.expect(")")
	case "{":
		if err := p.advance(); err != nil {
			return nil, err
		}
		return &literal{place(t.at), nil}, p.expect("}")
	}
	return nil, fault(t.at, "expected an operand, found %s", t.describe())
}

// number parses an integer, a decimal, or a quantity if a unit follows.
func (p *parser) number() (node, error) {
	t := p.token
	if err := p.advance(); err != nil {
		return nil, err
	}
	unit := p.token
	switch {
	case unit.kind == tokenString:
		if unit.text == "" {
			return nil, fault(unit.at, "the unit is empty")
		}
		value, err := decimalLiteral(t)
		if err != nil {
			return nil, err
		}
		return &literal{place(t.at), &Quantity{Value: value, Unit: unit.text}}, p.advance()
	case unit.kind == tokenName && calendarUnits[unit.text] != 0:
		value, err := decimalLiteral(t)
		if err != nil {
			return nil, err
		}
		return &literal{place(t.at), &Quantity{Value: value, Unit: unit.text, Calendar: true}}, p.advance()
	}
	if strings.Contains(t.text, ".") {
		value, err := decimalLiteral(t)
		if err != nil {
			return nil, err
		}
		return &literal{place(t.at), value}, nil
	}
	n, err := strconv.ParseInt(t.text, 10, 32)
	if err != nil {
		return nil, fault(t.at, "%s is more than an Integer holds", t.text)
	}
	return &literal{place(t.at), n}, nil
}

func decimalLiteral(t token) (*apd.Decimal, error) {
	value, ok := parseDecimal(t.text)
	if !ok {
		return nil, fault(t.at, "%s has too many digits", t.text)
	}
	return value, nil
}
