package coherence

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// section is a part of the report.
type section struct {
	Title string
	Text  string
	Head  []string
	Rows  [][]string
}

// sections are the report, in whatever format.
func (r *Result) sections() []section {
	var all []section
	for _, s := range []section{r.throughput(), r.coherence(), r.pairSection(), r.lockSection(), r.skippedSection()} {
		if len(s.Rows) > 0 || s.Head == nil && s.Text != "" {
			all = append(all, s)
		}
	}
	return all
}

func (r *Result) throughput() section {
	s := section{
		Title: "What it costs",
		Text: fmt.Sprintf("CRUD at full load: %d users in a closed loop, each at one of the servers, %.0f s measured, no proxy. "+
			"CPU is that of all servers and of PostgreSQL over the CRUD requests answered; what changes cost is in it. "+
			"Notifications are what all servers together heard of in the time.", r.Options.VirtualUsers, r.Options.FullSeconds),
		Head: []string{
			"servers", "transport", "changes/s", "of these acknowledged", "RPS", "P50 ms", "P99 ms", "errors", "CPU ms a request, servers",
			"PostgreSQL", "WAL bytes a request", "connections", "notifications",
		},
	}
	keys, cells := r.groups(FullLoad)
	for _, k := range keys {
		group := cells[k]
		of := func(format string, value func(*Cell) float64) string { return spreadOf(group, value).text(format) }
		s.Rows = append(s.Rows, []string{
			strconv.Itoa(k.instances), k.transport, fmt.Sprintf("%g", k.rate),
			of("%.1f", func(c *Cell) float64 { return c.Changes.PerSecond }),
			of("%.0f", func(c *Cell) float64 { return c.RPS }),
			of("%.1f", func(c *Cell) float64 { return c.Latency.P50 }),
			of("%.1f", func(c *Cell) float64 { return c.Latency.P99 }),
			sum(group, func(c *Cell) int64 { return c.Errors + c.Changes.Failed }),
			of("%.3f", func(c *Cell) float64 { return c.ServerCPU }),
			of("%.3f", func(c *Cell) float64 { return c.PostgreSQLCPU }),
			of("%.0f", func(c *Cell) float64 { return float64(c.WALBytes) / float64(max(1, c.Requests)) }),
			of("%.0f", func(c *Cell) float64 { return float64(c.Connections) }),
			of("%.0f", func(c *Cell) float64 { return c.Notifications }),
		})
	}
	return s
}

func (r *Result) coherence() section {
	s := section{
		Title: "How fast it is",
		Text: fmt.Sprintf("Applied is the time from the answer to a change that does not wait (Prefer: respond-async) until the last server has "+
			"given an answer that shows it: each is asked again and again to validate a resource, with %v between. It cannot be less than one "+
			"look takes. Light load is %.0f CRUD requests a second, full load as above. An ordinary change waits until all have applied it. Late: "+
			"of these, how many a server did not show in an answer asked for afterwards. Stale: answers asked for more than the lease (%.0f s) after a "+
			"change was acknowledged that did not show it, of all looks.",
			lookAgain, r.Options.LightRate, r.Options.LeaseSeconds),
		Head: []string{
			"load", "servers", "transport", "changes/s", "of these acknowledged", "applied P50 ms", "P99 ms", "max ms", "one look P50 ms",
			"answer without waiting P50 ms", "P99 ms", "answer after waiting P50 ms", "P99 ms", "CRUD P99 ms", "CRUD not sent in time", "late", "stale",
		},
	}
	for _, load := range []string{LightLoad, FullLoad} {
		keys, cells := r.groups(load)
		for _, k := range keys {
			if k.rate == 0 {
				continue
			}
			group := cells[k]
			of := func(value func(Changes) float64) string {
				return spreadOf(group, func(c *Cell) float64 { return value(c.Changes) }).text("%.1f")
			}
			s.Rows = append(s.Rows, []string{
				load, strconv.Itoa(k.instances), k.transport, fmt.Sprintf("%g", k.rate),
				of(func(c Changes) float64 { return c.PerSecond }),
				of(func(c Changes) float64 { return c.Applied.P50 }),
				of(func(c Changes) float64 { return c.Applied.P99 }),
				of(func(c Changes) float64 { return c.Applied.Max }),
				of(func(c Changes) float64 { return c.Resolution.P50 }),
				of(func(c Changes) float64 { return c.Async.P50 }),
				of(func(c Changes) float64 { return c.Async.P99 }),
				of(func(c Changes) float64 { return c.Waiting.P50 }),
				of(func(c Changes) float64 { return c.Waiting.P99 }),
				spreadOf(group, func(c *Cell) float64 { return c.Latency.P99 }).text("%.1f"),
				sum(group, func(c *Cell) int64 { return c.Unsent }),
				sum(group, func(c *Cell) int64 { return c.Changes.Late }) + " of " + sum(group, func(c *Cell) int64 { return c.Changes.Looked }),
				sum(group, func(c *Cell) int64 { return c.Changes.Stale }) + " of " + sum(group, func(c *Cell) int64 { return c.Changes.Looks }),
			})
		}
	}
	return s
}

