package element

import "strconv"

// Path is the FHIRPath of a node as issues name it: "Patient.name[0].given[1]".
// It begins with the resourceType of the document, and every item of an array
// has its index, from 0. A primitive and the `_name` beside it have the same
// path. It walks from the root: for error messages, not for every node.
func Path(n Node) string {
	if n.tree == nil {
		return ""
	}
	at := n.tree.Root()
	path := []byte(at.Get("resourceType").Str())
	for at.index != n.index {
		position := 0
		for child := range at.Children() {
			if n.index < n.tree.nodes[child.index].next {
				path = appendStep(path, child, position)
				at = child
				break
			}
			position++
		}
	}
	return string(path)
}

func appendStep(path []byte, child Node, position int) []byte {
	if child.tree.nodes[child.index].flags&keyed == 0 {
		path = append(path, '[')
		path = strconv.AppendInt(path, int64(position), 10)
		return append(path, ']')
	}
	name := child.Name()
	if len(name) > 1 && name[0] == '_' {
		name = name[1:]
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}
