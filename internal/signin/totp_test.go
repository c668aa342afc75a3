package signin_test

import (
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"fanfare/internal/fault"
	"fanfare/internal/signin"
	"fanfare/internal/store"
)

// code returns the code of an authenticator app at a time.
func (h *fixture) code(seed string, at time.Time) string {
	h.T.Helper()
	code, err := totp.GenerateCode(seed, at)
	h.must(err)
	return code
}

// twoSteps sets up TOTP.
func (h *fixture) twoSteps(s *signin.Session) (seed string, recovery []string) {
	h.T.Helper()
	made, err := h.BeginTOTP(h.T.Context(), s)
	h.must(err)
	recovery, err = h.ConfirmTOTP(h.T.Context(), s, h.code(made.Secret, h.Clock.Now()))
	h.must(err)
	h.Clock.Advance(time.Hour)
	return made.Secret, recovery
}

// ticket checks that a sign-in asks for the second factor and returns its
// ticket.
func (h *fixture) ticket() string {
	h.T.Helper()
	r, err := h.Password(h.T.Context(), owner, good, home)
	h.must(err)
	if r.Token != "" || r.Ticket == "" {
		h.T.Fatalf("got %+v want a ticket", r)
	}
	return r.Ticket
}

func TestTOTP(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	_, s := h.settle(owner)
	made, err := h.BeginTOTP(ctx, s)
	h.must(err)
	u, err := url.Parse(made.URI)
	if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/Fanfare:"+owner || u.Query().Get("secret") != made.Secret || u.Query().Get("issuer") != "Fanfare" {
		t.Errorf("got address %s, %v", made.URI, err)
	}
	h.Count(0, `SELECT count(*) FROM credential WHERE doc LIKE $1 OR sealed LIKE $2`, "%"+made.Secret+"%", "%"+made.Secret+"%")
	// Sign-in does not ask for a code before TOTP is confirmed.
	h.enters(h.Password(ctx, owner, good, home))
	_, err = h.ConfirmTOTP(ctx, s, "000000")
	h.wants(err, fault.ValidationFailed, "code")
	first := h.code(made.Secret, h.Clock.Now())
	recovery, err := h.ConfirmTOTP(ctx, s, first[:3]+" "+first[3:])
	if err != nil || len(recovery) != 10 || len(recovery[0]) != 19 {
		t.Fatalf("got %v, %v want ten codes", recovery, err)
	}
	if w, err := h.SignInMethods(ctx, h.Owner); err != nil || w != (signin.Methods{Password: true, TOTP: true}) {
		t.Errorf("got ways %+v, %v", w, err)
	}
	_, err = h.BeginTOTP(ctx, s)
	h.wants(err, fault.InvalidState, "")

	// A code works once, including the one that confirmed TOTP.
	ticket := h.ticket()
	_, err = h.SecondStep(ctx, ticket, first, home)
	h.wants(err, fault.InsufficientPermissions, "wrong_code")
	h.Clock.Advance(30 * time.Second)
	second := h.code(made.Secret, h.Clock.Now())
	in := h.enters(h.SecondStep(ctx, ticket, second, home))
	if in.Method != signin.MethodPassword {
		t.Errorf("got method %s want password", in.Method)
	}
	_, err = h.SecondStep(ctx, ticket, second, home)
	h.wants(err, fault.InvalidState, "ticket_ended")
	_, err = h.SecondStep(ctx, h.ticket(), second, home)
	h.wants(err, fault.InsufficientPermissions, "wrong_code")
	h.audited(2, h.Workspace, "signin.failed")
	h.audited(1, h.Workspace, "totp.add")

	h.must(h.RemoveTOTP(ctx, in))
	h.enters(h.Password(ctx, owner, good, home))
	h.audited(1, h.Workspace, "totp.remove")
}

// TestTOTPClock checks codes of devices whose clock is off by half a minute.
func TestTOTPClock(t *testing.T) {
	t.Parallel()
	for off, want := range map[time.Duration]bool{-60 * time.Second: false, -30 * time.Second: true, 0: true, 30 * time.Second: true, 60 * time.Second: false} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			_, s := h.settle(owner)
			seed, _ := h.twoSteps(s)
			r, err := h.SecondStep(t.Context(), h.ticket(), h.code(seed, h.Clock.Now().Add(off)), home)
			if got := r.Token != ""; got != want {
				t.Errorf("got in %v, %v want %v", got, err, want)
			}
		})
	}
}

// TestTOTPOnce uses one code in concurrent requests.
func TestTOTPOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, s := h.settle(owner)
	seed, recovery := h.twoSteps(s)
	for _, code := range []string{h.code(seed, h.Clock.Now()), recovery[0]} {
		var in atomic.Int64
		var group sync.WaitGroup
		for range 4 {
			ticket := h.ticket()
			group.Go(func() {
				if r, err := h.SecondStep(t.Context(), ticket, code, home); err == nil && r.Token != "" {
					in.Add(1)
				}
			})
		}
		group.Wait()
		if got := in.Load(); got != 1 {
			t.Errorf("got %d in by %s want 1", got, code)
		}
	}
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	_, s := h.settle(owner)
	_, recovery := h.twoSteps(s)
	h.enters(h.SecondStep(ctx, h.ticket(), strings.ToUpper(recovery[3]), home))
	_, err := h.SecondStep(ctx, h.ticket(), recovery[3], home)
	h.wants(err, fault.InsufficientPermissions, "wrong_code")
	h.enters(h.SecondStep(ctx, h.ticket(), strings.ReplaceAll(recovery[4], "-", " "), home))
	h.Clock.Advance(time.Hour)
	h.must(h.Reauthenticate(ctx, s, signin.Proof{Code: recovery[5]}, home))
	h.Count(0, `SELECT count(*) FROM credential WHERE doc LIKE $1`, "%"+strings.ReplaceAll(recovery[6], "-", "")+"%")

	// The operator can reset a user who has lost everything.
	h.enters(h.FollowLink(ctx, h.token(h.ResetWhole(ctx, operator, owner)), "", good, home))
	h.enters(h.Password(ctx, owner, good, home))
}

