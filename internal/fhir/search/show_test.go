package search

import (
	"fmt"
	"strings"
	"time"

	"starling/internal/fhir"
)

// show writes a criterion as the tests state it.
func show(c fhir.Criterion) string {
	switch c := c.(type) {
	case nil:
		return "all"
	case fhir.And:
		return "and(" + showAll(c) + ")"
	case fhir.Or:
		return "or(" + showAll(c) + ")"
	case fhir.Not:
		return "not(" + show(c.Criterion) + ")"
	case fhir.IDIn:
		return "id in " + strings.Join(c, " ")
	case fhir.Updated:
		return "updated " + string(c.Prefix) + " " + showRange(c.Range)
	case fhir.Missing:
		return fmt.Sprintf("%s missing %v", c.Param, c.Missing)
	case fhir.ReferenceTo:
		return strings.TrimSpace(fmt.Sprintf("%s -> %s/%s %s", c.Param, c.Type, c.ID, c.URL))
	case fhir.Composite:
		return c.Param + "(" + showAll(c.Parts) + ")"
	case fhir.Chain:
		return c.Param + " -> " + by(c.Canonical) + string(c.Type) + "(" + show(c.Criterion) + ")"
	case fhir.Contained:
		return fmt.Sprintf("contained(%s %v %s)", c.Type, c.Itself, show(c.Criterion))
	case fhir.Has:
		return string(c.Type) + "(" + show(c.Criterion) + ") -> by " + by(c.Canonical) + c.Param
	case fhir.Text:
		what, more := "text ", ""
		if c.Narrative {
			what = "narrative "
		}
		if c.Begins {
			more = ".."
		}
		return what + c.Words + more
	case fhir.Named:
		return c.Param + " is called " + c.Value
	case fhir.URI:
		return c.Param + " : " + c.URI
	case fhir.String:
		return c.Param + []string{" starts ", " contains ", " exactly ", " ends "}[c.Match] + c.Value
	case fhir.Date:
		return c.Param + " " + string(c.Prefix) + " " + showRange(c.Range)
	case fhir.Number:
		return fmt.Sprintf("%s %s %s [%s %s]", c.Param, c.Prefix, c.Value, c.Low, c.High)
	case fhir.Quantity:
		return fmt.Sprintf("%s %s %s [%s %s] %s|%s", c.Param, c.Prefix, c.Value, c.Low, c.High, c.System, c.Code)
	case fhir.Token:
		system, code, fold := "*", "*", ""
		if c.System != nil {
			system = *c.System
		}
		if c.Code != nil {
			code = *c.Code
		}
		if c.FoldCase {
			fold = " fold"
		}
		return c.Param + "=" + system + "|" + code + fold
	}
	return fmt.Sprintf("%T%+v", c, c)
}

func showAll(list []fhir.Criterion) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = show(c)
	}
	return strings.Join(texts, ", ")
}

func showRange(r fhir.TimeRange) string {
	return r.Low.Format(time.RFC3339) + ".." + r.High.Format(time.RFC3339)
}

func by(canonical bool) string {
	if canonical {
		return "canonical "
	}
	return ""
}
