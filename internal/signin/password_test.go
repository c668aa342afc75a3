package signin_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/signin"
)

func TestPassword(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	second, _, _ := h.AddWorkspace(owner)
	h.restart(nil) // with hashes as they are
	const password = "Pa\u00dfwort f\u00fcr \ufb01sche"
	link := h.token(h.Reset(t.Context(), operator, owner))
	h.enters(h.FollowLink(t.Context(), link, "", password, home))
	_, err := h.Accounts.AddMember(t.Context(), operator, h.Workspace, "robot@example.com", "editor", true)
	h.must(err)
	h.member("new@example.com", h.Workspace)
	answers := map[string]bool{}
	for _, tt := range []struct {
		name, email, password string
		in                    bool
	}{
		{"as it was set", owner, password, true},
		{"e-mail in another case", " Owner@Example.COM ", password, true},
		{"letters in other forms", owner, "Pa\u00dfwort fu\u0308r fische", true},
		{"another case", owner, strings.ToUpper(password), false},
		{"empty", owner, "", false},
		{"longer than any", owner, strings.Repeat("x", 300), false},
		{"unknown e-mail", "nobody@example.com", password, false},
		{"absurd e-mail", strings.Repeat("x", 300) + "@example.com", password, false},
		{"service user", "robot@example.com", password, false},
		{"user without password", "new@example.com", "", false},
	} {
		h.Clock.Advance(10 * time.Minute)
		r, err := h.Password(t.Context(), tt.email, tt.password, home)
		if tt.in {
			h.enters(r, err)
			continue
		}
		if r != (signin.Result{}) {
			t.Errorf("%s: got %+v want nothing", tt.name, r)
		}
		h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
		answers[err.Error()] = true
	}
	if len(answers) != 1 {
		t.Errorf("got %d different answers to what is wrong, want 1", len(answers))
	}
	// The owner's failures are in both audit logs; those of the other users of
	// the first workspace are in the first.
	h.audited(5, h.Workspace, "signin.failed")
	h.audited(3, second, "signin.failed")
	h.audited(3, second, "signin")
	h.Count(1, `SELECT count(*) FROM credential WHERE doc LIKE '$argon2id$v=19$m=19456,t=2,p=1$%'`)
}

// TestPreset checks that a preset does not replace a password that the user
// chose later.
func TestPreset(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	preset := func(password string) bool {
		t.Helper()
		works, err := h.Preset(t.Context(), owner, password)
		h.must(err)
		return works
	}
	for range 2 {
		if !preset("first of two passwords") {
			t.Fatal("got a password that does not work")
		}
	}
	s := h.enters(h.Password(t.Context(), owner, "first of two passwords", home))
	h.must(h.SetPassword(t.Context(), s, "first of two passwords", "chosen by the owner"))
	if preset("first of two passwords") {
		t.Error("the old password works again")
	}
	h.enters(h.Password(t.Context(), owner, "chosen by the owner", home))
	h.audited(1, h.Workspace, "password.preset")
	if _, err := h.Preset(t.Context(), "nobody@example.com", "first of two passwords"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v for an unknown person", err)
	}
}

func TestPasswordRules(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, s := h.settle(owner)
	for _, tt := range []struct{ name, next, code string }{
		{"seven characters", "äöüäöüä", "too_short"},
		{"seven after normalization", "a\u0308bcdefg", "too_short"},
		{"common", "password1", "invalid_value"},
		{"common in capitals", "PassWord1", "invalid_value"},
		{"the e-mail", "Owner@example.com", "invalid_value"},
		{"too long", strings.Repeat("x y", 86), "too_long"},
		{"empty", "", "too_short"},
	} {
		err := h.SetPassword(t.Context(), s, good, tt.next)
		h.wants(err, fault.ValidationFailed, tt.code)
		h.Clock.Advance(5 * time.Minute)
	}
	h.wants(h.SetPassword(t.Context(), s, "wrong password", "short"), fault.ValidationFailed, "current")
	h.wants(h.SetPassword(t.Context(), s, "wrong password", "short"), fault.ValidationFailed, "next")
	for _, next := range []string{"äöüäöüäö", "aaaaaaaaaaaaa bb", strings.Repeat("ü", 128), "\x00\xff\xfe binary"} {
		h.Clock.Advance(5 * time.Minute)
		h.must(h.SetPassword(t.Context(), s, good, next))
		h.must(h.SetPassword(t.Context(), s, next, good))
	}
	h.audited(8, h.Workspace, "password.change")
}

