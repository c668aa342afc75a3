package signin_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/signin"
)

// add registers a passkey of a device.
func (h *fixture) add(s *signin.Session, d *device) signin.Passkey {
	h.T.Helper()
	c, err := h.BeginRegister(h.T.Context(), s)
	h.must(err)
	p, err := h.FinishRegister(h.T.Context(), s, c.Ticket, " Laptop ", d.create(c))
	h.must(err)
	return p
}

func (h *fixture) mustBegin(c signin.Ceremony, err error) signin.Ceremony {
	h.T.Helper()
	h.must(err)
	return c
}

// use signs in with a device.
func (h *fixture) use(d *device) (signin.Result, error) {
	h.T.Helper()
	c := h.mustBegin(h.BeginPasskey())
	return h.FinishPasskey(h.T.Context(), c.Ticket, d.use(c), home)
}

func TestPasskey(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	_, s := h.settle(owner)
	d := newDevice(t)
	made := h.add(s, d)
	if made.Name != "Laptop" || string(d.user) != string(h.Owner) {
		t.Errorf("got %+v for %s", made, d.user)
	}
	h.Clock.Advance(time.Hour)
	in := h.enters(h.use(d))
	if in.UserID != h.Owner || in.Method != signin.MethodPasskey {
		t.Errorf("got session %+v", in)
	}
	list, err := h.Passkeys(ctx, h.Owner)
	if err != nil || len(list) != 1 || list[0].ID != made.ID || list[0].LastUsedAt == nil || *list[0].LastUsedAt != h.Now() {
		t.Errorf("got passkeys %+v, %v", list, err)
	}
	h.enters(h.use(d))

	// A response of a device works once.
	c := h.mustBegin(h.BeginPasskey())
	answer := d.use(c)
	h.enters(h.FinishPasskey(ctx, c.Ticket, answer, home))
	_, err = h.FinishPasskey(ctx, c.Ticket, answer, home)
	h.wants(err, fault.InvalidState, "ticket_ended")
	c = h.mustBegin(h.BeginPasskey())
	_, err = h.FinishPasskey(ctx, c.Ticket, answer, home)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")

	h.must(h.RemovePasskey(ctx, s, made.ID))
	h.wants(h.RemovePasskey(ctx, s, made.ID), fault.NotFound, "")
	_, err = h.use(d)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	h.audited(1, h.Workspace, "passkey.add")
	h.audited(1, h.Workspace, "passkey.remove")
}

// TestPasskeyRefuses makes one part of a response invalid at a time.
func TestPasskeyRefuses(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, s := h.settle(owner)
	guest := h.member("guest@example.com", h.Workspace)
	for _, tt := range []struct {
		name  string
		spoil func(d *device)
		bend  func(answer []byte) []byte
	}{
		{"another site", func(d *device) { d.origin = "https://evil.example.com" }, nil},
		{"another host", func(d *device) { d.host = "evil.example.com" }, nil},
		{"another key", func(d *device) { d.key = newDevice(d.t).key }, nil},
		{"another passkey", func(d *device) { d.id = newDevice(d.t).id }, nil},
		{"another person", func(d *device) { d.user = []byte(guest) }, nil},
		{"nobody", func(d *device) { d.user = []byte("usr_unknown") }, nil},
		{"a copy of the device", func(d *device) { d.count = 0 }, nil},
		{"not an answer", nil, func([]byte) []byte { return []byte("{}") }},
		{"not JSON", nil, func(b []byte) []byte { return b[:10] }},
		{"another ceremony", nil, func(b []byte) []byte { return bytes.Replace(b, []byte("public-key"), []byte("private"), 1) }},
	} {
		d := newDevice(t)
		h.add(s, d)
		h.enters(h.use(d))
		if tt.spoil != nil {
			tt.spoil(d)
		}
		c := h.mustBegin(h.BeginPasskey())
		answer := d.use(c)
		if tt.bend != nil {
			answer = tt.bend(answer)
		}
		if r, err := h.FinishPasskey(t.Context(), c.Ticket, answer, home); !fault.Is(err, fault.InsufficientPermissions) || r.Token != "" {
			t.Errorf("%s: got %+v, %v want a refusal", tt.name, r, err)
		}
	}
}

func TestPasskeyRegisterRefuses(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	_, s := h.settle(owner)
	h.member("guest@example.com", h.Workspace)
	_, guest := h.settle("guest@example.com")
	d := newDevice(t)
	c := h.mustBegin(h.BeginRegister(ctx, s))
	_, err := h.FinishRegister(ctx, s, c.Ticket, "", d.create(c))
	h.wants(err, fault.ValidationFailed, "name")
	_, err = h.FinishRegister(ctx, guest, c.Ticket, "Laptop", d.create(c))
	h.wants(err, fault.InvalidState, "ticket_ended")
	d.origin = "https://evil.example.com"
	_, err = h.FinishRegister(ctx, s, c.Ticket, "Laptop", d.create(c))
	h.wants(err, fault.InvalidState, "passkey_refused")
	login := h.mustBegin(h.BeginPasskey())
	_, err = h.FinishRegister(ctx, s, login.Ticket, "Laptop", d.create(c))
	h.wants(err, fault.InvalidState, "ticket_ended")
	if list, err := h.Passkeys(ctx, h.Owner); err != nil || len(list) != 0 {
		t.Errorf("got %+v, %v want none", list, err)
	}
}

