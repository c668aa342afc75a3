package console_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// makeKey creates a key and returns its id and secret.
func (b *browser) makeKey(more map[string]any) (id, secret string) {
	b.t.Helper()
	body := map[string]any{"name": "CI", "expires_in_days": 90}
	maps.Copy(body, more)
	made := b.api("POST", "keys", body).want(200).record()
	return made["key"].(map[string]any)["id"].(string), made["secret"].(string)
}

// TestKeyLife creates, uses, rotates and revokes a key.
func TestKeyLife(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		tenant := w.Tenant(account.Starter)
		b := member(t, tenant, account.Editor)
		id, secret := b.makeKey(map[string]any{"scopes": map[string]string{"campaigns": "read"}, "ip_allow_list": []string{"203.0.113.7"}})
		api := w.Client(secret)
		me := api.Do("GET", "/v1/me", nil).Want(200).Record()
		if got := me["user"].(map[string]any)["email"]; got != b.email {
			t.Errorf("got a key of %v want of %s", got, b.email)
		}
		api.Do("POST", "/v1/campaigns", `{"name":"a"}`).WantError(403, "insufficient_scope")

		rotated := b.api("POST", "keys/"+id+"/rotate", `{"overlap_seconds":3600}`).want(200).record()
		next := w.Client(rotated["secret"].(string))
		api.Do("GET", "/v1/campaigns", nil).Want(200)
		next.Do("GET", "/v1/campaigns", nil).Want(200)
		w.Clock.Advance(time.Hour)
		api.Do("GET", "/v1/campaigns", nil).WantError(401, "api_key_expired")
		next.Do("GET", "/v1/campaigns", nil).Want(200)

		if err := w.App.Keys.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys := b.api("GET", "keys", nil).want(200).list()
		var shown map[string]any
		for _, k := range keys {
			if k["id"] == rotated["key"].(map[string]any)["id"] {
				shown = k
			}
		}
		daily := shown["daily"].([]any)
		if shown["status"] != "active" || shown["mine"] != true || shown["requests_30d"] != 2.0 || len(daily) != 30 || daily[29] != 2.0 ||
			shown["last_ip"] != "203.0.113.7" || shown["exposed"] != false || shown["revoked_at"] != nil {
			t.Errorf("got key %v", shown)
		}
		nextID := shown["id"].(string)
		b.api("DELETE", "keys/"+nextID, nil).want(200)
		next.Do("GET", "/v1/campaigns", nil).WantError(401, "api_key_revoked")
		b.enter(b.email).api("POST", "keys/"+nextID+"/rotate", `{"overlap_seconds":0}`).want(409)

		id, secret = b.makeKey(nil)
		b.api("POST", "keys/"+id+"/rotate", `{"overlap_seconds":0}`).want(200)
		w.Client(secret).Do("GET", "/v1/me", nil).WantError(401, "api_key_expired")
		b.api("POST", "keys/"+id+"/rotate", `{"overlap_seconds":604801}`).want(422)
	})
}