func TestTickets(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	_, s := h.settle(owner)
	seed, _ := h.twoSteps(s)
	now := func() string { return h.code(seed, h.Clock.Now()) }

	ticket := h.ticket()
	h.Clock.Advance(5 * time.Minute)
	_, err := h.SecondStep(ctx, ticket, now(), home)
	h.wants(err, fault.InvalidState, "ticket_ended")

	ticket = h.ticket()
	for range signin.MaxTries {
		_, err := h.SecondStep(ctx, ticket, "000000", home)
		h.wants(err, fault.InsufficientPermissions, "wrong_code")
	}
	_, err = h.SecondStep(ctx, ticket, now(), home)
	h.wants(err, fault.InvalidState, "ticket_ended")

	// New tickets do not help: the limit is ten codes in five minutes.
	ticket = h.ticket()
	for range 5 {
		_, err := h.SecondStep(ctx, ticket, "000000", home)
		h.wants(err, fault.InsufficientPermissions, "wrong_code")
	}
	_, err = h.SecondStep(ctx, h.ticket(), now(), away)
	h.wants(err, fault.RateLimitExceeded, "")
	// A signed-in user has a separate limit, which attackers cannot use up.
	h.must(h.Reauthenticate(ctx, s, signin.Proof{Code: now()}, home))
	for range 9 {
		h.wants(h.Reauthenticate(ctx, s, signin.Proof{Code: "000000"}, home), fault.InsufficientPermissions, "wrong_code")
	}
	h.wants(h.Reauthenticate(ctx, s, signin.Proof{Code: "000000"}, home), fault.RateLimitExceeded, "")
	h.Clock.Advance(5 * time.Minute)
	h.enters(h.SecondStep(ctx, h.ticket(), now(), home))

	for _, bad := range []string{"", "x", h.token(h.Reset(ctx, operator, owner))} {
		_, err := h.SecondStep(ctx, bad, now(), home)
		h.wants(err, fault.InvalidState, "ticket_ended")
	}
}

// TestSeedsStayWithTheirPerson checks that a seed does not open for another
// user.
func TestSeedsStayWithTheirPerson(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	h.member("guest@example.com", h.Workspace)
	_, s := h.settle(owner)
	_, guest := h.settle("guest@example.com")
	h.twoSteps(s)
	seed, _ := h.twoSteps(guest)
	mine, err := h.DB.SignIn().Person(ctx, signin.UserQuery{ID: guest.UserID})
	h.must(err)
	for _, c := range mine.Credentials {
		if c.Kind == "totp" {
			h.must(h.Raw.Write(ctx, func(tx store.Tx) error {
				_, err := tx.Exec(`UPDATE credential SET sealed = $1 WHERE user_id = $2 AND kind = 'totp'`, c.Sealed, string(h.Owner))
				return err
			}))
		}
	}
	if r, err := h.SecondStep(ctx, h.ticket(), h.code(seed, h.Clock.Now()), home); err == nil || r.Token != "" {
		t.Errorf("got %+v, %v want an error", r, err)
	}
	h.restart(nil)
	_, err = h.BeginTOTP(ctx, s)
	h.wants(err, fault.Unavailable, "")
}

// TestResetSecondStep checks that a reset changes nothing before the second
// factor: an attacker with only the mailbox can neither sign in nor lock the
// user out.
func TestResetSecondStep(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	cookie, s := h.settle(owner)
	d := newDevice(t)
	h.add(s, d)
	seed, _ := h.twoSteps(s)
	const next = "another long password"
	now := func() string { return h.code(seed, h.Clock.Now()) }
	link := h.token(h.Reset(ctx, operator, owner))
	follow := func() string {
		r, err := h.FollowLink(ctx, link, "", next, away)
		if err != nil || r.Ticket == "" || r.Token != "" || r.Device != "" {
			t.Fatalf("got %+v, %v want the second step", r, err)
		}
		return r.Ticket
	}
	ticket := follow()
	_, err := h.SecondStep(ctx, ticket, "000000", away)
	h.wants(err, fault.InsufficientPermissions, "wrong_code")
	h.session(cookie)
	h.enters(h.use(d))
	_, err = h.Password(ctx, owner, next, home)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	h.ticket() // with the old password
	h.audited(1, h.Workspace, "password.reset")

	h.enters(h.SecondStep(ctx, ticket, now(), away))
	h.closed(cookie)
	_, err = h.use(d)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	_, err = h.Password(ctx, owner, good, home)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	_, err = h.FollowLink(ctx, link, "", good, away)
	h.wants(err, fault.NotFound, "")
	h.audited(2, h.Workspace, "password.reset")

	// A link allows five attempts; a replaced link allows none.
	link = h.token(h.Reset(ctx, operator, owner))
	for range signin.MaxTries {
		ticket = follow()
	}
	_, err = h.FollowLink(ctx, link, "", next, away)
	h.wants(err, fault.NotFound, "")
	h.token(h.Reset(ctx, operator, owner))
	h.Clock.Advance(time.Minute)
	_, err = h.SecondStep(ctx, ticket, now(), away)
	h.wants(err, fault.NotFound, "")
}
