package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// Spec is a connection to be made.
type Spec struct {
	Platform     string
	Name         string
	Config       Config
	Credentials  *Given
	WriteEnabled bool
	LinkByName   bool
	// ConversionEvents are those of Connection.
	ConversionEvents []string
	// Selection is nil if the creator chose none.
	Selection *Selection
}

// Given are credentials that a caller brings.
type Given struct {
	Access, Refresh, ClientSecret secret.Text
	ClientID                      string
	// ServiceAccount is given instead of all others, nil without one.
	ServiceAccount *ServiceAccount
}

// Create connects a platform. One that needs a person is pending until that
// person has been there; all others are asked at once.
func (s *Connector) Create(ctx context.Context, cause record.Cause, sent *body.Value, defaults WorkspaceDefaults) (record.Doc, error) {
	f := body.NewReader(sent, false)
	spec := readSpec(f)
	if err := f.Err(); err != nil {
		return record.Doc{}, err
	}
	if details := spec.problems(); len(details) > 0 {
		return record.Doc{}, fault.Invalid(details)
	}
	c := s.made(cause, &Source{Platform: spec.Platform, Name: strings.TrimSpace(spec.Name)})
	c.Status, c.Capabilities = StatusPending, []string{}
	c.Config, c.WriteEnabled, c.LinkByName, c.ConversionEvents = spec.Config, spec.WriteEnabled, spec.LinkByName, spec.ConversionEvents
	c.AccountSelection = defaultSelection(spec.Platform)
	if spec.Selection != nil {
		c.AccountSelection = *spec.Selection
	}
	minutes := int64(defaultInterval / time.Minute)
	c.Sync.IntervalMinutes, c.Sync.LookbackDays = &minutes, s.lookback(spec.Platform)
	if err := s.named(ctx, c); err != nil {
		return record.Doc{}, err
	}
	ch := &Change{Cause: cause, At: c.CreatedAt, Connection: c, Events: []record.Event{{Type: "connection.created"}}}
	if err := s.admit(ctx, c, spec.Credentials, defaults, ch); err != nil {
		return record.Doc{}, err
	}
	d, err := s.apply(ctx, ch)
	if errors.Is(err, record.ErrRace) {
		err = taken(c)
	}
	return d, err
}

const (
	defaultInterval = time.Hour
	// grantTime is how long a person has to grant access, pendingTime how
	// long a connection waits for one.
	grantTime   = 15 * time.Minute
	pendingTime = time.Hour
)

// lookback is for how many days figures of a platform may change.
func (s *shared) lookback(platform string) int64 {
	most := 0
	for _, a := range s.Registry.About() {
		if a.Platform == platform || platform == PlatformSandbox {
			most = max(most, a.LookbackDays)
		}
	}
	return int64(most)
}

// problems are what is wrong with a spec whatever is stored.
func (spec *Spec) problems() []fault.Detail {
	var details []fault.Detail
	foreign := func(there bool, field, platform string) {
		if there && spec.Platform != platform {
			details = append(details, fault.Detail{
				Field: "config." + field, Code: "incompatible_fields", Message: fmt.Sprintf("config.%s is for %s only.", field, platform),
			})
		}
	}
	foreign(spec.Config.Seed != nil, "seed", PlatformSandbox)
	foreign(spec.Config.Currency != "", "currency", PlatformSandbox)
	foreign(spec.Config.Timezone != "", "timezone", PlatformSandbox)
	if g := spec.Credentials; g != nil {
		details = append(details, g.problems(spec.Platform)...)
	}
	return details
}

func (g *Given) problems(platform string) []fault.Detail {
	switch {
	case platform == PlatformSandbox:
		return []fault.Detail{{Field: "credentials", Code: "incompatible_fields", Message: "credentials are not for a sandbox; leave them out."}}
	case g.ServiceAccount != nil:
		return g.serviceAccountProblems(platform)
	case g.Access.Empty() && g.Refresh.Empty():
		message := "credentials needs access_token or refresh_token."
		if slices.Contains(serviceAccountPlatforms, platform) {
			message = "credentials needs access_token, refresh_token or service_account."
		}
		return []fault.Detail{{Field: "credentials", Code: "required", Message: message}}
	case (g.ClientID == "") != g.ClientSecret.Empty():
		return []fault.Detail{{Field: "credentials", Code: "incompatible_fields", Message: "credentials needs both client_id and client_secret, or none of them."}}
	}
	return nil
}

