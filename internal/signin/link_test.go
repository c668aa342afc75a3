package signin_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/signin"
)

func TestInvite(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	token := h.token(h.Invite(ctx, operator, h.Workspace, "New@example.com", "editor"))
	info, err := h.LookLink(ctx, token)
	if want := (signin.LinkInfo{Kind: "invite", Email: "new@example.com", Workspace: "Workspace of owner@example.com"}); err != nil || info != want {
		t.Errorf("got %+v, %v want %+v", info, err, want)
	}
	list, err := h.Invitations(ctx, h.Workspace)
	if err != nil || len(list) != 1 || list[0].Email != "new@example.com" || list[0].Role != "editor" || list[0].ExpiresAt != h.Now().Add(signin.InviteLife) {
		t.Errorf("got invitations %+v, %v", list, err)
	}
	_, err = h.FollowLink(ctx, token, "", "short", home)
	h.wants(err, fault.ValidationFailed, "name")
	h.wants(err, fault.ValidationFailed, "password")
	s := h.enters(h.FollowLink(ctx, token, "Newcomer", good, home))
	if s.WorkspaceID != h.Workspace || !s.Proved(h.Clock.Now()) {
		t.Errorf("got session %+v", s)
	}
	c, err := h.Accounts.CallerFor(ctx, h.Workspace, s.UserID)
	if err != nil || c.Role != "editor" || c.User.Name != "Newcomer" || c.User.Email != "new@example.com" {
		t.Errorf("got %+v, %v", c, err)
	}
	h.audited(1, h.Workspace, "invitation.create")
	h.audited(1, h.Workspace, "invitation.accept")
	_, err = h.FollowLink(ctx, token, "Newcomer", good, home)
	h.wants(err, fault.NotFound, "")
	_, err = h.Invite(ctx, operator, h.Workspace, "new@example.com", "viewer")
	h.wants(err, fault.AlreadyExists, "")
	if list, err := h.Invitations(ctx, h.Workspace); err != nil || len(list) != 0 {
		t.Errorf("got invitations %+v, %v want none", list, err)
	}
}

func TestInviteRefuses(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	_, err := h.Invite(ctx, operator, h.Workspace, "not an address", "emperor")
	h.wants(err, fault.ValidationFailed, "email")
	h.wants(err, fault.ValidationFailed, "role")
	_, err = h.Accounts.AddMember(ctx, operator, h.Workspace, "robot@example.com", "editor", true)
	h.must(err)
	_, err = h.Invite(ctx, operator, h.Workspace, "robot@example.com", "viewer")
	h.wants(err, fault.InvalidState, "")
	// The operator can invite a member who cannot sign in yet; the member keeps
	// the role. An admin could sign in as another user this way.
	admin := record.Cause{Actor: record.Actor{Type: record.ActorUser, ID: "usr_1"}}
	_, err = h.Invite(ctx, admin, h.Workspace, owner, "viewer")
	h.wants(err, fault.AlreadyExists, "")
	s := h.enters(h.FollowLink(ctx, h.token(h.Invite(ctx, operator, h.Workspace, owner, "viewer")), "", good, home))
	if c, err := h.Accounts.CallerFor(ctx, h.Workspace, s.UserID); err != nil || c.Role != "owner" {
		t.Errorf("got %+v, %v want the owner", c, err)
	}
}

