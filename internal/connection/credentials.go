package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// PlatformCredentials are the credentials of a connection by platform: one, but
// for a sandbox, which has them all.
type PlatformCredentials map[string]Credentials

// sealedForm is the JSON of credentials before they are sealed.
type sealedForm struct {
	Access           string         `json:"access,omitzero"`
	Refresh          string         `json:"refresh,omitzero"`
	IssuedAt         clock.Instant  `json:"issued_at"`
	ExpiresAt        *clock.Instant `json:"expires_at,omitzero"`
	RefreshExpiresAt *clock.Instant `json:"refresh_expires_at,omitzero"`
	Scopes           []string       `json:"scopes,omitzero"`
	ClientID         string         `json:"client_id,omitzero"`
	ClientSecret     string         `json:"client_secret,omitzero"`
	Grant            string         `json:"grant,omitzero"`
	ServiceAccount   *sealedAccount `json:"service_account,omitzero"`
}

// sealedAccount is the JSON of a service account before it is sealed.
type sealedAccount struct {
	Email      string `json:"email"`
	KeyID      string `json:"key_id,omitzero"`
	PrivateKey string `json:"private_key"`
}

// ErrNoVault says that credentials cannot be stored.
var ErrNoVault = errors.New("there is no master key to seal credentials with; set --master-key")

// sealCredentials stores credentials in the connection, sealed. The wrapped data
// key is part of the sealed text, so deleting that destroys the credentials.
func (s *Access) sealCredentials(c *Connection, ring PlatformCredentials) error {
	if s.Vault == nil {
		return ErrNoVault
	}
	list := map[string]sealedForm{}
	for platform, k := range ring {
		form := sealedForm{
			Access: k.Access.Reveal(), Refresh: k.Refresh.Reveal(), IssuedAt: k.IssuedAt, ExpiresAt: k.ExpiresAt, RefreshExpiresAt: k.RefreshExpiresAt,
			Scopes: k.Scopes, ClientID: k.App.ID, ClientSecret: k.App.Secret.Reveal(), Grant: k.Grant,
		}
		if a := k.ServiceAccount; a != nil {
			form.ServiceAccount = &sealedAccount{a.Email, a.KeyID, a.PrivateKey.Reveal()}
		}
		list[platform] = form
	}
	text, err := json.Marshal(list, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write credentials: %w", err)
	}
	version := c.Private.SealVersion + 1
	sealed, err := s.Vault.Seal(c.WorkspaceID, c.ID, version, secret.New(string(text)))
	if err != nil {
		return fmt.Errorf("seal credentials of %s: %w", c.ID, err)
	}
	c.Private.Sealed, c.Private.SealVersion, c.Private.Phase = sealed, version, 0
	if grants := s.grantHashes(ring); len(grants) > 0 && c.Platform != PlatformSandbox {
		c.Private.Phase = clock.At(time.UnixMilli(1 + int64(spread(grants[0]))))
	}
	c.CredentialsExpireAt, c.ScopesGranted = nil, []string{}
	for _, platform := range Played {
		k, there := ring[platform]
		if !there {
			continue
		}
		c.ScopesGranted = append(c.ScopesGranted, k.Scopes...)
		if end := k.end(); end != nil && (c.CredentialsExpireAt == nil || *end < *c.CredentialsExpireAt) {
			c.CredentialsExpireAt = end
		}
	}
	slices.Sort(c.ScopesGranted)
	c.ScopesGranted = slices.Compact(c.ScopesGranted)
	return nil
}

// end returns when a person must grant access again: when the refresh token
// expires, or the access token if there is no refresh token. Nil means never, or
// unknown.
func (k *Credentials) end() *clock.Instant {
	switch {
	case k.ServiceAccount != nil:
		return nil
	case !k.Refresh.Empty():
		return k.RefreshExpiresAt
	}
	return k.ExpiresAt
}

// renewable reports whether there is something to get another access token with.
func (k *Credentials) renewable() bool { return !k.Refresh.Empty() || k.ServiceAccount != nil }

