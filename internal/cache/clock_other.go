//go:build !linux

package cache

import "time"

var started = time.Now()

// sinceBoot is Go's monotonic clock. On some systems it stops while the machine
// sleeps: a machine that does must not run an instance.
func sinceBoot() time.Duration { return time.Since(started) }
