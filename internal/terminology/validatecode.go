package terminology

import (
	"context"
	"strings"
)

// Coding is a code to be looked at.
type Coding struct{ System, Version, Code, Display string }

// Checked is whether a code may be used, and why not.
type Checked struct {
	Result  bool
	Message string // "" if there is nothing to say
	Display string // the recommended name; "" if there is none, or Result is false
}

// ValidateCode says whether a code is in a value set
// (https://hl7.org/fhir/R4/valueset-operation-validate-code.html). abstract
// allows codes that are groups, which are not to be recorded. What cannot be
// told because something is not held: ErrNotHeld.
func (t *Terminology) ValidateCode(ctx context.Context, v *ValueSet, c Coding, abstract bool) (*Checked, error) {
	q := question{ctx: ctx, remote: t.remote, system: c.System, code: c.Code}
	switch v.contains(&q) {
	case Unknown:
		return nil, q.why
	case No:
		return &Checked{Message: "The code " + c.name() + " is not in " + v.String() + "."}, nil
	}
	if c.System == "" {
		c.System = q.foundIn
	}
	checked := &Checked{Result: true, Display: q.display}
	version, err := t.versions.of(c.System, c.Version)
	if err != nil {
		return nil, err
	}
	if system, err := t.CodeSystem(withVersion(c.System, version)); err == nil {
		system.check(c, abstract, checked)
	} else if c.Display != "" && q.display != "" && !strings.EqualFold(c.Display, q.display) {
		checked.wrongDisplay(c, q.display)
	}
	return checked, nil
}

// ValidateCode says whether a code is one of the system
// (https://hl7.org/fhir/R4/codesystem-operation-validate-code.html). Of a
// system that is not held whole: ErrNotHeld.
func (s *CodeSystem) ValidateCode(c Coding, abstract bool) (*Checked, error) {
	n, ok := s.find(c.Code)
	if !ok {
		if !s.complete() {
			return nil, notHeld("whole of the code system", s.URL)
		}
		return &Checked{Message: "The code " + shorten(c.Code) + " is not in the code system " + withVersion(s.URL, s.Version) + "."}, nil
	}
	checked := &Checked{Result: true, Display: s.concepts[n].Display}
	s.check(c, abstract, checked)
	return checked, nil
}

// check looks at what a system says of a code that was found.
func (s *CodeSystem) check(c Coding, abstract bool, checked *Checked) {
	n, ok := s.find(c.Code)
	if !ok {
		return
	}
	found := &s.concepts[n]
	switch {
	case found.abstract && !abstract:
		*checked = Checked{Message: "The code " + c.name() + " is a group of codes, which is not to be used itself."}
	case c.Display != "" && !found.isDisplay(c.Display) && !strings.EqualFold(c.Display, checked.Display):
		checked.wrongDisplay(c, found.Display)
	case found.Code != c.Code:
		checked.Message = "The code is written " + shorten(found.Code) + "."
	case found.inactive:
		checked.Message = "The code " + c.name() + " is inactive."
	}
}

// wrongDisplay is the answer to a display that is none of the code.
func (c *Checked) wrongDisplay(coding Coding, display string) {
	c.Result = false
	c.Message = "The display " + shorten(coding.Display) + " is none of the code " + coding.name() + "; " + shorten(display) + " is."
	c.Display = display
}

func (c *Coding) name() string {
	if c.System == "" {
		return shorten(c.Code)
	}
	return shorten(c.System + "|" + c.Code)
}
