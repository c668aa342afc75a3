package signin

import (
	"context"
	"errors"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Store stores users' credentials, sessions and one-time tokens.
type Store interface {
	// Session returns the session of a token, nil if it does not exist.
	// WorkspaceID is empty if the user is no longer an active member.
	Session(ctx context.Context, hash Hash) (*Session, error)
	// Used stores a session's last use. The write need not be durable at once.
	Used(ctx context.Context, id ident.ID, at clock.Instant, address, agent string) error
	// Sessions lists the sessions of a user, including expired ones.
	Sessions(ctx context.Context, user ident.ID) ([]Session, error)
	// Person returns a user, nil if none matches.
	Person(ctx context.Context, by UserQuery) (*User, error)
	// Token returns a link or ticket, nil if it does not exist.
	Token(ctx context.Context, hash Hash) (*Token, error)
	// Invitations lists the invitations to a workspace, or those to an email,
	// including expired ones.
	Invitations(ctx context.Context, workspace ident.ID, email string) ([]Token, error)
	// Save stores a change and its audit entries in one transaction. It returns
	// ErrTokenUsed if a token or ticket is used up, or if the user is not a member
	// of the target workspace. It returns record.ErrRace if a credential
	// changed or a user was created since they were read.
	Save(ctx context.Context, c UserChange) error
	// HasCredentials reports whether any credential exists.
	HasCredentials(ctx context.Context) (bool, error)
	// Sweep deletes tokens and sessions that expired before now, and sessions
	// that were last used before idle.
	Sweep(ctx context.Context, now, idle clock.Instant) error
}

// ErrTokenUsed means that a one-time token was used or has expired.
var ErrTokenUsed = errors.New("used up or ended")

// UserQuery identifies a user by the one field that is set.
type UserQuery struct {
	ID       ident.ID
	Email    string
	Identity string
}

// User is a user with the user's credentials.
type User struct {
	ID      ident.ID
	Email   string
	Name    string
	Service bool
	// Workspaces are those where the user is an active member, in the order of
	// their creation.
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

// Credential is one way to sign in. The ID of passwords and TOTP is the user's
// id; the ID of an identity is the issuer and the subject.
type Credential struct {
	User ident.ID
	Kind string
	ID   string
	// Rev counts the changes. It is 0 for a credential that is not stored yet.
	Rev int64
	// Doc is the content, which only this package reads: JSON, or the hash of a
	// password.
	Doc []byte
	// Sealed is the encrypted secret, empty if the credential has none.
	Sealed string
}

// find returns the user's credential of a kind. An empty id matches any.
func (p *User) find(kind, id string) *Credential {
	for i := range p.Credentials {
		if c := &p.Credentials[i]; c.Kind == kind && (id == "" || c.ID == id) {
			return c
		}
	}
	return nil
}

// Token is a one-time link or a ticket. It grants its bearer one action.
type Token struct {
	Hash Hash
	ID   ident.ID
	Kind string
	// WorkspaceID is the workspace of an invitation, WorkspaceName its current
	// name.
	WorkspaceID   ident.ID
	WorkspaceName string
	// Subject is the recipient: for a link, the email. A new token replaces the
	// one with the same kind, workspace and subject.
	Subject   string
	Doc       []byte
	CreatedAt clock.Instant
	ExpiresAt clock.Instant
}

// UserChange is a set of writes that are stored in one transaction.
type UserChange struct {
	Cause record.Cause
	At    clock.Instant
	// Action is the action in the audit log of Cause.Workspace, or of all the
	// user's workspaces if that is empty. Without an action, no entry is
	// written.
	Action string
	// Target is the target in the audit log, the user if empty.
	Target ident.ID
	// User is the user that the change is about, empty for a user that Join
	// creates.
	User ident.ID
	// Burn are tokens that must exist and are deleted. Try is a token that must
	// have attempts left and loses one.
	Burn []Hash
	Try  *Hash
	// Spend marks a sealed ticket as used. It must not be marked already.
	Spend *Token
	Join  []Join
	// Name, if not empty, becomes the user's name.
	Name string
	Put  []Credential
	Drop []Credential
	// End ends sessions of the user: one, or all but one.
	End *End
	// Open is a new session. Proved is a session whose user authenticated
	// again. Keep is a new token.
	Open   *NewSession
	Proved ident.ID
	Keep   *Token
	// Withdraw deletes an invitation of Cause.Workspace.
	Withdraw ident.ID
	// Switch changes the workspace of a session.
	Switch *Switch
}

// MaxTries is the number of attempts per token.
const MaxTries = 5

// Join adds a user to a workspace. An active member keeps the role.
type Join struct {
	Workspace ident.ID
	Role      string
	Email     string
	// New is the user to create, nil for an existing user. If a user with the
	// email exists, New causes record.ErrRace.
	New *NewUser
	// Forget is the time before which a returning member must have left for the
	// member's keys to be revoked.
	Forget clock.Instant
}

// NewUser is a user to create.
type NewUser struct {
	ID   ident.ID
	Name string
}

// End selects sessions: the one with the id Only, or all but the one with the
// id Except.
type End struct{ Only, Except ident.ID }

// NewSession is a session to store, with the hash of its token.
type NewSession struct {
	Session
	Hash Hash
}

// Switch is a session and its new workspace.
type Switch struct{ Session, Workspace ident.ID }

// leaverKeysKept is how long after a member left the member's keys are revoked.
const leaverKeysKept = 30 * 24 * time.Hour