// TestInviteTakesNothingOver checks that the bearer of an invitation to an
// existing user must authenticate as that user.
func TestInviteTakesNothingOver(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	admin := record.Cause{Actor: record.Actor{Type: record.ActorUser, ID: "usr_1"}}
	second, _, _ := h.AddWorkspace("other@example.com")

	// The owner cannot sign in yet but has a workspace.
	token := h.token(h.Invite(ctx, admin, second, owner, "viewer"))
	_, err := h.FollowLink(ctx, token, "Evil", good, away)
	h.wants(err, fault.InvalidState, "")

	_, s := h.settle(owner)
	info, err := h.LookLink(ctx, token)
	if err != nil || !info.Known {
		t.Errorf("got %+v, %v want known", info, err)
	}
	_, err = h.FollowLink(ctx, token, "Evil", "another long password", away)
	h.wants(err, fault.ValidationFailed, "password")
	h.audited(1, h.Workspace, "signin.failed")
	in := h.enters(h.FollowLink(ctx, token, "", good, home))
	if in.UserID != h.Owner || in.WorkspaceID != second {
		t.Errorf("got session %+v want the owner in %s", in, second)
	}

	// A signed-in user accepts without a password, and only the user's own
	// invitations.
	third, _, _ := h.AddWorkspace("other@example.com")
	mine, other := h.token(h.Invite(ctx, admin, third, owner, "editor")), h.token(h.Invite(ctx, admin, third, "guest@example.com", "editor"))
	_, err = h.Accept(ctx, s, other)
	h.wants(err, fault.InvalidState, "")
	if id, err := h.Accept(ctx, s, mine); err != nil || id != third {
		t.Errorf("got %s, %v want %s", id, err, third)
	}
	_, err = h.Accept(ctx, s, mine)
	h.wants(err, fault.NotFound, "")
	h.must(h.SwitchWorkspace(ctx, s, third))
}

func TestWithdraw(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	second, _, _ := h.AddWorkspace("other@example.com")
	token := h.token(h.Invite(ctx, operator, h.Workspace, "new@example.com", "editor"))
	list, err := h.Invitations(ctx, h.Workspace)
	h.must(err)
	h.wants(h.Withdraw(ctx, operator, second, list[0].ID), fault.NotFound, "")
	h.must(h.Withdraw(ctx, operator, h.Workspace, list[0].ID))
	h.wants(h.Withdraw(ctx, operator, h.Workspace, list[0].ID), fault.NotFound, "")
	_, err = h.FollowLink(ctx, token, "New", good, home)
	h.wants(err, fault.NotFound, "")
	h.audited(1, h.Workspace, "invitation.withdraw")
}

func TestReset(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	cookie, s := h.settle(owner)
	d := newDevice(t)
	h.add(s, d)
	old, token := h.token(h.Reset(ctx, operator, owner)), h.token(h.Reset(ctx, operator, owner))
	_, err := h.FollowLink(ctx, old, "", "another long password", home)
	h.wants(err, fault.NotFound, "")
	_, err = h.FollowLink(ctx, token, "", "password1", home)
	h.wants(err, fault.ValidationFailed, "password")
	h.session(cookie)
	h.enters(h.FollowLink(ctx, token, "", "another long password", home))
	h.closed(cookie)
	_, err = h.use(d)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	_, err = h.Password(ctx, owner, good, home)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	h.enters(h.Password(ctx, owner, "another long password", home))
	_, err = h.Reset(ctx, operator, "nobody@example.com")
	h.wants(err, fault.NotFound, "")
	h.audited(2, h.Workspace, "password.reset")
}

// TestResetByAdmin checks that an admin gets no access to other workspaces.
func TestResetByAdmin(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	second, _, _ := h.AddWorkspace("other@example.com")
	h.member("guest@example.com", h.Workspace)
	reset := func(workspace ident.ID) (signin.Link, error) {
		return h.Reset(t.Context(), record.Cause{Workspace: workspace, Actor: record.Actor{Type: record.ActorUser}}, "guest@example.com")
	}
	h.enters(h.FollowLink(t.Context(), h.token(reset(h.Workspace)), "", good, home))
	_, err := reset(second)
	h.wants(err, fault.InvalidState, "")
	kept := h.token(reset(h.Workspace))
	h.member("guest@example.com", second)
	_, err = reset(h.Workspace)
	h.wants(err, fault.InvalidState, "")
	_, err = h.FollowLink(t.Context(), kept, "", "another long password", home)
	h.wants(err, fault.NotFound, "")
}

