package element

import "starling/internal/fhir"

// ParseStored reads a resource of the store, by StoredLimits.
func ParseStored(r *fhir.Resource) (Node, error) {
	tree, err := Parse(r.AppendJSON(nil), StoredLimits)
	if err != nil {
		return Node{}, err
	}
	return tree.Root(), nil
}