func sum(cells []*Cell, value func(*Cell) int64) string {
	total := int64(0)
	for _, c := range cells {
		total += value(c)
	}
	return strconv.FormatInt(total, 10)
}

func (r *Result) pairSection() section {
	if r.Pairs == nil {
		return section{}
	}
	p := r.Pairs
	s := section{
		Title: "What off gains over notify",
		Text: fmt.Sprintf("No system resource changes; %d servers each. The two take turns for %.0f s under full load, %d rounds of newly started "+
			"servers with %d slices each. How much more notify takes than off, with the 95 %% confidence interval of the means of two rounds.",
			p.Instances, p.SliceSeconds, len(p.Rounds), slicesOf(p.Rounds)),
		Head: []string{"", "notify against off", "95 % confidence", "pairs of rounds"},
	}
	for _, row := range []struct {
		name string
		i    Interval
	}{
		{"CPU a request, servers", p.Server},
		{"CPU a request, PostgreSQL", p.PostgreSQL},
		{"CPU a request, both", p.Both},
		{"requests a second", p.Rate},
	} {
		confidence := fmt.Sprintf("%+.2f to %+.2f %%", row.i.Low, row.i.High)
		if row.i.N < 2 {
			confidence = "—"
		}
		s.Rows = append(s.Rows, []string{row.name, fmt.Sprintf("%+.2f %%", row.i.Mean), confidence, strconv.Itoa(row.i.N)})
	}
	return s
}

func slicesOf(rounds []Round) int {
	if len(rounds) == 0 {
		return 0
	}
	return len(rounds[0].Slices)
}

func (r *Result) lockSection() section {
	if r.NotifyLock == nil {
		return section{}
	}
	l := r.NotifyLock
	verdict := "Ordinary requests took no lock of NOTIFY."
	if !l.Passed() {
		verdict = "NOT SHOWN: ordinary requests may have taken the lock of NOTIFY, or it was not held."
	}
	waited := "waited until it was released"
	if !l.ChangeWaited {
		waited = "did not wait"
	}
	return section{
		Title: "The lock of NOTIFY",
		Text: fmt.Sprintf("%s While another session held the lock that each commit with a NOTIFY takes, for %.0f s, %d CRUD requests were answered rightly and "+
			"%d were not: %.0f a second, P99 %.1f ms (before, with the lock free: %.0f, %.1f ms). In %d of %d looks at pg_locks a session waited for it. "+
			"A change of a system resource, sent thereafter, %s.",
			verdict, l.HeldSeconds, l.Requests, l.Errors, l.RPS, l.P99, l.FreeRPS, l.FreeP99, l.Waiting, l.Looks, waited),
	}
}

func (r *Result) skippedSection() section {
	s := section{Title: "Left out", Head: []string{"transport", "reason"}}
	for _, skipped := range r.Skipped {
		s.Rows = append(s.Rows, []string{skipped.Transport, strings.Join(strings.Fields(skipped.Reason), " ")})
	}
	return s
}

// footer says where and how it was measured.
func (r *Result) footer() string {
	text := fmt.Sprintf("%s, %d CPUs, %s; PostgreSQL %s; %s; all on one machine.",
		r.Machine.CPU, r.Machine.CPUs, r.Machine.Kernel, r.PostgreSQL, r.Server)
	if r.Options.Repeats > 1 {
		text += fmt.Sprintf(" Medians of %d runs (least–greatest).", r.Options.Repeats)
	}
	return text
}

// Table writes the report as Markdown.
func (r *Result) Table(w io.Writer) error {
	var b strings.Builder
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", s.Title, s.Text)
		if len(s.Rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.Head, " | "), strings.Repeat("---|", len(s.Head)))
		for _, row := range s.Rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
		b.WriteString("\n")
	}
	b.WriteString(r.footer() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}
