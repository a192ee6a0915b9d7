package scenario

import (
	"bytes"
	"strconv"
	"strings"
)

// Answer is what a server answered to a step.
type Answer struct {
	Status   int
	Location string // the Location header, "" if absent
	ETag     string
	Body     []byte
}

// Fault is a wrong answer: Kind groups equal ones, Detail is a sample.
type Fault struct {
	Kind   string
	Detail string
}

// Check reports whether the answer is the right one for the step, and keeps
// what later steps need from it. It takes any FHIR server's version ids, but
// holds each server to its own: a read must give the version that was created,
// an update another one, and both must be in the body's meta.
func (it *Iteration) Check(step Step, a Answer) *Fault {
	typ := Types[step.Type]
	if !rightStatus(step.Interaction, a.Status) {
		return &Fault{"status " + strconv.Itoa(a.Status), string(a.Body)}
	}
	if step.Interaction == Delete {
		return nil
	}
	version, ok := versionID(a.ETag)
	if !ok {
		return &Fault{"no ETag of the form W/\"…\"", a.ETag}
	}
	if step.Interaction == Create {
		id := idOf(a.Location, typ)
		if id == "" {
			return &Fault{"no id in Location", a.Location}
		}
		// Kept beyond this answer, so copied out of the connection's buffer.
		it.ids[step.Type] = strings.Clone(id)
		it.versions[step.Type] = strings.Clone(version)
	}
	id := it.ids[step.Type]
	switch {
	case step.Interaction == Read && version != it.versions[step.Type]:
		return &Fault{"read gave another version than was created", a.ETag + ", not " + it.versions[step.Type]}
	case step.Interaction == Update && version == it.versions[step.Type]:
		return &Fault{"update made no new version", a.ETag}
	case !hasString(a.Body, "resourceType", typ):
		return &Fault{"the body is no " + typ, string(a.Body)}
	case !hasString(a.Body, "id", id):
		return &Fault{"the body has another id", string(a.Body)}
	case !hasString(a.Body, "versionId", version):
		return &Fault{"the body has another versionId than the ETag", a.ETag + ": " + string(a.Body)}
	case !containsQuoted(a.Body, it.unique):
		return &Fault{"the body is of another resource", string(a.Body)}
	}
	changed := it.Bodies.byType[step.Type].before
	if step.Interaction == Update {
		changed = it.Bodies.byType[step.Type].after
	}
	if !containsQuoted(a.Body, changed) {
		return &Fault{"the changed field does not have the value sent", string(a.Body)}
	}
	return nil
}

func rightStatus(interaction Interaction, status int) bool {
	switch interaction {
	case Create:
		return status == 201
	case Delete:
		return status == 200 || status == 204
	default:
		return status == 200
	}
}

// versionID takes the version id out of a weak entity tag.
func versionID(etag string) (string, bool) {
	v, ok := strings.CutPrefix(etag, `W/"`)
	if !ok {
		return "", false
	}
	v, ok = strings.CutSuffix(v, `"`)
	return v, ok && v != ""
}

// idOf takes the id out of […/]Type/id[/_history/version], "" if there is none.
func idOf(location, typ string) string {
	at := strings.LastIndex(location, typ+"/")
	if at < 0 || at > 0 && location[at-1] != '/' {
		return ""
	}
	id, _, _ := strings.Cut(location[at+len(typ)+1:], "/")
	return id
}

// hasString reports whether some object of the JSON text has a member of that
// name and value. Names and values here need no escapes, and an id or a version
// that is there at all is there where it belongs: a full parse would cost the
// generator more than all else it does.
func hasString(json []byte, name, value string) bool {
	for rest := json; ; {
		at := indexString(rest, value)
		if at < 0 {
			return false
		}
		before := bytes.TrimRight(rest[:at], " \t\r\n")
		if n, ok := bytes.CutSuffix(before, []byte(":")); ok {
			n = bytes.TrimRight(n, " \t\r\n")
			if len(n) > len(name)+1 && n[len(n)-1] == '"' && n[len(n)-len(name)-2] == '"' &&
				string(n[len(n)-len(name)-1:len(n)-1]) == name {
				return true
			}
		}
		rest = rest[at+len(value)+1:]
	}
}

func containsQuoted(json []byte, value string) bool { return indexString(json, value) >= 0 }

// indexString finds "value" with its quotes, -1 if it is not there.
func indexString(json []byte, value string) int {
	for from := 0; ; {
		at := bytes.Index(json[from:], []byte(value))
		if at < 0 {
			return -1
		}
		at += from
		if end := at + len(value); at > 0 && json[at-1] == '"' && end < len(json) && json[end] == '"' {
			return at - 1
		}
		from = at + len(value)
	}
}
