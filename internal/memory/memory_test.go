package memory

import (
	"testing"
	"testing/fstest"
)

// TestAvailable checks every place where the limit of the process can be set.
func TestAvailable(t *testing.T) {
	t.Parallel()
	const none1 = "9223372036854771712\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing known", nil, 0},
		{"a machine", map[string]string{"proc/meminfo": "MemTotal:       2048 kB\nMemFree: 1 kB\n"}, 2 << 20},
		{"a container, version 2", map[string]string{
			"proc/meminfo": "MemTotal: 2048 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1048576\n",
		}, 1 << 20},
		{"no limit, version 2", map[string]string{
			"proc/meminfo": "MemTotal: 2048 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 2 << 20},
		{"a unit of systemd", map[string]string{
			"proc/meminfo": "MemTotal: 2048 kB\n", "proc/self/cgroup": "0::/system.slice/fanfare.service\n",
			"sys/fs/cgroup/system.slice/fanfare.service/memory.max": "1000000\n", "sys/fs/cgroup/system.slice/fanfare.service/memory.high": "900000\n",
			"sys/fs/cgroup/system.slice/memory.max": "max\n",
		}, 900_000},
		{"a slice of systemd", map[string]string{
			"proc/self/cgroup": "0::/system.slice/fanfare.service\n",
			"sys/fs/cgroup/system.slice/fanfare.service/memory.max": "1000000\n", "sys/fs/cgroup/system.slice/memory.max": "800000\n",
		}, 800_000},
		{"version 1", map[string]string{
			"proc/meminfo": "MemTotal: 2048 kB\n", "proc/self/cgroup": "12:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": none1, "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "700000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": none1,
		}, 700_000},
		{"a container, version 1", map[string]string{
			"proc/meminfo": "MemTotal: 2048 kB\n", "proc/self/cgroup": "4:memory:/docker/0123\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "600000\n",
		}, 600_000},
		{"both versions", map[string]string{
			"proc/self/cgroup": "4:memory:/\n0::/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": none1, "sys/fs/cgroup/unified/x/memory.max": "500000\n",
		}, 500_000},
		{"broken", map[string]string{"proc/meminfo": "MemTotal:\n", "proc/self/cgroup": "x\n\n0::\n", "sys/fs/cgroup/memory.max": "many\n"}, 0},
	} {
		root := fstest.MapFS{}
		for name, text := range tt.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := available(root); got != tt.want {
			t.Errorf("%s: got %d want %d", tt.name, got, tt.want)
		}
	}
}

// TestDivide checks that the parts leave memory for the rest.
func TestDivide(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{0, 512 << 20, 1 << 30, 64 << 30} {
		m := divide(limit)
		if m.Go+m.Facts > limit/100*85 || m.Uploads > m.Go/2 || m.Uploads > 512<<20 {
			t.Errorf("got %+v want less than all of it", m)
		}
	}
}
