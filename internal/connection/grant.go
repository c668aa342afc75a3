package connection

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// CallbackPath is where platforms send people back to; the platform's name
// follows.
const CallbackPath = "/oauth/callback/"

// carried is what a person carries to a platform and back.
type carried struct {
	Workspace  ident.ID `json:"w"`
	Connection ident.ID `json:"c"`
	Nonce      string   `json:"n"`
}

// token draws a random text that nobody guesses.
func (s *Access) token() string {
	var b [32]byte
	if _, err := io.ReadFull(s.random, b[:]); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// verifierSeal is the version under which verifiers are sealed; those of
// credentials begin with 1.
const verifierSeal = 0

// grant is what belongs to one granting of access.
func (s *Access) grant(c *Connection, g *Granting, verifier string) Grant {
	state, err := json.Marshal(carried{c.WorkspaceID, c.ID, g.Nonce})
	if err != nil {
		panic(err)
	}
	return Grant{
		Redirect: strings.TrimSuffix(s.PublicURL, "/") + CallbackPath + c.Platform, State: s.SealState(state), Verifier: verifier, Write: c.WriteEnabled,
	}
}

// grantFault is what a person is told whose visit leads nowhere.
func grantFault(message string) error { return fault.New(fault.InvalidState, message) }

// Visit is a person who comes back from a platform with what was carried
// there, and with a code or the reason why there is none.
type Visit struct {
	Platform, State, Code, Denied string
	// Session is that of the person's browser, empty without one.
	Session ident.ID
	// Confirmed says that the person has read who asks for access and agrees.
	Confirmed bool
}

// Grantee is who asks a person for access.
type Grantee struct {
	Workspace  ident.ID
	Platform   string
	Connection string
	// Key is the name of the API key that has asked.
	Key   string
	Write bool
}

// Complete ends the granting of access that a visit belongs to. A state works
// once, and for as long as it was meant to.
//
// One that was made in a session works in that session alone, and needs no
// more: the person knows the workspace. One that was made with an API key
// changes nothing until the person has confirmed who gets access; asked says
// who. Otherwise anybody could be sent to a platform to grant access to a
// stranger, who has no more to do than to pass on an address.
func (s *Connector) Complete(ctx context.Context, v Visit) (d record.Doc, asked *Grantee, err error) {
	plain, ok := s.OpenState(v.State)
	var held carried
	if !ok || json.Unmarshal(plain, &held) != nil {
		return record.Doc{}, nil, grantFault("This link is not one of ours. Begin again.")
	}
	// A code is good for one trade, however often the record is tried to be
	// written.
	var got *Credentials
	within, unlock := ctx, func() {}
	defer func() { unlock() }()
	d, err = s.change(ctx, record.Cause{Workspace: held.Workspace, Actor: record.System}, held.Connection, record.Match{}, func(c *Connection, ch *Change) error {
		g := c.Private.Granting
		switch {
		case c.Platform != v.Platform || g == nil || g.Nonce != held.Nonce || g.ExpiresAt <= ch.At:
			return grantFault("This link was used, or is too old. Begin again.")
		case g.Session != "" && g.Session != v.Session:
			return grantFault("This was begun in another browser, or you have signed out since. Sign in where you began, and begin again.")
		case v.Denied != "":
			return s.notGranted(c.Platform, v.Denied)
		case g.Session == "" && !v.Confirmed:
			asked = s.grantee(c, g)
			return errSame
		}
		if got == nil {
			k, err := s.trade(WaiveHolds(ctx), c, g, v.Code)
			if err != nil {
				return err
			}
			// No disconnect revokes the grant from here until it is stored who
			// uses it. If one did just before, the platform says so now.
			locked, release, err := s.lockGrant(ctx, k.Grant)
			if err != nil {
				return err
			}
			got, within, unlock = &k, locked, release
		}
		return s.enter(WaiveHolds(within), c, PlatformCredentials{v.Platform: *got}, ch)
	})
	return d, asked, err
}

func (s *Access) grantee(c *Connection, g *Granting) *Grantee {
	asks := &Grantee{Workspace: c.WorkspaceID, Platform: c.Platform, Connection: c.Name, Key: g.Key, Write: c.WriteEnabled}
	for _, p := range s.Registry.About() {
		if p.Platform == c.Platform {
			asks.Platform = p.Name
		}
	}
	return asks
}

// trade gets credentials for a code.
func (s *Access) trade(ctx context.Context, c *Connection, g *Granting, code string) (k Credentials, err error) {
	client, _ := s.Registry.Client(c.Platform, false)
	grantor, can := client.(Grantor)
	app, there := s.Registry.App(c.Platform)
	if !can || !there {
		return k, grantFault("The server has no OAuth client for the platform any more.")
	}
	if s.Vault == nil {
		return k, ErrNoVault
	}
	verifier, err := s.Vault.Open(c.WorkspaceID, c.ID, verifierSeal, g.Verifier)
	if err != nil {
		return k, grantFault("The server has another master key than before. Begin again.")
	}
	if k, err = grantor.Exchange(ctx, app, s.grant(c, g, verifier.Reveal()), code); err != nil {
		return k, s.refused(err)
	}
	if k.Access.Empty() {
		return k, grantFault("The platform answered without a token. Begin again.")
	}
	return k, nil
}

// Reconnect grants access anew, with the credentials of the body or without.
// The connection keeps its id and its figures.
func (s *Connector) Reconnect(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, sent *body.Value, defaults WorkspaceDefaults) (record.Doc, error) {
	f := body.NewReader(sent, false)
	given := readGiven(f)
	f.Done()
	return s.change(ctx, cause, id, match, func(c *Connection, ch *Change) error {
		if err := f.Err(); err != nil {
			return err
		}
		if err := c.syncs(); err != nil {
			return err
		}
		if given != nil {
			if details := given.problems(c.Platform); len(details) > 0 {
				return fault.Invalid(details)
			}
		}
		// An invitation alone changes nothing that a caller has set.
		return s.admit(ctx, c, given, defaults, ch)
	})
}

// syncs refuses what only platforms that are still connected can do.
func (c *Connection) syncs() error {
	switch {
	case c.Status == StatusDisconnected:
		return fault.New(fault.InvalidState, "The connection is disconnected for good.", c.stateDetail("Not possible while disconnected."))
	case c.Sync.IntervalMinutes == nil:
		return fault.New(fault.InvalidState, fmt.Sprintf("A connection of platform %s takes what you send; there is nothing to fetch.", c.Platform), fault.Detail{
			Code: string(fault.InvalidState), Message: "There is nothing to fetch.", Meta: fault.Meta{"platform": c.Platform},
		})
	}
	return nil
}

func (c *Connection) stateDetail(message string) fault.Detail {
	return fault.Detail{
		Code: string(fault.InvalidState), Message: message,
		Meta: fault.Meta{"current_status": c.Status, "required_status": []Status{StatusConnected, StatusError}},
	}
}

// Disconnect takes access back for good. The credentials are gone when it
// returns. Grants that no other connection uses are revoked afterwards, as well
// as it goes; the status reason says if access at the platform stays.
func (s *Connector) Disconnect(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, purge bool) (record.Doc, error) {
	var ring PlatformCredentials
	var gone *Connection
	d, err := s.change(ctx, cause, id, match, func(c *Connection, ch *Change) error {
		if c.Status == StatusDisconnected {
			if !purge || c.Private.Purged && c.Sync.LastSuccessAt == nil {
				return errSame
			}
			c.purged(ch)
			return nil
		}
		if c.Private.Sealed != "" {
			var err error
			if ring, err = s.unsealCredentials(c); err != nil {
				// What cannot be opened cannot be given back either.
				ring = PlatformCredentials{c.Platform: {}}
			}
		}
		err := s.stop(ctx, c, ch)
		if err != nil {
			return err
		}
		gone = c
		c.Status, c.ArchivedAt, c.StatusReason = StatusDisconnected, &ch.At, nil
		c.AuthorizationURL, c.ReauthURL, c.CredentialsExpireAt, c.Sync.NextRunAt = nil, nil, nil, nil
		c.Private, ch.Grants = Private{}, []string{}
		if c.StatusReason, err = s.keptAccess(ctx, c, ring, ch.At); err != nil {
			return err
		}
		if s.explainLoss(c, ch.At); purge {
			c.purged(ch)
		}
		ch.Events = append(ch.Events, record.Event{Type: "connection.disconnected"})
		// What is requested and not confirmed is reported as failed.
		ch.Push = true
		return nil
	})
	if err != nil {
		return d, err
	}
	if purge {
		if err := s.purge(ctx, cause.Workspace, id); err != nil {
			return d, err
		}
	}
	if gone != nil && len(ring) > 0 {
		s.hands.background(ctx, func(ctx context.Context) { s.revoke(ctx, gone, ring) })
	}
	return d, nil
}

// expire drops a connection that nobody granted access to.
func (s *Access) expire(ctx context.Context, c *Connection) error {
	_, err := s.change(ctx, system(c), c.ID, record.Match{}, func(c *Connection, ch *Change) error {
		if c.Status != StatusPending || c.CreatedAt.Add(pendingTime) > ch.At {
			return errSame
		}
		c.Status, c.ArchivedAt, c.AuthorizationURL, c.Private = StatusDisconnected, &ch.At, nil, Private{}
		ch.Events = append(ch.Events, record.Event{Type: "connection.disconnected"})
		return nil
	})
	return err
}
