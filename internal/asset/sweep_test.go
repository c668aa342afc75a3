package asset

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

const home = ident.ID("wks_01h455vb4pex5vsknk084sn02q")

var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// longDrills enables the long drills.
var longDrills = os.Getenv("FANFARE_DRILL") == "full"

// memoryStore is a store in memory. Each of its operations is one transaction.
type memoryStore struct {
	mu      sync.Mutex
	assets  map[string]*Asset // by hash
	touched map[ident.ID]clock.Instant
	refs    map[ident.ID]bool
}

func newMemoryStore() *memoryStore {
	return &memoryStore{assets: map[string]*Asset{}, touched: map[ident.ID]clock.Instant{}, refs: map[ident.ID]bool{}}
}

func (s *memoryStore) Save(_ context.Context, a *Asset, _ record.Cause) (record.Doc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there := s.assets[a.SHA256]; there != nil {
		s.touched[there.ID], a = a.CreatedAt, there
	} else {
		s.assets[a.SHA256], s.touched[a.ID] = a, a.CreatedAt
	}
	b, err := json.Marshal(a)
	return record.Doc{JSON: b}, err
}

func (s *memoryStore) Used(_ context.Context, _ ident.ID, least int64) (sum int64, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.assets {
		sum += max(a.Bytes, least)
	}
	return sum, nil
}

func (s *memoryStore) ByID(_ context.Context, _ ident.ID, ids []ident.ID) (list []*Asset, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.assets {
		if slices.Contains(ids, a.ID) {
			list = append(list, a)
		}
	}
	return list, nil
}

func (s *memoryStore) Linked(context.Context, ident.ID, record.Doc, clock.Instant, record.Cause) error {
	return nil
}

func (s *memoryStore) Workspaces(context.Context) ([]ident.ID, error) { return []ident.ID{home}, nil }

func (s *memoryStore) idle(id ident.ID, before clock.Instant) bool {
	return s.touched[id] <= before && !s.refs[id]
}

func (s *memoryStore) Idle(_ context.Context, _ ident.ID, before clock.Instant, _ int) (list []Idle, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sum, a := range s.assets {
		if s.idle(a.ID, before) {
			list = append(list, Idle{a.ID, sum})
		}
	}
	return list, nil
}

func (s *memoryStore) Drop(_ context.Context, _ ident.ID, before clock.Instant, idle []Idle) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range idle {
		if a := s.assets[i.SHA256]; a != nil && a.ID == i.ID && s.idle(i.ID, before) {
			delete(s.assets, i.SHA256)
		}
	}
	return nil
}

func (s *memoryStore) Named(_ context.Context, _ ident.ID, sums []string) (map[string]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	named := map[string]bool{}
	for _, sum := range sums {
		named[sum] = s.assets[sum] != nil
	}
	return named, nil
}

// refer adds a reference as a creative does in its transaction.
func (s *memoryStore) refer(sum string, at clock.Instant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.assets[sum]
	if a == nil {
		return false
	}
	s.touched[a.ID], s.refs[a.ID] = at, true
	return true
}

// steppedStore is a store that says when each of its operations is about to
// begin.
type steppedStore struct {
	*memoryStore
	pause func(step string)
}

func (s steppedStore) Save(ctx context.Context, a *Asset, c record.Cause) (record.Doc, error) {
	s.pause("save")
	return s.memoryStore.Save(ctx, a, c)
}

func (s steppedStore) Idle(ctx context.Context, w ident.ID, before clock.Instant, most int) ([]Idle, error) {
	s.pause("idle")
	return s.memoryStore.Idle(ctx, w, before, most)
}

func (s steppedStore) Drop(ctx context.Context, w ident.ID, before clock.Instant, idle []Idle) error {
	s.pause("drop")
	return s.memoryStore.Drop(ctx, w, before, idle)
}

func (s steppedStore) Named(ctx context.Context, w ident.ID, sums []string) (map[string]bool, error) {
	s.pause("named")
	return s.memoryStore.Named(ctx, w, sums)
}

// interleaving runs several operations on one folder and one store. Only one of
// them runs at a time.
type interleaving struct {
	t     *testing.T
	dir   string
	store *memoryStore
	now   time.Time
	sum   string
	// acked reports that an upload was acknowledged, referred that a creative
	// refers to the asset. Its record and its file must then exist.
	acked, referred bool
}

var dot = Picture{MIMEType: SVG, Width: 1, Height: 1, Bytes: []byte("<svg/>")}

