package app

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// Memory says how much memory the parts of a server may use, in bytes. They
// come to less than all of it: the rest is for the process that reads Parquet,
// for SQLite and for what the kernel counts.
type Memory struct {
	// Limit is what there is, 0 where that is not known.
	Limit int64
	// Go is the soft limit of Go's heap, in which Uploads are. Facts is what
	// queries may use.
	Go, Facts, Uploads int64
}

// divide shares memory out.
func divide(limit int64) Memory {
	return Memory{Limit: limit, Go: limit / 100 * 50, Facts: limit / 100 * 30, Uploads: min(limit/8, 512<<20)}
}

// Tune sets the garbage collector for a server: more room between two
// collections than Go's default, which is made for programs with a large heap,
// and a limit that keeps the process within the memory that it may use. A
// limit that the operator has set in GOMEMLIMIT stays.
func Tune() Memory {
	debug.SetGCPercent(400)
	m := divide(memoryLimit(os.DirFS("/")))
	if m.Go > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(m.Go)
	}
	return m
}

// memoryLimit is the lowest limit that holds for this process: that of its
// control group and of all above it, of version 2 (also where systemd has set
// MemoryMax or MemoryHigh) and of version 1, and the memory of the machine. It
// is 0 where nothing can be found out.
func memoryLimit(root fs.FS) int64 {
	lowest := int64(0)
	see := func(n int64, ok bool) {
		if ok && n > 0 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	see(machineMemory(root))
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
			// Inside a container the group may have another name than its
			// folder; the folder at the top is the container's own then.
			for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
				for _, file := range files {
					see(number(root, path.Join(top, group, file)))
				}
				if group == "/" {
					break
				}
			}
		}
	}
	return lowest
}

// number reads a file that holds a number. Version 2 writes max for no limit,
// version 1 a number near the largest.
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
