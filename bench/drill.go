package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fanfare/internal/app"
	"fanfare/internal/ident"
	"fanfare/internal/store/storetest"
)

// fillCopies fills a store with copies of one campaign and returns the ids of
// some.
func fillCopies(a *app.App, workspace ident.ID, n int) []string {
	cause := operator
	cause.Workspace = workspace
	model, err := a.Campaigns.CreateSpec(context.Background(), cause, spec(0))
	check(err)
	ids, err := storetest.Fill(context.Background(), a.Engine, workspace, model, n, max(1, n/5000), time.Now().Add(-time.Duration(n)*time.Millisecond), rand.Reader)
	check(err)
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}

// benchStart is P9: from start to ready on an empty and on a large data folder,
// and the memory of an idle server.
func benchStart(dir string) {
	bin := filepath.Join(dir, "fanfare")
	build := exec.Command("go", "build", "-o", bin, "./cmd/fanfare")
	build.Stderr = os.Stderr
	check(build.Run())
	empty := filepath.Join(dir, "empty")
	check(os.Mkdir(empty, 0o700))
	took, memory := startToReady(bin, empty)
	printAtMost("P9 start to ready on an empty folder, seconds", took.Seconds(), 0.5, "")
	printAtMost("P9 memory of an idle server, MB", memory, 80, "")

	full := filepath.Join(dir, "full")
	check(os.Mkdir(full, 0o700))
	a := openApp(full, 0, 0, quiet)
	t := createWorkspace(a)
	began := time.Now()
	fillCopies(a, t.WorkspaceID, *drillRows)
	check(a.Close())
	info, err := os.Stat(filepath.Join(full, "fanfare.db"))
	check(err)
	fmt.Printf("   %d records, %.1f GB, made in %s\n", *drillRows, float64(info.Size())/1e9, time.Since(began).Round(time.Second))
	took, _ = startToReady(bin, full)
	printAtMost(fmt.Sprintf("P9 start to ready on %.1f GB, seconds", float64(info.Size())/1e9), took.Seconds(), 2, "")
	benchGrowth(dir, full, t.WorkspaceID, t.APIKey)
}

// startToReady runs the real binary until /readyz succeeds, and reads its
// memory a moment later.
func startToReady(bin, data string) (time.Duration, float64) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	addr := ln.Addr().String()
	check(ln.Close())
	cmd := exec.Command(bin, "serve", "--data", data, "--listen", addr, "--log-level", "error", "--drain-delay", "0s")
	cmd.Stderr = os.Stderr
	began := time.Now()
	check(cmd.Start())
	var took time.Duration
	for took == 0 {
		switch {
		case ready(data, addr):
			took = time.Since(began)
		case time.Since(began) > time.Minute:
			check(fmt.Errorf("the server did not become ready"))
		default:
			time.Sleep(2 * time.Millisecond)
		}
	}
	time.Sleep(2 * time.Second)
	memory := residentMB(cmd.Process.Pid)
	check(cmd.Process.Signal(syscall.SIGTERM))
	check(cmd.Wait())
	return took, memory
}

func ready(data, addr string) bool {
	pem, err := os.ReadFile(filepath.Join(data, "tls", "ca.pem"))
	if err != nil {
		return false
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	res, err := client.Get("https://" + addr + "/readyz")
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func residentMB(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	check(err)
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	check(err)
	return kb / 1024
}

// benchGrowth is P10: the same calls on ten thousand and on many records.
func benchGrowth(dir, full string, workspace ident.ID, key string) {
	small := filepath.Join(dir, "small")
	check(os.Mkdir(small, 0o700))
	a := openApp(small, 0, 0, quiet)
	t := createWorkspace(a)
	few := fillCopies(a, t.WorkspaceID, 10_000)
	fewDeep := cursors(a, t.WorkspaceID, few)
	check(a.Close())
	b := openApp(full, 0, 0, quiet)
	many := sampleIDs(b, workspace)
	manyDeep := cursors(b, workspace, many)
	check(b.Close())

	one := start("ours", small, "BENCH_CACHED=0")
	defer one.stop()
	two := start("ours", full, "BENCH_CACHED=0")
	defer two.stop()
	s := compare(
		func() sample { return one.sendHTTP1(connections, randomRequests(few, "/v1/campaigns/", t.APIKey)) },
		func() sample { return two.sendHTTP1(connections, randomRequests(many, "/v1/campaigns/", key)) },
		func() sample {
			return one.sendHTTP1(connections, randomRequests(fewDeep, "/v1/campaigns?cursor=", t.APIKey))
		},
		func() sample {
			return two.sendHTTP1(connections, randomRequests(manyDeep, "/v1/campaigns?cursor=", key))
		},
	)
	printAtMost(fmt.Sprintf("P10 get one, 10 thousand to %d records, CPU", *drillRows), s[1].cpu/s[0].cpu, 1.5, fmt.Sprintf("%s; %s", s[0], s[1]))
	printAtMost(fmt.Sprintf("P10 list of 20, 10 thousand to %d records, CPU", *drillRows), s[3].cpu/s[2].cpu, 1.5, fmt.Sprintf("%s; %s", s[2], s[3]))
}