// named refuses a name that a living connection of the platform has.
func (s *shared) named(ctx context.Context, c *Connection) error {
	other, err := s.store.Named(ctx, c.WorkspaceID, c.Platform, c.Name)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case other.ID == c.ID:
		return nil
	}
	return taken(c)
}

func taken(c *Connection) error {
	message := fmt.Sprintf("name %q is taken by another connection to %s; choose another.", c.Name, c.Platform)
	return fault.New(fault.AlreadyExists, "A connection to the platform has this name.", fault.Detail{
		Field: "name", In: "body", Code: string(fault.AlreadyExists), Message: message,
	})
}

// admit gets access: from the sandbox, by credentials that were brought, or by
// asking for a person.
func (s *Connector) admit(ctx context.Context, c *Connection, given *Given, defaults WorkspaceDefaults, ch *Change) error {
	ctx = WaiveHolds(ctx)
	switch {
	case c.Platform == PlatformSandbox:
		ring, err := s.Sandbox.Open(ctx, SandboxOptions{Seed: c.Config.Seed, Connection: c.ID, Now: s.now(), Defaults: WorkspaceDefaults{
			Currency: cmp.Or(c.Config.Currency, defaults.Currency), Zone: cmp.Or(c.Config.Timezone, defaults.Zone),
		}})
		if err != nil {
			return s.refused(fmt.Errorf("open sandbox: %w", err))
		}
		return s.enter(ctx, c, ring, ch)
	case given != nil:
		k := Credentials{
			Access: given.Access, Refresh: given.Refresh, ServiceAccount: given.ServiceAccount, IssuedAt: ch.At,
			App: OAuthClient{ID: given.ClientID, Secret: given.ClientSecret},
		}
		if k.Access.Empty() {
			var err error
			if k, err = s.refresh(ctx, c, c.Platform, k); err != nil {
				return s.refused(err)
			}
		}
		return s.enter(ctx, c, PlatformCredentials{c.Platform: k}, ch)
	}
	return s.invite(c, ch)
}

// enter takes credentials into use: it looks at the accounts and has them
// synced.
func (s *Connector) enter(ctx context.Context, c *Connection, ring PlatformCredentials, ch *Change) error {
	if err := s.discover(ctx, c, ring); err != nil {
		return s.refused(err)
	}
	if err := s.sealCredentials(c, ring); err != nil {
		return err
	}
	ch.Grants = s.grantHashes(ring)
	c.coverSwitchedOff(ch.At)
	c.ScopesMissing = s.missing(c)
	c.StatusReason = c.listingReason(ch.At)
	c.Status, c.AuthorizationURL, c.ReauthURL = StatusConnected, nil, nil
	s.explainLoss(c, ch.At)
	c.Private.Granting, c.Private.Failures = nil, 0
	ch.Push = true
	ch.Events = append(ch.Events, record.Event{Type: "connection.connected"})
	if why := c.unselected(ch.At); why != nil {
		c.StatusReason = why
		return nil
	}
	if c.Sync.LastSuccessAt == nil && c.Sync.CurrentRunID == nil && len(c.Private.Queue) == 0 {
		run := s.newRun(c, ch.Cause, Request{Mode: ModeFull}, TriggerInitial, ch.At)
		s.enqueue(c, run, ch)
		return nil
	}
	ch.scheduleWork(c, ch.At)
	return nil
}

// missing are the scopes that were not granted, where the platform tells which
// were.
func (s *Access) missing(c *Connection) []string {
	list := []string{}
	if c.Platform == PlatformSandbox || len(c.ScopesGranted) == 0 {
		return list
	}
	client, _ := s.Registry.Client(c.Platform, false)
	wanted := client.About().Scopes
	if c.WriteEnabled {
		wanted = slices.Concat(wanted, client.About().WriteScopes)
	}
	for _, scope := range wanted {
		if !slices.Contains(c.ScopesGranted, scope) {
			list = append(list, scope)
		}
	}
	return list
}

