package app

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Tune sets the garbage collector for a server: more room between two
// collections than Go's default, which is made for programs with a large heap,
// and a ceiling at 85 % of the container's memory so that the kernel never has
// to step in.
func Tune() {
	debug.SetGCPercent(400)
	b, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return
	}
	if limit, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
		debug.SetMemoryLimit(limit / 100 * 85)
	}
}
