package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// target is a server under load.
type target struct {
	addr string
	pool *x509.CertPool
	pid  int
	// plain says that the server does not use TLS; some peers do not.
	plain bool
}

// sendHTTP1 sends prepared HTTP/1.1 requests over keep-alive connections and
// parses as little of the answers as possible, so that the client uses little
// CPU.
func (t *target) sendHTTP1(connections int, next func(worker, n int) []byte) sample {
	var done atomic.Int64
	var wg sync.WaitGroup
	latency := make([][]time.Duration, connections)
	conns := make([]io.ReadWriteCloser, connections)
	for i := range conns {
		conns[i] = t.dial()
	}
	before, start := cpuTimeOf(t.pid), time.Now()
	end := start.Add(measurementTime())
	for i, c := range conns {
		wg.Go(func() {
			r := bufio.NewReaderSize(c, 64<<10)
			for n := 0; ; n++ {
				sent := time.Now()
				if sent.After(end) {
					return
				}
				_, err := c.Write(next(i, n))
				check(err)
				check(readAnswer(r))
				latency[i] = append(latency[i], time.Since(sent))
				done.Add(1)
			}
		})
	}
	wg.Wait()
	took, cpu := time.Since(start), cpuTimeOf(t.pid)-before
	for _, c := range conns {
		_ = c.Close()
	}
	all := slices.Concat(latency...)
	slices.Sort(all)
	n := float64(done.Load())
	return sample{perSecond: n / took.Seconds(), cpu: float64(cpu.Microseconds()) / n, p50: all[len(all)/2]}
}

func (t *target) dial() io.ReadWriteCloser {
	if t.plain {
		c, err := net.Dial("tcp", t.addr)
		check(err)
		return c
	}
	var d tls.Dialer
	d.Config = &tls.Config{RootCAs: t.pool, ServerName: "localhost", NextProtos: []string{"http/1.1"}}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c, err := d.DialContext(ctx, "tcp", t.addr)
	check(err)
	return c
}

var (
	statusOK   = []byte("HTTP/1.1 2")
	lengthKey  = []byte("content-length:")
	chunkedKey = []byte("transfer-encoding: chunked")
)

// skipChunks reads a chunked body to its end.
func skipChunks(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read chunk: %w", err)
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return fmt.Errorf("read chunk: %w", err)
		}
		if _, err := r.Discard(int(n) + 2); err != nil || n == 0 {
			return err
		}
	}
}

// readAnswer reads one answer. It returns an error unless the status is 2xx.
func readAnswer(r *bufio.Reader) error {
	size, chunked := -1, false
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		if first && !bytes.HasPrefix(line, statusOK) {
			rest, _ := r.Peek(min(r.Buffered(), 1500))
			return fmt.Errorf("not a success: %s%s", line, rest)
		}
		if len(line) == 2 {
			break
		}
		if bytes.EqualFold(bytes.TrimSpace(line), chunkedKey) {
			chunked = true
		}
		if len(line) > len(lengthKey) && bytes.EqualFold(line[:len(lengthKey)], lengthKey) {
			size, err = strconv.Atoi(string(bytes.TrimSpace(line[len(lengthKey):])))
			if err != nil {
				return fmt.Errorf("read answer: %w", err)
			}
		}
	}
	if chunked {
		return skipChunks(r)
	}
	if size < 0 {
		return fmt.Errorf("answer without Content-Length")
	}
	_, err := r.Discard(size)
	return err
}

// sendHTTP2 sends requests with Go's HTTP/2 client.
func (t *target) sendHTTP2(connections int, path func(worker, n int) string, key string) sample {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: t.pool, ServerName: "localhost"}, ForceAttemptHTTP2: true, DisableCompression: true,
	}}
	var done atomic.Int64
	var wg sync.WaitGroup
	before, start := cpuTimeOf(t.pid), time.Now()
	end := start.Add(measurementTime())
	for i := range connections {
		wg.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				req, err := http.NewRequest(http.MethodGet, "https://"+t.addr+path(i, n), nil)
				check(err)
				req.Header.Set("Authorization", "Bearer "+key)
				res, err := client.Do(req)
				check(err)
				if res.ProtoMajor != 2 || res.StatusCode != http.StatusOK {
					check(fmt.Errorf("got %s %s", res.Proto, res.Status))
				}
				_, err = io.Copy(io.Discard, res.Body)
				check(err)
				_ = res.Body.Close()
				done.Add(1)
			}
		})
	}
	wg.Wait()
	client.CloseIdleConnections()
	n := float64(done.Load())
	return sample{perSecond: n / time.Since(start).Seconds(), cpu: float64((cpuTimeOf(t.pid) - before).Microseconds()) / n}
}

// cpuTimeOf returns the CPU time that a process has used so far, with that of its
// children that have ended.
func cpuTimeOf(pid int) (sum time.Duration) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	check(err)
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+2:])
	for _, field := range fields[11:15] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		check(err)
		// The kernel counts in hundredths of a second on all common systems.
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}

func get(path, key string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key + "\r\n\r\n")
}

func post(path, key, body string) []byte {
	return []byte("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}
