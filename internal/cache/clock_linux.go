package cache

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is a clock that never goes back and runs while the machine sleeps,
// which Go's monotonic clock does not.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("cache: no CLOCK_BOOTTIME: " + err.Error()) // Linux has had it since 2.6.39
	}
	return time.Duration(now.Nano())
}
