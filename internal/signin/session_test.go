package signin_test

import (
	"testing"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/signin"
)

func TestSessionLife(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		// every is how often the session is used, and for how long.
		every, until time.Duration
		want         bool
	}{
		{"idle for a moment less than 12 hours", 12*time.Hour - time.Minute, 12*time.Hour - time.Minute, true},
		{"idle for 12 hours", 12 * time.Hour, 12 * time.Hour, false},
		{"in use for almost 7 days", 6 * time.Hour, 7*24*time.Hour - 6*time.Hour, true},
		{"in use for 7 days", 6 * time.Hour, 7 * 24 * time.Hour, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			token, _ := h.settle(owner)
			var s *signin.Session
			var err error
			for spent := time.Duration(0); spent < tt.until; spent += tt.every {
				h.Clock.Advance(tt.every)
				s, err = h.Open(t.Context(), token, home)
				h.must(err)
			}
			if got := s != nil; got != tt.want {
				t.Errorf("got open %v want %v", got, tt.want)
			}
			list, err := h.Sessions(t.Context(), h.Owner)
			if err != nil || (len(list) == 1) != tt.want {
				t.Errorf("got %d sessions, %v want the same", len(list), err)
			}
		})
	}
}

// TestSessionUse checks that the last use is stored once a minute with its
// address and user agent.
func TestSessionUse(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	token, first := h.settle(owner)
	if first.Method != signin.MethodLink || first.UserID != h.Owner || first.WorkspaceID != h.Workspace || first.Agent != "browser" || first.Address != "203.0.113.7" {
		t.Errorf("got session %+v", first)
	}
	stored := func() (int64, string) {
		list, err := h.Sessions(t.Context(), h.Owner)
		h.must(err)
		return int64(list[0].UsedAt), list[0].Address
	}
	before, _ := stored()
	h.Clock.Advance(59 * time.Second)
	_, err := h.Open(t.Context(), token, away)
	h.must(err)
	if used, at := stored(); used != before || at != "203.0.113.7" {
		t.Errorf("after 59 seconds: got %d from %s want %d", used, at, before)
	}
	h.Clock.Advance(time.Second)
	_, err = h.Open(t.Context(), token, away)
	h.must(err)
	if used, at := stored(); used != int64(h.Now()) || at != "198.51.100.9" {
		t.Errorf("after a minute: got %d from %s want %d", used, at, h.Now())
	}
}

func TestTokensAreNotStored(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	token, _ := h.settle(owner)
	h.Count(0, `SELECT count(*) FROM session WHERE hash = $1 OR id = $2 OR agent = $3`, token, token, token)
	for _, bad := range []string{"", "x", token + "x", token[1:]} {
		h.closed(bad)
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	guest := h.member("guest@example.com", h.Workspace)
	guestToken, guestSession := h.settle("guest@example.com")
	first, one := h.settle(owner)
	in := func() string {
		r, err := h.Password(t.Context(), owner, good, home)
		h.must(err)
		return r.Token
	}
	second, third := in(), in()
	h.must(h.SignOut(t.Context(), second))
	h.must(h.SignOut(t.Context(), second))
	h.closed(second)
	h.wants(h.Revoke(t.Context(), guestSession, one.ID), fault.NotFound, "")
	h.must(h.Revoke(t.Context(), one, h.session(third).ID))
	h.closed(third)
	h.wants(h.Revoke(t.Context(), one, "ses_unknown"), fault.NotFound, "")
	h.audited(1, h.Workspace, "session.revoke")
	h.audited(1, h.Workspace, "signout")
	fourth := in()
	h.must(h.SetPassword(t.Context(), h.session(first), good, "another long password"))
	h.closed(fourth)
	h.session(first)
	h.must(h.EndAll(t.Context(), h.Owner))
	h.closed(first)
	h.session(guestToken)
	if _, err := h.SignInMethods(t.Context(), guest); err != nil {
		t.Error(err)
	}
	h.Clock.Advance(8 * 24 * time.Hour)
	h.must(h.Sweep(t.Context()))
	h.Count(0, `SELECT count(*) FROM session`)
}

// TestWorkspaces checks that a session can switch only to workspaces where its
// user is a member.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	second, _, _ := h.AddWorkspace("other@example.com")
	third, _, _ := h.AddWorkspace("other@example.com")
	h.member("guest@example.com", h.Workspace)
	h.member("guest@example.com", second)
	token, s := h.settle("guest@example.com")
	h.wants(h.SwitchWorkspace(t.Context(), s, third), fault.NotFound, "")
	h.wants(h.SwitchWorkspace(t.Context(), s, "wks_unknown"), fault.NotFound, "")
	h.must(h.SwitchWorkspace(t.Context(), s, second))
	if s.WorkspaceID != second || h.session(token).WorkspaceID != second {
		t.Errorf("got workspace %s want %s", h.session(token).WorkspaceID, second)
	}
	remove := func(workspace ident.ID) {
		_, err := h.Accounts.Remove(t.Context(), operator, workspace, "guest@example.com")
		h.must(err)
	}
	remove(second)
	if got := h.session(token).WorkspaceID; got != h.Workspace {
		t.Errorf("removed from one: got workspace %s want %s", got, h.Workspace)
	}
	remove(h.Workspace)
	_, err := h.Open(t.Context(), token, home)
	h.wants(err, fault.InsufficientPermissions, "no_workspace")
	_, err = h.Password(t.Context(), "guest@example.com", good, home)
	h.wants(err, fault.InsufficientPermissions, "no_workspace")
	h.must(h.SignOut(t.Context(), token))
}

func TestProve(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	token, s := h.settle(owner)
	h.Clock.Advance(signin.ProofLife - time.Millisecond)
	if !s.Proved(h.Clock.Now()) {
		t.Error("a moment before 15 minutes: got unproved want proved")
	}
	h.Clock.Advance(time.Millisecond)
	if s = h.session(token); s.Proved(h.Clock.Now()) {
		t.Error("after 15 minutes: got proved want unproved")
	}
	h.wants(h.Reauthenticate(t.Context(), s, signin.Proof{Password: "wrong password"}, home), fault.InsufficientPermissions, "wrong_credentials")
	h.wants(h.Reauthenticate(t.Context(), s, signin.Proof{Code: "123456"}, home), fault.InsufficientPermissions, "wrong_code")
	h.wants(h.Reauthenticate(t.Context(), s, signin.Proof{}, home), fault.InsufficientPermissions, "wrong_credentials")
	if h.session(token).Proved(h.Clock.Now()) {
		t.Error("after wrong proofs: got proved want unproved")
	}
	h.must(h.Reauthenticate(t.Context(), s, signin.Proof{Password: good}, home))
	if !s.Proved(h.Clock.Now()) || !h.session(token).Proved(h.Clock.Now()) {
		t.Error("after a proof: got unproved want proved")
	}
	h.audited(3, h.Workspace, "signin.failed")
	h.audited(1, h.Workspace, "session.prove")
}

func TestRename(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, s := h.settle(owner)
	h.wants(h.Rename(t.Context(), s, " "), fault.ValidationFailed, "name")
	h.must(h.Rename(t.Context(), s, " Olga "))
	h.Count(1, `SELECT count(*) FROM account_user WHERE name = 'Olga'`)
}