func TestLinksExpire(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		life time.Duration
		make func(h *fixture) (signin.Link, error)
	}{
		{"invite", 7 * 24 * time.Hour, func(h *fixture) (signin.Link, error) {
			return h.Invite(h.T.Context(), operator, h.Workspace, "new@example.com", "viewer")
		}},
		{"reset", time.Hour, func(h *fixture) (signin.Link, error) { return h.Reset(h.T.Context(), operator, owner) }},
		{"sign-in", 10 * time.Minute, func(h *fixture) (signin.Link, error) {
			return h.SignInLink(h.T.Context(), owner, 10*time.Minute)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			token := h.token(tt.make(h))
			h.Clock.Advance(tt.life)
			_, err := h.LookLink(t.Context(), token)
			h.wants(err, fault.NotFound, "")
			_, err = h.FollowLink(t.Context(), token, "New", good, home)
			h.wants(err, fault.NotFound, "")
			token = h.token(tt.make(h))
			h.Clock.Advance(tt.life - time.Millisecond)
			h.enters(h.FollowLink(t.Context(), token, "New", good, home))
			h.Clock.Advance(tt.life)
			h.must(h.Sweep(t.Context()))
			h.Count(0, `SELECT count(*) FROM token`)
		})
	}
}

// TestLinksOnce follows one link with concurrent requests.
func TestLinksOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, token := range []string{
		h.token(h.Invite(t.Context(), operator, h.Workspace, "new@example.com", "viewer")),
		h.token(h.Reset(t.Context(), operator, owner)),
		h.token(h.SignInLink(t.Context(), owner, time.Minute)),
	} {
		var in atomic.Int64
		var group sync.WaitGroup
		for range 6 {
			group.Go(func() {
				r, err := h.FollowLink(t.Context(), token, "New", good, home)
				if err == nil && r.Token != "" {
					in.Add(1)
				}
			})
		}
		group.Wait()
		if got := in.Load(); got != 1 {
			t.Errorf("got %d in want 1", got)
		}
	}
	h.Count(1, `SELECT count(*) FROM account_user WHERE email = 'new@example.com'`)
}

func TestSetup(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	made := 0
	makes := func(_ context.Context, email string) (ident.ID, error) {
		made++
		id, _, _ := h.AddWorkspace(email)
		return id, nil
	}
	if needed, err := h.NeedsSetup(ctx); err != nil || !needed {
		t.Fatalf("got %v, %v want a set-up", needed, err)
	}
	first, ok, err := h.SetupToken(ctx)
	if again, _, _ := h.SetupToken(ctx); err != nil || !ok || again != first || len(first) != 43 {
		t.Fatalf("got %q and %q, %v want the same", first, again, err)
	}
	h.restart(nil)
	token, _, err := h.SetupToken(ctx)
	h.must(err)
	boss := signin.Owner{Email: "Boss@example.com", Name: "Boss", Password: good}
	for _, bad := range []string{first, "", h.token(h.Reset(ctx, operator, owner))} {
		_, err := h.Setup(ctx, bad, boss, home, makes)
		h.wants(err, fault.NotFound, "")
	}
	_, err = h.Setup(ctx, token, signin.Owner{Email: "boss", Password: "short"}, home, makes)
	for _, field := range []string{"email", "name", "password"} {
		h.wants(err, fault.ValidationFailed, field)
	}
	if made != 0 {
		t.Fatalf("got %d workspaces before the set-up was right", made)
	}
	s := h.enters(h.Setup(ctx, token, boss, home, makes))
	if made != 1 || s.WorkspaceID == h.Workspace {
		t.Errorf("got %d workspaces and session %+v want a new one", made, s)
	}
	h.Count(1, `SELECT count(*) FROM account_user WHERE email = 'boss@example.com' AND name = 'Boss'`)
	_, err = h.Setup(ctx, token, boss, home, makes)
	h.wants(err, fault.NotFound, "")
	if token, ok, err := h.SetupToken(ctx); err != nil || ok || token != "" {
		t.Errorf("got %q, %v, %v want none", token, ok, err)
	}
	h.audited(1, s.WorkspaceID, "setup")
}

// TestSetupOfOwner sets up an owner whom the operator created.
func TestSetupOfOwner(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	token, _, err := h.SetupToken(t.Context())
	h.must(err)
	s := h.enters(h.Setup(t.Context(), token, signin.Owner{Email: owner, Name: "Olga", Password: good}, home, nil))
	if s.WorkspaceID != h.Workspace || s.UserID != h.Owner {
		t.Errorf("got session %+v want the owner's", s)
	}
	h.enters(h.Password(t.Context(), owner, good, home))
}
