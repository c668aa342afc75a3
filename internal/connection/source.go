package connection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/record"
)

// Source is where a caller says that its facts come from.
type Source struct {
	Platform string
	// ID names a connection that is there; else Name is one of the platform's,
	// which is made if it is not there.
	ID   ident.ID
	Name string
	// Account is the platform's id of the account, AccountName what a new one
	// is called, the same where it is empty.
	Account, AccountName string
	// Currency and Zone must be those that the account has. Where one is empty,
	// whatever it has is right, and a new account gets that of Default.
	Currency money.Currency
	Zone     string
	Default  WorkspaceDefaults
}

// WorkspaceDefaults has the currency and the zone of a workspace. Accounts
// without their own use them.
type WorkspaceDefaults struct {
	Currency money.Currency
	Zone     string
}

// KnownSource is a stored source, as facts name it.
type KnownSource struct {
	fact.Source
	Stamp record.Stamp
}

// Source returns the source of facts: the connection, and the account on it. It
// creates missing ones, once, however many calls run concurrently. It stores no
// response under the caller's idempotency key; RecordFeed does that. Invalid input is a
// validation_failed fault whose fields are members of a request: source,
// account_id, currency and timezone.
func (s *Feeds) Source(ctx context.Context, cause record.Cause, src Source) (KnownSource, error) {
	src.Name, src.Account = strings.TrimSpace(src.Name), strings.TrimSpace(src.Account)
	if details := src.problems(); len(details) > 0 {
		return KnownSource{}, fault.Invalid(details)
	}
	cause.Idempotency = nil
	var known KnownSource
	_, err := record.Retry(ctx, func() (d record.Doc, err error) {
		c, err := s.find(ctx, cause, &src)
		if err != nil {
			return d, err
		}
		event, err := c.take(&src)
		if err != nil {
			return d, err
		}
		stamp := c.Stored().Stamp
		if event != nil {
			now := clock.At(s.now())
			if c.Stored().JSON != nil {
				c.Touch(now, 1)
			}
			if d, err = s.store.Save(ctx, c, record.Save{Cause: cause, At: now, Events: []record.Event{*event}}); err != nil {
				return d, err
			}
			stamp = d.Stamp
		}
		a := c.account(src.Account)
		known = KnownSource{Stamp: stamp, Source: fact.Source{Connection: c.ID, Platform: c.Platform, Account: a.ExternalID, Currency: a.Currency, Zone: a.Timezone}}
		return d, nil
	})
	return known, err
}

// problems are what is wrong with a source whatever is stored.
func (src *Source) problems() []fault.Detail {
	var details []fault.Detail
	length := func(field, value string, most int) {
		switch {
		case value == "":
			details = append(details, fault.Detail{Field: field, Code: "required", Message: field + " must not be empty."})
		case utf8.RuneCountInString(value) > most:
			n := utf8.RuneCountInString(value)
			details = append(details, fault.Detail{
				Field: field, Code: "too_long", Message: fmt.Sprintf("%s must have at most %d characters; it has %d.", field, most, n),
				Meta: fault.Meta{"maximum": most, "actual": n},
			})
		}
	}
	if src.ID == "" {
		length("source", src.Name, MaxName)
	}
	length("account_id", src.Account, MaxAccountID)
	return details
}

// find loads the connection of a source, or makes one that is not stored yet.
func (s *Feeds) find(ctx context.Context, cause record.Cause, src *Source) (*Connection, error) {
	if src.ID == "" {
		c, err := s.store.Named(ctx, cause.Workspace, src.Platform, src.Name)
		if fault.Is(err, fault.NotFound) {
			return s.made(cause, src), nil
		}
		return c, err
	}
	c, err := s.store.Load(ctx, cause.Workspace, src.ID)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, fault.Invalid([]fault.Detail{fault.MissingRef("source", src.ID)})
	case err != nil:
		return nil, err
	case c.Status == StatusDisconnected:
		return nil, fault.Invalid([]fault.Detail{{
			Field: "source", Code: "archived", Message: "source is disconnected for good; name another, or a new one by its name.", Meta: fault.Meta{"id": src.ID},
		}})
	}
	return c, nil
}

// made is a new connection without accounts.
func (s *shared) made(cause record.Cause, src *Source) *Connection {
	t := s.now()
	now := clock.At(t)
	return &Connection{
		ID: ident.New(ident.Connection, t, s.random), Platform: src.Platform, Name: src.Name, Status: StatusConnected,
		Accounts: []Account{}, Capabilities: []string{CapabilityReadMetrics}, ScopesGranted: []string{}, ScopesMissing: []string{},
		Sync: Sync{State: SyncIdle}, AccountSelection: Selection{Mode: SelectAll, AutoAdd: true},
		Common: record.Common{WorkspaceID: cause.Workspace, Version: 1, CreatedBy: cause.Actor, CreatedAt: now, UpdatedAt: now},
	}
}

// take makes sure that the connection has the account of a source, and returns
// what happened to it by that: nothing where all was there.
func (c *Connection) take(src *Source) (*record.Event, error) {
	if a := c.account(src.Account); a != nil {
		return nil, a.fits(src)
	}
	if len(c.Accounts) >= MaxAccounts {
		return nil, fault.Invalid([]fault.Detail{{
			Field: "account_id", Code: "too_many_items", Message: fmt.Sprintf("The connection has %d accounts, which is the most; use another source.", MaxAccounts),
			Meta: fault.Meta{"maximum": MaxAccounts},
		}})
	}
	event := &record.Event{Type: "connection.created"}
	if c.Stored().JSON != nil {
		event = &record.Event{Type: "connection.updated", Previous: map[string]any{"accounts": c.Accounts}}
	}
	c.Accounts = append(slices.Clip(c.Accounts), Account{
		ExternalID: src.Account, Platform: src.Platform, Name: cmp.Or(src.AccountName, src.Account), Enabled: true,
		Currency: cmp.Or(src.Currency, src.Default.Currency), Timezone: cmp.Or(src.Zone, src.Default.Zone),
	})
	return event, nil
}

// fits refuses another currency or zone than the account has: amounts and days
// that are stored would mean something else.
func (a *Account) fits(src *Source) error {
	var details []fault.Detail
	if src.Currency != "" && src.Currency != a.Currency {
		details = append(details, fault.Detail{
			Field: "currency", Code: "currency_mismatch",
			Message: fmt.Sprintf("Account %s is in %s; send its amounts in that, or use another account_id.", a.ExternalID, a.Currency),
			Meta:    fault.Meta{"account_id": a.ExternalID, "currency": a.Currency},
		})
	}
	if src.Zone != "" && src.Zone != a.Timezone {
		details = append(details, fault.Detail{
			Field: "timezone", Code: "invalid_value",
			Message: fmt.Sprintf("Account %s has days of %s; send it with that time zone, or use another account_id.", a.ExternalID, a.Timezone),
			Meta:    fault.Meta{"account_id": a.ExternalID, "timezone": a.Timezone},
		})
	}
	if len(details) > 0 {
		return fault.Invalid(details)
	}
	return nil
}
