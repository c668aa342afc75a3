package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/asset"
	"fanfare/internal/asset/filestest"
	"fanfare/internal/fault"
)

// memory is a bucket in memory.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func newMemory() *memory { return &memory{objects: map[string][]byte{}} }

func (m *memory) put(key string, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key] = bytes.Clone(b)
	return nil
}

func (m *memory) get(key string) (io.ReadCloser, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, there := m.objects[key]
	if !there {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(io.LimitReader(bytes.NewReader(b), int64(len(b)))), int64(len(b)), nil
}

func (m *memory) copy(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, there := m.objects[from]
	if !there {
		return fs.ErrNotExist
	}
	m.objects[to] = b
	return nil
}

func (m *memory) remove(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

func (m *memory) list(ctx context.Context, prefix string, each func(string) error) error {
	m.mu.Lock()
	keys := slices.Sorted(maps.Keys(m.objects))
	m.mu.Unlock()
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if err := each(key); err != nil {
			return err
		}
	}
	return nil
}

func filesOn(o objects, now func() time.Time) *Files {
	return &Files{objects: o, prefix: "all/", now: now, random: rand.Reader, close: func() {}}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	filestest.Run(t, func(t *testing.T, now func() time.Time) filestest.Storage {
		t.Helper()
		m := newMemory()
		// Objects of others with the same prefix are ignored.
		for _, key := range []string{"all/README", "all/wks_x/" + strings.Repeat("0", uniqueDigits), "all/imports/" + string(filestest.Home) + "/ab/c"} {
			if err := m.put(key, nil); err != nil {
				t.Fatal(err)
			}
		}
		return filestest.Storage{Files: filesOn(m, now), Replace: func(_ *testing.T, sum string, b []byte) {
			for key := range m.objects {
				if strings.Contains(key, sum) {
					m.objects[key] = bytes.Clone(b)
				}
			}
		}}
	})
}

var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// TestOlderCopy reads an older object if the newest is damaged.
func TestOlderCopy(t *testing.T) {
	t.Parallel()
	m, now := newMemory(), noon
	f := filesOn(m, func() time.Time { return now })
	sum := filestest.Sum("picture")
	if err := errors.Join(f.Put(filestest.Home, sum, []byte("picture")), f.Touch(filestest.Home, sum)); err != nil {
		t.Fatal(err)
	}
	keys := slices.Sorted(maps.Keys(m.objects))
	if len(keys) != 2 {
		t.Fatalf("got objects %v want 2", keys)
	}
	m.objects[keys[1]] = []byte("damaged")
	if got := filestest.Content(t, f, sum); got != "picture" {
		t.Errorf("got %q", got)
	}
}

// TestClockBehind puts a file on a node whose clock is behind that of the node
// that stored a damaged one. What was put last is read.
func TestClockBehind(t *testing.T) {
	t.Parallel()
	m, now := newMemory(), noon
	f := filesOn(m, func() time.Time { return now })
	text := strings.Repeat("p", asset.VerifyAtOnce+1)
	sum := filestest.Sum(text)
	if err := f.Put(filestest.Home, sum, []byte(text[1:])); err != nil {
		t.Fatal(err)
	}
	now = now.Add(-5 * time.Minute)
	if err := f.Put(filestest.Home, sum, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if filestest.Content(t, f, sum) != text || len(m.objects) != 1 {
		t.Errorf("got %d objects", len(m.objects))
	}
}

// stepped calls pause before every call of a bucket.
type stepped struct {
	*memory
	pause func()
}

func (s stepped) put(key string, b []byte) error {
	s.pause()
	return s.memory.put(key, b)
}

func (s stepped) get(key string) (io.ReadCloser, int64, error) {
	s.pause()
	return s.memory.get(key)
}

func (s stepped) copy(from, to string) error {
	s.pause()
	return s.memory.copy(from, to)
}

func (s stepped) remove(key string) error {
	s.pause()
	return s.memory.remove(key)
}

func (s stepped) list(ctx context.Context, prefix string, each func(string) error) error {
	s.pause()
	return s.memory.list(ctx, prefix, each)
}

// schedule runs operations on one bucket, one call of the bucket at a time.
type schedule struct {
	t       *testing.T
	memory  *memory
	old     bool // the file existed before
	removes bool // an operation removes old files
	acked   bool // a Put has returned
}

const text = "picture"

// before is the time of Remove. Files of the start are older, operations are
// not.
var before = noon.Add(-24 * time.Hour)

func (s *schedule) operation(name string, f *Files) error {
	sum := filestest.Sum(text)
	switch name {
	case "put":
		err := f.Put(filestest.Home, sum, []byte(text))
		s.acked = true
		return err
	case "touch":
		return f.Touch(filestest.Home, sum)
	case "remove":
		return f.Remove(filestest.Home, sum, before)
	}
	r, _, err := f.Open(filestest.Home, sum)
	if err == nil {
		return r.Close()
	}
	if errors.Is(err, fs.ErrNotExist) && (s.removes || !s.old) {
		return nil
	}
	return err
}

// check returns an error if the file is not there and must be.
func (s *schedule) check() error {
	r, _, err := filesOn(s.memory, nil).Open(filestest.Home, filestest.Sum(text))
	switch {
	case err == nil:
		return r.Close()
	case s.acked || s.old && !s.removes:
		return fmt.Errorf("the file is gone: %w", err)
	}
	return nil
}

// run runs the operations in the order of the choices, which are the index of
// the operation whose turn it is. It returns how many each moment had.
func (s *schedule) run(names []string, choices []int) (options []int, story []string) {
	type running struct {
		name string
		turn chan struct{}
		at   chan bool // false at the end
	}
	var live []*running
	for _, name := range names {
		r := &running{name, make(chan struct{}), make(chan bool)}
		live = append(live, r)
		f := filesOn(stepped{s.memory, func() { r.at <- true; <-r.turn }}, func() time.Time { return noon })
		go func() {
			if err := s.operation(name, f); err != nil {
				s.t.Errorf("%s: %v", name, err)
			}
			r.at <- false
		}()
		<-r.at // its first call
	}
	for moment := 0; len(live) > 0; moment++ {
		choice := 0
		if moment < len(choices) {
			choice = choices[moment]
		}
		options = append(options, len(live))
		r := live[choice]
		story = append(story, r.name)
		r.turn <- struct{}{}
		if !<-r.at {
			live = slices.Delete(live, choice, choice+1)
		}
		if err := s.check(); err != nil {
			s.t.Error(err)
		}
	}
	return options, story
}

// TestInterleavings tries every order of the calls of concurrent operations. A
// file that was put or that nobody removes is there at every moment, also if an
// operation never continues, and every Open finds it.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"put", "remove"}, {"put", "put"}, {"put", "open"}, {"touch", "remove"}, {"put", "touch"}, {"put", "remove", "open"}, {"put", "touch", "remove"}, {"put", "put", "remove"}, {"put", "put", "open"}} {
		for _, old := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", strings.Join(names, " "), old), func(t *testing.T) {
				t.Parallel()
				n := 0
				for choices := []int{}; choices != nil; n++ {
					s := &schedule{t: t, memory: newMemory(), old: old, removes: slices.Contains(names, "remove")}
					if old {
						if err := filesOn(s.memory, func() time.Time { return before.Add(-time.Hour) }).Put(filestest.Home, filestest.Sum(text), []byte(text)); err != nil {
							t.Fatal(err)
						}
					}
					options, story := s.run(names, choices)
					if t.Failed() {
						t.Fatalf("order %v", story)
					}
					choices = next(choices, options)
				}
				t.Logf("%d orders", n)
			})
		}
	}
}

// next returns the choices after these in the order of all, nil after the last.
func next(choices, options []int) []int {
	taken := slices.Concat(choices, make([]int, len(options)-len(choices)))
	for last, choice := range slices.Backward(taken) {
		if choice+1 < options[last] {
			return slices.Concat(taken[:last], []int{choice + 1})
		}
	}
	return nil
}

// restless replaces every object that is about to be read.
type restless struct{ *memory }

func (r restless) get(string) (io.ReadCloser, int64, error) { return nil, 0, fs.ErrNotExist }
func (r restless) copy(string, string) error                { return fs.ErrNotExist }

func TestReplacedAgainAndAgain(t *testing.T) {
	t.Parallel()
	f := filesOn(restless{newMemory()}, func() time.Time { return noon })
	sum := filestest.Sum(text)
	if err := f.Put(filestest.Home, sum, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Open(filestest.Home, sum); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v of Open", err)
	}
	if err := f.Touch(filestest.Home, sum); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v of Touch", err)
	}
}