func newInterleaving(t *testing.T, dir string) *interleaving {
	t.Helper()
	sum := sha256.Sum256(dot.Bytes)
	return &interleaving{t: t, dir: dir, store: newMemoryStore(), now: noon, sum: hex.EncodeToString(sum[:])}
}

// service returns a service on the files of the interleaving. It calls pause at
// every step.
func (s *interleaving) service(pause func(string)) (*Service, *Folder) {
	s.t.Helper()
	f, err := OpenFolder(s.dir, func() time.Time { return s.now }, rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	f.pause = pause
	return New(steppedStore{s.store, pause}, f, nil, nil, 0, func() time.Time { return s.now }, rand.Reader), f
}

func free(string) {}

// checkFiles returns an error if a record has no file.
func (s *interleaving) checkFiles() error {
	_, f := s.service(free)
	defer func() { _ = f.Close() }()
	if s.store.assets[s.sum] == nil {
		if s.acked || s.referred {
			return fmt.Errorf("the record is gone (acknowledged: %v, referred to: %v)", s.acked, s.referred)
		}
		return nil
	}
	r, _, err := f.Open(home, s.sum)
	if err != nil {
		return fmt.Errorf("the record has no file: %w", err)
	}
	b, err := io.ReadAll(r)
	_ = r.Close()
	if err != nil || string(b) != string(dot.Bytes) {
		return fmt.Errorf("the file holds %q, %w", b, err)
	}
	return nil
}

// operations has the operations that may run concurrently.
var operations = map[string]func(s *interleaving, v *Service) error{
	"upload": func(s *interleaving, v *Service) error {
		_, err := v.Store(context.Background(), record.Cause{Workspace: home}, dot)
		s.acked = s.acked || err == nil
		return err
	},
	"sweep": func(_ *interleaving, v *Service) error { return v.Sweep(context.Background()) },
	"refer": func(s *interleaving, _ *Service) error {
		s.referred = s.store.refer(s.sum, clock.At(s.now))
		return nil
	},
}

// startStates has the initial states.
var startStates = map[string]func(s *interleaving, v *Service) error{
	"nothing": func(*interleaving, *Service) error { return nil },
	"an idle asset": func(s *interleaving, v *Service) error {
		_, err := v.Store(context.Background(), record.Cause{Workspace: home}, dot)
		s.now = s.now.Add(IdleLife + time.Hour)
		return err
	},
	"a file whose record went": func(s *interleaving, v *Service) error {
		_, err := v.Store(context.Background(), record.Cause{Workspace: home}, dot)
		delete(s.store.assets, s.sum)
		s.now = s.now.Add(IdleLife + time.Hour)
		return err
	},
	"a file that a dead sweep moved away": func(s *interleaving, v *Service) error {
		_, err := v.Store(context.Background(), record.Cause{Workspace: home}, dot)
		delete(s.store.assets, s.sum)
		s.now = s.now.Add(IdleLife + time.Hour)
		at := filepath.Join(s.dir, string(home), s.sum[:2], s.sum)
		if err == nil {
			err = os.Rename(at, at+awayMark+"0")
		}
		return err
	},
}

// concurrentOperation runs in steps. After each step it waits for its turn.
type concurrentOperation struct {
	name string
	turn chan bool // false stops it after this step, as a crash does
	at   chan string
}

const end = "end"

type crashed struct{}

func (s *interleaving) start(name string) *concurrentOperation {
	a := &concurrentOperation{name: name, turn: make(chan bool), at: make(chan string)}
	go func() {
		v, f := s.service(func(step string) {
			a.at <- step
			if !<-a.turn {
				panic(crashed{})
			}
		})
		defer func() {
			_ = f.Close()
			if p := recover(); p != nil && p != (crashed{}) {
				panic(p)
			}
			a.at <- end
		}()
		if !<-a.turn {
			panic(crashed{})
		}
		if err := operations[name](s, v); err != nil {
			s.t.Errorf("%s: %v", name, err)
		}
	}()
	return a
}

// runSchedule runs operations by a schedule, which has the index of one
// alternative for each moment. The alternatives are the next step of an
// operation, and the crash of an operation. It returns how many alternatives
// each moment had, and what happened.
func (s *interleaving) runSchedule(names []string, schedule []int, crashes int) (choices []int, story []string, err error) {
	var live []*concurrentOperation
	for _, name := range names {
		live = append(live, s.start(name))
	}
	for moment := 0; len(live) > 0; moment++ {
		options := len(live)
		if crashes > 0 {
			options *= 2
		}
		choice := 0
		if moment < len(schedule) {
			choice = schedule[moment]
		}
		choices = append(choices, options)
		i := choice % len(live)
		a, goes := live[i], crashes == 0 || choice < len(live)
		a.turn <- goes
		at := <-a.at
		if !goes {
			crashes--
			story = append(story, a.name+" crashes")
		} else {
			story = append(story, a.name+" to "+at)
		}
		if at == end {
			live = slices.Delete(live, i, i+1)
		}
		if wrong := s.checkFiles(); wrong != nil && err == nil {
			err = wrong
		}
	}
	return choices, story, err
}

// TestInterleavings tries every order of the steps of an upload, a sweep, a
// second sweep and a reference, with a crash of any of them at every point. At
// each moment every record has its file. An acknowledged upload or reference
// survives later sweeps.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	for name, begin := range startStates {
		for _, cast := range [][]string{{"upload", "sweep"}, {"refer", "sweep"}, {"upload", "upload"}, {"sweep", "sweep"}} {
			for crashes := range 2 {
				if crashes > 0 && cast[0] == "sweep" && !longDrills {
					continue // most of the orders, each of them on the disk
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, strings.Join(cast, " "), crashes), func(t *testing.T) {
					t.Parallel()
					n := runAllSchedules(t, begin, cast, crashes)
					t.Logf("%d orders", n)
				})
			}
		}
	}
}