// refused makes what a platform says about credentials a fault of theirs. Who
// asks too often is told when it is worth trying again.
func (s *Access) refused(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	said := e.Message
	remedy := Remediation(e)
	if remedy != nil {
		said = strings.TrimSuffix(said, ".") + ". " + *remedy
	}
	if e.Class == Transient || e.Class == Throttled {
		f := fault.New(fault.UpstreamError, "The platform did not answer: "+said+" Try again in a minute.").Because(err)
		if e.Class == Throttled {
			f = fault.New(fault.Unavailable, "The platform could not be asked: "+said).Because(err)
		}
		if f.RetryAfter = time.Minute; !e.Until.IsZero() {
			f.RetryAfter = max(time.Second, e.Until.Sub(s.now()))
		}
		return f
	}
	return fault.New(fault.ValidationFailed, "The platform refuses the credentials: "+said, fault.Detail{
		Field: "credentials", In: "body", Code: "invalid_value", Message: "The platform refuses the credentials: " + said,
		Meta: fault.Meta{"platform_code": e.Code, "remediation": remedy},
	})
}

// Granting is an authorization that has begun.
type Granting struct {
	Nonce string `json:"nonce"`
	// Verifier is sealed: a backup is not to hold what a code is proven with.
	Verifier  string        `json:"verifier"`
	ExpiresAt clock.Instant `json:"expires_at"`
	// Session is whose browser has to come back. Where it is empty, an API key
	// has begun, and Key is its name.
	Session ident.ID `json:"session,omitzero"`
	Key     string   `json:"key,omitzero"`
}

// invite asks for a person to grant access.
func (s *Access) invite(c *Connection, ch *Change) error {
	app, ok := s.Registry.App(c.Platform)
	client, _ := s.Registry.Client(c.Platform, false)
	grantor, can := client.(Grantor)
	if !ok || !can {
		return fault.New(fault.InvalidState, fmt.Sprintf("The server has no OAuth client for %s. Have the operator set one, or send credentials of your own.", c.Platform), fault.Detail{
			Field: "platform", In: "body", Code: string(fault.InvalidState), Message: fmt.Sprintf("There is no OAuth client for %s.", c.Platform), Meta: fault.Meta{"setting": "FANFARE_OAUTH"},
		})
	}
	if s.Vault == nil {
		return ErrNoVault
	}
	verifier := s.token()
	sealed, err := s.Vault.Seal(c.WorkspaceID, c.ID, verifierSeal, secret.New(verifier))
	if err != nil {
		return fmt.Errorf("seal verifier of %s: %w", c.ID, err)
	}
	g := &Granting{Nonce: s.token(), Verifier: sealed, ExpiresAt: ch.At.Add(grantTime), Session: ch.Cause.Session}
	if g.Session == "" {
		g.Key = ch.Cause.Actor.Name
	}
	c.Private.Granting = g
	url := grantor.AuthorizeURL(app, s.grant(c, g, verifier))
	c.AuthorizationURL = &url
	if c.Status == StatusPending {
		// One that is connected goes on as it is meanwhile.
		ch.scheduleWork(c, c.CreatedAt.Add(pendingTime))
	}
	return nil
}

// Update is what a caller may change.
type Update struct {
	Name     *string
	Accounts map[string]bool
	// Delete are accounts whose metrics are deleted.
	Delete          []string
	IntervalMinutes *int64
	LookbackDays    *int64
	WriteEnabled    *bool
	LinkByName      *bool
	// ConversionEvents is nil if the update does not have it.
	ConversionEvents *[]string
	// DataLostAt must be the current time. DataComplete says that no lost data is missing any more, or that its loss
	// is accepted.
	DataLostAt   *clock.Instant
	DataComplete bool
}

