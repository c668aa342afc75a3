// Package filestest checks what every implementation of asset.Files must do.
package filestest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"fanfare/internal/asset"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

const (
	// Home is the workspace of the files.
	Home  = ident.ID("wks_01h455vb4pex5vsknk084sn02q")
	other = ident.ID("wks_01h455vb4pex5vsknk084sn02r")
)

// Storage is an implementation under test.
type Storage struct {
	Files asset.Files
	// Replace replaces the stored bytes of a file of Home, as a failing disk
	// does.
	Replace func(t *testing.T, sum string, b []byte)
}

// Open returns an empty storage that reads a clock.
type Open func(t *testing.T, now func() time.Time) Storage

// Run runs all checks.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, *fixture){
		"put and open": putAndOpen, "names": names, "old": old, "touch and remove": touchAndRemove, "large": large, "stop": stop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, newFixture(t, open))
		})
	}
	for name, size := range map[string]int{"small": 7, "largest at once": asset.VerifyAtOnce, "large": asset.VerifyAtOnce + 1} {
		for fate, damage := range damages {
			t.Run("damaged "+name+", "+fate, func(t *testing.T) {
				t.Parallel()
				damaged(t, newFixture(t, open), strings.Repeat("p", size), damage)
			})
		}
	}
}

type fixture struct {
	Storage
	now time.Time
}

func newFixture(t *testing.T, open Open) *fixture {
	t.Helper()
	f := &fixture{now: time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)}
	f.Storage = open(t, func() time.Time { return f.now })
	return f
}

// Sum returns the hash of a text.
func Sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (f *fixture) put(t *testing.T, text string) string {
	t.Helper()
	if err := f.Files.Put(Home, Sum(text), []byte(text)); err != nil {
		t.Fatal(err)
	}
	return Sum(text)
}

// Content returns the text of a file of Home.
func Content(t *testing.T, files asset.Files, sum string) string {
	t.Helper()
	r, size, err := files.Open(Home, sum)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil || int64(len(b)) != size {
		t.Fatalf("got %d bytes of %d, %v", len(b), size, err)
	}
	return string(b)
}

func (f *fixture) missing(t *testing.T, workspace ident.ID, sum string) {
	t.Helper()
	r, _, err := f.Files.Open(workspace, sum)
	if err == nil {
		_ = r.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v for a file that is not there", err)
	}
}

