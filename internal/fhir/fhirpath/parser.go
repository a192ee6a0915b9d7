package fhirpath

import "slices"

// Limits of what Compile accepts. The longest expression of R4 has 4,000
// characters.
const (
	maxLength = 64 << 10
	maxNested = 200    // brackets and operands in one another
	maxNodes  = 10_000 // parts of an expression
)

// precedence of the infix operators, from weak to strong
// (http://hl7.org/fhirpath/N1/#operator-precedence).
var precedence = map[string]int{
	"implies": 1,
	"or":      2, "xor": 2,
	"and": 3,
	"in":  4, "contains": 4,
	"=": 5, "~": 5, "!=": 5, "!~": 5,
	"<": 6, ">": 6, "<=": 6, ">=": 6,
	"|":  7,
	"is": 8, "as": 8,
	"+": 9, "-": 9, "&": 9,
	"*": 10, "/": 10, "div": 10, "mod": 10,
}

const unaryPrecedence = 11

type parser struct {
	lexer  lexer
	token  token // the one not consumed yet
	nested int
	nodes  int
}

// parse gives the syntax tree of an expression. The error is an *Error.
func parse(text string) (node, error) {
	if len(text) > maxLength {
		return nil, fault(0, "the expression has %d bytes; at most %d are accepted", len(text), maxLength)
	}
	p := parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.expression(1)
	if err != nil {
		return nil, err
	}
	if p.token.kind != tokenEnd {
		return nil, fault(p.token.at, "unexpected %s", p.token.describe())
	}
	return root, nil
}

func (p *parser) advance() (err error) {
	p.token, err = p.lexer.next()
	if p.nodes++; err == nil && p.nodes > maxNodes {
		err = fault(p.token.at, "the expression has too many parts")
	}
	return err
}

func (p *parser) expect(symbol string) error {
	if p.token.kind != tokenSymbol || p.token.text != symbol {
		return fault(p.token.at, "expected '%s', found %s", symbol, p.token.describe())
	}
	return p.advance()
}

// expression parses operators that bind at least as strongly as least.
func (p *parser) expression(least int) (node, error) {
	if p.nested++; p.nested > maxNested {
		return nil, fault(p.token.at, "the expression is nested too deeply")
	}
	defer func() { p.nested-- }()
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	for {
		op := p.token
		strength := 0
		if op.kind == tokenName || op.kind == tokenSymbol {
			strength = precedence[op.text]
		}
		if strength == 0 || strength < least {
			return left, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if op.text == "is" || op.text == "as" {
			typ, err := p.typeSpecifier()
			if err != nil {
				return nil, err
			}
			left = &typeTest{place(op.at), op.text, left, typ}
			continue
		}
		right, err := p.expression(strength + 1)
		if err != nil {
			return nil, err
		}
		left = &binary{place(op.at), op.text, left, right}
	}
}

// operand parses a signed or plain term with its path.
func (p *parser) operand() (node, error) {
	if op := p.token; op.kind == tokenSymbol && (op.text == "+" || op.text == "-") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		operand, err := p.expression(unaryPrecedence)
		if err != nil {
			return nil, err
		}
		return &unary{place(op.at), op.text, operand}, nil
	}
	term, err := p.term()
	if err != nil {
		return nil, err
	}
	return p.path(term)
}

// path parses the invocations and indexers that follow a term.
func (p *parser) path(left node) (node, error) {
	for p.token.kind == tokenSymbol {
		at := p.token.at
		switch p.token.text {
		case ".":
			if err := p.advance(); err != nil {
				return nil, err
			}
			var err error
			if left, err = p.invocation(left); err != nil {
				return nil, err
			}
		case "[":
			if err := p.advance(); err != nil {
				return nil, err
			}
			index, err := p.expression(1)
			if err != nil {
				return nil, err
			}
			if err := p.expect("]"); err != nil {
				return nil, err
			}
			left = &indexer{place(at), left, index}
		default:
			return left, nil
		}
	}
	return left, nil
}

// invocation parses a member, a call or a $word; recv is nil at a term.
func (p *parser) invocation(recv node) (node, error) {
	name := p.token
	switch name.kind {
	case tokenName, tokenDelimited:
	default:
		return nil, fault(name.at, "expected a name, found %s", name.describe())
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.token.is("(") {
		return &member{place(name.at), recv, name.text}, nil
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var args []node
	for !p.token.is(")") {
		if len(args) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		arg, err := p.expression(1)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return &call{place(name.at), recv, name.text, args}, p.advance()
}

// typeSpecifier parses a qualified name.
func (p *parser) typeSpecifier() (typeName, error) {
	var parts []string
	for {
		if p.token.kind != tokenName && p.token.kind != tokenDelimited {
			return typeName{}, fault(p.token.at, "expected the name of a type, found %s", p.token.describe())
		}
		parts = append(parts, p.token.text)
		if err := p.advance(); err != nil {
			return typeName{}, err
		}
		// A type's name has at most one point; what follows is a path.
		if !p.token.is(".") || len(parts) == 2 || !slices.Contains(namespaces, parts[0]) {
			break
		}
		if err := p.advance(); err != nil {
			return typeName{}, err
		}
	}
	if len(parts) == 2 {
		return typeName{parts[0], parts[1]}, nil
	}
	return typeName{"", parts[0]}, nil
}

var namespaces = []string{"System", "FHIR"}
