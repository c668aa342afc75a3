package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fanfare/internal/app"
)

const writers = 64

// benchCreate is P3: durable creates, many concurrent ones compared with one
// commit each.
func benchCreate(dir string) {
	open := func(name string, batch int) (*app.App, func(int) int) {
		sub := filepath.Join(dir, name)
		check(os.Mkdir(sub, 0o700))
		a := openApp(sub, 0, batch, quiet)
		t := createWorkspace(a)
		cause := operator
		cause.Workspace = t.WorkspaceID
		return a, func(i int) int {
			_, err := a.Campaigns.CreateSpec(context.Background(), cause, spec(i))
			check(err)
			return i
		}
	}
	grouped, createGrouped := open("grouped", 0)
	single, createSingle := open("single", 1)
	s := compare(
		func() sample { return runWorkers(writers, createGrouped) },
		func() sample { return runWorkers(writers, createSingle) },
		func() sample { return runWorkers(1, createGrouped) },
		func() sample { return appendAndSync(dir) },
	)
	check(grouped.Close())
	check(single.Close())
	printAtLeast("P3 create in the store, 64 writers, against one commit each", s[0].perSecond/s[1].perSecond, 7, fmt.Sprintf("%.0f/s against %.0f/s", s[0].perSecond, s[1].perSecond))
	printAtMost("P3 lone create against the fdatasync floor, median", float64(s[2].p50)/float64(s[3].p50), 2, fmt.Sprintf("%s against %s", s[2].p50, s[3].p50))

	sub := filepath.Join(dir, "http")
	check(os.Mkdir(sub, 0o700))
	a := openApp(sub, 0, 0, quiet)
	t := createWorkspace(a)
	check(a.Close())
	body := `{"name":"Bench","objective":"sales","channels":["search","social"],"budget":{"type":"daily","amount":"150.00"}}`
	request := post("/v1/campaigns", t.APIKey, body)
	many := start("ours", sub, "BENCH_CACHED=0", "GOMAXPROCS=2", profileOf("create"))
	h := compare(func() sample { return many.sendHTTP1(writers, func(int, int) []byte { return request }) })
	many.stop()
	one := start("ours", sub, "BENCH_CACHED=0", "BENCH_BATCH=1", "GOMAXPROCS=2")
	g := compare(
		func() sample { return one.sendHTTP1(writers, func(int, int) []byte { return request }) },
		func() sample { return one.sendHTTP1(1, func(int, int) []byte { return request }) },
	)
	one.stop()
	fmt.Printf("   over HTTPS: 64 connections %s, one commit each %s, one connection %s\n", h[0], g[0], g[1])
}

// runWorkers calls f from so many goroutines for the time of one measurement.
func runWorkers(workers int, f func(int) int) sample {
	var done atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []float64
	start := time.Now()
	end := start.Add(measurementTime())
	for range workers {
		wg.Go(func() {
			var mine []float64
			for {
				sent := time.Now()
				if sent.After(end) {
					break
				}
				f(int(done.Add(1)))
				mine = append(mine, float64(time.Since(sent)))
			}
			mu.Lock()
			all = append(all, mine...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return sample{perSecond: float64(done.Load()) / time.Since(start).Seconds(), p50: time.Duration(median(all))}
}

// appendAndSync appends 16 kB and waits for the disk, repeatedly.
func appendAndSync(dir string) sample {
	f, err := os.OpenFile(filepath.Join(dir, "floor"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	check(err)
	defer func() { _ = f.Close() }()
	block := []byte(strings.Repeat("x", 16<<10))
	return runWorkers(1, func(i int) int {
		_, err := f.Write(block)
		check(err)
		check(syscall.Fdatasync(int(f.Fd())))
		return i
	})
}
