package oracle

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// text is one of those a string parameter looks at; words says that it is found by
// its later words, too.
type text struct {
	s     string
	words bool
}

func textsOf(item fhirpath.Item) (all []text) {
	n := item.Node()
	add := func(n element.Node, words bool) {
		if n.Str() != "" {
			all = append(all, text{n.Str(), words})
		}
	}
	members := func(words bool, names ...string) {
		for _, name := range names {
			add(n.Get(name), words)
			for one := range n.Get(name).Children() {
				add(one, words)
			}
		}
	}
	switch item.Type() {
	case "string", "markdown":
		add(n, n.Name() == "family")
	case "HumanName":
		members(true, "family", "text")
		members(false, "given", "prefix", "suffix")
	case "Address":
		members(false, "text", "line", "city", "district", "state", "postalCode", "country")
	}
	return all
}

func askString(item fhirpath.Item, modifier, value string) bool {
	return slices.ContainsFunc(textsOf(item), func(t text) bool {
		switch has := fold(t.s); {
		case modifier == "exact":
			return t.s == value
		case modifier == "contains":
			return strings.Contains(has, fold(value))
		case modifier == "ends": // of _filter alone
			return strings.HasSuffix(has, fold(value))
		case t.words:
			return wordBegins(has, fold(value), math.MaxInt)
		default:
			return strings.HasPrefix(has, fold(value))
		}
	})
}

func askURI(item fhirpath.Item, modifier, value string) bool {
	uris := []string{item.Node().Str()}
	if item.Type() == "canonical" {
		url, _, _ := strings.Cut(uris[0], "|")
		uris = append(uris, url)
	}
	bare := func(s string) string { return strings.TrimSuffix(s, "/") }
	return slices.ContainsFunc(uris, func(uri string) bool {
		switch modifier {
		case "below":
			return uri == bare(value) || strings.HasPrefix(uri, bare(value)+"/")
		case "above":
			return strings.Contains(uri, "://") && (uri == value || strings.HasPrefix(value, bare(uri)+"/"))
		}
		return uri == value
	})
}

func position(item fhirpath.Item) (latitude, longitude float64, ok bool) {
	latitude, err := strconv.ParseFloat(item.Node().Get("latitude").Literal(), 64)
	longitude, also := strconv.ParseFloat(item.Node().Get("longitude").Literal(), 64)
	return latitude, longitude, err == nil && also == nil && math.Abs(latitude) <= 90 && math.Abs(longitude) <= 180
}

// askNear measures by the haversine formula.
func askNear(item fhirpath.Item, value string) bool {
	latitude, longitude, ok := position(item)
	pieces := split(value, '|')
	fromLatitude, _ := strconv.ParseFloat(pieces[0], 64)
	fromLongitude, _ := strconv.ParseFloat(pieces[1], 64)
	most := 50_000.0
	if len(pieces) > 2 {
		unit := map[string]float64{"km": 1000, "m": 1, "[mi_i]": 1609.344}
		per := 1000.0
		if len(pieces) > 3 {
			per = unit[pieces[3]]
		}
		n, _ := strconv.ParseFloat(pieces[2], 64)
		most = n * per
	}
	rad := math.Pi / 180
	h := math.Pow(math.Sin((latitude-fromLatitude)*rad/2), 2) +
		math.Cos(latitude*rad)*math.Cos(fromLatitude*rad)*math.Pow(math.Sin((longitude-fromLongitude)*rad/2), 2)
	return ok && 2*6371008.8*math.Asin(math.Sqrt(h)) <= most
}
