package interaction

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// call is a request for an operation with its in-parameters. The methods that
// read them give zero values once one was wrong; err says which.
type call struct {
	*Request
	parameters []parameter
	unknown    []string // names among them that the operation does not have
	err        error
}

// ofHTTP are parameters of any request, which shape the answer or stand in page links.
var ofHTTP = []string{"_format", "_pretty", "_summary", "_elements", cursorParameter, keptParameter}

// parameter is one in-parameter.
type parameter struct {
	name string
	kind parameterKind
	// node is the value or resource; for one with parts, the parameter itself.
	// There is none for a parameter of the URL.
	node element.Node
	text string // of a primitive
	path string // for issues
}

type parameterKind uint8

const (
	ofPrimitive parameterKind = iota + 1
	ofObject                  // a data type
	ofResource
	ofParts
)

// newCall reads the parameters of the URL and of the body: Parameters, or a
// resource by itself.
func (s *Service) newCall(request *Request) (*call, error) {
	c := &call{Request: request}
	for _, name := range slices.Sorted(maps.Keys(request.Query)) {
		if name == "" || slices.Contains(ofHTTP, name) {
			continue
		}
		for _, value := range request.Query[name] {
			c.parameters = append(c.parameters, parameter{name: name, kind: ofPrimitive, text: value, path: name})
		}
	}
	root := request.resource
	if !root.Exists() && len(request.Body) > 0 {
		var err error
		if root, err = s.parse(request.Body); err != nil {
			return nil, err
		}
	}
	if err := c.add(root); err != nil {
		return nil, err
	}
	if c.operation.search {
		return c, nil // the planner knows what there is
	}
	return c, c.checkNames()
}

func (c *call) add(root element.Node) error {
	switch {
	case !root.Exists():
		return nil
	case root.Get("resourceType").Str() == "Parameters":
		return c.addParameters(root)
	case c.operation.body == "":
		return checkType(root, "Parameters")
	}
	c.parameters = append(c.parameters, parameter{name: c.operation.body, kind: ofResource, node: root, path: element.Path(root)})
	return nil
}

// addParameters adds those of a Parameters resource
// (https://hl7.org/fhir/R4/parameters.html).
func (c *call) addParameters(root element.Node) error {
	list := root.Get("parameter")
	if list.Exists() && list.Kind() != element.Array {
		return badParameter(list, "An array was expected.")
	}
	for node := range list.Children() {
		p, err := newParameter(node)
		if err != nil {
			return err
		}
		c.parameters = append(c.parameters, p)
	}
	return nil
}

func newParameter(node element.Node) (parameter, error) {
	p := parameter{path: element.Path(node)}
	if node.Kind() != element.Object || node.Get("name").Str() == "" {
		return p, badParameter(node, "A parameter has to be an object with a name.")
	}
	for member := range node.Children() {
		name, kind := member.Name(), parameterKind(0)
		switch {
		case name == "name":
			p.name = member.Str()
		case name == "resource" && member.Kind() == element.Object:
			kind = ofResource
		case name == "part" && member.Kind() == element.Array:
			kind = ofParts
		case strings.HasPrefix(name, "value") && len(name) > len("value") && member.Kind() == element.Object:
			kind = ofObject
		case strings.HasPrefix(name, "value") && len(name) > len("value") && member.Literal() != "":
			kind, p.text = ofPrimitive, member.Literal()
		case name != "id" && name != "extension" && name != "modifierExtension" && !strings.HasPrefix(name, "_"):
			return p, badParameter(member, "A parameter has no such member, or not of this kind.")
		}
		if kind == 0 {
			continue
		}
		if p.kind != 0 {
			return p, badParameter(node, "A parameter has one of value, resource and part.")
		}
		p.kind, p.node = kind, member
		if kind == ofParts {
			p.node = node
		}
	}
	if p.kind == 0 {
		return p, badParameter(node, "A parameter needs a value, a resource or parts.")
	}
	return p, nil
}

