package httpapi

import (
	"bytes"
	"errors"
	"net"
	"os"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// TestReceive checks that bodies are complete whatever size was announced, and
// that memory is reserved only as bytes arrive.
func TestReceive(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 511, 512, 513, 4 << 10, 64 << 10, 64<<10 + 1, 1 << 20, 3<<20 + 7} {
		for _, expected := range []int64{int64(size), 25 << 20} {
			want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			var taken int64
			got, err := readAll(iotest.HalfReader(bytes.NewReader(want)), max(expected, 1), unreservedBytes, func(n int64) error { taken += n; return nil }, func(time.Time) {})
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of %d: got %d, %v", size, expected, len(got), err)
			}
			if most := int64(max(2*size, 4<<10)); int64(cap(got)) > most+unreservedBytes || taken > most || taken < int64(cap(got))-unreservedBytes {
				t.Errorf("%d bytes of %d: took %d for a body of %d", size, expected, taken, cap(got))
			}
		}
	}
	full := errors.New("full")
	if _, err := readAll(bytes.NewReader(make([]byte, 1<<20)), 25<<20, unreservedBytes, func(int64) error { return full }, func(time.Time) {}); !errors.Is(err, full) {
		t.Errorf("got %v want %v", err, full)
	}
}

// TestSlowBodies checks that a body that stops is rejected 10 seconds later,
// however much came before, and that a slow but steady one is accepted.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		// size is the number of bytes sent, in parts at intervals.
		size, part int
		every      time.Duration
		// cut is when the body is rejected, 0 for never.
		cut time.Duration
	}{
		{"nothing", 0, 1, 0, 10 * time.Second},
		{"one byte", 1, 1, 0, 10 * time.Second},
		{"a byte a second", 1000, 1, time.Second, 11 * time.Second},
		{"24 MiB at once and then nothing", 24 << 20, 24 << 20, 0, 10 * time.Second},
		{"24 MiB in a minute and then nothing", 24 << 20, 400 << 10, time.Second, 72 * time.Second},
		{"32 kB a second", 25 << 20, 32 << 10, time.Second, 21 * time.Second},
		{"65 kB a second", 25 << 20, 65 << 10, time.Second, 0},
		{"all at once", 25 << 20, 25 << 20, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			done := make(chan struct{})
			go func() {
				defer close(done)
				for sent := 0; sent < tt.size; sent += tt.part {
					if _, err := near.Write(make([]byte, min(tt.part, tt.size-sent))); err != nil {
						return
					}
					time.Sleep(tt.every)
				}
				if tt.cut == 0 {
					_ = near.Close()
				}
			}()
			begin := time.Now()
			body, err := readAll(far, 25<<20, unreservedBytes, func(int64) error { return nil }, func(end time.Time) { _ = far.SetReadDeadline(end) })
			took := time.Since(begin)
			switch {
			case tt.cut == 0 && (err != nil || len(body) != tt.size):
				t.Errorf("%s: got %d bytes, %v want %d", tt.name, len(body), err, tt.size)
			case tt.cut > 0 && (!errors.Is(err, os.ErrDeadlineExceeded) || took > tt.cut):
				t.Errorf("%s: got %v after %v want it given up within %v", tt.name, err, took, tt.cut)
			}
			_ = far.Close()
			_ = near.Close()
			<-done
		})
	}
}
