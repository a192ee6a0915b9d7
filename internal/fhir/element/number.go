package element

func isDigit(c byte) bool { return c-'0' <= 9 }

// number steps over a number; its text is kept.
func (p *parser) number(start int) (end int, ok bool) {
	at := start
	if p.text[at] == '-' {
		at++
	}
	first := at
	if at = p.digits(at); at == first {
		p.expected(at, "a digit")
		return at, false
	}
	if p.text[first] == '0' && at > first+1 {
		p.fault(first, "a number must not begin with 0")
		return at, false
	}
	if p.is(at, '.') {
		first = at + 1
		if at = p.digits(first); at == first {
			p.expected(at, "a digit after the decimal point")
			return at, false
		}
	}
	if p.is(at, 'e') || p.is(at, 'E') {
		if at, ok = p.exponent(at); !ok {
			return at, false
		}
	}
	if at-start > MaxNumberLength {
		p.fault(start, "a number of more than %d characters", MaxNumberLength)
		return at, false
	}
	return at, true
}

func (p *parser) digits(at int) int {
	for at < len(p.text) && isDigit(p.text[at]) {
		at++
	}
	return at
}

func (p *parser) exponent(at int) (int, bool) {
	at++
	if p.is(at, '+') || p.is(at, '-') {
		at++
	}
	end := p.digits(at)
	if end == at {
		p.expected(at, "a digit in the exponent")
		return at, false
	}
	exponent := 0
	for _, c := range p.text[at:end] {
		if exponent = exponent*10 + int(c-'0'); exponent > MaxExponent {
			p.fault(at, "the exponent is over %d", MaxExponent)
			return at, false
		}
	}
	return end, true
}
