package interaction

import (
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// linkKind says where a link stands, which decides when it is rewritten.
type linkKind uint8

const (
	inReference   linkKind = iota // Reference.reference
	inURI                         // an element of type uri, url, oid or uuid
	inNarrative                   // the XHTML of a Narrative, which may hold several
	inConditional                 // Reference.reference with criteria: "Practitioner?identifier=…"
)

// link is a string of a resource that refers to an entry of its Bundle, or by
// criteria.
type link struct {
	kind       linkKind
	start, end int    // of the JSON string in the resource's text, quotes included
	text       string // decoded
}

// linkFinder finds the links of a resource
// (https://hl7.org/fhir/R4/http.html#trules).
type linkFinder struct {
	definitions *definition.Registry
	base        string
	// leads reports whether a text is a link to an entry of the Bundle.
	leads func(text string) bool
	// root is the address that relative references start from: what stands
	// before Type/id in the fullUrl of the resource's entry; "" for none
	// (https://hl7.org/fhir/R4/bundle.html#references).
	root string

	offset int // of the resource in its tree's text
	links  []link
}

// find gives the links in document order. A Bundle among the entries is a
// document of its own, whose links are its own entries'.
func (f *linkFinder) find(resource element.Node, t fhir.ResourceType) []link {
	f.offset, _ = resource.Span()
	f.links = nil
	if t != "Bundle" {
		w := walker{f.definitions, f.primitive}
		w.object(resource, f.definitions.Type(string(t)).Root)
	}
	return f.links
}

func (f *linkFinder) primitive(value element.Node, property definition.Property) {
	switch property.Type {
	case "uri", "url", "oid", "uuid":
		if text := value.Str(); f.leads(text) {
			f.add(inURI, value, text)
		}
	case "xhtml":
		if text := value.Str(); narrativeLeads(text, f.leads) {
			f.add(inNarrative, value, text)
		}
	case "string":
		if property.Element.Path == "Reference.reference" {
			f.reference(value)
		}
	}
}

func (f *linkFinder) reference(value element.Node) {
	text := value.Str()
	if f.leads(text) {
		f.add(inReference, value, text)
		return
	}
	if f.root != "" && !strings.Contains(text, ":") && f.leads(f.root+text) {
		f.add(inReference, value, f.root+text)
		return
	}
	local := strings.TrimPrefix(strings.TrimPrefix(text, f.base), "/")
	if t, _, conditional := strings.Cut(local, "?"); conditional && f.definitions.IsResourceType(t) {
		f.add(inConditional, value, local)
	}
}

func (f *linkFinder) add(kind linkKind, value element.Node, text string) {
	start, end := value.Span()
	f.links = append(f.links, link{kind, start - f.offset, end - f.offset, text})
}

// rewrite copies a resource's text with links replaced by what replace gives
// for them. Everything else stays as it was sent, to the byte.
func rewrite(text []byte, links []link, replace func(l *link) (string, bool)) []byte {
	out := make([]byte, 0, len(text)+16*len(links))
	from := 0
	for i := range links {
		l := &links[i]
		if replacement, ok := replace(l); ok {
			out = appendString(append(out, text[from:l.start]...), replacement)
			from = l.end
		}
	}
	return append(out, text[from:]...)
}

// splitLink takes the version and the fragment off a link:
// "urn:uuid:…/_history/2#part".
func splitLink(text string) (to, rest string) {
	cut := len(text)
	if i := strings.IndexByte(text, '#'); i >= 0 {
		cut = i
	}
	if i := strings.Index(text[:cut], "/_history/"); i >= 0 {
		cut = i
	}
	return text[:cut], text[cut:]
}

// rootOf is the address before Type/id in the fullUrl of a RESTful entry, with
// the slash; "" if it is none.
func rootOf(fullURL string, t fhir.ResourceType) string {
	if i := strings.LastIndex(fullURL, "/"+string(t)+"/"); i >= 0 && strings.Contains(fullURL[:i], "://") {
		return fullURL[:i+1]
	}
	return ""
}
