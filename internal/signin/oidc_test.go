package signin_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/signin"
)

// issuer is an Issuer that returns the configured identity.
type issuer struct {
	id   signin.Identity
	flow signin.Flow
}

func (i *issuer) Start(_ context.Context, redirect string, f signin.Flow) (string, error) {
	i.flow = f
	return "https://id.example.com/authorize?" + url.Values{"state": {f.State}, "redirect_uri": {redirect}}.Encode(), nil
}

func (i *issuer) Finish(_ context.Context, redirect, code string, f signin.Flow) (signin.Identity, error) {
	if redirect != origin+signin.CallbackPath || code != "code" || f != i.flow || f.Nonce == f.Verifier {
		return signin.Identity{}, fault.New(fault.UpstreamError, "got another flow")
	}
	return i.id, nil
}

// vouched completes a single sign-on.
func (h *fixture) vouched(id signin.Identity) (signin.Result, error) {
	h.T.Helper()
	h.issuer.id = id
	to, cookie, err := h.StartOIDC(h.T.Context())
	h.must(err)
	u, err := url.Parse(to)
	h.must(err)
	return h.FinishOIDC(h.T.Context(), cookie, u.Query().Get("state"), "code", home)
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	id := func(subject, email string, verified bool) signin.Identity {
		return signin.Identity{Issuer: "https://id.example.com", Subject: subject, Email: email, Verified: verified, Name: "Some Body"}
	}
	for _, tt := range []struct {
		name string
		id   signin.Identity
	}{
		{"not verified", id("1", owner, false)},
		{"without e-mail", id("1", "", true)},
		{"nobody here", id("1", "nobody@example.com", true)},
	} {
		_, err := h.vouched(tt.id)
		h.wants(err, fault.InsufficientPermissions, "not_invited")
	}
	// A member is found by email on the first sign-in, later by the identity.
	s := h.enters(h.vouched(id("1", "Owner@Example.com", true)))
	if s.UserID != h.Owner || s.Method != signin.MethodOIDC {
		t.Errorf("got session %+v want the owner's", s)
	}
	h.audited(1, h.Workspace, "identity.add")
	if s := h.enters(h.vouched(id("1", "changed@example.com", false))); s.UserID != h.Owner {
		t.Errorf("got session %+v want the owner's", s)
	}
	if w, err := h.SignInMethods(t.Context(), h.Owner); err != nil || w != (signin.Methods{SSO: true}) {
		t.Errorf("got ways %+v, %v", w, err)
	}
	other := id("1", "changed@example.com", true)
	other.Issuer = "https://other.example.com"
	_, err := h.vouched(other)
	h.wants(err, fault.InsufficientPermissions, "not_invited")

	// The sign-in accepts all invitations.
	h.Clock.Advance(time.Millisecond) // ids sort by time
	second, _, _ := h.AddWorkspace("other@example.com")
	h.token(h.Invite(t.Context(), operator, h.Workspace, "new@example.com", "editor"))
	h.token(h.Invite(t.Context(), operator, second, "new@example.com", "viewer"))
	s = h.enters(h.vouched(id("2", "new@example.com", true)))
	list, err := h.Accounts.WorkspacesOf(t.Context(), s.UserID)
	if err != nil || len(list) != 2 || list[0].Role != "editor" || list[1].Role != "viewer" {
		t.Errorf("got workspaces %+v, %v want both", list, err)
	}
	h.Count(0, `SELECT count(*) FROM token WHERE kind = 'invite'`)

	h.token(h.Invite(t.Context(), operator, h.Workspace, "late@example.com", "editor"))
	h.Clock.Advance(signin.InviteLife)
	_, err = h.vouched(id("3", "late@example.com", true))
	h.wants(err, fault.InsufficientPermissions, "not_invited")
	_, err = h.Accounts.AddMember(t.Context(), operator, h.Workspace, "robot@example.com", "editor", true)
	h.must(err)
	_, err = h.vouched(id("4", "robot@example.com", true))
	h.wants(err, fault.InsufficientPermissions, "not_invited")
}

// TestOIDCEndsOtherWays checks that an admin who opened an account with the
// link of an invitation loses access when the user signs in.
func TestOIDCEndsOtherWays(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	const guest = "guest@example.com"
	in := h.enters(h.FollowLink(ctx, h.token(h.Invite(ctx, operator, h.Workspace, guest, "editor")), "Guest", good, home))
	d := newDevice(t)
	h.add(in, d)
	second, _, _ := h.AddWorkspace("other@example.com")
	h.token(h.Invite(ctx, operator, second, guest, "editor"))
	coming := signin.Identity{Issuer: "https://id.example.com", Subject: "1", Email: guest, Verified: true, Name: "Guest"}
	if s := h.enters(h.vouched(coming)); s.UserID != in.UserID {
		t.Errorf("got session %+v want that of %s", s, in.UserID)
	}
	list, err := h.Sessions(ctx, in.UserID)
	if err != nil || len(list) != 1 || list[0].Method != signin.MethodOIDC {
		t.Errorf("got sessions %+v, %v want the new one", list, err)
	}
	_, err = h.Password(ctx, guest, good, home)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	_, err = h.use(d)
	h.wants(err, fault.InsufficientPermissions, "wrong_credentials")
	// Sign-in methods that are set up later stay.
	h.settle(guest)
	h.enters(h.vouched(coming))
	h.enters(h.Password(ctx, guest, good, home))
}

func TestOIDCFlow(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ctx := t.Context()
	h.issuer.id = signin.Identity{Issuer: "https://id.example.com", Subject: "1", Email: owner, Verified: true}
	start := func() (cookie, state string) {
		_, cookie, err := h.StartOIDC(ctx)
		h.must(err)
		return cookie, h.issuer.flow.State
	}
	cookie, state := start()
	_, err := h.FinishOIDC(ctx, cookie, "another", "code", home)
	h.wants(err, fault.InvalidState, "ticket_ended")
	_, err = h.FinishOIDC(ctx, "another", state, "code", home)
	h.wants(err, fault.InvalidState, "ticket_ended")
	h.enters(h.FinishOIDC(ctx, cookie, state, "code", home))
	_, err = h.FinishOIDC(ctx, cookie, state, "code", home)
	h.wants(err, fault.InvalidState, "ticket_ended")
	cookie, state = start()
	h.Clock.Advance(5 * time.Minute)
	_, err = h.FinishOIDC(ctx, cookie, state, "code", home)
	h.wants(err, fault.InvalidState, "ticket_ended")

	h.Issuer = nil
	_, _, err = h.StartOIDC(ctx)
	h.wants(err, fault.NotFound, "")
}
