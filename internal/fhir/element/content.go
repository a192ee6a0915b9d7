package element

import (
	"bytes"
	"slices"

	"starling/internal/fhir"
)

// Content splits a resource into what the store keeps of it: the members of
// meta less versionId and lastUpdated, and the other members less
// resourceType, id and meta. White space between tokens is dropped; all else
// stays as it was sent, to the byte and in its order. The error is an
// *fhir.Error: the root, or its meta, is no object.
func Content(root Node) (fhir.Content, error) {
	if root.Kind() != Object {
		return fhir.Content{}, notObject("A resource", root)
	}
	meta := root.Get("meta")
	if meta.Exists() && meta.Kind() != Object {
		return fhir.Content{}, notObject("Resource.meta", meta).At(Path(meta))
	}
	kept := make([]byte, 0, len(root.Raw()))
	kept = appendMembers(kept, meta, "versionId", "lastUpdated")
	split := len(kept)
	kept = appendMembers(kept, root, "resourceType", "id", "meta")
	return fhir.Content{Meta: kept[:split:split], Body: kept[split:]}, nil
}

func notObject(what string, n Node) *fhir.Error {
	return fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, what+" must be a JSON object, but is "+n.Kind().article())
}

// article names a kind within a sentence.
func (k Kind) article() string {
	switch k {
	case Null:
		return "null"
	case Array, Object:
		return "an " + k.String()
	case 0:
		return "missing"
	}
	return "a " + k.String()
}

// appendMembers appends the object's members, each after a comma, but for
// those named. Neighbours are copied together.
func appendMembers(dst []byte, object Node, without ...string) []byte {
	if object.tree == nil {
		return dst
	}
	text := object.tree.text
	from, to := -1, 0 // the members to be copied next; none while from is negative
	start, _ := object.Span()
	behind := start + 1 // the bracket or the member before
	for member := range object.Children() {
		_, end := member.Span()
		switch {
		case slices.Contains(without, member.Name()):
			dst = object.tree.appendRun(dst, from, to)
			from = -1
		case from < 0:
			from = behind + bytes.IndexByte(text[behind:], '"')
		}
		to, behind = end, end
	}
	return object.tree.appendRun(dst, from, to)
}

func (t *Tree) appendRun(dst []byte, from, to int) []byte {
	if from < 0 {
		return dst
	}
	return t.appendCompact(append(dst, ','), t.text[from:to])
}