func (f *fixture) listOld(t *testing.T, before time.Time) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	if err := f.Files.Old(t.Context(), before, func(w ident.ID, sum string) error { found[string(w)+sum] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	return found
}

func putAndOpen(t *testing.T, f *fixture) {
	t.Helper()
	f.missing(t, Home, Sum("picture"))
	for _, text := range []string{"picture", "picture", ""} {
		if got := Content(t, f.Files, f.put(t, text)); got != text {
			t.Errorf("got %q want %q", got, text)
		}
		f.missing(t, other, Sum(text))
		f.now = f.now.Add(time.Hour)
	}
}

// names tries to leave the storage by names.
func names(t *testing.T, f *fixture) {
	t.Helper()
	sum := Sum("secret")
	for _, name := range [][2]string{{"..", sum}, {"wks_../../x", sum}, {string(Home), "../../../etc/passwd"}, {string(Home), strings.ToUpper(sum)}, {string(Home), sum[:63]}, {"", ""}, {string(Home) + "/..", sum}} {
		if err := f.Files.Put(ident.ID(name[0]), name[1], []byte("x")); err == nil {
			t.Errorf("%q: got no error of Put", name)
		}
		if _, _, err := f.Files.Open(ident.ID(name[0]), name[1]); err == nil {
			t.Errorf("%q: got no error of Open", name)
		}
		if f.Files.Touch(ident.ID(name[0]), name[1]) == nil || f.Files.Remove(ident.ID(name[0]), name[1], f.now) == nil {
			t.Errorf("%q: got no error of Touch and Remove", name)
		}
	}
}

// old lists files that were not put or touched since a time.
func old(t *testing.T, f *fixture) {
	t.Helper()
	first, again, touched := f.put(t, "first"), f.put(t, "again"), f.put(t, "touched")
	theirs := Sum("theirs")
	if err := f.Files.Put(other, theirs, []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	if got := f.listOld(t, f.now); len(got) != 0 {
		t.Errorf("got %v, want none before they were put", got)
	}
	f.now = f.now.Add(48 * time.Hour)
	f.put(t, "again")
	if err := f.Files.Touch(Home, touched); err != nil {
		t.Fatal(err)
	}
	if got := f.listOld(t, f.now.Add(-time.Hour)); len(got) != 2 || !got[string(Home)+first] || !got[string(other)+theirs] {
		t.Errorf("got %v want first and theirs", got)
	}
	if got := f.listOld(t, f.now.Add(time.Second)); len(got) != 4 || !got[string(Home)+again] {
		t.Errorf("got %v want all", got)
	}
}

func touchAndRemove(t *testing.T, f *fixture) {
	t.Helper()
	if err := f.Files.Touch(Home, Sum("none")); err != nil {
		t.Errorf("touch a file that is not there: %v", err)
	}
	past, young := f.put(t, "past"), f.put(t, "young")
	f.now = f.now.Add(48 * time.Hour)
	before := f.now.Add(-24 * time.Hour)
	if err := f.Files.Touch(Home, young); err != nil {
		t.Fatal(err)
	}
	for _, sum := range []string{past, young, past, Sum("none")} {
		if err := f.Files.Remove(Home, sum, before); err != nil {
			t.Fatal(err)
		}
	}
	f.missing(t, Home, past)
	if got := Content(t, f.Files, young); got != "young" {
		t.Errorf("got %q", got)
	}
	if got := Content(t, f.Files, f.put(t, "past")); got != "past" {
		t.Errorf("got %q after it was put again", got)
	}
	if err := f.Files.Remove(Home, past, f.now); err != nil {
		t.Fatal(err)
	}
	if got := Content(t, f.Files, past); got != "past" {
		t.Errorf("got %q of a file that was put at the time of Remove", got)
	}
	f.now = f.now.Add(48 * time.Hour)
	for _, sum := range []string{past, young} {
		if err := f.Files.Remove(Home, sum, f.now); err != nil {
			t.Fatal(err)
		}
		f.missing(t, Home, sum)
	}
	if got := f.listOld(t, f.now.Add(time.Hour)); len(got) != 0 {
		t.Errorf("got %v left", got)
	}
}

// large puts and reads 20 MiB.
func large(t *testing.T, f *fixture) {
	t.Helper()
	text := strings.Repeat("twenty bytes of text", 1<<20)
	if Content(t, f.Files, f.put(t, text)) != text {
		t.Error("got other bytes")
	}
}

// stop ends a list.
func stop(t *testing.T, f *fixture) {
	t.Helper()
	f.put(t, "one")
	f.put(t, "two")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Files.Old(ctx, f.now.Add(time.Hour), func(ident.ID, string) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v want %v", err, context.Canceled)
	}
	enough := errors.New("enough")
	calls := 0
	if err := f.Files.Old(t.Context(), f.now.Add(time.Hour), func(ident.ID, string) error { calls++; return enough }); !errors.Is(err, enough) || calls != 1 {
		t.Errorf("got %v after %d calls want %v after one", err, calls, enough)
	}
}

var damages = map[string]func(b []byte) []byte{
	"first byte": func(b []byte) []byte { b[0] ^= 1; return b },
	"last byte":  func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
	"shorter":    func(b []byte) []byte { return b[:len(b)-1] },
	"longer":     func(b []byte) []byte { return append(b, 'x') },
	"empty":      func([]byte) []byte { return nil },
}

// damaged changes, shortens and lengthens stored files. A file of up to
// VerifyAtOnce bytes cannot be opened then; a larger one fails before its last
// byte.
func damaged(t *testing.T, f *fixture, text string, damage func([]byte) []byte) {
	t.Helper()
	sum := f.put(t, text)
	if Content(t, f.Files, sum) != text {
		t.Fatal("the file differs before the damage")
	}
	bad := damage([]byte(text))
	f.Replace(t, sum, bad)
	r, _, err := f.Files.Open(Home, sum)
	if err == nil {
		if len(bad) <= asset.VerifyAtOnce {
			t.Error("a damaged small file was opened")
		}
		var b []byte
		b, err = io.ReadAll(r)
		if closing := r.Close(); closing != nil {
			t.Error(closing)
		}
		if len(b) >= len(bad) {
			t.Errorf("all %d bytes of a damaged file were read", len(b))
		}
	}
	if !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "fanfare doctor") {
		t.Errorf("got %v", err)
	}
	// The next upload of the same bytes replaces the file.
	f.put(t, text)
	if Content(t, f.Files, sum) != text {
		t.Error("the file differs after it was put again")
	}
}
