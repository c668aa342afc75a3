package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"fanfare/internal/clock"
)

// benchNodes is P13: the CPU that a request takes on all nodes and in PostgreSQL,
// with one, two and three nodes on one database. It should not grow with the
// number of nodes.
func benchNodes(dir string) {
	const most = 3
	folder := filepath.Join(dir, "postgres")
	database := startPostgres(folder)
	defer func() { check(database.Stop()) }()
	store, err := database.CreateDatabase("bench_nodes")
	check(err)
	option := sharedOption(store, store)
	a := openApp(dir, 0, 0, quiet, option)
	t := createWorkspace(a)
	ids := createCampaigns(a, t.WorkspaceID, getRecords)
	last := clock.DateIn(time.Now(), time.UTC) - 1
	newFactGenerator(t.WorkspaceID, ids[:200], 1000).write(a.Facts, last-29, last, nil)
	check(a.Close())
	analyze(store)
	kinds := []struct {
		what string
		next func(int, int) []byte
	}{
		{"get one", randomRequests(ids, "/v1/campaigns/", t.APIKey)},
		{"list of 20", func(int, int) []byte { return get("/v1/campaigns", t.APIKey) }},
		{"create", func(int, int) []byte {
			return post("/v1/campaigns", t.APIKey, `{"name":"Bench","objective":"sales","channels":["search"],"budget":{"type":"daily","amount":"150.00"}}`)
		}},
		{"query of 30,000 facts by day", func(int, int) []byte {
			return post("/v1/analytics/query", t.APIKey, fmt.Sprintf(`{"metrics":["clicks","spend"],"granularity":"day","date_range":{"start_date":%q,"end_date":%q}}`, last-29, last))
		}},
	}
	one := make([]float64, len(kinds))
	for n := 1; n <= most; n++ {
		var nodes []*server
		for i := range n {
			folder := filepath.Join(dir, fmt.Sprintf("node%d-%d", n, i))
			check(os.Mkdir(folder, 0o700))
			nodes = append(nodes, start("ours", folder, "BENCH_CACHED=32768", "BENCH_STORE="+store, "BENCH_METRICS="+store))
		}
		for k, kind := range kinds {
			cpu, perSecond := measureNodes(nodes, postmaster(folder), kind.next)
			if n == 1 {
				one[k] = cpu
			}
			printAtMost(fmt.Sprintf("P13 %s, %d nodes, CPU against one node", kind.what, n), cpu/one[k], 1.3, fmt.Sprintf("%.0f µs a request, nodes and PostgreSQL; %.0f/s", cpu, perSecond))
		}
		for _, node := range nodes {
			node.stop()
		}
	}
}

// measureNodes loads all nodes at once and returns the CPU of a request in
// microseconds, nodes and PostgreSQL together.
func measureNodes(nodes []*server, postmaster int, next func(int, int) []byte) (cpu, perSecond float64) {
	total := func() (sum time.Duration) {
		for _, n := range nodes {
			sum += cpuTimeOf(n.pid)
		}
		return sum + cpuTimeOfFamily(postmaster)
	}
	var cpus, rates []float64
	for range *rounds {
		samples := make([]sample, len(nodes))
		var wg sync.WaitGroup
		before := total()
		for i, n := range nodes {
			wg.Go(func() { samples[i] = n.sendHTTP1(connections/len(nodes), next) })
		}
		wg.Wait()
		used, rate := total()-before, 0.0
		for _, s := range samples {
			rate += s.perSecond
		}
		cpus, rates = append(cpus, float64(used.Microseconds())/(rate*measurementTime().Seconds())), append(rates, rate)
	}
	return median(cpus), median(rates)
}

// postmaster returns the first process of the PostgreSQL in a folder.
func postmaster(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	check(err)
	first, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(first)
	check(err)
	return pid
}

// cpuTimeOfFamily returns the CPU time of a process and its children. A child
// belongs to the thread that started it, and a Go program has several.
func cpuTimeOfFamily(parent int) time.Duration {
	sum := cpuTimeOf(parent)
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	check(err)
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the thread has ended
		}
		check(err)
		for child := range strings.FieldsSeq(string(children)) {
			pid, err := strconv.Atoi(child)
			check(err)
			if _, err := os.Stat("/proc/" + child); err == nil {
				sum += cpuTimeOf(pid)
			}
		}
	}
	return sum
}
