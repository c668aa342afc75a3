package signin

import (
	"context"
	"errors"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Store keeps who can sign in, how, and who is in.
type Store interface {
	// Session returns the session of a token, nil when there is none. Its
	// workspace is empty where the person is not an active member any more.
	Session(ctx context.Context, hash Hash) (*Session, error)
	// Used notes a session's last use; it need not be durable at once.
	Used(ctx context.Context, id ident.ID, at clock.Instant, address, agent string) error
	// Sessions lists the sessions of a person, also those that have ended by
	// themselves.
	Sessions(ctx context.Context, user ident.ID) ([]Session, error)
	// Person returns a person, nil when there is none.
	Person(ctx context.Context, by By) (*Person, error)
	// Token returns a link or ticket, nil when there is none.
	Token(ctx context.Context, hash Hash) (*Token, error)
	// Invitations lists the invitations into a workspace, or those to an
	// e-mail, also those that have expired.
	Invitations(ctx context.Context, workspace ident.ID, email string) ([]Token, error)
	// Save writes a change with its audit entries, all of it or nothing.
	// ErrGone says that a token or ticket of it was used up, or that the person is not a
	// member where he wants to go; record.ErrRace that a credential has
	// changed, or a person appeared, since they were read.
	Save(ctx context.Context, c Change) error
	// Anybody reports whether there is a credential at all.
	Anybody(ctx context.Context) (bool, error)
	// Sweep deletes tokens and sessions that ended before now, and sessions
	// that were not used since idle.
	Sweep(ctx context.Context, now, idle clock.Instant) error
}

// ErrGone says that something that works once was used or has ended.
var ErrGone = errors.New("used up or ended")

// By says how to find a person: by the one member that is set.
type By struct {
	ID       ident.ID
	Email    string
	Identity string
}

// Person is a user with what he can sign in with.
type Person struct {
	ID      ident.ID
	Email   string
	Name    string
	Service bool
	// Workspaces are those where the person is an active member, in the order
	// of their making.
	Workspaces  []ident.ID
	Credentials []Credential
}

// Kinds of credentials.
const (
	kindPassword = "password"
	kindPasskey  = "passkey"
	kindTOTP     = "totp"
	kindIdentity = "identity"
)

// Credential is one thing that a person can sign in with. Passwords and second
// steps have the person's id as theirs, identities the issuer and its name for
// the person.
type Credential struct {
	User ident.ID
	Kind string
	ID   string
	// Rev counts the changes; 0 is a credential that is not stored yet.
	Rev int64
	// Doc is what only this package reads, as JSON.
	Doc []byte
	// Sealed is the secret that belongs to it, if it has one.
	Sealed string
}

// find returns the person's credential of a kind, with an id unless that is
// empty.
func (p *Person) find(kind, id string) *Credential {
	for i := range p.Credentials {
		if c := &p.Credentials[i]; c.Kind == kind && (id == "" || c.ID == id) {
			return c
		}
	}
	return nil
}

// Token is a link or a ticket: whoever holds it may do one thing, once.
type Token struct {
	Hash Hash
	ID   ident.ID
	Kind string
	// WorkspaceID is where an invitation leads, with the name that the
	// workspace has now.
	WorkspaceID   ident.ID
	WorkspaceName string
	// Subject is whom it is for, an e-mail for links. A new token of the same
	// kind, workspace and subject takes the place of the old one.
	Subject   string
	Doc       []byte
	CreatedAt clock.Instant
	ExpiresAt clock.Instant
}

// Change is what is written together.
type Change struct {
	Cause record.Cause
	At    clock.Instant
	// Action names the change in the audit log of Cause.Workspace, or without
	// one in that of every workspace of the person; none where it is empty.
	Action string
	// Target is what the audit log says it was done to; the person if empty.
	Target ident.ID
	// User is whom it is about; empty for the one who joins with it.
	User ident.ID
	// Burn are tokens that must be there and go, Try is one that must have
	// tries left and loses one.
	Burn []Hash
	Try  *Hash
	// Spend notes that a ticket was used that only the browser keeps. It must
	// not be there yet.
	Spend *Token
	Join  []Join
	// Name, if set, becomes the person's name.
	Name string
	Put  []Credential
	Drop []Credential
	// End ends the sessions of the person: the one, or all but one.
	End *End
	// Open is a new session, Proved the one whose holder proved himself, Keep
	// a new token.
	Open   *NewSession
	Proved ident.ID
	Keep   *Token
	// Withdraw takes an invitation of Cause.Workspace back.
	Withdraw ident.ID
	// Switch leads the session to a workspace of the person.
	Switch *Switch
}

// MaxTries is how often a token can be tried.
const MaxTries = 5

// Join makes somebody a member. A member who is active keeps the role.
type Join struct {
	Workspace ident.ID
	Role      string
	Email     string
	// New is the user to make; nil where there is one, and a race where there
	// is one against expectation.
	New *NewUser
	// Forget is since when somebody must have left for the keys to end for
	// good.
	Forget clock.Instant
}

// NewUser is a person on the way into the store.
type NewUser struct {
	ID   ident.ID
	Name string
}

// End names sessions: the one with the id Only, or all but the one with the id
// Except.
type End struct{ Only, Except ident.ID }

// NewSession is a session with its token's hash, on the way into the store.
type NewSession struct {
	Session
	Hash Hash
}

// Switch is where a session goes.
type Switch struct{ Session, Workspace ident.ID }

// keysEnd is how long after a member has left the keys end for good.
const keysEnd = 30 * 24 * time.Hour
