package console_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/ident"
)

// box is a mailer that keeps its messages.
type box struct {
	mu     sync.Mutex
	links  map[string]string
	count  int
	broken bool
}

func (b *box) put(to, link string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken {
		return errors.New("the mail server is away")
	}
	if b.links == nil {
		b.links = map[string]string{}
	}
	b.links[to] = link
	b.count++
	return nil
}

func (b *box) Invite(_ context.Context, to, _, _, link string, _ time.Time) error {
	return b.put(to, link)
}

func (b *box) Reset(_ context.Context, to, link string, _ time.Time) error { return b.put(to, link) }

// after returns the token of a link.
func after(link string) string {
	_, token, _ := strings.Cut(link, "#")
	return token
}

// TestInvite adds a member by a link.
func TestInvite(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	admin := member(t, tenant, account.Admin)
	got := admin.api("POST", "members", `{"email":"new@example.com","role":"editor"}`).want(200).record()
	if got["mailed"] != false {
		t.Errorf("got %v want a link", got)
	}
	token := after(got["link"].(string))
	invited := admin.api("GET", "members", nil).want(200).record()["invitations"].([]any)
	if len(invited) != 1 || invited[0].(map[string]any)["email"] != "new@example.com" {
		t.Errorf("got invitations %v", invited)
	}
	b := newBrowser(t, w)
	look := b.api("POST", "link/look", map[string]any{"token": token}).want(200).record()
	if look["kind"] != "invite" || look["email"] != "new@example.com" || look["known"] != false || look["workspace"] == nil {
		t.Errorf("got %v want an invitation", look)
	}
	b.api("POST", "link", map[string]any{"token": token, "name": "New", "password": "short"}).want(422)
	b.api("POST", "link", map[string]any{"token": token, "name": "New", "password": password}).want(200)
	if got := b.api("GET", "session", nil).want(200).record(); got["role"] != "editor" {
		t.Errorf("got %v want an editor", got)
	}
	b.api("POST", "link/look", map[string]any{"token": token}).fails(404, "not_found")
	admin.api("POST", "members", `{"email":"new@example.com","role":"viewer"}`).fails(409, "already_exists")

	// A signed-in user accepts without a password.
	other := w.Tenant(account.Starter)
	link := owner(t, other).api("POST", "members", `{"email":"new@example.com","role":"viewer"}`).want(200).record()["link"].(string)
	b.api("POST", "link", map[string]any{"token": after(link)}).want(200)
	if got := b.api("GET", "session", nil).want(200).record()["workspaces"].([]any); len(got) != 2 {
		t.Errorf("got workspaces %v want two", got)
	}
}

// TestFounder checks that the workspaces that a user creates, and those of the
// users whom this user has invited, share their turns, also after a change of
// owner. Only the operator can create a new founder.
func TestFounder(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		accounts := w.App.Accounts
		want := func(workspace, founder ident.ID) {
			t.Helper()
			if got, err := accounts.Founder(t.Context(), workspace); err != nil || got != founder {
				t.Errorf("got founder %q, %v want %q", got, err, founder)
			}
		}
		create := func(b *browser) ident.ID {
			t.Helper()
			return ident.ID(b.api("POST", "workspaces", `{"name":"Another","timezone":"UTC","currency":"EUR"}`).want(200).record()["id"].(string))
		}
		join := func(b *browser, from *browser, email string) {
			t.Helper()
			link := from.api("POST", "members", map[string]any{"email": email, "role": "owner"}).want(200).record()["link"].(string)
			b.api("POST", "link", map[string]any{"token": after(link), "name": "New", "password": password}).want(200)
		}
		tenant := w.Tenant(account.Starter)
		members, err := accounts.Members(t.Context(), tenant.Workspace)
		if err != nil {
			t.Fatal(err)
		}
		ada := members[0]
		adas := owner(t, tenant)
		want(tenant.Workspace, ada.ID)
		want(create(adas), ada.ID)

		eve := newBrowser(t, w)
		join(eve, adas, "eve@example.com")
		want(create(eve), ada.ID)
		if _, err := accounts.Remove(t.Context(), fanfaretest.Operator, tenant.Workspace, ada.Email); err != nil {
			t.Fatal(err)
		}
		fresh := account.New(w.App.DB.Accounts(), w.Clock.Now, rand.Reader)
		if got, err := fresh.Founder(t.Context(), tenant.Workspace); err != nil || got != ada.ID {
			t.Errorf("after the owner left: got %q, %v want %q", got, err, ada.ID)
		}

		made, err := accounts.CreateWorkspace(t.Context(), fanfaretest.Operator, account.NewWorkspace{Name: "Eve's", Plan: "starter", Owner: "eve@example.com", Currency: "EUR", Timezone: "UTC"})
		if err != nil {
			t.Fatal(err)
		}
		want(made.WorkspaceID, made.UserID)
		want(create(eve), made.UserID)
		join(eve, owner(t, w.Tenant(account.Starter)), "eve@example.com")
		want(create(eve), made.UserID)
		want("wks_unknown", "wks_unknown")
	})
}

