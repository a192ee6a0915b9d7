package coherence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"starling/loadtest/record"
)

// Schema names this version of the result.
const Schema = "starling.sync/1"

// Result is what was measured. Table, charts and page follow from it alone.
// Times are in milliseconds, sizes in bytes.
type Result struct {
	Schema     string         `json:"schema"`
	Machine    record.Machine `json:"machine"`
	PostgreSQL string         `json:"postgresql"` // its version
	Server     string         `json:"server"`     // the version it states
	Options    Options        `json:"options"`
	Cells      []Cell         `json:"cells"` // in the order they ran
	Skipped    []Skipped      `json:"skipped"`
	Pairs      *Pairs         `json:"pairs,omitempty"`
	NotifyLock *NotifyLock    `json:"notifyLock,omitempty"`
}

// Options are the settings of the run.
type Options struct {
	Repeats        int      `json:"repeats"`
	LeaseSeconds   float64  `json:"leaseSeconds"`
	VirtualUsers   int      `json:"virtualUsers"`   // at full load
	WarmUpSeconds  float64  `json:"warmUpSeconds"`  // of each cell
	FullSeconds    float64  `json:"fullSeconds"`    // measured
	LightRate      float64  `json:"lightRate"`      // requests a second at light load
	LightSeconds   float64  `json:"lightSeconds"`   // measured
	AdditionalArgs []string `json:"additionalArgs"` // of the servers
}

// Skipped is a transport that could not be run.
type Skipped struct {
	Transport string `json:"transport"`
	Reason    string `json:"reason"`
}

// Loads of a cell.
const (
	FullLoad  = "full"  // closed loop: as much as goes through
	LightLoad = "light" // open loop: requests at a fixed rate, far below that
)

// Cell is one transport on so many instances, under a load of CRUD requests and
// so many changes of system resources a second.
type Cell struct {
	Transport string  `json:"transport"`
	Instances int     `json:"instances"`
	Rate      float64 `json:"rate"` // changes a second that were due
	Load      string  `json:"load"`
	Run       int     `json:"run"` // from 1

	Requests int64 `json:"requests"`
	Errors   int64 `json:"errors"`
	// Unsent counts requests of the light load that were due and could not be sent
	// before the end, since the servers did not keep up.
	Unsent  int64          `json:"unsent"`
	RPS     float64        `json:"rps"`
	Latency record.Latency `json:"latency"` // of the CRUD requests

	// CPU a CRUD request; what changes of system resources cost is in it.
	ServerCPU     float64 `json:"serverCPU"`
	PostgreSQLCPU float64 `json:"postgresqlCPU"`
	WALBytes      int64   `json:"walBytes"`
	Connections   int     `json:"connections"` // of all servers, at the end
	// Notifications is what all servers together heard of, by their transport.
	Notifications float64 `json:"notifications"`
	Changes       Changes `json:"changes"`
}

// Changes are those of system resources in a cell.
type Changes struct {
	Acknowledged int64    `json:"acknowledged"`
	Failed       int64    `json:"failed"`
	Samples      []string `json:"samples,omitempty"` // of failures
	PerSecond    float64  `json:"perSecond"`         // acknowledged
	// Waiting is the time to the answer of changes that wait for all instances,
	// Async of those that do not (Prefer: respond-async).
	Waiting Times `json:"waiting"`
	Async   Times `json:"async"`
	// Applied is the time from the answer to a change that does not wait until the
	// last instance has given an answer that shows it. Resolution is the time that
	// one look at one instance takes: a change cannot be seen sooner.
	Applied    Times `json:"applied"`
	Resolution Times `json:"resolution"`
	// Late counts changes that were answered as applied on all instances, within
	// the lease, while a look at one began later and did not show it. Looked is of
	// how many.
	Late   int64 `json:"late"`
	Looked int64 `json:"looked"`
	// Stale counts looks that began more than the lease after the answer to a
	// change and did not show it, of all Looks.
	Stale int64 `json:"stale"`
	Looks int64 `json:"looks"`
}

// Times are a distribution in milliseconds.
type Times struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Write writes the result as indented JSON.
func (r *Result) Write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// Read reads a result that Write has written.
func Read(r io.Reader) (*Result, error) {
	var result Result
	if err := json.NewDecoder(r).Decode(&result); err != nil {
		return nil, err
	}
	if result.Schema != Schema {
		return nil, fmt.Errorf("the schema is %q, not %s", result.Schema, Schema)
	}
	if len(result.Cells) == 0 && result.Pairs == nil && result.NotifyLock == nil {
		return nil, errNothingRan
	}
	return &result, nil
}

var errNothingRan = errors.New("nothing was measured")
