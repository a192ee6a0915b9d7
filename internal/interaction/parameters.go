package interaction

// parametersOut is a Parameters resource being made
// (https://hl7.org/fhir/R4/parameters.html).
type parametersOut struct{ json []byte }

func newParameters() *parametersOut {
	return &parametersOut{[]byte(`{"resourceType":"Parameters","parameter":[`)}
}

// add adds a parameter, or a part, with the JSON of its value[x].
func (p *parametersOut) add(name, member string, value []byte) {
	p.json = appendString(append(p.json, `{"name":`...), name)
	p.json = append(appendString(append(p.json, ','), member), ':')
	p.json = append(append(p.json, value...), "},"...)
}

// text adds a value that is a JSON string, unless it is empty.
func (p *parametersOut) text(name, member, value string) {
	if value != "" {
		p.add(name, member, appendString(nil, value))
	}
}

func (p *parametersOut) flag(name string, value bool) {
	text := "false"
	if value {
		text = "true"
	}
	p.add(name, "valueBoolean", []byte(text))
}

// open begins a parameter with parts, close ends it.
func (p *parametersOut) open(name string) {
	p.json = append(appendString(append(p.json, `{"name":`...), name), `,"part":[`...)
}

func (p *parametersOut) close() { p.json = append(closed(p.json, ']'), "},"...) }

func (p *parametersOut) end() []byte { return append(closed(p.json, ']'), '}') }

// appendCoding appends a Coding without the members that are empty.
func appendCoding(dst []byte, system, version, code, display string) []byte {
	dst = append(dst, '{')
	for _, member := range [][2]string{{"system", system}, {"version", version}, {"code", code}, {"display", display}} {
		if member[1] != "" {
			dst = append(appendString(dst, member[0]), ':')
			dst = append(appendString(dst, member[1]), ',')
		}
	}
	return closed(dst, '}')
}
