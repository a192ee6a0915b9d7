package oracle

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/fhirpath"
)

var (
	relative  = regexp.MustCompile(`^([A-Za-z]+)/([A-Za-z0-9.-]{1,64})(?:/_history/([A-Za-z0-9.-]{1,64}))?$`)
	plainID   = regexp.MustCompile(`^[A-Za-z0-9.-]{1,64}$`)
	versioned = regexp.MustCompile(`^(https?://.*)/_history/([A-Za-z0-9.-]{1,64})$`)
)

// literal takes a reference apart: the key of a resource here, or an address.
func (w *world) literal(text string) (key, address, version string) {
	if m := relative.FindStringSubmatch(strings.TrimPrefix(text, w.base+"/")); m != nil && registry.IsResourceType(m[1]) {
		return m[1] + "/" + m[2], "", m[3]
	}
	if m := versioned.FindStringSubmatch(text); m != nil {
		return "", m[1], m[2]
	}
	return "", text, ""
}

// link is what an element of a reference parameter says.
type link struct {
	key, address, version string // as literal gives it
	canonical             bool
	system, value         string // of an identifier
}

func (w *world) linkOf(item fhirpath.Item) (l link) {
	n := item.Node()
	switch {
	case item.Type() == "Reference":
		l.key, l.address, l.version = w.literal(n.Get("reference").Str())
		l.system, l.value = n.Get("identifier").Get("system").Str(), n.Get("identifier").Get("value").Str()
	case registry.IsResourceType(item.Type()): // an entry of a Bundle
		if id := n.Get("id").Str(); id != "" {
			l.key = item.Type() + "/" + id
		}
	default:
		l.canonical = true
		l.address, l.version, _ = strings.Cut(n.Str(), "|")
	}
	return l
}

// refers says whether an element refers to anything.
func (w *world) refers(item fhirpath.Item) bool {
	l := w.linkOf(item)
	return l.key != "" || l.address != "" || l.system != "" || l.value != ""
}

// targets are the resources an element leads to, contained ones included.
func (w *world) targets(r *resource, item fhirpath.Item) (all []*resource) {
	switch l := w.linkOf(item); {
	case l.canonical:
		for _, list := range w.byType {
			for _, other := range list {
				if other.root.Get("url").Str() == l.address && l.address != "" && hasCanonical(other.typ) &&
					(l.version == "" || other.root.Get("version").Str() == l.version) {
					all = append(all, other)
				}
			}
		}
	case l.key != "":
		if to := w.byKey[l.key]; to != nil {
			all = append(all, to)
		}
	case strings.HasPrefix(l.address, "#"):
		for _, inner := range r.outer().contained {
			if inner.id == l.address[1:] && inner.id != "" {
				return []*resource{inner} // of two the first
			}
		}
	}
	return all
}

func hasCanonical(typ string) bool {
	return registry.SearchParameter(fhir.ResourceType(typ), "url") != nil && registry.SearchParameter(fhir.ResourceType(typ), "version") != nil
}

func (w *world) askReference(item fhirpath.Item, modifier, value string) (bool, error) {
	l := w.linkOf(item)
	if modifier == "identifier" {
		pieces := split(value, '|')
		code := unescaped(pieces[len(pieces)-1])
		return !l.canonical && l.value == code && (len(pieces) == 1 || l.system == unescaped(pieces[0])), nil
	}
	value = unescaped(value)
	if l.canonical {
		if modifier != "" {
			return false, nil
		}
		url, version, _ := strings.Cut(value, "|")
		return l.address == url && l.address != "" && (version == "" || version == l.version), nil
	}
	if plainID.MatchString(value) {
		typ, id, _ := strings.Cut(l.key, "/")
		return l.key != "" && id == value && (modifier == "" || modifier == typ), nil
	}
	key, address, version := w.literal(value)
	return l.key == key && l.address == address && (version == "" || l.version == version), nil
}

// leadTo are the types that a reference parameter of a type leads to.
func leadTo(typ string, d *definition.SearchParameter) (types []string) {
	for _, t := range d.Target {
		types = append(types, string(t))
	}
	// An expression that filters all it finds for one type leads there alone.
	filtered := regexp.MustCompile(`where\(resolve\(\) is (\w+)\)`)
	for branch := range strings.SplitSeq(d.Expression, "|") {
		if branch = strings.Trim(branch, " ("); !strings.HasPrefix(branch, typ+".") {
			continue
		}
		m := filtered.FindStringSubmatch(branch)
		if m == nil {
			return types
		}
		types = []string{m[1]}
	}
	return types
}