// TestKeysOfOthers checks that users manage their own keys and admins all.
func TestKeysOfOthers(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	admin, viewer, editor := member(t, tenant, account.Admin), member(t, tenant, account.Viewer), member(t, tenant, account.Editor)
	id, _ := viewer.makeKey(nil)
	if keys := viewer.api("GET", "keys", nil).want(200).list(); len(keys) != 1 || keys[0]["id"] != id {
		t.Errorf("got keys %v want only the viewer's own", keys)
	}
	if keys := editor.api("GET", "keys", nil).want(200).list(); len(keys) != 0 {
		t.Errorf("got keys %v want none", keys)
	}
	editor.api("DELETE", "keys/"+id, nil).fails(404, "not_found")
	editor.api("POST", "keys/"+id+"/rotate", `{"overlap_seconds":0}`).fails(404, "not_found")
	// The workspace has its first key too.
	if keys := admin.api("GET", "keys", nil).want(200).list(); len(keys) != 2 {
		t.Errorf("got %d keys want 2", len(keys))
	}
	admin.api("POST", "keys/"+id+"/rotate", `{"overlap_seconds":0}`).fails(403, "insufficient_permissions")
	if got := admin.api("DELETE", "keys/"+id, nil).want(200).record(); got["status"] != "revoked" || got["revoke_reason"] != "by_admin" {
		t.Errorf("got %v want it revoked by an admin", got)
	}

	service := admin.api("POST", "members/service", `{"name":"Warehouse","role":"editor"}`).want(200).record()
	made := admin.api("POST", "keys", map[string]any{"name": "Nightly", "expires_in_days": 0, "user_id": service["id"]}).want(200).record()
	me := w.Client(made["secret"].(string)).Do("GET", "/v1/me", nil).Want(200).Record()
	if got := me["user"].(map[string]any)["name"]; got != "Warehouse" || me["role"] != "editor" {
		t.Errorf("got a key of %v as %v want Warehouse as editor", got, me["role"])
	}
	key := made["key"].(map[string]any)["id"].(string)
	admin.api("POST", "keys/"+key+"/rotate", `{"overlap_seconds":0}`).want(200)
	for who, b := range map[string]*browser{"editor": editor, "viewer": viewer} {
		if got := b.api("POST", "keys", map[string]any{"name": "Mine", "expires_in_days": 1, "user_id": service["id"]}); got.status != 404 {
			t.Errorf("%s makes a service key: got %d want 404", who, got.status)
		}
	}
	admin.api("POST", "keys", map[string]any{"name": "Mine", "expires_in_days": 1, "user_id": viewer.user()}).fails(403, "insufficient_permissions")

	boss := owner(t, tenant)
	chief := boss.api("POST", "members/service", `{"name":"Chief","role":"owner"}`).want(200).record()
	admin.api("POST", "keys", map[string]any{"name": "Up", "expires_in_days": 1, "user_id": chief["id"]}).fails(403, "insufficient_permissions")
	boss.api("POST", "keys", map[string]any{"name": "Up", "expires_in_days": 1, "user_id": chief["id"]}).want(200)
}

// TestEndlessKeys checks that a workspace can forbid keys without expiry.
func TestEndlessKeys(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	b.makeKey(map[string]any{"expires_in_days": 0})
	b.api("PATCH", "workspace", `{"endless_keys":false}`).want(200)
	b.api("POST", "keys", `{"name":"a","expires_in_days":0}`).want(422)
	id, _ := b.makeKey(map[string]any{"expires_in_days": 14})
	keys := b.api("GET", "keys", nil).want(200).list()
	i := slices.IndexFunc(keys, func(k map[string]any) bool { return k["id"] == id })
	if keys[i]["status"] != "expiring" {
		t.Errorf("got status %v want expiring", keys[i]["status"])
	}
}

// TestExposedKeys checks that exposed keys are marked if they are not revoked.
func TestExposedKeys(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	b := owner(t, w.Tenant(account.Starter))
	id, secret := b.makeKey(nil)
	here := w.Client("")
	here.From = "127.0.0.1:1"
	here.Do("GET", "/v1/campaigns?key="+secret, nil).Want(401)
	for _, k := range b.api("GET", "keys", nil).want(200).list() {
		if got := k["exposed"]; got != (k["id"] == id) {
			t.Errorf("key %v: got exposed %v", k["id"], got)
		}
	}
}

// TestKeysOpenNothingHere checks that a key does not work as a session, and a
// session not as a key.
func TestKeysOpenNothingHere(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil)
	tenant := w.Tenant(account.Starter)
	b := owner(t, tenant)
	for _, target := range []string{"/console/api/keys", "/console/api/workspace", "/console/v1/campaigns", "/console/v1"} {
		newBrowser(t, w).do("GET", target, nil, "Authorization: Bearer "+tenant.Key).fails(401, "signed_out")
		newBrowser(t, w).do("POST", target, `{}`, "Authorization: Bearer "+tenant.Key).want(map[bool]int{true: 405, false: 401}[target == "/console/api/workspace"])
	}
	if got := b.do("GET", "/v1/campaigns", nil); got.status != 401 || got.problem() != "missing_api_key" {
		t.Errorf("a cookie under /v1: got %d %s want 401", got.status, got.body)
	}
}
