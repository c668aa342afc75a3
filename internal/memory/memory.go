// Package memory divides the memory of the machine or container among the parts
// of a server.
package memory

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// Limits are the memory limits of the parts of a server, in bytes. Their sum is
// below the total; the remainder is for the process that reads Parquet, for
// SQLite and for kernel memory.
type Limits struct {
	// Total is the total available memory, 0 if unknown.
	Total int64
	// Go is the soft limit of Go's heap, including Uploads. Facts is the limit
	// of metric queries.
	Go, Facts, Uploads int64
}

// divide splits the available memory.
func divide(total int64) Limits {
	return Limits{Total: total, Go: total / 100 * 50, Facts: total / 100 * 30, Uploads: min(total/8, 512<<20)}
}

// Tune configures the garbage collector for a server: fewer collections than
// Go's default, which suits programs with a large heap, and a limit that keeps
// the process within its memory. A limit that the operator set with GOMEMLIMIT
// stays.
func Tune() Limits {
	debug.SetGCPercent(400)
	m := divide(available(os.DirFS("/")))
	if m.Go > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(m.Go)
	}
	return m
}

// available returns the lowest memory limit of this process: the limits of
// its control group and of all parents, for version 2 (including systemd's
// MemoryMax and MemoryHigh) and version 1, and the machine's memory. It returns
// 0 if none can be read.
func available(root fs.FS) int64 {
	lowest := int64(0)
	lower := func(n int64, ok bool) {
		if ok && n > 0 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	lower(machineMemory(root))
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var tops, files []string
		switch {
		case parts[0] == "0" && parts[1] == "":
			tops, files = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, []string{"memory.max", "memory.high"}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			tops, files = []string{"sys/fs/cgroup/memory"}, []string{"memory.limit_in_bytes"}
		}
		for _, top := range tops {
			// Inside a container, the group's name can differ from its folder.
			// Then the top folder is the container's own.
			for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
				for _, file := range files {
					lower(number(root, path.Join(top, group, file)))
				}
				if group == "/" {
					break
				}
			}
		}
	}
	return lowest
}

// number reads a number from a file. Version 2 writes max for no limit, version
// 1 a number close to the largest.
func number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n < 1<<60
}

func machineMemory(root fs.FS) (int64, bool) {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(text), "MemTotal:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(fields[0], 10, 64)
	return n << 10, err == nil
}
