package seal_test

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/seal"
	"fanfare/internal/secret"
)

var testContext = seal.Context{Workspace: "wsp_1", Record: "con_2", Field: "token", Version: 3}

func newRing(t *testing.T) *seal.Ring {
	t.Helper()
	r, created, err := seal.OpenOrCreate(filepath.Join(t.TempDir(), "keyring"), rand.Reader)
	if err != nil || !created {
		t.Fatalf("create keyring: got %v, %v want a new one", created, err)
	}
	return r
}

func mustSeal(t *testing.T, r *seal.Ring, text string) string {
	t.Helper()
	sealed, err := r.Seal(testContext, secret.New(text))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		sealed, err := r.Seal(testContext, secret.New(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 5 && strings.Contains(sealed, text) {
			t.Errorf("the secret is in its sealed text %q", sealed)
		}
		got, err := r.Open(testContext, sealed)
		if err != nil || got.Reveal() != text {
			t.Errorf("got %q, %v want %q", got.Reveal(), err, text)
		}
	})
}

func TestSealUsesNewNonce(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	if a, b := mustSeal(t, r, "same"), mustSeal(t, r, "same"); a == b {
		t.Errorf("got %q twice want two texts", a)
	}
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	if _, err := newRing(t).Seal(testContext, secret.New(strings.Repeat("x", 64<<10+1))); err == nil {
		t.Error("got nothing want an error for an endless secret")
	}
}

// TestTampering changes, drops and adds every byte of a sealed text.
func TestTampering(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	sealed := mustSeal(t, r, "EAAG-a-token")
	refused := func(text string) {
		t.Helper()
		got, err := r.Open(testContext, text)
		if err == nil {
			t.Errorf("%q: got %q want a refusal", text, got.Reveal())
			return
		}
		if !errors.Is(err, seal.ErrDamaged) && !errors.Is(err, seal.ErrUnknownKey) {
			t.Errorf("%q: got %v want ErrDamaged or ErrUnknownKey", text, err)
		}
	}
	for i := range len(sealed) {
		for bit := range 8 {
			b := []byte(sealed)
			b[i] ^= 1 << bit
			refused(string(b))
		}
		refused(sealed[:i] + sealed[i+1:])
		refused(sealed[:i])
		for _, extra := range []string{"\n", "\r", "=", ".", "A"} {
			refused(sealed[:i] + extra + sealed[i:])
		}
	}
	// Parts of two sealed texts must not form a valid one.
	other := strings.Split(mustSeal(t, r, "another"), ".")
	parts := strings.Split(sealed, ".")
	refused(strings.Join([]string{parts[0], parts[1], other[2], parts[3]}, "."))
	refused(strings.Join([]string{parts[0], parts[1], parts[2], other[3]}, "."))
}

func TestOtherContext(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	sealed := mustSeal(t, r, "token")
	for _, test := range []struct {
		name  string
		place seal.Context
	}{
		{"workspace", seal.Context{Workspace: "wsp_2", Record: "con_2", Field: "token", Version: 3}},
		{"record", seal.Context{Workspace: "wsp_1", Record: "con_1", Field: "token", Version: 3}},
		{"field", seal.Context{Workspace: "wsp_1", Record: "con_2", Field: "refresh", Version: 3}},
		{"version", seal.Context{Workspace: "wsp_1", Record: "con_2", Field: "token", Version: 2}},
		{"shifted", seal.Context{Workspace: "wsp_1", Record: "con_2|token", Field: "3", Version: 3}},
		{"nameless", seal.Context{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got, err := r.Open(test.place, sealed); err == nil {
				t.Errorf("got %q want a refusal", got.Reveal())
			}
		})
	}
	for _, bad := range []seal.Context{{}, {Workspace: "a|b", Record: "c", Field: "d"}} {
		if _, err := r.Seal(bad, secret.New("x")); err == nil {
			t.Errorf("seal for %v: got nothing want an error", bad)
		}
	}
}

func TestKeyID(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	if got := seal.KeyID(mustSeal(t, r, "x")); got != r.Active() {
		t.Errorf("got %q want %q", got, r.Active())
	}
	for _, text := range []string{"", "plain", "a.b.c.d", "fs2.a.b.c", "fs1.a.b"} {
		if got := seal.KeyID(text); got != "" {
			t.Errorf("%q: got %q want nothing", text, got)
		}
	}
}

// TestRotation adds a key, rewraps secrets and drops the old key.
func TestRotation(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	old := r.Active()
	sealed := mustSeal(t, r, "token")
	added, err := r.Add()
	if err != nil || added == old || r.Active() != added {
		t.Fatalf("add: got %q active %q, %v want a new active key", added, r.Active(), err)
	}
	if got, err := r.Open(testContext, sealed); err != nil || got.Reveal() != "token" {
		t.Fatalf("open under the old key: got %q, %v want token", got.Reveal(), err)
	}
	moved, err := r.Rewrap(sealed)
	if err != nil {
		t.Fatal(err)
	}
	if got := seal.KeyID(moved); got != added {
		t.Errorf("rewrapped under %q want %q", got, added)
	}
	if got, want := moved[strings.LastIndex(moved, "."):], sealed[strings.LastIndex(sealed, "."):]; got != want {
		t.Errorf("the ciphertext became %q want %q as before", got, want)
	}
	if again, err := r.Rewrap(moved); err != nil || again != moved {
		t.Errorf("rewrap twice: got %q, %v want no change", again, err)
	}
	if err := r.Drop(added); err == nil {
		t.Error("drop the active key: got nothing want an error")
	}
	if err := r.Drop(old); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Open(testContext, moved); err != nil || got.Reveal() != "token" {
		t.Errorf("open what was moved: got %q, %v want token", got.Reveal(), err)
	}
	for name, err := range map[string]error{
		"open":   errorOf(r.Open(testContext, sealed)),
		"rewrap": errorOf(r.Rewrap(sealed)),
		"drop":   r.Drop(old),
	} {
		if !errors.Is(err, seal.ErrUnknownKey) || !strings.Contains(err.Error(), old) {
			t.Errorf("%s under a dropped key: got %v want ErrUnknownKey naming %s", name, err, old)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }
