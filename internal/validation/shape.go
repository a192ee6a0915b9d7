package validation

import (
	"sync/atomic"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
	"starling/internal/fhir/fhirpath"
)

// shape is what the JSON objects of a type, or of an element with children of
// its own, look like.
type shape struct {
	name     string // "Patient", "Patient.contact"
	typeName string // of a type's own shape; "" for an element defined in place
	resource bool
	members  map[string]*member
	slots    []*slot
	required slotSet
	rules    []rule // of every object

	invariants []*invariant
	// deep says that FHIRPath has to reach objects of this shape, or elements
	// defined in place below: whoever walks here needs their items.
	deep bool
}

// slot is one element of a shape: several members for a choice of types, or
// for a primitive with its extensions.
type slot struct {
	element *definition.Element
	index   int
	list    bool // a JSON array
	// navigate leads FHIRPath from the object to the element's values; nil
	// where no rule needs it.
	navigate *fhirpath.Expression
}

// member is what a member of an object holds.
type member struct {
	name       string
	slot       *slot
	kind       memberKind
	beside     string // the name of the primitive beside `_name`, and the reverse; "" if there is none
	typeName   string
	primitive  *primitive // of memberPrimitive
	link       bool       // a text that "#id" makes refer to a contained resource
	rules      []rule     // of every value
	invariants []*invariant

	own    *shape                // of an element with children of its own
	loaded atomic.Pointer[shape] // of a data type, once it has been used
}

type memberKind uint8

const (
	memberObject memberKind = iota
	memberPrimitive
	memberExtra        // `_name`: id and extensions of a primitive
	memberResource     // any resource
	memberResourceType // "resourceType" itself
)

// rule checks a value and reports what is wrong with it.
type rule func(r *run, n element.Node)

// deep says that the member's values have to be known to FHIRPath.
func (m *member) deep() bool { return len(m.invariants) > 0 || m.own != nil && m.own.deep }

// slotSet is a set of indexes of slots.
type slotSet [2]uint64

const maxSlots = 128

func (s *slotSet) add(i int)      { s[i>>6&1] |= 1 << (i & 63) }
func (s *slotSet) has(i int) bool { return s[i>>6&1]&(1<<(i&63)) != 0 }

// covers reports whether all of other is in s.
func (s *slotSet) covers(other *slotSet) bool { return other[0]&^s[0]|other[1]&^s[1] == 0 }

// slotOf finds an element by its name.
func (s *shape) slotOf(name string) *slot {
	for _, slot := range s.slots {
		if slot.element.Name == name {
			return slot
		}
	}
	return nil
}
