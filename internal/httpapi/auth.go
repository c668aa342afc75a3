package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
)

// authenticate sets the caller by the API key of the request or returns a
// fault. Failures are counted by address. Until the caller is known, the rate
// limit headers describe the address limit.
func (a *API) authenticate(r *request) error {
	if q := r.http.URL.RawQuery; strings.Contains(q, account.KeyPrefix) {
		a.exposedInQuery(r, q)
	}
	secret, err := bearer(r.http.Header["Authorization"])
	if err != nil {
		return a.authFailed(r, err)
	}
	if !account.WellFormed(secret) {
		return a.authFailed(r, malformedKey(secret))
	}
	caller, err := a.findCaller(r, account.HashSecret(secret))
	switch {
	case errors.Is(err, account.ErrUnknownKey):
		return a.authFailed(r, invalidKey())
	case err != nil:
		a.limitByAddress(r, a.addresses.Peek(r.from, r.now))
		return err
	}
	r.logCaller = caller
	if err := caller.Check(clock.At(r.now)); err != nil {
		return a.authFailed(r, err)
	}
	r.caller = caller
	a.Keys.Used(caller, r.from, r.http.Header.Get("User-Agent"), r.now)
	return nil
}

// Limits of the lookups of keys that are new to this node. keyLookups is well
// below the number of connections to the database.
const (
	keyLookups    = 4
	keyLookupWait = 5 * time.Second
)

// findCaller returns the caller of a key.
// Choice: failures of an address never refuse a key, because an office or a
// cloud has one address for many clients. Instead, keys that this node has not
// found before are looked up a few at a time, and addresses take turns. A guess
// costs one indexed read and delays only guesses and first uses of keys; a
// random text costs none, because keys have check digits.
func (a *API) findCaller(r *request, hash account.Hash) (*account.Caller, error) {
	ctx := r.http.Context()
	if caller, ok := a.Keys.Cached(hash); ok {
		return caller, nil
	}
	if a.Keys.Seen(hash) {
		return a.Keys.Caller(ctx, hash)
	}
	wait, cancel := context.WithTimeout(ctx, keyLookupWait)
	defer cancel()
	release, err := a.lookups.Take(wait, ident.ID(ratelimit.Network(r.from).String()), 0)
	if err != nil {
		return nil, overloaded()
	}
	defer release()
	return a.Keys.Caller(ctx, hash)
}

func invalidKey() error {
	return fault.New(fault.InvalidAPIKey, "This is not an API key of this service. Keys look like fanf_… and are made under Settings > API > Keys.")
}

// malformedKey returns the fault for a text that is not a well-formed key.
func malformedKey(secret string) error {
	switch n := len(secret); {
	case !strings.HasPrefix(secret, account.KeyPrefix):
		return invalidKey()
	case n != account.KeyLength:
		return fault.New(fault.InvalidAPIKey, fmt.Sprintf("The API key has %d characters instead of %d; it was probably cut off. Copy the whole key.", n, account.KeyLength))
	}
	return fault.New(fault.InvalidAPIKey, "This is not an API key: its check digits do not fit; it was probably mistyped. Copy the whole key.")
}

// bearer returns the key of the only Authorization header.
func bearer(values []string) (string, error) {
	if len(values) > 1 {
		return "", fault.New(fault.InvalidAPIKey, "Send exactly one Authorization header.")
	}
	if len(values) == 1 {
		scheme, secret, found := strings.Cut(values[0], " ")
		if found && strings.EqualFold(scheme, "Bearer") {
			return strings.TrimSpace(secret), nil
		}
		if strings.HasPrefix(values[0], account.KeyPrefix) {
			return "", fault.New(fault.MissingAPIKey, "Write Bearer and a space before the key: Authorization: Bearer <API_KEY>.")
		}
	}
	return "", fault.New(fault.MissingAPIKey, "Send your API key in the header Authorization: Bearer <API_KEY>.")
}

// authFailed counts a failed authentication and returns err, or a rate limit fault
// if the address exceeded its limit of failures.
func (a *API) authFailed(r *request, err error) error {
	d := a.addresses.Fail(r.from, r.now)
	if !d.OK {
		return a.limited(r, d, "ip")
	}
	a.limitByAddress(r, d)
	r.w.Header()["Www-Authenticate"] = hBearer
	return err
}

// exposedInQuery revokes valid keys in a query string, because URLs are written
// to logs. Keys from a loopback address are only reported.
func (a *API) exposedInQuery(r *request, rawQuery string) {
	for _, secret := range account.Find(rawQuery) {
		a.handleExposedKey(r, secret, "sent_in_url", !r.from.IsLoopback())
	}
}

// handleExposedKey handles a key that was sent in a URL or over plain HTTP. It revokes a
// valid key if mayRevoke is true and KeepExposedKeys is not set; otherwise it
// only reports the key. It returns whether it revoked the key.
func (a *API) handleExposedKey(r *request, secret, reason string, mayRevoke bool) bool {
	ctx, hash := r.http.Context(), account.HashSecret(secret)
	if !a.addresses.Peek(r.from, r.now).OK && !a.Keys.Seen(hash) {
		// One request can name hundreds of unknown keys. None of them
		// authenticates it, so that those over the limit are not looked up.
		return false
	}
	caller, err := a.findCaller(r, hash)
	if errors.Is(err, account.ErrUnknownKey) {
		// The lookup of an unknown key counts as a failed authentication.
		a.addresses.Fail(r.from, r.now)
	}
	if err != nil || caller.Check(clock.At(r.now)) != nil {
		return false
	}
	log := a.log(r).With("key_id", caller.Key.ID, "workspace_id", caller.Workspace.ID, "reason", reason)
	cause := record.Cause{Actor: record.System, RequestID: r.id, Address: r.from.String()}
	if !mayRevoke || a.KeepExposedKeys {
		if caller.Key.ExposedAt != nil {
			return false
		}
		log.Warn("api key exposed: it was sent where others can read it; rotate it")
		if err := a.Accounts.Exposed(ctx, cause, caller.Key); err != nil {
			log.Error("api key exposure not recorded", "error", err)
		}
		return false
	}
	if _, err := a.Accounts.Revoke(ctx, cause, caller.Workspace.ID, caller.Key.ID, reason); err != nil {
		log.Error("api key revocation failed: it was sent where others can read it; revoke it", "error", err)
		return false
	}
	log.Warn("api key exposed and revoked: it was sent where others can read it")
	return true
}
