package ucum

import (
	"math/big"
	"strconv"
	"strings"
)

// The bounds of an expression: bytes, brackets within brackets, the digits of
// an exponent and of a number.
const (
	maxLength         = 256
	maxDepth          = 16
	maxExponentDigits = 3
	maxNumberDigits   = 18
)

// term is the meaning of an expression or of a part of one.
type term struct {
	factor    *big.Rat
	dimension dimension
	special   *atom // a special unit, of which factor is the scale: it has no dimension here
}

// parser reads an expression by the grammar of
// https://ucum.org/ucum#section-Grammar-of-Units-and-Unit-Terms.
type parser struct {
	text     string
	at       int
	depth    int
	prefixes map[string]*big.Rat
	atom     func(code string) *atom // nil for no such unit
}

func (p *parser) fail(at int, message string) error {
	return &Error{Unit: p.text, Offset: at, Message: message}
}

func (p *parser) parse() (term, error) {
	switch {
	case p.text == "":
		return term{}, p.fail(whole, "a unit is not empty; that of a number is '1'")
	case len(p.text) > maxLength:
		return term{}, p.fail(whole, "it is too long")
	}
	for i := range len(p.text) {
		if c := p.text[i]; c < ' ' || c > '~' {
			return term{}, p.fail(i, "units have visible ASCII characters alone")
		}
	}
	var t term
	var err error
	if p.text[0] == '/' {
		t, err = p.factors(term{factor: big.NewRat(1, 1)})
	} else {
		t, err = p.term()
	}
	if err == nil && p.at < len(p.text) {
		err = p.fail(p.at, "unexpected '"+p.text[p.at:p.at+1]+"'")
	}
	return t, err
}

// term reads components joined by . and /.
func (p *parser) term() (term, error) {
	t, err := p.component()
	if err != nil {
		return term{}, err
	}
	return p.factors(t)
}

func (p *parser) factors(t term) (term, error) {
	for p.at < len(p.text) && (p.text[p.at] == '.' || p.text[p.at] == '/') {
		at, exponent := p.at, 1
		if p.text[at] == '/' {
			exponent = -1
		}
		p.at++
		next, err := p.component()
		if err == nil {
			t, err = p.product(at, t, next, exponent)
		}
		if err != nil {
			return term{}, err
		}
	}
	return t, nil
}

func (p *parser) component() (term, error) {
	if p.at == len(p.text) {
		return term{}, p.fail(p.at, "a unit is missing")
	}
	var t term
	var err error
	switch c := p.text[p.at]; {
	case c == '{':
		t = term{factor: big.NewRat(1, 1)}
	case c == '(':
		t, err = p.parenthesis()
	case isDigit(c) && !p.startsPowerOfTen():
		t, err = p.number()
	default:
		t, err = p.unit()
	}
	if err == nil {
		err = p.annotation()
	}
	return t, err
}

func (p *parser) parenthesis() (term, error) {
	open := p.at
	if p.depth++; p.depth > maxDepth {
		return term{}, p.fail(open, "too many brackets")
	}
	p.at++
	t, err := p.term()
	if err != nil {
		return term{}, err
	}
	if p.at == len(p.text) || p.text[p.at] != ')' {
		return term{}, p.fail(open, "the bracket is not closed")
	}
	p.at++
	p.depth--
	return t, nil
}

// annotation skips {…}, which has no meaning. It may have spaces: UCUM has none,
// but the value set ucum-common of R4 does.
func (p *parser) annotation() error {
	if p.at == len(p.text) || p.text[p.at] != '{' {
		return nil
	}
	end := strings.IndexAny(p.text[p.at+1:], "{}")
	if end < 0 || p.text[p.at+1+end] != '}' {
		return p.fail(p.at, "the annotation is not closed")
	}
	p.at += end + 2
	return nil
}

