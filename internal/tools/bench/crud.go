package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// virtualUsers are those of the published figures for two cores.
const virtualUsers = 74

// crud measures a fresh server at rest, then under the field's scenario, with
// everything on this machine.
func (b *bench) crud(ctx context.Context) error {
	var idle, rps, cpu, p50, p99, database []float64
	for range b.runs {
		fmt.Println("crud …")
		r, err := b.crudOnce(ctx, &idle)
		if err != nil {
			return err
		}
		if r.Total.Errors > 0 {
			return fmt.Errorf("crud: %d errors", r.Total.Errors)
		}
		rps, p50, p99 = append(rps, r.Total.RPS), append(p50, r.Total.Latency.P50), append(p99, r.Total.Latency.P99)
		for _, p := range r.Processes {
			switch p.Name {
			case "server":
				cpu = append(cpu, p.CPUPerRequest)
			case "postgresql":
				database = append(database, p.CPUPerRequest)
			}
		}
	}
	b.add("idle instance, resident", "MiB", "≤ 80", idle...)
	b.add("CRUD scenario, server CPU a request", "ms", "≤ 0.20 (0.12)", cpu...)
	b.add("CRUD scenario, PostgreSQL CPU a request", "ms", "", database...)
	b.add("CRUD scenario, everything on this machine", "RPS", "≥ 3,000 (5,747)", rps...)
	b.add("CRUD scenario, P50", "ms", "", p50...)
	b.add("CRUD scenario, P99", "ms", "", p99...)
	return nil
}

// crudResult is what is used of the load test's result.
type crudResult struct {
	Total struct {
		Errors  int64
		RPS     float64
		Latency struct{ P50, P99 float64 }
	}
	Processes []struct {
		Name          string
		CPUPerRequest float64
	}
}

func (b *bench) crudOnce(ctx context.Context, idle *[]float64) (*crudResult, error) {
	db, err := b.database(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Stop() }()
	s, err := b.serve(ctx, db.URL())
	if err != nil {
		return nil, err
	}
	defer s.stop()
	time.Sleep(settle)
	resident, err := s.resident()
	if err != nil {
		return nil, err
	}
	*idle = append(*idle, resident)

	out := b.program("crud.json")
	load := exec.CommandContext(ctx, b.program("loadtest"), "crud", "--target", s.url, "--vus", fmt.Sprint(virtualUsers),
		"--warmup", "5s", "--duration", b.duration.String(), "--cooldown", "1s", "--out", out,
		"--pids", fmt.Sprintf("server=%d,postgresql=%d", s.command.Process.Pid, db.PID()))
	if text, err := load.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("loadtest: %w\n%s", err, text)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var r crudResult
	return &r, json.Unmarshal(text, &r)
}