// TestDrillInterleavings tries random orders of four operations, because there
// are too many to try all of them.
func TestDrillInterleavings(t *testing.T) {
	t.Parallel()
	seed, orders := mathrand.Uint64(), 20
	if longDrills {
		orders = 2000
	}
	for name, begin := range startStates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := mathrand.New(mathrand.NewPCG(seed, 0)), t.TempDir()
			for n := range orders {
				schedule := make([]int, 60)
				for i := range schedule {
					schedule[i] = r.IntN(4)
				}
				s := newInterleaving(t, filepath.Join(dir, fmt.Sprint(n)))
				if _, story := s.runOnce(begin, []string{"upload", "sweep", "sweep", "refer"}, schedule, 0); t.Failed() {
					t.Fatalf("seed %d, schedule %v:\n%s", seed, schedule, strings.Join(story, "\n"))
				}
				_ = os.RemoveAll(s.dir)
			}
		})
	}
}

// runAllSchedules runs every schedule and returns how many there are.
func runAllSchedules(t *testing.T, begin func(*interleaving, *Service) error, cast []string, crashes int) int {
	t.Helper()
	dir := t.TempDir()
	schedule := []int{}
	for n := 1; ; n++ {
		s := newInterleaving(t, filepath.Join(dir, fmt.Sprint(n)))
		choices, story := s.runOnce(begin, cast, schedule, crashes)
		if t.Failed() {
			t.Fatalf("schedule %v:\n%s", schedule, strings.Join(story, "\n"))
		}
		_ = os.RemoveAll(s.dir)
		// The next schedule is the last one with its last choice that can be
		// raised raised.
		taken := slices.Concat(schedule, make([]int, len(choices)-len(schedule)))
		last := len(taken) - 1
		for last >= 0 && taken[last]+1 == choices[last] {
			last--
		}
		if last < 0 {
			return n
		}
		schedule = append(slices.Clone(taken[:last]), taken[last]+1)
	}
}

// runOnce runs one schedule, and then sweeps the files that it left.
func (s *interleaving) runOnce(begin func(*interleaving, *Service) error, cast []string, schedule []int, crashes int) (choices []int, story []string) {
	v, f := s.service(free)
	defer func() { _ = f.Close() }()
	if err := begin(s, v); err != nil {
		s.t.Fatal(err)
	}
	choices, story, err := s.runSchedule(cast, schedule, crashes)
	if err != nil {
		s.t.Error(err)
	}
	// An upload without a reference is kept for seven days.
	for _, later := range []time.Duration{0, 25 * time.Hour, 5 * 24 * time.Hour} {
		s.now = s.now.Add(later)
		if err := v.Sweep(context.Background()); err != nil {
			s.t.Error(err)
		}
		if err := s.checkFiles(); err != nil {
			s.t.Errorf("%v later: %v", later, err)
		}
	}
	s.acked = false
	for range 3 {
		s.now = s.now.Add(IdleLife + time.Hour)
		if err := v.Sweep(context.Background()); err != nil {
			s.t.Error(err)
		}
	}
	if err := s.checkFiles(); err != nil {
		s.t.Errorf("weeks later: %v", err)
	}
	if left := files(s.t, s.dir); !s.referred && len(left) > 0 {
		s.t.Errorf("got files %v left that nobody uses", left)
	}
	return choices, story
}

// files lists the files of a folder.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