func badParameter(node element.Node, text string) error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, text).At(element.Path(node))
}

// checkNames notes parameters that the operation does not have; with strict handling
// it refuses them.
func (c *call) checkNames() error {
	known := map[string]bool{}
	for _, name := range c.operation.more {
		known[name] = true
	}
	for _, p := range c.operation.Parameter {
		known[p.Name] = known[p.Name] || p.Use == "in"
	}
	for i := range c.parameters {
		p := &c.parameters[i]
		switch {
		case known[p.name]:
		case c.Handling == HandlingStrict:
			return fhir.NewError(fhir.KindInvalid, fhir.IssueNotSupported,
				"The operation $"+c.operation.Code+" has no parameter "+quote(p.name)+".").At(p.path)
		case !slices.Contains(c.unknown, p.name):
			c.unknown = append(c.unknown, p.name)
		}
	}
	return nil
}

// wrong notes what is wrong with a parameter.
func (c *call) wrong(p *parameter, code fhir.IssueType, text string) {
	if c.err == nil {
		c.err = fhir.NewError(fhir.KindInvalid, code, "The parameter "+quote(p.name)+" "+text+".").At(p.path)
	}
}

// one gives the parameter of a name, which may be there once.
func (c *call) one(name string, kind parameterKind, what string) *parameter {
	var found *parameter
	for i := range c.parameters {
		p := &c.parameters[i]
		switch {
		case p.name != name:
		case found != nil:
			c.wrong(p, fhir.IssueInvalid, "may be given once only")
		case p.kind != kind:
			c.wrong(p, fhir.IssueValue, "has to be "+what)
		default:
			found = p
		}
	}
	return found
}

// text gives a primitive, "" if it is not there.
func (c *call) text(name string) string {
	if p := c.one(name, ofPrimitive, "a primitive value"); p != nil {
		return p.text
	}
	return ""
}

// texts gives all values of a primitive that may repeat.
func (c *call) texts(name string) []string {
	var all []string
	for i := range c.parameters {
		if p := &c.parameters[i]; p.name == name {
			if p.kind != ofPrimitive {
				c.wrong(p, fhir.IssueValue, "has to be a primitive value")
			}
			all = append(all, p.text)
		}
	}
	return all
}

// flag gives a boolean, or what it is taken for if it is not there.
func (c *call) flag(name string, absent bool) bool {
	p := c.one(name, ofPrimitive, "true or false")
	if p == nil {
		return absent
	}
	if p.text != "true" && p.text != "false" {
		c.wrong(p, fhir.IssueValue, "has to be true or false")
	}
	return p.text == "true"
}

// number gives an integer that is not negative, or what it is taken for if it
// is not there.
func (c *call) number(name string, absent int) int {
	p := c.one(name, ofPrimitive, "a number")
	if p == nil {
		return absent
	}
	n, err := strconv.Atoi(p.text)
	if err != nil || n < 0 {
		c.wrong(p, fhir.IssueValue, "has to be a number that is not negative")
	}
	return n
}

// object gives a value of a data type; no node if it is not there.
func (c *call) object(name, typeName string) element.Node {
	p := c.one(name, ofObject, "a "+typeName)
	if p == nil {
		return element.Node{}
	}
	if p.node.Name() != "value"+typeName {
		c.wrong(p, fhir.IssueValue, "has to be a "+typeName)
	}
	return p.node
}

// resourceOf gives a resource as a document of its own; no node if it is not
// there. Its issues name elements from its own type on.
func (c *call) resourceOf(s *Service, name string) element.Node {
	p := c.one(name, ofResource, "a resource")
	if p == nil || p.node.Index() == 0 {
		if p != nil {
			return p.node
		}
		return element.Node{}
	}
	root, err := s.parse(p.node.Raw())
	if err != nil && c.err == nil {
		c.err = err
	}
	return root
}