// Update applies a merge patch.
func (s *Connector) Update(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error) {
	var erased []Account
	d, err := s.change(ctx, cause, id, match, func(c *Connection, ch *Change) error {
		f := body.NewReader(patch, true)
		u := readUpdate(f)
		f.Done(readOnly...)
		if len(u.Accounts) > 0 {
			c.unknownAccounts(f, &u)
		}
		c.otherLoss(f, &u)
		c.checkConversionEvents(f, &u)
		if err := f.Err(); err != nil {
			return err
		}
		if c.Status == StatusDisconnected && (!u.DataComplete || len(patch.Members) > 1) {
			return fault.New(fault.Archived, "The connection is disconnected for good.", fault.Detail{
				Code: string(fault.Archived), Message: "Connect the platform again; that makes a new connection.",
			})
		}
		before := *c
		if err := c.revise(&u); err != nil {
			return err
		}
		if len(u.Accounts) > 0 {
			c.coverSwitchedOff(ch.At)
		}
		s.startAfterChoice(c, ch)
		if !slices.Equal(before.ConversionEvents, c.ConversionEvents) {
			s.readAgain(c, ch)
		}
		erased = c.erased(&u, &before)
		if s.explainLoss(c, ch.At); u.DataComplete {
			if err := c.accept(ch); err != nil {
				return err
			}
		}
		previous := record.Diff(&before, c)
		switch decided := before.offCount() != c.offCount(); {
		case len(previous) == 0 && !decided:
			return errSame
		case len(previous) == 0:
			return nil
		}
		if u.Name != nil {
			if err := s.named(ctx, c); err != nil {
				return err
			}
		}
		ch.Events = append(ch.Events, record.Event{Type: "connection.updated", Previous: previous})
		// What is requested and not confirmed can be written now, or no longer.
		ch.Push = before.WriteEnabled != c.WriteEnabled
		if next := c.Sync.NextRunAt; next != nil && c.Sync.State == SyncIdle && u.IntervalMinutes != nil {
			at := min(*next, ch.At.Add(time.Duration(*u.IntervalMinutes)*time.Minute))
			c.Sync.NextRunAt = &at
			ch.scheduleWork(c, at)
		}
		return nil
	})
	if err != nil {
		return d, err
	}
	return d, s.eraseAccounts(ctx, cause.Workspace, id, erased)
}

// revise applies an update.
func (c *Connection) revise(u *Update) error {
	if c.Sync.IntervalMinutes == nil && (u.IntervalMinutes != nil || u.LookbackDays != nil) {
		return fault.Invalid([]fault.Detail{{Field: "sync", Code: "read_only", Message: "sync cannot be changed: this connection takes what you send."}})
	}
	assign(&c.Name, u.Name)
	assign(&c.WriteEnabled, u.WriteEnabled)
	assign(&c.LinkByName, u.LinkByName)
	assign(&c.ConversionEvents, u.ConversionEvents)
	assign(&c.Sync.LookbackDays, u.LookbackDays)
	if u.IntervalMinutes != nil {
		c.Sync.IntervalMinutes = u.IntervalMinutes
	}
	c.Accounts = slices.Clone(c.Accounts)
	for i := range c.Accounts {
		if on, named := u.Accounts[c.Accounts[i].ExternalID]; named {
			c.Accounts[i].Enabled = on
			c.decided(c.Accounts[i].ExternalID)
		}
	}
	if r := c.StatusReason; r != nil && (r.Code == accountNotListed || r.Code == accountChanged) {
		c.StatusReason = c.switchedOffReason(r.Since)
	}
	return nil
}

// assign sets a member that the update has.
func assign[T any](member, value *T) {
	if value != nil {
		*member = *value
	}
}

// errSame says that a change changes nothing.
var errSame = errors.New("nothing changes")

// change loads a connection, applies a change and writes both.
func (s *shared) change(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, apply func(*Connection, *Change) error) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		c, err := s.store.Load(ctx, cause.Workspace, id)
		if err != nil {
			return record.Doc{}, err
		}
		if err := match.Check(c.Version); err != nil {
			return record.Doc{}, err
		}
		ch := &Change{Cause: cause, At: clock.At(s.now()), Connection: c}
		switch err := apply(c, ch); {
		case errors.Is(err, errSame):
			return c.Stored(), nil
		case err != nil:
			return record.Doc{}, err
		}
		c.Touch(ch.At, len(ch.Events))
		return s.apply(ctx, ch)
	})
}