// unsealCredentials returns the credentials of a connection.
func (s *Access) unsealCredentials(c *Connection) (PlatformCredentials, error) {
	switch {
	case s.Vault == nil:
		return nil, ErrNoVault
	case c.Private.Sealed == "":
		return nil, &Error{Class: Revoked, Code: "no_credentials", Message: "There are no credentials for the platform."}
	}
	text, err := s.Vault.Open(c.WorkspaceID, c.ID, c.Private.SealVersion, c.Private.Sealed)
	if err != nil {
		return nil, &Error{Class: Revoked, Code: "credentials_unreadable", Message: "The credentials cannot be opened with this server's master key.", Cause: err}
	}
	list := map[string]sealedForm{}
	if err := json.Unmarshal([]byte(text.Reveal()), &list); err != nil {
		return nil, fmt.Errorf("read credentials of %s: malformed", c.ID)
	}
	ring := PlatformCredentials{}
	for platform, k := range list {
		app := OAuthClient{ID: k.ClientID, Secret: secret.New(k.ClientSecret)}
		// The operator may have a new secret since the credentials were stored.
		if current, ok := s.Registry.App(platform); ok && current.ID == app.ID {
			app = current
		}
		open := Credentials{
			Access: secret.New(k.Access), Refresh: secret.New(k.Refresh), IssuedAt: k.IssuedAt, ExpiresAt: k.ExpiresAt,
			RefreshExpiresAt: k.RefreshExpiresAt, Scopes: k.Scopes, App: app, Grant: k.Grant,
		}
		if a := k.ServiceAccount; a != nil {
			open.ServiceAccount = &ServiceAccount{a.Email, a.KeyID, secret.New(a.PrivateKey)}
		}
		ring[platform] = open
	}
	return ring, nil
}

// due reports whether credentials have lived four fifths of their life.
func (k *Credentials) due(now clock.Instant) bool {
	if k.ExpiresAt == nil {
		return false
	}
	life := *k.ExpiresAt - k.IssuedAt
	return now >= k.IssuedAt+life*4/5
}

// freshCredentials returns credentials that are valid for some time. It refreshes
// those that are due, or all if force is true, because the platform reported an
// expired one. New ones are stored before use, because the platform may already
// reject the old ones. One worker at a time refreshes a connection, on all nodes.
func (s *Access) freshCredentials(ctx context.Context, c *Connection, force bool) (*Connection, PlatformCredentials, error) {
	ring, err := s.unsealCredentials(c)
	if err != nil || !force && !ring.due(clock.At(s.now())) {
		return c, ring, err
	}
	ctx, unlock, err := s.Lock(ctx, "tokens "+string(c.ID))
	if err != nil {
		return c, nil, err
	}
	defer unlock()
	seen := c.Private.SealVersion
	if c, err = s.store.Load(ctx, c.WorkspaceID, c.ID); err != nil {
		return c, nil, err
	}
	if ring, err = s.unsealCredentials(c); err != nil || c.Private.SealVersion != seen {
		return c, ring, err
	}
	changed := false
	for platform, k := range ring {
		fresh, err := s.renew(ctx, c, platform, k, force)
		if err != nil {
			return c, nil, err
		}
		if fresh != nil {
			ring[platform], changed = *fresh, true
		}
	}
	if !changed {
		return c, ring, nil
	}
	c, err = s.storeCredentials(ctx, c, ring)
	return c, ring, err
}

func (r PlatformCredentials) due(now clock.Instant) bool {
	for _, k := range r {
		if k.due(now) {
			return true
		}
	}
	return false
}

// renew refreshes credentials that need it, nil for those that do not. Old ones
// are used up to their end where the platform has none at the moment.
func (s *Access) renew(ctx context.Context, c *Connection, platform string, k Credentials, force bool) (*Credentials, error) {
	now := clock.At(s.now())
	if !force && !k.due(now) || k.ExpiresAt == nil && !k.renewable() {
		return nil, nil
	}
	fresh, err := s.refresh(ctx, c, platform, k)
	if err == nil {
		return &fresh, nil
	}
	// Without a refresh token some platforms renew nothing. The access token is
	// good to its end.
	revoked := ClassOf(err) == Revoked && k.renewable()
	if revoked || force || k.ExpiresAt == nil || *k.ExpiresAt <= now {
		return nil, err
	}
	s.Log.Warn("credentials refresh failed", "connection", c.ID, "platform", platform, "error", err)
	return nil, nil
}