// TestWithdraw withdraws an invitation.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	link := b.api("POST", "members", `{"email":"new@example.com","role":"editor"}`).want(200).record()["link"].(string)
	id := b.api("GET", "members", nil).want(200).record()["invitations"].([]any)[0].(map[string]any)["id"].(string)
	owner(t, w.Tenant(account.Starter)).api("DELETE", "invitations/"+id, nil).fails(404, "not_found")
	b.api("DELETE", "invitations/"+id, nil).want(200)
	newBrowser(t, w).api("POST", "link", map[string]any{"token": after(link), "name": "New", "password": password}).fails(404, "not_found")
}

// TestRanks checks that admins cannot become owners through another user.
func TestRanks(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	admin, boss, editor := member(t, tenant, account.Admin), owner(t, tenant), member(t, tenant, account.Editor)
	above, below := "members/"+string(boss.user()), "members/"+string(editor.user())
	const refused = "insufficient_permissions"
	admin.api("POST", "members", `{"email":"new@example.com","role":"owner"}`).fails(403, refused)
	admin.api("POST", "members/service", `{"name":"a","role":"owner"}`).fails(403, refused)
	admin.api("PATCH", below, `{"role":"owner"}`).fails(403, refused)
	admin.api("PATCH", above, `{"role":"viewer"}`).fails(403, refused)
	admin.api("DELETE", above, nil).fails(403, refused)
	admin.api("POST", above+"/reset", nil).fails(403, refused)
	admin.api("PATCH", below, `{"role":"admin"}`).want(200)
	admin.api("PATCH", below, `{"role":"chief"}`).fails(422, "invalid_value")
	boss.api("DELETE", above, nil).fails(409, "invalid_state")
	admin.api("DELETE", below, nil).want(200)
	admin.api("DELETE", below, nil).fails(404, "not_found")
	for _, m := range admin.api("GET", "members", nil).want(200).record()["members"].([]any) {
		m := m.(map[string]any)
		if m["email"] == editor.email || m["last_seen_at"] == nil || m["can_sign_in"] != false || m["service"] != false {
			t.Errorf("got member %v", m)
		}
	}
}

// TestResetMember checks that a reset link is shown only where it grants no
// additional access.
func TestResetMember(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant, other := w.Tenant(account.Starter), w.Tenant(account.Starter)
	admin, editor := member(t, tenant, account.Admin), member(t, tenant, account.Editor)
	path := "members/" + string(editor.user()) + "/reset"
	link := admin.api("POST", path, nil).want(200).record()["link"].(string)
	newBrowser(t, w).api("POST", "link", map[string]any{"token": after(link), "password": password}).want(200)
	editor.api("GET", "keys", nil).fails(401, "signed_out")
	if _, err := w.App.Accounts.AddMember(t.Context(), fanfaretest.Operator, other.Workspace, editor.email, "owner", false); err != nil {
		t.Fatal(err)
	}
	admin.api("POST", path, nil).want(409)

	post := &box{}
	w.App.Console.Mail = post
	if got := admin.api("POST", path, nil).want(200).record(); got["mailed"] != true || got["link"] != nil || post.links[editor.email] == "" {
		t.Errorf("got %v want it mailed, and not shown", got)
	}
	post.broken = true
	admin.api("POST", path, nil).fails(502, "upstream_error")
	if got := admin.api("POST", "members", `{"email":"new@example.com","role":"viewer"}`).want(200).record(); got["mailed"] != false || got["link"] == nil {
		t.Errorf("got %v want the link where no mail goes out", got)
	}
}

