package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"starling/loadtest/record"
)

// Schema names this version of the report.
const Schema = "starling.search/1"

// Report is the outcome of the same searches in data of several sizes.
type Report struct {
	Schema string `json:"schema"`
	Sizes  []Size `json:"sizes"` // ascending
}

// Size is one of them. In Result the interactions are kinds of searches.
type Size struct {
	Resources int            `json:"resources"`
	Result    *record.Result `json:"result"`
}

// Select gives the kinds of these names, all without any.
func Select(names []string) ([]Kind, error) {
	if len(names) == 0 {
		return Kinds, nil
	}
	var kinds []Kind
	for _, name := range names {
		// Kong splits at commas, which some names have: a part of a name will do.
		at := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == strings.TrimSpace(name) })
		if at < 0 {
			at = slices.IndexFunc(Kinds, func(k Kind) bool { return strings.Contains(k.Name, strings.TrimSpace(name)) })
		}
		if at < 0 {
			return nil, fmt.Errorf("there is no kind of search %q", name)
		}
		kinds = append(kinds, Kinds[at])
	}
	return kinds, nil
}

// Save writes search.json and search.md into the folder, "" for none.
func (r *Report) Save(folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "search.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(folder, "search.md"))
	if err != nil {
		return err
	}
	return errors.Join(r.Markdown(file), file.Close())
}

// Markdown writes a table of kinds, with each size, and how P50 and P99 grow
// from the smallest to the largest; and one of what the processes used.
func (r *Report) Markdown(w io.Writer) error {
	if len(r.Sizes) == 0 {
		return nil
	}
	fmt.Fprint(w, "| ms |")
	for _, s := range r.Sizes {
		fmt.Fprintf(w, " RPS in %s | resources a page | P50 | P95 | P99 |", thousands(s.Resources))
	}
	rule := strings.Repeat("---:|", 5*len(r.Sizes))
	several := len(r.Sizes) > 1
	if several {
		fmt.Fprint(w, " P50 grows | P99 grows |")
		rule += "---:|---:|"
	}
	fmt.Fprintf(w, "\n|---|%s\n", rule)
	first, last := r.Sizes[0].Result, r.Sizes[len(r.Sizes)-1].Result
	row := func(name string, of func(*record.Result) record.Group) {
		fmt.Fprintf(w, "| %s |", name)
		for _, s := range r.Sizes {
			g := of(s.Result)
			fmt.Fprintf(w, " %.0f | %.1f | %.2f | %.2f | %.2f |", g.RPS, g.Resources, g.Latency.P50, g.Latency.P95, g.Latency.P99)
		}
		if several {
			a, b := of(first).Latency, of(last).Latency
			fmt.Fprintf(w, " %s | %s |", growth(a.P50, b.P50), growth(a.P99, b.P99))
		}
		fmt.Fprintln(w)
	}
	for i, g := range last.Interactions {
		row(g.Interaction, func(r *record.Result) record.Group { return r.Interactions[i] })
	}
	row("all", func(r *record.Result) record.Group { return r.Total })

	fmt.Fprint(w, "\n| ms of CPU a request |")
	for _, s := range r.Sizes {
		fmt.Fprintf(w, " %s |", thousands(s.Resources))
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---:|", len(r.Sizes)))
	for i, p := range last.Processes {
		fmt.Fprintf(w, "| %s |", p.Name)
		for _, s := range r.Sizes {
			fmt.Fprintf(w, " %.3f |", s.Result.Processes[i].CPUPerRequest)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, s := range r.Sizes {
		fmt.Fprintf(w, "%s resources: %d requests, %d errors, %d users, %.0f s.\n",
			thousands(s.Resources), s.Result.Total.Requests, s.Result.Total.Errors,
			s.Result.Options.VirtualUsers, s.Result.MeasuredSeconds)
	}
	return nil
}

func growth(from, to float64) string {
	if from <= 0 {
		return "–"
	}
	return fmt.Sprintf("× %.2f", to/from)
}

func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