// refresh gets new tokens. An empty one never takes the place of one that is
// there.
func (s *Access) refresh(ctx context.Context, c *Connection, platform string, k Credentials) (Credentials, error) {
	client, there := s.Registry.Client(platform, c.Platform == PlatformSandbox)
	grantor, ok := client.(Grantor)
	if !there || !ok {
		return k, &Error{Class: Revoked, Code: "no_refresh", Message: "Access to this platform cannot be renewed without a person."}
	}
	fresh, err := grantor.Refresh(ctx, s.app(c, platform, k), k)
	if err != nil {
		return k, fmt.Errorf("refresh %s: %w", platform, err)
	}
	if fresh.Access.Empty() {
		return k, &Error{Class: Transient, Code: "empty_token", Message: "The platform answered without a token."}
	}
	if fresh.Refresh.Empty() {
		fresh.Refresh, fresh.RefreshExpiresAt = k.Refresh, k.RefreshExpiresAt
	}
	if len(fresh.Scopes) == 0 {
		fresh.Scopes = k.Scopes
	}
	fresh.App, fresh.Grant, fresh.ServiceAccount = k.App, k.Grant, k.ServiceAccount
	return fresh, nil
}

// app is the OAuth client that tokens belong to.
func (s *Access) app(c *Connection, platform string, k Credentials) OAuthClient {
	if k.App.ID != "" {
		return k.App
	}
	if c.Platform == PlatformSandbox {
		return OAuthClient{ID: PlatformSandbox, Secret: secret.New(PlatformSandbox)}
	}
	a, _ := s.Registry.App(platform)
	return a
}

// appContext names the OAuth client whose quota calls with these credentials use.
// Tokens without a client are taken for those of the operator's.
func (s *Access) appContext(ctx context.Context, platform string, k Credentials) context.Context {
	if own, ok := s.Registry.App(platform); ok && own.ID == k.App.ID {
		return WithApp(ctx, "")
	}
	return WithApp(ctx, k.App.ID)
}

// clientFor finds who speaks to the platform of an account, and with what.
func (s *Access) clientFor(c *Connection, ring PlatformCredentials, account string) (Client, Credentials, bool) {
	a := c.account(account)
	if a == nil {
		return nil, Credentials{}, false
	}
	k, there := ring[a.Platform]
	client, known := s.Registry.Client(a.Platform, c.Platform == PlatformSandbox)
	return client, k, there && known
}

// storeCredentials stores new credentials of a connection that others may change
// meanwhile.
func (s *Access) storeCredentials(ctx context.Context, c *Connection, ring PlatformCredentials) (*Connection, error) {
	_, err := record.Retry(ctx, func() (record.Doc, error) {
		next, err := s.store.Load(ctx, c.WorkspaceID, c.ID)
		if err != nil {
			return record.Doc{}, err
		}
		if next.Status == StatusDisconnected {
			return record.Doc{}, errLost
		}
		if err := s.sealCredentials(next, ring); err != nil {
			return record.Doc{}, err
		}
		now := clock.At(s.now())
		next.Touch(now, 0)
		c = next
		return s.apply(ctx, &Change{Cause: system(c), At: now, Connection: next})
	})
	if err != nil {
		return c, err
	}
	return s.store.Load(ctx, c.WorkspaceID, c.ID)
}

// Rewrap puts the credentials of a workspace's connections under another master
// key, and reports how many that were.
func (s *Access) Rewrap(ctx context.Context, workspace ident.ID, rewrap func(sealed string) (string, error)) (n int, err error) {
	all, err := All(ctx, s.store, workspace)
	if err != nil {
		return 0, err
	}
	for _, c := range all {
		moved := false
		_, err = s.change(ctx, record.Cause{Workspace: workspace, Actor: record.System}, c.ID, record.Match{}, func(c *Connection, ch *Change) error {
			if c.Private.Sealed == "" {
				return errSame
			}
			sealed, err := rewrap(c.Private.Sealed)
			if err != nil || sealed == c.Private.Sealed {
				return cmp.Or(err, errSame)
			}
			c.Private.Sealed, moved = sealed, true
			// The hashes of grants depend on the master key too.
			if ring, err := s.unsealCredentials(c); err == nil {
				ch.Grants = s.grantHashes(ring)
			}
			return nil
		})
		if err != nil {
			return n, fmt.Errorf("credentials of %s: %w", c.ID, err)
		}
		if moved {
			n++
		}
	}
	return n, nil
}

// system is the cause of what the service does by itself.
func system(c *Connection) record.Cause {
	return record.Cause{Workspace: c.WorkspaceID, Actor: record.System}
}

// errLost says that somebody else has the work, or that there is none any more.
var errLost = errors.New("the work was taken away")

// notice is how long before the end of access people are told.
const notice = 14 * 24 * time.Hour
