package validation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"starling/internal/fhir"
)

// The faults of a narrative (https://hl7.org/fhir/R4/narrative.html#xhtml).
var (
	narrativeRoot      = &fault{code: fhir.IssueValue, message: `a narrative must be one <div xmlns="http://www.w3.org/1999/xhtml"> element`}
	narrativeMalformed = &fault{code: fhir.IssueValue, message: "the narrative is not well-formed XML"}
	narrativeElement   = &fault{code: fhir.IssueInvariant, key: "txt-1", message: "the narrative has an element that is not allowed"}
	narrativeAttribute = &fault{code: fhir.IssueInvariant, key: "txt-1", message: "the narrative has an attribute that is not allowed"}
	narrativeScript    = &fault{code: fhir.IssueInvariant, key: "txt-1", message: "the narrative has a script in an attribute"}
	narrativeEmpty     = &fault{code: fhir.IssueInvariant, key: "txt-2", message: "the narrative has no content"}
)

const xhtmlNamespace = "http://www.w3.org/1999/xhtml"

// narrativeFault checks a narrative: well-formed XML of the elements and
// attributes that FHIR allows, with some content.
func narrativeFault(text string) *fault {
	if f := stringFault(text); f == stringControl {
		return f
	}
	x := xhtml{rest: text}
	if f := x.document(); f != nil {
		return f
	}
	if !x.content {
		return narrativeEmpty
	}
	return nil
}

// xhtml reads a narrative from its beginning to its end.
type xhtml struct {
	rest    string
	open    []string // names of the elements not closed yet
	rooted  bool     // the first element has been opened
	content bool     // there was text other than white space, or an image
}

func (x *xhtml) document() *fault {
	x.rest = strings.TrimLeft(x.rest, " \t\r\n")
	if !strings.HasPrefix(x.rest, "<div") {
		return narrativeRoot
	}
	var room [16]string
	x.open = room[:0]
	for {
		if f := x.markup(); f != nil {
			return f
		}
		if len(x.open) == 0 {
			break
		}
		if f := x.text(); f != nil {
			return f
		}
	}
	if strings.Trim(x.rest, " \t\r\n") != "" {
		return narrativeRoot
	}
	return nil
}

// text reads up to the next markup.
func (x *xhtml) text() *fault {
	end := strings.IndexByte(x.rest, '<')
	if end < 0 {
		return narrativeMalformed
	}
	text := x.rest[:end]
	x.rest = x.rest[end:]
	if !x.content {
		x.content = strings.Trim(text, " \t\r\n") != ""
	}
	if !referencesAreRight(text) {
		return narrativeMalformed
	}
	return nil
}

// markup reads a tag, a comment or a CDATA section.
func (x *xhtml) markup() *fault {
	switch {
	case strings.HasPrefix(x.rest, "</"):
		return x.endTag()
	case strings.HasPrefix(x.rest, "<!--"):
		_, after, ok := strings.Cut(x.rest[len("<!--"):], "-->")
		if !ok || strings.Contains(x.rest[len("<!--"):len(x.rest)-len(after)-len("-->")], "--") {
			return narrativeMalformed
		}
		x.rest = after
		return nil
	case strings.HasPrefix(x.rest, "<![CDATA["):
		text, after, ok := strings.Cut(x.rest[len("<![CDATA["):], "]]>")
		if !ok {
			return narrativeMalformed
		}
		x.rest = after
		x.content = x.content || strings.Trim(text, " \t\r\n") != ""
		return nil
	}
	return x.startTag()
}

func (x *xhtml) endTag() *fault {
	x.rest = x.rest[len("</"):]
	name := x.name()
	x.space()
	if !strings.HasPrefix(x.rest, ">") || len(x.open) == 0 || x.open[len(x.open)-1] != name {
		return narrativeMalformed
	}
	x.rest = x.rest[1:]
	x.open = x.open[:len(x.open)-1]
	return nil
}

func (x *xhtml) startTag() *fault {
	x.rest = x.rest[len("<"):]
	name := x.name()
	switch {
	case name == "":
		return narrativeMalformed
	case !x.rooted && name != "div":
		return narrativeRoot
	case !narrativeElements[name]:
		return narrativeElement.about(name)
	}
	x.content = x.content || name == "img"
	namespace, f := x.attributes()
	switch {
	case f != nil:
		return f
	case !x.rooted && namespace != xhtmlNamespace:
		return narrativeRoot
	}
	x.rooted = true
	if after, empty := strings.CutPrefix(x.rest, "/>"); empty {
		x.rest = after
		return nil
	}
	if !strings.HasPrefix(x.rest, ">") {
		return narrativeMalformed
	}
	x.rest = x.rest[len(">"):]
	x.open = append(x.open, name)
	return nil
}

// attributes reads those of a start tag and gives the value of xmlns.
func (x *xhtml) attributes() (namespace string, f *fault) {
	var room [8]string
	names := room[:0]
	for x.space() {
		name := x.name()
		if name == "" {
			break
		}
		value, ok := x.attributeValue()
		switch {
		case !ok, slices.Contains(names, name):
			return "", narrativeMalformed
		case !narrativeAttributes[name]:
			return "", narrativeAttribute.about(name)
		case narrativeURLs[name] && isScript(value):
			return "", narrativeScript.about(name)
		}
		names = append(names, name)
		if name == "xmlns" {
			namespace = value
		}
	}
	return namespace, nil
}

// attributeValue reads `="value"`.
func (x *xhtml) attributeValue() (value string, ok bool) {
	x.space()
	if !strings.HasPrefix(x.rest, "=") {
		return "", false
	}
	x.rest = x.rest[len("="):]
	x.space()
	if x.rest == "" || x.rest[0] != '"' && x.rest[0] != '\'' {
		return "", false
	}
	value, after, ok := strings.Cut(x.rest[1:], x.rest[:1])
	x.rest = after
	return value, ok && !strings.Contains(value, "<") && referencesAreRight(value)
}

// name reads the name of an element or attribute; "" if there is none.
func (x *xhtml) name() string {
	end := 0
	for end < len(x.rest) {
		c := x.rest[end]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
		if !letter && (end == 0 || c != '-' && c != '.' && c != ':' && (c < '0' || c > '9')) {
			break
		}
		end++
	}
	name := x.rest[:end]
	x.rest = x.rest[end:]
	return name
}

// space steps over white space and reports whether there was any.
func (x *xhtml) space() bool {
	before := len(x.rest)
	x.rest = strings.TrimLeft(x.rest, " \t\r\n")
	return len(x.rest) < before
}
