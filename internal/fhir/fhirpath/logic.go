package fhirpath

// trilean is true, false or unknown: an empty collection.
type trilean int8

const (
	no      trilean = -1
	unknown trilean = 0
	yes     trilean = 1
)

func (r *run) trilean(s step, at int) (trilean, error) {
	value, known, err := r.truth(s)
	switch {
	case err != nil:
		return unknown, placed(err, at)
	case !known:
		return unknown, nil
	case value:
		return yes, nil
	}
	return no, nil
}

func (r *run) pushTrilean(t trilean) error {
	if t == unknown {
		return nil
	}
	return r.pushValue(t == yes)
}

// logic compiles and, or, xor and implies. The right side is not evaluated
// where the left decides.
func logic(op string, left, right step, at int) step {
	return func(r *run) error {
		a, err := r.trilean(left, at)
		if err != nil {
			return err
		}
		switch {
		case op == "and" && a == no:
			return r.pushTrilean(no)
		case op == "or" && a == yes, op == "implies" && a == no:
			return r.pushTrilean(yes)
		case op == "xor" && a == unknown:
			return nil
		}
		b, err := r.trilean(right, at)
		if err != nil {
			return err
		}
		switch op {
		case "and":
			return r.pushTrilean(min(a, b))
		case "or":
			return r.pushTrilean(max(a, b))
		case "implies":
			return r.pushTrilean(max(-a, b))
		}
		return r.pushTrilean(-a * b)
	}
}
