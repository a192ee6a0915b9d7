package fhirpath

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

var patternFunctions = map[string]function{
	"matches":        {1, 1, func(c *compiler, call invocation) (step, error) { return c.matches(call, "", "") }},
	"matchesFull":    {1, 1, func(c *compiler, call invocation) (step, error) { return c.matches(call, `\A(?:`, `)\z`) }},
	"replaceMatches": {2, 2, compileReplaceMatches},
}

// maxPattern bounds regular expressions, in bytes. Go's take time linear in
// the text, and refuse repetitions that would make them grow.
const maxPattern = 4096

// regular is a regular expression and what it costs.
type regular struct {
	*regexp.Regexp
	weight  int  // steps that a byte of text takes at most
	repeats bool // something in it, so looking for a match may take all of the text
}

// ofWeight is how many instructions of a regular expression take as long as a
// step, about: at worst each is tried at each byte.
const ofWeight = 16

// once is the cost of looking for one match.
func (re *regular) once(text string) int { return len(text) * re.weight }

// all is the cost of looking for all matches: each may look at the whole text
// to find that it is short.
func (re *regular) all(text string) int {
	if !re.repeats {
		return re.once(text)
	}
	return re.once(text) * (1 + len(text)/4)
}

// pattern compiles a regular expression; the point stands for line ends too.
func pattern(text string) (*regular, error) {
	if len(text) > maxPattern {
		return nil, fault(nowhere, "the regular expression has %d bytes; at most %d are accepted", len(text), maxPattern)
	}
	re, err := regexp.Compile("(?s)" + text)
	if err != nil {
		return nil, fault(nowhere, "the regular expression cannot be used: %s", err)
	}
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil, fault(nowhere, "the regular expression cannot be used: %s", err)
	}
	repeats := hasRepetition(parsed)
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fault(nowhere, "the regular expression cannot be used: %s", err)
	}
	return &regular{re, 1 + len(program.Inst)/ofWeight, repeats}, nil
}

// hasRepetition reports whether something in the expression is repeated.
func hasRepetition(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat || slices.ContainsFunc(re.Sub, hasRepetition)
}

// patternArgument compiles a literal pattern once, and any other when it is
// known; ok is false for an empty one.
func (c *compiler) patternArgument(arg node, before, after string) (func(r *run) (re *regular, ok bool, err error), error) {
	if lit, ok := arg.(*literal); ok {
		if text, ok := lit.value.(string); ok {
			re, err := pattern(before + text + after)
			if err != nil {
				return nil, placed(err, arg.position())
			}
			return func(*run) (*regular, bool, error) { return re, true, nil }, nil
		}
	}
	s, err := c.compile(arg)
	if err != nil {
		return nil, err
	}
	at := arg.position()
	return func(r *run) (*regular, bool, error) {
		text, ok, err := r.text(s, at)
		if err != nil || !ok {
			return nil, false, err
		}
		if err := r.tick(1000 + 100*len(text)); err != nil {
			return nil, false, err
		}
		re, err := pattern(before + text + after)
		return re, err == nil, placed(err, at)
	}, nil
}

func (c *compiler) matches(call invocation, before, after string) (step, error) {
	compiled, err := c.patternArgument(call.args[0], before, after)
	if err != nil {
		return nil, err
	}
	recv := call.recv
	return func(r *run) error {
		s, _, ok, err := r.strings(recv, nil)
		if err != nil || !ok {
			return err
		}
		re, ok, err := compiled(r)
		if err != nil || !ok {
			return err
		}
		if err := r.tick(re.once(s)); err != nil {
			return err
		}
		return r.pushValue(re.MatchString(s))
	}, nil
}

func compileReplaceMatches(c *compiler, call invocation) (step, error) {
	compiled, err := c.patternArgument(call.args[0], "", "")
	if err != nil {
		return nil, err
	}
	substitution, err := c.compile(call.args[1])
	if err != nil {
		return nil, err
	}
	recv, at := call.recv, call.position()
	return func(r *run) error {
		s, _, ok, err := r.strings(recv, nil)
		if err != nil || !ok {
			return err
		}
		re, ok, err := compiled(r)
		if err != nil || !ok {
			return err
		}
		with, ok, err := r.text(substitution, at)
		if err != nil || !ok {
			return err
		}
		if re.String() == "(?s)" { // the empty pattern replaces nothing
			return r.pushValue(s)
		}
		if err := r.tick(re.all(s)); err != nil {
			return err
		}
		if !replacementFits(re, s, with) {
			return fault(at, "the string grows over %d bytes", maxString)
		}
		return r.pushValue(re.ReplaceAllString(s, with))
	}, nil
}

// replacementFits bounds the result before it is made: all matches together
// are no longer than the text, and each $ of the substitution repeats one.
func replacementFits(re *regular, s, with string) bool {
	references := len(s) * strings.Count(with, "$")
	if len(s)+references+(len(s)+1)*len(with) <= maxString {
		return true
	}
	return len(s)+references+len(re.FindAllStringIndex(s, -1))*len(with) <= maxString
}
