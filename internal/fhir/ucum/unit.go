package ucum

// Unit is a parsed unit. It is immutable and safe for concurrent use.
type Unit struct {
	text      string
	dimension string    // of what it measures, in base units: "g.m-1.s-2"
	canonical string    // the unit that Canonical expresses values in
	function  *function // of a special unit
	scale     ratio     // of a special unit: what its value is multiplied by before
	factor    ratio     // to base units, of the corresponding unit if it is special
}

func newUnit(text string, t term) *Unit {
	u := &Unit{text: text, dimension: t.dimension.String()}
	u.canonical = u.dimension
	if t.special == nil {
		u.factor = ratioOf(t.factor)
		return u
	}
	u.function, u.scale, u.factor = t.special.function, ratioOf(t.factor), ratioOf(t.special.factor)
	u.dimension = t.special.dimension.String()
	u.canonical = u.dimension
	if u.calculates() {
		u.canonical = t.special.code
	}
	return u
}

// String gives the unit as it was written.
func (u *Unit) String() string { return u.text }

// Comparable reports whether both measure the same, so that values convert.
func (u *Unit) Comparable(v *Unit) bool { return u.dimension == v.dimension }

// calculates reports whether the unit's function is more than a zero moved.
func (u *Unit) calculates() bool { return u.function != nil && u.function.offset == nil }