// askChain goes on from the resources that a reference leads to.
func (w *world) askChain(r *resource, d *definition.SearchParameter, typ, rest, value string) (bool, error) {
	answer, known := false, false
	var failure error
	for _, item := range w.items(r, d) {
		for _, to := range w.targets(r, item) {
			if typ != "" && to.typ != typ || !slices.Contains(leadTo(r.typ, d), to.typ) {
				continue
			}
			holds, err := w.ask(to, rest, value)
			switch {
			case err != nil && !errors.Is(err, errUnknown):
				failure = err
			case err == nil:
				known = true
				answer = answer || holds
			}
		}
	}
	if !answer && !known && failure != nil || errors.Is(failure, errUnsure) && !answer {
		return false, failure
	}
	return answer, nil
}

// askReferring is _has: rest is Type:reference:parameter.
func (w *world) askReferring(r *resource, rest, value string) (bool, error) {
	typ, rest, _ := strings.Cut(rest, ":")
	code, inner, _ := strings.Cut(rest, ":")
	d := registry.SearchParameter(fhir.ResourceType(typ), code)
	if r.container != nil {
		return false, nil
	}
	var unsure error
	for _, from := range w.byType[typ] {
		for _, item := range w.items(from, d) {
			if !slices.Contains(w.targets(from, item), r) {
				continue
			}
			holds, err := w.ask(from, inner, value)
			switch {
			case errors.Is(err, errUnsure):
				unsure = err
			case err != nil:
				return false, err
			case holds:
				return true, nil
			}
		}
	}
	return false, unsure
}

// wholes are the elements by which resources are parts of others of their type.
var wholes = map[string]string{
	"Location": "partOf", "Organization": "partOf", "Encounter": "partOf", "Procedure": "partOf", "CarePlan": "partOf", "Task": "partOf",
	"Specimen": "parent", "ResearchStudy": "partOf", "DeviceDefinition": "parentDevice",
}

// partOf follows the parts of which a resource is one, at most so many levels.
func (w *world) partOf(r *resource, levels int, visit func(key string) bool) bool {
	if levels == 0 {
		return false
	}
	for _, item := range w.evaluate(r, w.item(r), r.typ+"."+wholes[r.typ]) {
		if key := w.linkOf(item).key; strings.HasPrefix(key, r.typ+"/") && visit(key) {
			return true
		}
		for _, to := range w.targets(r, item) {
			if to.container == nil && to.typ == r.typ && w.partOf(to, levels-1, visit) {
				return true
			}
		}
	}
	return false
}

const levels = 8

func (w *world) keyFor(from string, d *definition.SearchParameter, value string) string {
	if !plainID.MatchString(value) {
		key, _, _ := w.literal(value)
		return key
	}
	for _, typ := range leadTo(from, d) {
		if wholes[typ] != "" {
			return typ + "/" + value
		}
	}
	return ""
}

// isBelow says whether the references lead to a resource or to a part of it.
func (w *world) isBelow(r *resource, d *definition.SearchParameter, value string) bool {
	key := w.keyFor(r.typ, d, unescaped(value))
	typ, _, _ := strings.Cut(key, "/")
	for _, item := range w.items(r, d) {
		l := w.linkOf(item)
		if l.canonical {
			if l.address == unescaped(value) {
				return true
			}
			continue
		}
		if l.key == key {
			return true
		}
		for _, to := range w.targets(r, item) {
			if to.typ == typ && w.partOf(to, levels, func(whole string) bool { return whole == key }) {
				return true
			}
		}
	}
	return false
}

// isAbove says whether the references lead to a resource or to what it is a part of.
func (w *world) isAbove(r *resource, d *definition.SearchParameter, value string) bool {
	key := w.keyFor(r.typ, d, unescaped(value))
	wanted := []string{key}
	if part := w.byKey[key]; part != nil {
		w.partOf(part, levels, func(whole string) bool {
			if w.byKey[whole] != nil {
				wanted = append(wanted, whole)
			}
			return false
		})
	}
	return slices.ContainsFunc(w.items(r, d), func(item fhirpath.Item) bool { return slices.Contains(wanted, w.linkOf(item).key) })
}

// ambiguous says whether a search names an id that resources of several types have
// which the parameter may lead to.
func (w *world) ambiguous(from string, d *definition.SearchParameter, id string) bool {
	n := 0
	for _, typ := range leadTo(from, d) {
		if w.byKey[typ+"/"+id] != nil {
			n++
		}
	}
	return n > 1
}
