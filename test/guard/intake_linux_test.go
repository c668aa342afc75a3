package guard_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/test/program"
)

// drillMemory is the memory of the server and its child processes.
const drillMemory = 1 << 30

// memoryLimitedProgram creates a control group with drillMemory and returns a
// program that runs the server in it. Without the permission to create one, the
// test only measures the memory, which it does in both cases.
func memoryLimitedProgram(t *testing.T) (binary string, kernel bool) {
	t.Helper()
	binary = program.Build(t)
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		top, file := "", ""
		switch {
		case len(parts) != 3:
		case parts[1] == "memory":
			top, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case parts[0] == "0":
			top, file = "/sys/fs/cgroup", "memory.max"
		}
		if top == "" {
			continue
		}
		group := filepath.Join(top, parts[2], fmt.Sprintf("fanfare-drill-%d", os.Getpid()))
		if os.Mkdir(group, 0o700) != nil {
			continue
		}
		t.Cleanup(func() {
			// The group is empty a moment after its last process has ended.
			waitUntil(t, "the control group to be empty", func() bool { return os.Remove(group) == nil })
		})
		if os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(drillMemory)), 0) != nil {
			continue
		}
		script := filepath.Join(t.TempDir(), "confined")
		text := fmt.Sprintf("#!/bin/sh\necho $$ > '%s' && exec '%s' \"$@\"\n", filepath.Join(group, "cgroup.procs"), binary)
		if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return script, true
	}
	return binary, false
}

// Kinds of memory: all that is resident, and what a process has allocated. The
// former has the pages of the program's file, as many as the kernel has cached.
const (
	residentMemory  = "VmRSS:"
	allocatedMemory = "RssAnon:"
)

// memoryBytes returns the memory of a process and its children.
func memoryBytes(pid int, kind string) int64 {
	total := int64(0)
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), kind)
	if fields := strings.Fields(rest); len(fields) > 0 {
		kb, _ := strconv.ParseInt(fields[0], 10, 64)
		total = kb << 10
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		list, _ := os.ReadFile(task)
		for child := range strings.FieldsSeq(string(list)) {
			n, _ := strconv.Atoi(child)
			total += memoryBytes(n, kind)
		}
	}
	return total
}

// watchMemory measures the memory of a server until stop is called.
func watchMemory(s *program.Server, kind string) (stop func() int64) {
	done, most := make(chan struct{}), make(chan int64)
	go func() {
		highest := int64(0)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			highest = max(highest, memoryBytes(s.PID(), kind))
			select {
			case <-tick.C:
			case <-done:
				most <- highest
				return
			}
		}
	}()
	return func() int64 { close(done); return <-most }
}

// compressionBomb is a small body that would expand to a large one.
type compressionBomb struct{ name, target, mediaType, body string }

func compressionBombs(t *testing.T) []compressionBomb {
	t.Helper()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// A footer that announces ten million columns.
	footer := append(binary.AppendUvarint([]byte{0x15, 0x02, 0x19, 0xfc}, 10_000_000), 0, 0, 0)
	lying := append(binary.LittleEndian.AppendUint32(append([]byte("PAR1"), footer...), uint32(len(footer))), "PAR1"...)
	var members bytes.Buffer
	for i := range 700_000 {
		fmt.Fprintf(&members, `"k%06d":1,`, i)
	}
	const size = 25<<20 - 100
	file := func(name, mediaType, body string) compressionBomb {
		return compressionBomb{name, "/v1/imports", mediaType, body}
	}
	return []compressionBomb{
		file("2,000 rows of one text of 1 MB", "application/vnd.apache.parquet", read("text.parquet")),
		file("2,000 rows of the same bytes", "application/vnd.apache.parquet", read("bytes.parquet")),
		file("a footer that lies", "application/vnd.apache.parquet", string(lying)),
		file("a line of commas", "text/csv", strings.Repeat(",", size)),
		file("commas below a header", "text/csv", "date,clicks\n"+strings.Repeat(",", size)),
		file("a header of one cell", "text/csv", strings.Repeat("x", size)),
		file("a quote that stays open", "text/csv", "date,clicks\n\""+strings.Repeat("x\n", size/2)),
		file("a record of many lines", "text/csv", "date,clicks\n"+strings.Repeat("\"\n\",", size/4)),
		{"a row of 700,000 members", "/v1/ingest/metrics", "application/json", `[{` + members.String() + `"date":"2026-11-01"}]`},
		{"80,000 unknown fields", "/v1/campaigns", "application/json", `{` + members.String()[:12*80_000] + `"name":"x"}`},
	}
}

// TestDrillBombs sends several small files that expand to large ones,
// concurrently, to a server with 1 GiB of memory. Each is refused as an error
// of its sender, and another tenant is served meanwhile.
func TestDrillBombs(t *testing.T) {
	rounds, senders := 1, 2
	if fullDrill {
		rounds, senders = 20, 4
	}
	program, kernel := memoryLimitedProgram(t)
	s := startDrillServer(t, program)
	hostile, other := s.createWorkspace("Hostile"), s.createWorkspace("Other")
	stop := watchMemory(s.Server, residentMemory)
	list := compressionBombs(t)
	work := make(chan compressionBomb, rounds*len(list))
	for range rounds {
		for _, b := range list {
			work <- b
		}
	}
	close(work)
	var served atomic.Int64
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for b := range work {
				status, text := s.send(hostile, b.target, b.mediaType, strings.NewReader(b.body))
				if status < 400 || status >= 500 {
					t.Errorf("%s: got %d %s want it refused", b.name, status, text)
				}
				if status, text := s.send(other, "/v1/ingest/metrics", "application/json", strings.NewReader(`[{"date":"2026-11-01","clicks":1}]`)); status != http.StatusOK {
					t.Errorf("%s: another tenant got %d %s want 200", b.name, status, text)
				}
				served.Add(1)
			}
		})
	}
	wg.Wait()
	most := stop()
	t.Logf("bombs %d refused, memory %d MiB of %d, limited by the kernel: %v", served.Load(), most>>20, drillMemory>>20, kernel)
	if most > drillMemory {
		t.Errorf("got %d MiB of memory used, want at most %d", most>>20, drillMemory>>20)
	}
	if s.Ended() {
		t.Fatal("the server has ended")
	}
	s.Stop()
}