// TestPasskeySecondStep checks that a second factor is needed if the device
// does not verify its user.
func TestPasskeySecondStep(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, s := h.settle(owner)
	d := newDevice(t)
	h.add(s, d)
	d.verifies = false
	h.enters(h.use(d))
	seed, _ := h.twoSteps(s)
	r, err := h.use(d)
	if err != nil || r.Ticket == "" || r.Token != "" {
		t.Fatalf("got %+v, %v want the second step", r, err)
	}
	if in := h.enters(h.SecondStep(t.Context(), r.Ticket, h.code(seed, h.Clock.Now()), home)); in.Method != signin.MethodPasskey {
		t.Errorf("got method %s want passkey", in.Method)
	}
	d.verifies = true
	h.enters(h.use(d))
}

func TestPasskeyProof(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	h.member("guest@example.com", h.Workspace)
	token, s := h.settle(owner)
	_, guest := h.settle("guest@example.com")
	mine, other := newDevice(t), newDevice(t)
	h.add(s, mine)
	h.add(guest, other)
	h.Clock.Advance(time.Hour)
	c := h.mustBegin(h.BeginProve(s))
	h.wants(h.FinishProve(ctx, s, c.Ticket, other.use(c), home), fault.InsufficientPermissions, "wrong_credentials")
	h.wants(h.FinishProve(ctx, guest, c.Ticket, other.use(c), home), fault.InvalidState, "ticket_ended")
	if h.session(token).Proved(h.Clock.Now()) {
		t.Error("after another's passkey: got proved want unproved")
	}
	h.must(h.FinishProve(ctx, s, c.Ticket, mine.use(c), home))
	if !h.session(token).Proved(h.Clock.Now()) {
		t.Error("after the own passkey: got unproved want proved")
	}
}

// TestLastWay checks that the only sign-in method cannot be removed.
func TestLastWay(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := h.enters(h.FollowLink(t.Context(), h.token(h.SignInLink(t.Context(), owner, time.Minute)), "", "", home))
	one, two := newDevice(t), newDevice(t)
	var ids []ident.ID
	for _, d := range []*device{one, two} {
		ids = append(ids, h.add(s, d).ID)
	}
	h.must(h.RemovePasskey(t.Context(), s, ids[0]))
	h.wants(h.RemovePasskey(t.Context(), s, ids[1]), fault.InvalidState, "")
	h.enters(h.use(two))
}

// TestChallenges checks that challenges are kept by the browser only: any
// number of them stores nothing before a sign-in.
func TestChallenges(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	_, s := h.settle(owner)
	d := newDevice(t)
	h.add(s, d)
	h.Clock.Advance(time.Hour)
	h.must(h.Sweep(ctx))
	h.Count(0, `SELECT count(*) FROM token`)
	c := h.mustBegin(h.BeginPasskey())
	for range 100 {
		h.mustBegin(h.BeginPasskey())
		h.mustBegin(h.BeginProve(s))
		h.mustBegin(h.BeginRegister(ctx, s))
		_, _, err := h.StartOIDC(ctx)
		h.must(err)
	}
	h.Count(0, `SELECT count(*) FROM token`)
	// Failures are logged up to a limit.
	liar := newDevice(t)
	liar.user = d.user
	for i := range 40 {
		_, err := h.FinishPasskey(ctx, c.Ticket, liar.use(c), away)
		if i < 30 {
			h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
		} else {
			h.wants(err, fault.RateLimitExceeded, "attempts")
		}
	}
	h.audited(20, h.Workspace, "signin.failed")
	h.Count(0, `SELECT count(*) FROM token`)
	// The ticket works for one sign-in, also with concurrent requests.
	answers := [][]byte{d.use(c), d.use(c), d.use(c)}
	var in atomic.Int64
	var group sync.WaitGroup
	for _, answer := range answers {
		group.Go(func() {
			switch _, err := h.FinishPasskey(ctx, c.Ticket, answer, home); {
			case err == nil:
				in.Add(1)
			case fault.Is(err, fault.Internal):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if in.Load() != 1 {
		t.Errorf("got %d sign-ins want 1", in.Load())
	}
	h.Count(1, `SELECT count(*) FROM token WHERE kind = 'spent'`)
	_, err := h.FinishPasskey(ctx, c.Ticket, d.use(c), home)
	h.wants(err, fault.InvalidState, "ticket_ended")
	h.Clock.Advance(5 * time.Minute)
	_, err = h.FinishPasskey(ctx, c.Ticket, d.use(c), home)
	h.wants(err, fault.InvalidState, "ticket_ended")
	h.must(h.Sweep(ctx))
	h.Count(0, `SELECT count(*) FROM token`)
}
