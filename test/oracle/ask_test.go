package oracle

import (
	"errors"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/fhirpath"
)

// What the oracle says instead of an answer.
var (
	errRefused = errors.New("this is to be refused")
	errUnknown = errors.New("there is no such parameter")
	errUnsure  = errors.New("this hangs on the moment it is asked")
)

// split cuts at a separator that is not escaped.
func split(s string, separator rune) []string {
	parts, escaped := []string{""}, false
	for _, c := range s {
		last := &parts[len(parts)-1]
		switch {
		case !escaped && c == separator:
			parts = append(parts, "")
			continue
		case !escaped && c == '\\':
			escaped = true
		default:
			escaped = false
		}
		*last += string(c)
	}
	return parts
}

var unescaper = strings.NewReplacer(`\\`, `\`, `\,`, `,`, `\|`, `|`, `\$`, `$`)

func unescaped(s string) string { return unescaper.Replace(s) }

// ask says whether a resource meets one parameter of a search, name and value
// decoded.
func (w *world) ask(r *resource, name, value string) (bool, error) {
	if rest, ok := strings.CutPrefix(name, "_has:"); ok {
		return w.askReferring(r, rest, value)
	}
	switch name {
	case "_text", "_content":
		return askWords(r, name, value)
	case "_filter":
		return w.askFilter(r, value)
	case "_list":
		list := w.byKey["List/"+strings.TrimPrefix(value, "List/")]
		return list != nil && slices.ContainsFunc(w.evaluate(list, w.item(list), "List.entry.item"), func(item fhirpath.Item) bool {
			return slices.Contains(w.targets(list, item), r)
		}), nil
	}
	head, chain, chained := strings.Cut(name, ".")
	code, modifier, _ := strings.Cut(head, ":")
	d := registry.SearchParameter(fhir.ResourceType(r.typ), code)
	if d == nil {
		return false, errUnknown
	}
	if chained {
		return w.askChain(r, d, modifier, chain, value)
	}
	return either(split(value, ','), func(one string) (bool, error) { return w.askOne(r, d, modifier, one) }, modifier)
}

// either joins the values of a parameter by or, and turns the answer round for the
// modifiers that do.
func either(values []string, ask func(string) (bool, error), modifier string) (bool, error) {
	answer := false
	var unsure error
	for _, value := range values {
		switch holds, err := ask(value); {
		case errors.Is(err, errUnsure):
			unsure = err
		case err != nil:
			return false, err
		case holds:
			answer = true
		}
	}
	if unsure != nil && !answer {
		return false, unsure
	}
	return answer != (modifier == "not" || modifier == "not-in"), nil
}

func (w *world) askOne(r *resource, d *definition.SearchParameter, modifier, value string) (bool, error) {
	switch {
	case d.Code == "_id":
		return r.id == unescaped(value), nil
	case d.Code == "_lastUpdated":
		return w.askUpdated(r, value)
	case modifier == "missing":
		return w.present(r, d) == (value == "false"), nil
	case d.Type == "composite":
		return w.askComposite(r, d, value)
	case d.Type == "reference" && modifier == "above":
		return w.isAbove(r, d, value), nil
	case d.Type == "reference" && modifier == "below":
		return w.isBelow(r, d, value), nil
	}
	return w.anyMatches(r, w.items(r, d), d, modifier, value)
}

func (w *world) anyMatches(r *resource, items fhirpath.Collection, d *definition.SearchParameter, modifier, value string) (bool, error) {
	var unsure error
	whole := d.Type == "number" && whollyIntegers(d, r.typ)
	for _, item := range items {
		holds, err := w.matches(r, item, d.Type, modifier, value, whole)
		switch {
		case errors.Is(err, errUnsure):
			unsure = err
		case err != nil:
			return false, err
		case holds:
			return true, nil
		}
	}
	return false, unsure
}

// matches compares one element by the rules of a type of parameter.
func (w *world) matches(r *resource, item fhirpath.Item, typ, modifier, value string, whole bool) (bool, error) {
	switch typ {
	case "token":
		return askToken(r, item, modifier, value), nil
	case "string":
		return askString(item, modifier, unescaped(value)), nil
	case "date":
		return w.askDate(item, value)
	case "number":
		return askNumber(item, value, whole), nil
	case "quantity":
		return askQuantity(item, value), nil
	case "reference":
		return w.askReference(item, modifier, value)
	case "uri":
		return askURI(item, modifier, unescaped(value)), nil
	case "special":
		return askNear(item, value), nil
	}
	panic(typ)
}

// present says whether a parameter has a value.
func (w *world) present(r *resource, d *definition.SearchParameter) bool {
	if d.Type == "composite" {
		return slices.ContainsFunc(w.items(r, d), func(item fhirpath.Item) bool {
			return !slices.ContainsFunc(w.componentsAt(r, d, item), func(c component) bool {
				return !slices.ContainsFunc(c.items, func(i fhirpath.Item) bool { return w.isValue(r, i, c.of.Type) })
			})
		})
	}
	return slices.ContainsFunc(w.items(r, d), func(item fhirpath.Item) bool { return w.isValue(r, item, d.Type) })
}

func (w *world) isValue(r *resource, item fhirpath.Item, typ string) bool {
	switch typ {
	case "token":
		return len(codesOf(r, item)) > 0
	case "string":
		return len(textsOf(item)) > 0
	case "date":
		_, ok := spanOf(item)
		return ok
	case "number", "quantity":
		_, ok := amountOf(item)
		return ok
	case "reference":
		return w.refers(item)
	case "uri":
		return item.Node().Str() != ""
	case "special":
		_, _, ok := position(item)
		return ok
	}
	panic(typ)
}

// component is a part of a composite at one of its elements.
type component struct {
	of    *definition.SearchParameter
	items fhirpath.Collection
}

func (w *world) componentsAt(r *resource, d *definition.SearchParameter, item fhirpath.Item) (all []component) {
	for i, part := range d.Components {
		of := registry.SearchParameterByURL(part.Definition)
		expression := part.Expression
		if d.Code == "relationship" { // its definition has the expressions exchanged
			expression = d.Components[1-i].Expression
		}
		expression = strings.ReplaceAll(expression, "DateTime", "dateTime")
		all = append(all, component{of, w.readable(r, of, w.evaluate(r, item, expression))})
	}
	return all
}

func (w *world) askComposite(r *resource, d *definition.SearchParameter, value string) (bool, error) {
	values := split(value, '$')
	var unsure error
	for _, item := range w.items(r, d) {
		holds := true
		for i, c := range w.componentsAt(r, d, item) {
			one, err := w.anyMatches(r, c.items, c.of, "", values[i])
			if err != nil && !errors.Is(err, errUnsure) {
				return false, err
			}
			if err != nil {
				unsure = err
			}
			holds = holds && one
		}
		if holds {
			return true, nil
		}
	}
	return false, unsure
}