// TestAskReset checks that known and unknown emails get the same response, and
// that repeated requests send one email.
func TestAskReset(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	b := newBrowser(t, w)
	without := b.api("POST", "reset", map[string]any{"email": tenant.Owner}).want(200)
	post := &box{}
	w.App.Console.Mail = post
	ask := func(email string) *answer {
		got := b.api("POST", "reset", map[string]any{"email": email}).want(200)
		w.App.Console.Wait()
		return got
	}
	for _, email := range []string{tenant.Owner, "nobody@example.com", strings.ToUpper(tenant.Owner), tenant.Owner} {
		if got := ask(email); string(got.body) != string(without.body) {
			t.Errorf("%s: got %s want %s", email, got.body, without.body)
		}
	}
	if post.count != 1 {
		t.Errorf("got %d mails want 1", post.count)
	}
	w.Clock.Advance(5 * time.Minute)
	ask(tenant.Owner)
	if post.count != 2 {
		t.Errorf("got %d mails want 2", post.count)
	}
	b.api("POST", "link", map[string]any{"token": after(post.links[tenant.Owner]), "password": password}).want(200)
	if got := b.api("GET", "session", nil).want(200).record()["user"].(map[string]any); got["password"] != true {
		t.Errorf("got %v want a password", got)
	}
}

// TestAskResetFlood checks that a network can request ten resets and does not
// block requests of other networks.
func TestAskResetFlood(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	first, other := w.Tenant(account.Starter), w.Tenant(account.Starter)
	post := &box{}
	w.App.Console.Mail = post
	b := newBrowser(t, w)
	for i := range 50 {
		b.api("POST", "reset", map[string]any{"email": fmt.Sprintf("nobody-%d@example.com", i)}).want(200)
	}
	b.api("POST", "reset", map[string]any{"email": first.Owner}).want(200)
	elsewhere := newBrowser(t, w)
	elsewhere.address = "203.0.113.9:5000"
	elsewhere.api("POST", "reset", map[string]any{"email": other.Owner}).want(200)
	w.App.Console.Wait()
	if post.links[first.Owner] != "" || post.links[other.Owner] == "" {
		t.Errorf("got links %v want one for %s alone", post.links, other.Owner)
	}
}

// TestStrangers checks that users have no access to another workspace.
func TestStrangers(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	b, stranger := owner(t, tenant), owner(t, w.Tenant(account.Starter))
	key, _ := b.makeKey(nil)
	b.api("POST", "members", `{"email":"new@example.com","role":"editor"}`).want(200)
	invitation := b.api("GET", "members", nil).want(200).record()["invitations"].([]any)[0].(map[string]any)["id"].(string)
	session := b.api("GET", "session", nil).want(200).record()["session_id"].(string)
	campaign := tenant.Do("POST", "/v1/campaigns", `{"name":"a"}`).Want(201).ID()
	member := "members/" + string(b.user())
	for _, tt := range []struct{ method, path, body string }{
		{"DELETE", "keys/" + key, ""},
		{"POST", "keys/" + key + "/rotate", `{"overlap_seconds":0}`},
		{"PATCH", member, `{"role":"viewer"}`},
		{"DELETE", member, ""},
		{"POST", member + "/reset", ""},
		{"DELETE", "invitations/" + invitation, ""},
		{"DELETE", "sessions/" + session, ""},
		{"POST", "keys", `{"name":"a","expires_in_days":1,"user_id":"` + string(b.user()) + `"}`},
	} {
		stranger.api(tt.method, tt.path, tt.body).fails(404, "not_found")
	}
	stranger.do("GET", "/console/v1/campaigns/"+campaign, nil).fails(404, "not_found")
	if got := stranger.api("GET", "requests", nil).want(200).list(); len(got) != 0 {
		t.Errorf("got requests %v want none", got)
	}
	for _, e := range stranger.api("GET", "audit", nil).want(200).list() {
		if e["target"] == key {
			t.Errorf("got entry %v of another workspace", e)
		}
	}
	b.api("GET", "keys", nil).want(200)
}
