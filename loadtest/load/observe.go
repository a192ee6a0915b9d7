package load

import (
	"fmt"
	"time"

	"starling/loadtest/procs"
	"starling/loadtest/record"
)

// observer looks at the run from outside once a second: a line of progress, the
// seconds of the result, memory; and CPU time at both ends of the measured time.
type observer struct {
	run     *run
	watch   *procs.Watch
	seconds []record.Second

	before, after []procs.Usage
	memory        []memory // by root
	quit, done    chan struct{}
}

type memory struct {
	sum, peak uint64
	samples   uint64
	processes int
}

func newObserver(r *run, watch *procs.Watch) *observer {
	return &observer{
		run: r, watch: watch, seconds: []record.Second{}, memory: make([]memory, len(watch.Roots())),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
}

func (o *observer) observe() {
	defer close(o.done)
	w := o.run.window
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	from, to := time.NewTimer(time.Until(w.from)), time.NewTimer(time.Until(w.to))
	defer from.Stop()
	defer to.Stop()
	for {
		select {
		case <-from.C:
			o.before = o.usage()
		case <-to.C:
			o.after = o.usage()
		case now := <-ticker.C:
			o.second(now)
		case <-o.quit:
			if o.before != nil && o.after == nil { // ended early, or by its iterations
				o.after = o.usage()
			}
			o.second(time.Now())
			return
		}
	}
}

func (o *observer) stop() {
	close(o.quit)
	<-o.done
}

// usage reads the watched processes. What cannot be read counts as nothing used.
func (o *observer) usage() []procs.Usage {
	usages, err := o.watch.Sample()
	if err != nil {
		usages = make([]procs.Usage, len(o.memory))
	}
	for i, u := range usages {
		m := &o.memory[i]
		m.sum += u.MemoryBytes
		m.samples++
		m.peak = max(m.peak, u.MemoryBytes)
		m.processes = max(m.processes, u.Processes)
	}
	return usages
}

func (o *observer) second(now time.Time) {
	s := o.run.recorder.NextSecond()
	s.Second = len(o.seconds) + 1
	// The second that ends now: its middle says which phase it belongs to.
	s.Phase = o.run.window.phase(now.Add(-500 * time.Millisecond))
	o.seconds = append(o.seconds, s)
	if s.Phase == "run" && o.before != nil && o.after == nil {
		o.usage()
	}
	fmt.Fprintf(o.run.config.Progress, "%4ds  %-9s %7d requests  P50 %7.2f ms  P99 %8.2f ms  max %8.2f ms  %d errors\n",
		s.Second, s.Phase, s.Requests, s.P50, s.P99, s.Max, s.Errors)
}

// processes gives what the watched processes used in the measured time.
func (o *observer) processes(requests int64) []record.Process {
	list := []record.Process{}
	if o.before == nil {
		return list
	}
	for i, root := range o.watch.Roots() {
		m := o.memory[i]
		p := record.Process{
			Name: root.Name, PIDs: root.PIDs,
			CPUSeconds:    max(0, o.after[i].CPUSeconds-o.before[i].CPUSeconds),
			MemoryAverage: m.sum / m.samples, MemoryPeak: m.peak, Processes: m.processes,
		}
		if requests > 0 {
			p.CPUPerRequest = p.CPUSeconds * 1000 / float64(requests)
		}
		list = append(list, p)
	}
	return list
}
