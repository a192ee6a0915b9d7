package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// samplesPerSecond is how often perf looks at each core; no round number, so
// that it does not keep step with timers.
const samplesPerSecond = "499"

// profile says where the CPU goes while the scenario runs through nginx: which
// share each process has, what each spends it on, and PostgreSQL's time by
// statement. It needs Linux's perf, and for the statements a PostgreSQL with
// pg_stat_statements.
func (b *bench) profile(ctx context.Context) error {
	all := figures{}
	for range b.runs {
		fmt.Println("profile …")
		if err := b.profileOnce(ctx, all); err != nil {
			return fmt.Errorf("profile: %w", err)
		}
	}
	b.add("profiled scenario, one instance through nginx", "RPS", "", all["rps"]...)
	delete(all, "rps")
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		// What a run did not sample was nothing in it.
		for len(all[name]) < b.runs {
			all.add(name, 0)
		}
		b.add(name, "%", "", all[name]...)
	}
	return nil
}

func (b *bench) profileOnce(ctx context.Context, all figures) error {
	db, statements, err := b.countingDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Stop() }()
	if statements == nil {
		fmt.Println("profile: this PostgreSQL has no pg_stat_statements (TEST_POSTGRES_BIN names another): no time by statement")
	}
	s, err := b.serve(ctx, db.URL())
	if err != nil {
		return err
	}
	defer s.stop()
	proxy, err := b.nginx(ctx, s.url)
	if err != nil {
		return err
	}
	defer proxy.stop()
	time.Sleep(settle)

	data := b.program("perf.data")
	recorded := make(chan error, 1)
	go func() {
		time.Sleep(warmup)
		if err := statements.reset(ctx); err != nil {
			recorded <- err
			return
		}
		recorded <- exec.CommandContext(ctx, "perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", samplesPerSecond, "-g", "-o", data,
			"--", "sleep", strconv.FormatFloat(b.duration.Seconds(), 'f', 3, 64)).Run()
	}()
	pids := fmt.Sprintf("server=%d,postgresql=%d,nginx=%d", s.command.Process.Pid, db.PID(), proxy.command.Process.Pid)
	r, err := b.scenario(ctx, proxy.url, pids)
	if perfErr := <-recorded; perfErr != nil {
		return fmt.Errorf("perf record: %w", perfErr)
	}
	if err != nil {
		return err
	}
	all.add("rps", r.Total.RPS)
	if err := statements.shares(ctx, all); err != nil {
		return err
	}
	return b.sampled(ctx, data, all)
}

// sampled adds the shares that perf's samples show.
func (b *bench) sampled(ctx context.Context, data string, all figures) error {
	script := exec.CommandContext(ctx, "perf", "script", "-i", data, "-F", "comm,ip,sym,dso")
	script.Stderr = os.Stderr
	out, err := script.StdoutPipe()
	if err != nil {
		return err
	}
	if err := script.Start(); err != nil {
		return err
	}
	shares, err := readSamples(out)
	if err != nil {
		return err
	}
	for name, share := range shares {
		all.add(name, share)
	}
	return script.Wait()
}
