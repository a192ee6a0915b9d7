package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpu is processor time used so far, by this process and by PostgreSQL. Rates
// depend on what else the machine does; processor time hardly does.
type cpu struct{ own, database time.Duration }

func cpuNow(b *testing.B, s *Store) cpu {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return cpu{own: time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), database: databaseCPU(s)}
}

// databaseCPU adds up the server's processes; 0 where it is not on this machine.
func databaseCPU(s *Store) time.Duration {
	var dir string
	if err := s.reserve.QueryRow(context.Background(), `SHOW data_directory`).Scan(&dir); err != nil {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return 0
	}
	postmaster, _, _ := strings.Cut(string(text), "\n")
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var ticks int64
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		count := 0
		switch {
		case file == fmt.Sprintf("/proc/%s/stat", postmaster):
			count = 4 // and its ended children's
		case fields[1] == postmaster:
			count = 2
		}
		for _, field := range fields[11 : 11+count] {
			n, _ := strconv.ParseInt(field, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
