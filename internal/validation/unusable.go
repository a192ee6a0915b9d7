package validation

import "fmt"

// unusable says why there is no profile to check against under a canonical, as the end
// of a sentence about it. One that is stored may lead to a base profile that is not.
func (v *Validator) unusable(canonical string) string {
	if v.stored == nil || v.stored.definitions[canonical] == nil {
		return "is not known here"
	}
	at := canonical
	for range maxChain {
		d := v.stored.definitions[at]
		switch {
		case d == nil:
			return fmt.Sprintf("cannot be used, since the profile %s, which it derives from, is not known here", quote(at))
		case d.snapshot || v.typeOfCanonical(d.base) != "" || v.isPublished(d.base):
			return "cannot be used, since it constrains no type of R4"
		case d.base == "":
			return "cannot be used, since it does not say what it derives from"
		}
		at = d.base
	}
	return "cannot be used, since it derives from itself, or from too many others"
}

func (v *Validator) isPublished(canonical string) bool {
	_, ok := v.published.find(canonical)
	return ok
}
