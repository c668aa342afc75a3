package httpapi

import (
	"context"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/ratelimit"
)

func (a *API) getAPI(_ context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	base := a.Origin(r.http)
	return encoded(struct {
		Version      string         `json:"version"`
		Status       string         `json:"status"`
		DeprecatedAt *clock.Instant `json:"deprecated_at"`
		SunsetAt     *clock.Instant `json:"sunset_at"`
		DocsURL      string         `json:"docs_url"`
		OpenAPIURL   string         `json:"openapi_url"`
		ChangelogURL string         `json:"changelog_url"`
		Build        string         `json:"build"`
	}{
		Version: "v1", Status: "current", DocsURL: base + "/docs", OpenAPIURL: base + "/openapi/v1.json",
		ChangelogURL: base + "/docs/changelog", Build: a.Build,
	})
}

type meKey struct {
	ID         ident.ID       `json:"id"`
	Name       string         `json:"name"`
	Last4      string         `json:"last4"`
	Scopes     account.Scopes `json:"scopes"`
	CreatedAt  clock.Instant  `json:"created_at"`
	ExpiresAt  *clock.Instant `json:"expires_at"`
	LastUsedAt *clock.Instant `json:"last_used_at"`
}

type meUser struct {
	ID    ident.ID `json:"id"`
	Email string   `json:"email"`
	Name  string   `json:"name"`
}

type meWorkspace struct {
	ID       ident.ID       `json:"id"`
	Name     string         `json:"name"`
	Plan     account.Plan   `json:"plan"`
	Timezone string         `json:"timezone"`
	Currency money.Currency `json:"currency"`
}

// Window is the state of one rate limit window.
type Window struct {
	Limit     int64         `json:"limit"`
	Remaining int64         `json:"remaining"`
	ResetAt   clock.Instant `json:"reset_at"`
}

type meQuotas struct {
	Minute *Window `json:"minute"`
	Day    *Window `json:"day"`
}

type me struct {
	Key       meKey        `json:"key"`
	User      meUser       `json:"user"`
	Role      account.Role `json:"role"`
	Workspace meWorkspace  `json:"workspace"`
	Quotas    meQuotas     `json:"quotas"`
}

func (a *API) getMe(_ context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	c := r.caller
	d := a.quotaState(r, c.Workspace.ID, a.Limits[c.Workspace.Plan])
	k, u, w := c.Key, c.User, c.Workspace
	// The cached LastUsedAt may be days old, and this request uses the key.
	used := clock.At(r.now)
	return encoded(me{
		Key:       meKey{k.ID, k.Name, k.Last4, k.Scopes, k.CreatedAt, k.ExpiresAt, &used},
		User:      meUser{u.ID, u.Email, u.Name},
		Role:      c.Role,
		Workspace: meWorkspace{w.ID, w.Name, w.Plan, w.Timezone, w.Currency},
		Quotas:    meQuotas{window(d.Minute), window(d.Day)},
	})
}

func window(w ratelimit.Window) *Window {
	if w.Limit == 0 {
		return nil
	}
	return &Window{w.Limit, w.Remaining, clock.At(w.Reset)}
}