// TestFirstPassword sets a password for a user who signed in without one.
func TestFirstPassword(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.enters(h.FollowLink(t.Context(), h.token(h.SignInLink(t.Context(), owner, time.Minute)), "", "", home))
	h.Clock.Advance(signin.ProofLife)
	h.wants(h.SetPassword(t.Context(), s, "", good), fault.InsufficientPermissions, "proof_required")
	s = h.enters(h.FollowLink(t.Context(), h.token(h.SignInLink(t.Context(), owner, time.Minute)), "", "", home))
	h.must(h.SetPassword(t.Context(), s, "", good))
	h.enters(h.Password(t.Context(), owner, good, home))
}

// TestBruteForce guesses from many networks for five minutes and counts the
// hashes: every attempt that is not throttled is one.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name             string
		emails, networks int
		guesses          int
		want             int64
	}{
		{"one account from one network", 1, 1, 10_000, 5},
		{"many accounts from one network", 5_000, 1, 10_000, 30},
		{"one account from many networks", 1, 5_000, 10_000, 9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			var hashed, next atomic.Int64
			guess := func(i int64) {
				n := i % int64(tt.networks)
				// All addresses of a /56 are one network.
				from := signin.From{Address: netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0, byte(n >> 8), byte(n), byte(i), 15: byte(i)})}
				email := fmt.Sprintf("nobody-%d@example.com", i%int64(tt.emails))
				_, err := h.Password(t.Context(), email, fmt.Sprint("guess number ", i), from)
				if fault.Is(err, fault.RateLimitExceeded) {
					return
				}
				hashed.Add(1)
				if !fault.Is(err, fault.InsufficientPermissions) {
					t.Error(err)
				}
			}
			const seconds = 299
			for second := range int64(seconds) {
				var group sync.WaitGroup
				for range 8 {
					group.Go(func() {
						for i := next.Add(1); i <= (second+1)*int64(tt.guesses)/seconds; i = next.Add(1) {
							guess(i)
						}
						next.Add(-1)
					})
				}
				group.Wait()
				h.Clock.Advance(time.Second)
			}
			if got := hashed.Load(); got != tt.want {
				t.Errorf("got %d hashes want %d", got, tt.want)
			}
		})
	}
}

// TestThrottledOwner checks that the owner can sign in during guesses from
// another network, and all users can after a while.
func TestThrottledOwner(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.settle(owner)
	h.Clock.Advance(time.Hour)
	for range 5 {
		_, err := h.Password(t.Context(), owner, "wrong password", away)
		h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
		h.Clock.Advance(time.Second)
	}
	_, err := h.Password(t.Context(), owner, good, away)
	h.waits(err, 5*time.Minute-5*time.Second)
	// All new browsers together have one attempt per minute.
	_, err = h.Password(t.Context(), owner, good, home)
	h.waits(err, time.Minute-time.Second)
	h.Clock.Advance(time.Minute - time.Second)
	for range 3 { // who knows the password does not use tries up
		h.enters(h.Password(t.Context(), owner, good, home))
	}
	h.Clock.Advance(4*time.Minute - 5*time.Second)
	_, err = h.Password(t.Context(), owner, good, away)
	h.wants(err, fault.RateLimitExceeded, "")
	h.Clock.Advance(time.Second)
	h.enters(h.Password(t.Context(), owner, good, away))
}

// waits checks that err is a fault with the time to retry.
func (h *fixture) waits(err error, want time.Duration) {
	h.T.Helper()
	h.wants(err, fault.RateLimitExceeded, "attempts")
	if f, _ := errors.AsType[*fault.Error](err); f.RetryAfter != want {
		h.T.Errorf("got %v want a wait of %s", err, want)
	}
}

