// Package record counts what a load test saw, and holds the one schema in which
// every command of the load test writes its result.
package record

import (
	"encoding/json"
	"io"
	"time"
)

// Schema names this version of the result. A field may be added under the same
// name; a field that changes its meaning raises it.
const Schema = "starling.loadtest/1"

// Result is the outcome of one run. Times are in milliseconds, sizes in bytes.
// All figures but Seconds are of the measured time alone, without warm-up and
// cool-down; a request belongs to the time at which it was to be sent.
type Result struct {
	Schema   string    `json:"schema"`
	Command  string    `json:"command"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Options  Options   `json:"options"`
	Machine  Machine   `json:"machine"`

	MeasuredSeconds float64 `json:"measuredSeconds"`
	// Iterations counts those that were begun in the measured time and completed;
	// Abandoned those in which a create failed, so that the rest made no sense.
	Iterations int64 `json:"iterations"`
	Abandoned  int64 `json:"abandoned"`
	// Unsent counts requests of an open loop that were due in the measured time
	// and not sent before the end. They are in Total with the time they had waited.
	Unsent int64 `json:"unsent"`

	Total        Group       `json:"total"`
	Interactions []Group     `json:"interactions"` // each interaction over all types
	Requests     []Group     `json:"requests"`     // each interaction and type
	Errors       []ErrorKind `json:"errors"`
	Processes    []Process   `json:"processes"`
	Seconds      []Second    `json:"seconds"`
}

// Options are the settings of the run.
type Options struct {
	Targets         []string `json:"targets"`
	VirtualUsers    int      `json:"virtualUsers"`
	Rate            float64  `json:"rate"` // requests a second of an open loop; 0: closed loop
	WarmUpSeconds   float64  `json:"warmUpSeconds"`
	DurationSeconds float64  `json:"durationSeconds"`
	CoolDownSeconds float64  `json:"coolDownSeconds"`
	Iterations      int64    `json:"iterations"` // 0: as many as the time allows
	TimeoutSeconds  float64  `json:"timeoutSeconds"`
}

// Group is a set of requests.
type Group struct {
	Interaction string  `json:"interaction,omitempty"`
	Type        string  `json:"type,omitempty"`
	Requests    int64   `json:"requests"` // with those that failed
	Errors      int64   `json:"errors"`
	RPS         float64 `json:"rps"` // right answers a second
	// Resources is the mean number of resources in a page of a search.
	Resources float64 `json:"resources,omitempty"`
	Latency   Latency `json:"latency"`
}

// Latency is the time from when a request was to be sent to the last byte of
// its answer, in milliseconds, of all requests that were answered or given up.
type Latency struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// ErrorKind counts the requests that failed in one way.
type ErrorKind struct {
	Kind        string `json:"kind"`
	Count       int64  `json:"count"`
	Interaction string `json:"interaction"` // of the sample
	Type        string `json:"type"`
	Sample      string `json:"sample"`
}

// Process is what the watched processes of one name and their descendants used.
type Process struct {
	Name          string  `json:"name"`
	PIDs          []int   `json:"pids"`
	CPUSeconds    float64 `json:"cpuSeconds"`
	CPUPerRequest float64 `json:"cpuPerRequest"` // milliseconds of CPU a request
	MemoryAverage uint64  `json:"memoryAverage"`
	MemoryPeak    uint64  `json:"memoryPeak"`
	Processes     int     `json:"processes"` // most at once
}

// Second is one second of the whole run, by the time of the answer.
type Second struct {
	Second   int     `json:"second"`
	Phase    string  `json:"phase"` // warm-up, run or cool-down
	Requests int64   `json:"requests"`
	Errors   int64   `json:"errors"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
	Max      float64 `json:"max"`
}

// Write writes the result as indented JSON.
func (r *Result) Write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}
