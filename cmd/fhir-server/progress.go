package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"

	"starling/internal/load"
)

// progress shows how far a load is: a bar on a terminal, else a line now and
// then.
type progress interface {
	load.Progress
	end()
}

func newProgress(w io.Writer, files []load.File) progress {
	var total int64
	for _, file := range files {
		total += file.Size
	}
	if file, ok := w.(*os.File); ok && isTerminal(file) {
		return newBar(file, total)
	}
	return newLines(w, total)
}

func isTerminal(file *os.File) bool {
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}

// bar is progress on a terminal.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	resources atomic.Int64
}

func newBar(w io.Writer, total int64) *bar {
	b := &bar{container: mpb.New(mpb.WithOutput(w))}
	started := time.Now()
	b.bar = b.container.New(total, mpb.BarStyle(),
		mpb.PrependDecorators(decor.CountersKibiByte("% .1f / % .1f")),
		mpb.AppendDecorators(
			decor.Percentage(),
			decor.Any(func(decor.Statistics) string {
				n := b.resources.Load()
				return fmt.Sprintf("  %d resources, %.0f/s", n, float64(n)/time.Since(started).Seconds())
			}),
		))
	return b
}

// Advance implements load.Progress.
func (b *bar) Advance(bytes int64, resources int) {
	b.resources.Add(int64(resources))
	b.bar.IncrInt64(bytes)
}

// Fail implements load.Progress. The line stands above the bar.
func (b *bar) Fail(failure load.Failure) { writeFailure(b.container, failure) }

func (b *bar) end() {
	b.bar.SetTotal(-1, true)
	b.container.Wait()
}

// linePause is the time between two lines of progress.
const linePause = 5 * time.Second

// lines is progress elsewhere.
type lines struct {
	w         io.Writer
	total     int64
	started   time.Time
	bytes     atomic.Int64
	resources atomic.Int64
	stop      chan struct{}
	stopped   chan struct{}
}

func newLines(w io.Writer, total int64) *lines {
	l := &lines{w: w, total: total, started: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	go l.print()
	return l
}

func (l *lines) print() {
	defer close(l.stopped)
	ticker := time.NewTicker(linePause)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
			bytes, resources := l.bytes.Load(), l.resources.Load()
			fmt.Fprintf(l.w, "%.1f of %.1f MB, %d resources, %.0f/s\n",
				float64(bytes)/1e6, float64(l.total)/1e6, resources, float64(resources)/time.Since(l.started).Seconds())
		}
	}
}

// Advance implements load.Progress.
func (l *lines) Advance(bytes int64, resources int) {
	l.bytes.Add(bytes)
	l.resources.Add(int64(resources))
}

// Fail implements load.Progress.
func (l *lines) Fail(failure load.Failure) { writeFailure(l.w, failure) }

func (l *lines) end() {
	close(l.stop)
	<-l.stopped
}

// writeFailure writes a line for each issue of a failure.
func writeFailure(w io.Writer, failure load.Failure) {
	for _, issue := range failure.Err.Issues {
		at := ""
		if issue.Expression != "" {
			at = " (" + issue.Expression + ")"
		}
		fmt.Fprintf(w, "%s: %s: %s%s\n", failure.Where, issue.Code, issue.Diagnostics, at)
	}
	if failure.Err.Cause != nil {
		fmt.Fprintf(w, "%s: cause: %v\n", failure.Where, failure.Err.Cause)
	}
}
