package element

import "starling/internal/fhir"

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
// those named.
func appendMembers(dst []byte, object Node, without ...string) []byte {
	start, _ := object.Span()
	from := start + 1 // behind the bracket or the value before
	for member := range object.Children() {
		_, end := member.Span()
		if !contains(without, member.Name()) {
			text := object.tree.text
			for text[from] != '"' {
				from++
			}
			dst = append(dst, ',')
			dst = object.tree.appendCompact(dst, text[from:end])
		}
		from = end
	}
	return dst
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
