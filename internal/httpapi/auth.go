package httpapi

import (
	"errors"
	"net/url"
	"strings"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/record"
)

// authenticate finds the caller, or says why not. Failures are counted by
// address; headers describe that policy until the caller is known.
func (a *API) authenticate(r *request) error {
	if q := r.http.URL.RawQuery; strings.Contains(q, account.KeyPrefix) {
		a.exposedInQuery(r, q)
	}
	secret, err := bearer(r.http.Header["Authorization"])
	if err != nil {
		return a.refuse(r, err)
	}
	if !account.WellFormed(secret) {
		return a.refuse(r, invalidKey())
	}
	hash := account.HashSecret(secret)
	caller, known := a.Gate.Cached(hash)
	if !known {
		if d := a.addresses.Look(r.from, r.now); !d.OK {
			return a.limited(r, d, "ip")
		}
		caller, err = a.Gate.Caller(r.http.Context(), hash)
		if errors.Is(err, account.ErrUnknownKey) {
			return a.refuse(r, invalidKey())
		}
		if err != nil {
			a.limitByAddress(r, a.addresses.Look(r.from, r.now))
			return err
		}
	}
	if err := caller.Check(clock.At(r.now)); err != nil {
		return a.refuse(r, err)
	}
	r.caller = caller
	a.Gate.Used(caller, r.from, r.http.Header.Get("User-Agent"), r.now)
	return nil
}

func invalidKey() error {
	return fault.New(fault.InvalidAPIKey, "This is not an API key of this service. Keys look like fanf_… and are made under Settings > API > Keys.")
}

// bearer reads the one Authorization header.
func bearer(values []string) (string, error) {
	if len(values) > 1 {
		return "", fault.New(fault.InvalidAPIKey, "Send exactly one Authorization header.")
	}
	if len(values) == 1 {
		scheme, secret, found := strings.Cut(values[0], " ")
		if found && strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(secret), nil
		}
	}
	return "", fault.New(fault.MissingAPIKey, "Send your API key in the header Authorization: Bearer <API_KEY>.")
}

// refuse counts a failed authentication. Once an address has used up its
// failures the answer says so instead.
func (a *API) refuse(r *request, err error) error {
	d := a.addresses.Fail(r.from, r.now)
	if !d.OK {
		return a.limited(r, d, "ip")
	}
	a.limitByAddress(r, d)
	r.w.Header()["Www-Authenticate"] = hBearer
	return err
}

// exposedInQuery revokes valid keys that stand in a URL, because URLs end in
// logs.
func (a *API) exposedInQuery(r *request, rawQuery string) {
	query, _ := url.ParseQuery(rawQuery)
	for _, values := range query {
		for _, v := range values {
			a.exposed(r, v, "sent_in_url", !r.from.IsLoopback())
		}
	}
}

// exposed handles a key that was sent where others can read it: a valid one is
// revoked at once, or only reported where revoking would hit the wrong one. It
// reports whether it revoked a key.
func (a *API) exposed(r *request, secret, reason string, mayRevoke bool) bool {
	if !account.WellFormed(secret) {
		return false
	}
	ctx := r.http.Context()
	caller, err := a.Gate.Caller(ctx, account.HashSecret(secret))
	if err != nil || caller.Check(clock.At(r.now)) != nil {
		return false
	}
	log := a.Log.With("request_id", r.id, "key_id", caller.Key.ID, "workspace_id", caller.Workspace.ID, "reason", reason)
	if !mayRevoke || a.KeepExposedKeys {
		log.Warn("an API key was sent where others can read it; rotate it")
		return false
	}
	cause := record.Cause{Actor: record.System, RequestID: r.id, Address: r.from.String()}
	if _, err := a.Accounts.Revoke(ctx, cause, caller.Workspace.ID, caller.Key.ID, reason); err != nil {
		log.Error("revoke exposed key", "error", err)
		return false
	}
	log.Warn("an API key was sent where others can read it and was revoked")
	return true
}
