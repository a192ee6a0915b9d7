package oracle

import (
	"regexp"
	"strings"

	"starling/internal/fhir"
)

var comparison = regexp.MustCompile(`^(\S+) (\w\w) (?:"([^"]*)"|(\S+))$`)

// askFilter reads the filters that are asked: comparisons joined by `and` or `or`
// from left to right, each alone or within not(…).
func (w *world) askFilter(r *resource, filter string) (bool, error) {
	answer, operator := false, "or"
	for i, piece := range regexp.MustCompile(` (and|or) `).Split(filter, -1) {
		if i > 0 {
			operator = regexp.MustCompile(` (and|or) `).FindAllStringSubmatch(filter, -1)[i-1][1]
		}
		inner, not := strings.CutPrefix(piece, "not(")
		if not {
			inner = strings.TrimSuffix(inner, ")")
		}
		m := comparison.FindStringSubmatch(inner)
		holds, err := w.compare(r, m[1], m[2], m[3]+m[4])
		if err != nil {
			return false, err
		}
		if holds = holds != not; operator == "or" {
			answer = answer || holds
		} else {
			answer = answer && holds
		}
	}
	return answer, nil
}

// compare asks a comparison as the parameter that it stands for.
func (w *world) compare(r *resource, path, operator, value string) (bool, error) {
	value = strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(value)
	code, _, chained := strings.Cut(path, ".")
	typ := ""
	if d := registry.SearchParameter(fhir.ResourceType(r.typ), code); d != nil && !chained {
		typ = d.Type
	}
	switch operator {
	case "pr":
		return w.ask(r, path+":missing", map[string]string{"true": "false", "false": "true"}[value])
	case "co":
		return w.ask(r, path+":contains", value)
	case "ew":
		return w.ask(r, path+":ends", value)
	case "ss":
		return w.ask(r, path+":below", value)
	case "sb":
		return w.ask(r, path+":above", value)
	case "sw":
		return w.ask(r, path, value)
	}
	if typ == "date" || typ == "number" || typ == "quantity" {
		return w.ask(r, path, operator+value)
	}
	if typ == "string" {
		path += ":exact"
	}
	holds, err := w.ask(r, path, value)
	return holds != (operator == "ne"), err
}
