// Package scenario holds the CRUD scenario by which the field's FHIR servers
// are compared: nine resource types, 36 requests an iteration.
//
// An iteration creates one resource of each type, reads each, updates one field
// of each, and deletes each in reverse order. References point at the ids just
// created. There is no think time.
package scenario

import (
	"fmt"
	"strconv"
)

// Types are the nine types, in the order they are created, read and updated.
var Types = [...]string{
	"Patient", "Location", "Organization", "Practitioner", "Encounter",
	"Observation", "MedicationRequest", "Claim", "ExplanationOfBenefit",
}

// Requests is the number of requests of one iteration.
const Requests = len(Interactions) * len(Types)

// Interaction is one of the four, in the order of the scenario.
type Interaction int

// The interactions.
const (
	Create Interaction = iota
	Read
	Update
	Delete
)

// Interactions are their names in FHIR.
var Interactions = [...]string{"create", "read", "update", "delete"}

func (i Interaction) String() string { return Interactions[i] }

var typeIndex = func() map[string]int {
	index := map[string]int{}
	for i, typ := range Types {
		index[typ] = i
	}
	return index
}()

// Step is one request of an iteration.
type Step struct {
	Interaction Interaction
	Type        int // index in Types
}

// Steps are the 36 requests in order.
var Steps = func() (steps [Requests]Step) {
	for i := range steps {
		step := Step{Interaction(i / len(Types)), i % len(Types)}
		if step.Interaction == Delete {
			step.Type = len(Types) - 1 - step.Type
		}
		steps[i] = step
	}
	return steps
}()

// Bodies are the resources that are sent, shared by all virtual users.
type Bodies struct {
	byType [len(Types)]*body
}

// Load reads and checks the bodies.
func Load() (*Bodies, error) {
	var bodies Bodies
	for i, typ := range Types {
		b, err := loadBody(typ)
		if err != nil {
			return nil, err
		}
		for _, p := range b.parts {
			at, known := typeIndex[p.hole]
			if p.hole == "" || p.hole == "unique" || p.hole == "change" || known && at < i {
				continue
			}
			return nil, fmt.Errorf("bodies/%s.json: %q is not created before it", typ, p.hole)
		}
		bodies.byType[i] = b
	}
	return &bodies, nil
}

// Iteration is one run through the scenario by one virtual user: what was
// created so far. The zero value with Bodies set is ready for Start.
type Iteration struct {
	Bodies *Bodies

	unique   string
	ids      [len(Types)]string
	versions [len(Types)]string // entity tag last seen
}

// Start begins iteration number of the virtual user. The run's name keeps the
// identifiers of several runs on one database apart.
func (it *Iteration) Start(run string, user, number int) {
	it.unique = run + "-" + strconv.Itoa(user) + "-" + strconv.Itoa(number)
	it.ids = [len(Types)]string{}
	it.versions = [len(Types)]string{}
}

// ID gives the id created for the type in this iteration, "" before that.
func (it *Iteration) ID(typ int) string { return it.ids[typ] }

// AppendBody adds the body of a create or an update to out; of others nothing.
func (it *Iteration) AppendBody(out []byte, step Step) []byte {
	switch step.Interaction {
	case Create:
		return it.Bodies.byType[step.Type].append(out, it.unique, &it.ids, "")
	case Update:
		return it.Bodies.byType[step.Type].append(out, it.unique, &it.ids, it.ids[step.Type])
	default:
		return out
	}
}
