package validation

import (
	"sync/atomic"

	"starling/internal/fhir/definition"
	"starling/internal/fhir/element"
)

// shape is what the JSON objects of a type, or of an element with children of
// its own, look like.
type shape struct {
	name     string // "Patient", "Patient.contact"
	members  map[string]*member
	slots    []*slot
	required slotSet
	rules    []rule // of every object
}

// slot is one element of a shape: several members for a choice of types, or
// for a primitive with its extensions.
type slot struct {
	element *definition.Element
	index   int
	list    bool // a JSON array
}

// member is what a member of an object holds.
type member struct {
	name      string
	slot      *slot
	kind      memberKind
	beside    string // the name of the primitive beside `_name`, and the reverse; "" if there is none
	typeName  string
	primitive *primitive // of memberPrimitive
	rules     []rule     // of every value

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

// slotSet is a set of indexes of slots.
type slotSet [2]uint64

const maxSlots = 128

func (s *slotSet) add(i int)      { s[i>>6&1] |= 1 << (i & 63) }
func (s *slotSet) has(i int) bool { return s[i>>6&1]&(1<<(i&63)) != 0 }

// covers reports whether all of other is in s.
func (s *slotSet) covers(other *slotSet) bool { return other[0]&^s[0]|other[1]&^s[1] == 0 }
