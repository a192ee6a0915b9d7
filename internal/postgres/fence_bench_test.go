package postgres

import (
	"context"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"starling/internal/fhir"
	"starling/internal/postgres/postgrestest"
)

// BenchmarkFence says what the fence takes of processor time a batch, here and in
// PostgreSQL: the beginning of a batch is sent over one connection with it and
// without, a thousand times each in turns. It reports the mean difference of
// neighbouring turns and half of its 95 % interval. A batch of writes has as many
// as starling_store_batch_requests tells.
//
//	go test -run '^$' -bench Fence -benchtime 40x ./internal/postgres
func BenchmarkFence(b *testing.B) {
	s, err := Open(b.Context(), Config{URL: postgrestest.New(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	state, err := s.State(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	items := make([]*item, 16)
	for i := range items {
		write := &fhir.Write{Basis: fhir.Basis{Lineage: state.Lineage}}
		for n, domain := range fhir.Domains() {
			write.Basis.Versions[n] = state.Versions[domain]
		}
		items[i] = &item{write: write}
	}
	conn, err := s.writer.pool.Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Release()
	backend := conn.Conn().PgConn().PID()
	const each = 1000
	// turn gives the processor time of a beginning, in microseconds.
	turn := func(f fencing) float64 {
		before := onCPU(b, os.Getpid()) + onCPU(b, int(backend))
		p := startPipeline(context.Background(), conn.Conn().PgConn())
		for range each {
			p.begin()
			enterFence(p, f, items, nil)
			p.send(stmtCommit, nil)
			if err := p.flush(); err != nil {
				b.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
		return float64((onCPU(b, os.Getpid()) + onCPU(b, int(backend)) - before).Nanoseconds()) / 1000 / each
	}
	turn(unfenced)
	turn(fencedWrites)
	var without, sum, squares, n float64
	for b.Loop() {
		var with, none float64
		if int(n)%2 == 0 {
			with, none = turn(fencedWrites), turn(unfenced)
		} else {
			none, with = turn(unfenced), turn(fencedWrites)
		}
		without += none
		sum, squares, n = sum+with-none, squares+(with-none)*(with-none), n+1
	}
	b.ReportMetric(without/n, "µs/batch")
	b.ReportMetric(sum/n, "fence-µs/batch")
	if n > 1 {
		b.ReportMetric(1.96*math.Sqrt((squares-sum*sum/n)/(n-1)/n), "±µs")
	}
}

// onCPU is the time all threads of a process have run, to the nanosecond.
func onCPU(b *testing.B, pid int) (sum time.Duration) {
	b.Helper()
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		b.Skip("processor time is read from /proc: ", err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + task.Name() + "/schedstat")
		if err != nil {
			continue // it has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, _ := strconv.ParseInt(first, 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}
