package fhirpath

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
)

// htmlAllowed reports whether a narrative's div is what txt-1 and txt-2 ask
// for: well-formed XHTML of the allowed elements and attributes
// (https://hl7.org/fhir/R4/narrative.html#xhtml), with some content.
func htmlAllowed(div string) bool {
	d := xml.NewDecoder(strings.NewReader(div))
	d.Entity = xml.HTMLEntity
	content, depth := false, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return content && depth == 0
		}
		if err != nil {
			return false
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth == 0 && (content || t.Name.Local != "div") {
				return false
			}
			if depth++; depth > 200 || !allowedElement(t) {
				return false
			}
			content = content || t.Name.Local == "img"
		case xml.EndElement:
			depth--
		case xml.CharData:
			content = content || depth > 0 && strings.ContainsFunc(string(t), visible)
		case xml.Directive:
			return false
		}
	}
}

// visible says a character is content: everything but XML's white space, so a
// no-break space is.
func visible(r rune) bool { return r == '\u00a0' || !unicode.IsSpace(r) }

func allowedElement(e xml.StartElement) bool {
	if !slices.Contains(htmlElements, e.Name.Local) {
		return false
	}
	for _, a := range e.Attr {
		name := a.Name.Local
		if a.Name.Space == "xmlns" || name == "xmlns" {
			continue
		}
		if !slices.Contains(htmlAttributes, name) && !slices.Contains(htmlAttributesOf[e.Name.Local], name) {
			return false
		}
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Value)), "javascript:") {
			return false
		}
	}
	return true
}

var htmlElements = []string{
	"p", "br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "a", "span", "b", "em", "i", "strong", "small", "big", "tt",
	"dfn", "q", "var", "abbr", "acronym", "cite", "blockquote", "hr", "address", "bdo", "kbd", "sub", "sup", "ul", "ol",
	"li", "dl", "dt", "dd", "pre", "table", "caption", "colgroup", "col", "thead", "tr", "tfoot", "tbody", "th", "td",
	"code", "samp", "img", "map", "area", "u", "del", "ins", "s", "strike",
}

var htmlAttributes = []string{
	"title", "style", "class", "id", "ID", "lang", "space", "dir", "accesskey", "tabindex",
	"span", "width", "align", "valign", "char", "charoff", "abbr", "axis", "headers", "scope", "rowspan", "colspan",
}

var htmlAttributesOf = map[string][]string{
	"a":          {"href", "name", "charset", "type", "hreflang", "rel", "rev", "shape", "coords", "target"},
	"img":        {"src", "border", "alt", "longdesc", "height", "usemap", "ismap"},
	"area":       {"shape", "coords", "href", "nohref", "alt"},
	"map":        {"name"},
	"blockquote": {"cite"},
	"q":          {"cite"},
	"table":      {"summary", "border", "frame", "rules", "cellspacing", "cellpadding", "bgcolor"},
	"td":         {"nowrap", "bgcolor", "height"},
	"th":         {"nowrap", "bgcolor", "height"},
	"tr":         {"bgcolor"},
	"ol":         {"start", "type"},
	"ul":         {"type"},
	"li":         {"value", "type"},
}
