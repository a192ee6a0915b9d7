package record

import (
	"os"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"
)

// Machine says where the run took place.
type Machine struct {
	CPU     string `json:"cpu"`
	CPUs    int    `json:"cpus"`
	Memory  uint64 `json:"memory"` // bytes
	Kernel  string `json:"kernel"`
	Arch    string `json:"arch"`
	Runtime string `json:"runtime"` // version of Go
}

// ThisMachine describes the machine it runs on, as far as /proc says.
func ThisMachine() Machine {
	m := Machine{CPUs: runtime.NumCPU(), Arch: runtime.GOARCH, Runtime: runtime.Version()}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
			m.CPU = cpus[0].ModelName
		}
		if memory, err := fs.Meminfo(); err == nil && memory.MemTotalBytes != nil {
			m.Memory = *memory.MemTotalBytes
		}
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	return m
}
