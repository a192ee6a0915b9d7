package robustness

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"starling/loadtest/record"
)

// Schema names this version of the verdict.
const Schema = "starling.faults/1"

// Verdict says which promises were kept, and on how much that rests.
type Verdict struct {
	Schema       string         `json:"schema"`
	Passed       bool           `json:"passed"`
	Machine      record.Machine `json:"machine"`
	PostgreSQL   string         `json:"postgresql"`
	Server       string         `json:"server"`
	Seed         int64          `json:"seed"`
	Transport    string         `json:"transport"`
	Servers      int            `json:"servers"`
	LeaseSeconds float64        `json:"leaseSeconds"`
	Seconds      float64        `json:"seconds"`
	Balancer     bool           `json:"balancer"` // there was nginx; else clients chose servers at random
	Standby      bool           `json:"standby"`  // a synchronous standby could be promoted

	Faults       map[string]int `json:"faults"` // how many of each kind
	Looks        int            `json:"looks"`
	Sets         int            `json:"sets"`
	Acknowledged int            `json:"acknowledged"` // of the sets
	Resources    int            `json:"resources"`    // posted and acknowledged
	Failures     map[string]int `json:"failures"`     // requests that told nothing, by kind

	ConvergedSeconds float64 `json:"convergedSeconds"` // after clients had stopped
	Checks           []Check `json:"checks"`
}

// Write writes the verdict as indented JSON.
func (v *Verdict) Write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// Summary writes it for a person.
func (v *Verdict) Summary(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, %d servers, lease %.3g s, seed %d, %.0f s: ", v.Transport, v.Servers, v.LeaseSeconds, v.Seed, v.Seconds)
	for i, name := range slices.Sorted(maps.Keys(v.Faults)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d × %s", v.Faults[name], name)
	}
	fmt.Fprintf(&b, "\n%d looks, %d of %d changes and %d resources acknowledged; converged %.1f s after clients had stopped\n",
		v.Looks, v.Acknowledged, v.Sets, v.Resources, v.ConvergedSeconds)
	for _, name := range slices.Sorted(maps.Keys(v.Failures)) {
		fmt.Fprintf(&b, "  %6d × %s\n", v.Failures[name], name)
	}
	for i := range v.Checks {
		c := &v.Checks[i]
		result := "kept"
		switch {
		case c.Broken > 0:
			result = fmt.Sprintf("BROKEN %d times", c.Broken)
		case c.Observations == 0:
			result = "NOT SHOWN"
		}
		fmt.Fprintf(&b, "%-12s %s in %d observations: %s\n", c.Name, result, c.Observations, c.Promise)
		for _, sample := range c.Samples {
			fmt.Fprintf(&b, "    %s\n", sample)
		}
	}
	if v.Passed {
		b.WriteString("passed\n")
	} else {
		b.WriteString("FAILED\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