func (p *parser) startsPowerOfTen() bool {
	rest := p.text[p.at:]
	return strings.HasPrefix(rest, "10*") || strings.HasPrefix(rest, "10^")
}

// number reads a positive integer.
func (p *parser) number() (term, error) {
	at := p.at
	digits := p.digits()
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n == 0 || len(digits) > maxNumberDigits {
		return term{}, p.fail(at, "a number in a unit is positive, with at most 18 digits")
	}
	return term{factor: big.NewRat(n, 1)}, nil
}

func (p *parser) digits() string {
	from := p.at
	for p.at < len(p.text) && isDigit(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

// unit reads a symbol, perhaps with a prefix, and its exponent.
func (p *parser) unit() (term, error) {
	at := p.at
	symbol := p.symbol()
	if symbol == "" {
		return term{}, p.fail(at, "unexpected '"+p.text[at:at+1]+"'")
	}
	factor, a := p.lookUp(symbol)
	if a == nil {
		return term{}, p.fail(at, "unknown unit '"+symbol+"'")
	}
	t := term{factor: factor, dimension: a.dimension}
	if a.function != nil {
		t = term{factor: factor, special: a}
	} else {
		t.factor = new(big.Rat).Mul(factor, a.factor)
	}
	exponent, err := p.exponent()
	if err != nil || exponent == 1 {
		return t, err
	}
	return p.product(at, term{factor: big.NewRat(1, 1)}, t, exponent)
}

// lookUp finds a symbol: a unit, or a prefix and a unit that takes one. The
// factor is that of the prefix.
func (p *parser) lookUp(symbol string) (factor *big.Rat, a *atom) {
	if a = p.atom(symbol); a != nil {
		return big.NewRat(1, 1), a
	}
	for n := 1; n <= 2 && n < len(symbol); n++ {
		if factor = p.prefixes[symbol[:n]]; factor == nil {
			continue
		}
		if a = p.atom(symbol[n:]); a != nil && a.metric {
			return factor, a
		}
	}
	return nil, nil
}

// symbol reads up to an operator or an exponent. What is in square brackets
// belongs to the symbol, whatever it is.
func (p *parser) symbol() string {
	from := p.at
	if p.startsPowerOfTen() {
		p.at += len("10*")
		return p.text[from:p.at]
	}
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '[':
			end := strings.IndexByte(p.text[p.at:], ']')
			if end < 0 {
				return ""
			}
			p.at += end
		case isDigit(c), strings.IndexByte("./(){}+-", c) >= 0:
			return p.text[from:p.at]
		}
		p.at++
	}
	return p.text[from:p.at]
}

func (p *parser) exponent() (int, error) {
	at, negative := p.at, false
	if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
		negative = p.text[p.at] == '-'
		p.at++
	}
	digits := p.digits()
	if digits == "" {
		if p.at > at {
			return 0, p.fail(at, "an exponent is missing")
		}
		return 1, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) > maxExponentDigits {
		return 0, p.fail(at, "an exponent has at most 3 digits")
	}
	if negative {
		n = -n
	}
	return n, nil
}

// product multiplies a by b raised to a power. A special unit is no factor; it
// can be scaled by a number alone (https://ucum.org/ucum#section-Special-Units-on-non-ratio-Scales).
func (p *parser) product(at int, a, b term, exponent int) (term, error) {
	special := a.special
	if b.special != nil {
		special = b.special
	}
	if special != nil && (b.special == nil || exponent != 1 || len(a.dimension) > 0 || a.special != nil) {
		return term{}, p.fail(at, "'"+special.code+"' cannot be multiplied, divided or raised to a power")
	}
	power, ok := raised(b.factor, exponent)
	if ok {
		power, ok = bounded(power.Mul(a.factor, power))
	}
	d, fits := a.dimension.times(b.dimension, exponent)
	if !ok || !fits {
		return term{}, p.fail(at, "the unit is out of range")
	}
	return term{power, d, special}, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
