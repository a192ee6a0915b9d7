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

// figures collects a figure of every run, by what it is of.
type figures map[string][]float64

func (f figures) add(what string, value float64) { f[what] = append(f[what], value) }

// crud measures a fresh server at rest, then under the field's scenario with
// everything on this machine: directly, through nginx, and, for what the load
// test itself can do, a server that answers a constant. The three take turns.
func (b *bench) crud(ctx context.Context) error {
	all := figures{}
	for range b.runs {
		for _, way := range []string{direct, throughNginx} {
			fmt.Println("crud", way, "…")
			if err := b.crudOnce(ctx, way, all); err != nil {
				return fmt.Errorf("crud %s: %w", way, err)
			}
		}
		fmt.Println("crud", constant, "…")
		if err := b.constant(ctx, all); err != nil {
			return fmt.Errorf("crud %s: %w", constant, err)
		}
	}
	b.add("idle instance, resident", "MiB", "≤ 80", all["idle"]...)
	for _, way := range []string{direct, throughNginx} {
		name := "CRUD scenario, " + way
		b.add(name, "RPS", map[string]string{direct: "", throughNginx: "≥ 3,000 (5,747)"}[way], all[way+" rps"]...)
		for _, interaction := range []string{"create", "read", "update", "delete"} {
			for _, p := range []string{"P50", "P95", "P99"} {
				b.add(name+", "+interaction+" "+p, "ms", "", all[way+" "+interaction+" "+p]...)
			}
		}
		for _, process := range []string{"server", "postgresql", "nginx", "loadtest"} {
			goal := ""
			if process == "server" {
				goal = "≤ 0.20 (0.12)"
			}
			if values := all[way+" "+process]; len(values) > 0 {
				b.add(name+", CPU a request of "+process, "ms", goal, values...)
			}
		}
	}
	b.add("CRUD scenario, "+constant, "RPS", "≥ 3 × the measured rate", all[constant+" rps"]...)
	return nil
}

// The ways the load takes.
const (
	direct       = "one instance"
	throughNginx = "one instance through nginx"
	constant     = "a server that answers a constant"
)

// crudResult is what is used of the load test's result.
type crudResult struct {
	Total        group
	Interactions []group
	Processes    []struct {
		Name          string
		CPUPerRequest float64
	}
}

type group struct {
	Interaction string
	Errors      int64
	RPS         float64
	Latency     struct{ P50, P95, P99 float64 }
}

func (b *bench) crudOnce(ctx context.Context, way string, all figures) error {
	db, err := b.database(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Stop() }()
	s, err := b.serve(ctx, db.URL())
	if err != nil {
		return err
	}
	defer s.stop()
	time.Sleep(settle)
	if way == direct {
		resident, err := s.resident()
		if err != nil {
			return err
		}
		all.add("idle", resident)
	}
	target, pids := s.url, fmt.Sprintf("server=%d,postgresql=%d", s.command.Process.Pid, db.PID())
	if way == throughNginx {
		proxy, err := b.nginx(ctx, s.url)
		if err != nil {
			return err
		}
		defer proxy.stop()
		target, pids = proxy.url, fmt.Sprintf("%s,nginx=%d", pids, proxy.command.Process.Pid)
	}
	r, err := b.scenario(ctx, target, pids)
	if err != nil {
		return err
	}
	all.add(way+" rps", r.Total.RPS)
	for _, g := range r.Interactions {
		all.add(way+" "+g.Interaction+" P50", g.Latency.P50)
		all.add(way+" "+g.Interaction+" P95", g.Latency.P95)
		all.add(way+" "+g.Interaction+" P99", g.Latency.P99)
	}
	for _, p := range r.Processes {
		all.add(way+" "+p.Name, p.CPUPerRequest)
	}
	return nil
}

func (b *bench) constant(ctx context.Context, all figures) error {
	s, err := b.start(ctx, b.program("loadtest"), "serve-constant", "--listen=127.0.0.1:0")
	if err != nil {
		return err
	}
	defer s.stop()
	r, err := b.scenario(ctx, s.url, fmt.Sprintf("constant=%d", s.command.Process.Pid))
	if err != nil {
		return err
	}
	all.add(constant+" rps", r.Total.RPS)
	return nil
}

// scenario runs the scenario once.
func (b *bench) scenario(ctx context.Context, target, pids string) (*crudResult, error) {
	out := b.program("crud.json")
	load := exec.CommandContext(ctx, b.program("loadtest"), "crud", "--target", target, "--vus", fmt.Sprint(virtualUsers),
		"--warmup", warmup.String(), "--duration", b.duration.String(), "--cooldown", "1s", "--out", out, "--pids", pids)
	if text, err := load.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("loadtest: %w\n%s", err, text)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var r crudResult
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.Total.Errors > 0 {
		return nil, fmt.Errorf("%d errors", r.Total.Errors)
	}
	return &r, nil
}
