// Package robustness puts real servers over a real PostgreSQL through faults, and
// checks what they answered meanwhile against what is promised of their caches.
package robustness

import "time"

// History is what clients did and saw, and what the database says thereafter.
// Times are since its start, on one monotonic clock, that of the clients.
type History struct {
	Seed  int64         `json:"seed"`
	Lease time.Duration `json:"lease"`

	Sets   []Set    `json:"sets"`
	Looks  []Look   `json:"looks"`
	Stored []Stored `json:"stored"`
	Faults []Fault  `json:"faults"`

	// What is there in the end.
	Committed []Committed `json:"committed"`
	Rows      []Row       `json:"rows"`
	Final     []Look      `json:"final"` // of each register on each server, after all faults
}

// Set is a change of a register: of the profile that it is. A register has one
// client that sets it, each value once and greater than those before.
type Set struct {
	Register     string        `json:"register"`
	Value        int64         `json:"value"`
	Begin        time.Duration `json:"begin"`
	End          time.Duration `json:"end"`
	Acknowledged bool          `json:"acknowledged"`
	// Async is a change whose answer does not wait for the other servers.
	Async bool `json:"async"`
}

// Look is an answer that shows a register's value.
type Look struct {
	Register string        `json:"register"`
	Value    int64         `json:"value"`
	Server   string        `json:"server"` // that was asked, "" through the load balancer
	Begin    time.Duration `json:"begin"`
	End      time.Duration `json:"end"`
	// Carried is the value of the change whose version the request named, 0 for none.
	Carried int64 `json:"carried"`
	How     How   `json:"how"`
}

// How a value was seen.
type How string

// Ways to see a value.
const (
	Validated How = "validated" // told by $validate
	Refused   How = "refused"   // told by the refusal of a resource
	Accepted  How = "accepted"  // of a resource that was accepted, and fits this value alone
)

// Stored is a resource that fits one value of a register, and was acknowledged.
type Stored struct {
	Register string `json:"register"`
	Value    int64  `json:"value"`
	ID       string `json:"id"`
}

// Committed is a change of a register that the database has, in its order.
type Committed struct {
	Register string    `json:"register"`
	Value    int64     `json:"value"`
	At       time.Time `json:"at"` // of its commit, by the database
}

// Row is a resource that the database has.
type Row struct {
	Register string    `json:"register"`
	Value    int64     `json:"value"`
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
}

// Fault is something that was done to the deployment.
type Fault struct {
	Kind  string        `json:"kind"`
	On    string        `json:"on,omitempty"`
	Begin time.Duration `json:"begin"`
	End   time.Duration `json:"end"`
}
