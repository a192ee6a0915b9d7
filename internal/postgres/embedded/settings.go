package embedded

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
)

// settings are durable: an acknowledged write survives a crash of the machine.
func settings() []string {
	return []string{
		"listen_addresses=",
		"port=5432",
		"unix_socket_permissions=0700",
		"max_connections=100",
		"fsync=on",
		"full_page_writes=on",
		"synchronous_commit=on",
		fmt.Sprintf("shared_buffers=%dMB", sharedBuffers(totalMemory())),
		"work_mem=16MB",
		"maintenance_work_mem=128MB",
		"max_wal_size=4GB",
		"checkpoint_timeout=15min",
		"jit=off",
		"logging_collector=off",
		"log_min_messages=warning",
		"log_line_prefix=",
		"timezone=UTC",
	}
}

// sharedBuffers is a quarter of the memory, in MiB, within reason.
func sharedBuffers(total uint64) uint64 { return min(max(total/4>>20, 32), 1024) }

// totalMemory is the machine's memory in bytes; 1 GiB where it cannot be read.
func totalMemory() uint64 {
	var kib uint64
	text, err := os.ReadFile("/proc/meminfo")
	if err == nil {
		_, err = fmt.Fscanf(bytes.NewReader(text), "MemTotal: %d kB", &kib)
	}
	if err != nil {
		return 1 << 30
	}
	return kib << 10
}

// logWriter passes PostgreSQL's log lines on.
type logWriter struct {
	logger *slog.Logger
	mu     sync.Mutex
	line   []byte
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = append(w.line, p...)
	for {
		line, rest, found := bytes.Cut(w.line, []byte("\n"))
		if !found {
			return len(p), nil
		}
		if text := string(bytes.TrimSpace(line)); text != "" {
			w.logger.Log(context.Background(), level(text), "postgres", "message", text)
		}
		w.line = append(w.line[:0], rest...)
	}
}

// level is how much a line of PostgreSQL's matters here: what it does in the
// course of nature (LOG), and that it is not up yet, is of interest to few.
func level(line string) slog.Level {
	if strings.HasPrefix(line, "LOG:") || strings.HasSuffix(line, "the database system is starting up") {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}
