package duckdb

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitMemory limits what this process may use beyond what it uses now.
// Allocations above the limit fail. If the machine runs out of memory, the kernel
// kills this process first.
func limitMemory(more uint64) error {
	lowerPriority()
	// The limit also works without this file.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("limit memory: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmData:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return fmt.Errorf("limit memory: /proc/self/status has no VmData")
	}
	used, err := strconv.ParseUint(fields[0], 10, 64)
	if err != nil {
		return fmt.Errorf("limit memory: %w", err)
	}
	limit := used<<10 + more
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return fmt.Errorf("limit memory: %w", err)
	}
	return nil
}