// TestKnownBrowser checks that the owner can sign in from a known browser
// during an attack from many networks.
func TestKnownBrowser(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	h.settle(owner)
	h.member("guest@example.com", h.Workspace)
	h.settle("guest@example.com")
	known := func(email string, from signin.From) signin.From {
		r, err := h.Password(ctx, email, good, from)
		h.must(err)
		from.Device = r.Device
		return from
	}
	mine, guest := known(owner, home), known("guest@example.com", home)
	if again := known(owner, mine); again != mine || mine.Device == "" {
		t.Errorf("got %q want the browser to keep %q", again.Device, mine.Device)
	}
	attack := func() {
		for i := range 400 {
			_, err := h.Password(ctx, owner, "wrong password", signin.From{Address: netip.AddrFrom4([4]byte{100, 64, byte(i >> 8), byte(i)})})
			if err == nil {
				t.Fatal("got in with a wrong password")
			}
		}
		_, err := h.Password(ctx, owner, good, away)
		h.wants(err, fault.RateLimitExceeded, "attempts")
	}
	attack()
	h.enters(h.Password(ctx, owner, good, mine))
	// The device value works from other networks, but not for other users.
	moved := mine
	moved.Address = netip.MustParseAddr("2001:db8:7::1")
	h.enters(h.Password(ctx, owner, good, moved))
	for _, device := range []string{guest.Device, mine.Device + "x", "x" + mine.Device, strings.Replace(mine.Device, ".", "", 1), "."} {
		moved.Device = device
		_, err := h.Password(ctx, owner, good, moved)
		h.wants(err, fault.RateLimitExceeded, "attempts")
	}
	// A known browser has ten attempts of its own; three were correct.
	for range 7 {
		_, err := h.Password(ctx, owner, "wrong password", mine)
		h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	}
	_, err := h.Password(ctx, owner, good, mine)
	h.wants(err, fault.RateLimitExceeded, "attempts")

	// A new password invalidates the device value.
	h.settle(owner)
	h.Clock.Advance(time.Hour)
	attack()
	_, err = h.Password(ctx, owner, good, mine)
	h.wants(err, fault.RateLimitExceeded, "attempts")
	// An attack cannot block a password reset.
	h.settle(owner)
}

// TestNetworksTakeTurns wants the attempts of a network that wait to delay no
// known browser, session or link, even of the same network, and those beyond the
// limit to be refused and not to count.
func TestNetworksTakeTurns(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, s := h.settle(owner)
	r, err := h.Password(t.Context(), owner, good, home)
	h.must(err)
	var held []func()
	for _, who := range []ident.ID{"192.0.2.1", "192.0.2.2"} {
		done, err := h.HoldHash(t.Context(), who)
		h.must(err)
		held = append(held, done)
	}
	const limit = 8
	guess := func(name string, i int) error {
		_, err := h.Password(t.Context(), fmt.Sprintf("%s-%d@example.com", name, i), "guess", away)
		return err
	}
	waiting := make(chan error, limit)
	for i := range limit {
		go func() {
			err := guess("first", i)
			for fault.Is(err, fault.RateLimitExceeded) { // untilFull had the place
				err = guess("first", i)
			}
			waiting <- err
		}()
	}
	h.untilFull(ident.ID(away.Address.String()))
	before := h.Counted()
	for i := range 100 {
		err := guess("more", i)
		h.wants(err, fault.RateLimitExceeded, "concurrency")
		if f, _ := errors.AsType[*fault.Error](err); f.RetryAfter != time.Second || !strings.Contains(f.Message, "network") {
			t.Fatalf("got %v after %s", f, f.RetryAfter)
		}
	}
	if got := h.Counted(); got != before {
		t.Errorf("got %d names counted after refusals want %d", got, before)
	}
	// None of these waits for the hashes that are held.
	h.enters(h.Password(t.Context(), owner, good, signin.From{Address: away.Address, Device: r.Device}))
	h.must(h.Reauthenticate(t.Context(), s, signin.Proof{Password: good}, away))
	h.enters(h.FollowLink(t.Context(), h.token(h.Reset(t.Context(), operator, owner)), "", good, away))
	for _, done := range held {
		done()
	}
	for range limit {
		h.wants(<-waiting, fault.InsufficientPermissions, "wrong_credentials")
	}
	for i := range 30 - limit {
		h.wants(guess("later", i), fault.InsufficientPermissions, "wrong_credentials")
	}
	h.wants(guess("last", 0), fault.RateLimitExceeded, "attempts")
}

// untilFull waits until no more hashes of a network may wait.
func (h *fixture) untilFull(network ident.ID) {
	gone, cancel := context.WithCancel(h.T.Context())
	cancel()
	for {
		if _, err := h.HoldHash(gone, network); fault.Is(err, fault.RateLimitExceeded) {
			return
		}
		runtime.Gosched()
	}
}
