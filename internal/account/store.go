package account

import (
	"context"
	"net/netip"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Store keeps accounts. Every writing method is atomic: it saves the change,
// its event and its audit entry together, or nothing. A missing record is a
// not_found fault.
type Store interface {
	// AddWorkspace saves a workspace, its owner and a first key unless that is
	// nil. An owner whose e-mail is known already is that user; the user is
	// returned. Who owns most workspaces gets no other, unless that is 0.
	AddWorkspace(ctx context.Context, w Workspace, owner User, first *NewKey, most int64, note Note) (User, error)
	Workspaces(ctx context.Context) ([]Workspace, error)
	// Workspace reads one; a missing one is a not_found fault.
	Workspace(ctx context.Context, id ident.ID) (Workspace, error)
	// ChangeWorkspace changes a workspace as it is stored at that moment.
	ChangeWorkspace(ctx context.Context, id ident.ID, change func(*Workspace), note Note) (Workspace, error)
	// SaveMember adds a user to a workspace or changes the role; the user is
	// made when the e-mail is unknown. A change that would leave the workspace
	// without an active owner is refused.
	SaveMember(ctx context.Context, workspace ident.ID, m Member, note Note) (Member, error)
	Members(ctx context.Context, workspace ident.ID) ([]Member, error)
	// AddKey saves a key unless its user or workspace has the most it may
	// have; replaced, if not nil, is the key it takes over from, which must not
	// have been revoked meanwhile.
	AddKey(ctx context.Context, k NewKey, replaced *Key, note Note) error
	// SaveKey saves what happened to a key. Whatever else happened to it
	// meanwhile, it never lives longer and a revocation stays.
	SaveKey(ctx context.Context, k Key, note Note) error
	Keys(ctx context.Context, workspace ident.ID) ([]Key, error)
}

// Standing answers what signed-in people are shown of accounts.
type Standing interface {
	// WorkspacesOf lists the workspaces where a user is an active member.
	WorkspacesOf(ctx context.Context, user ident.ID) ([]WorkspaceRole, error)
	// Standing returns a user in a workspace as a caller without key, nil when
	// the user was never a member.
	Standing(ctx context.Context, workspace, user ident.ID) (*Caller, error)
	// KeyUse lists on which days after one the keys of a workspace were used,
	// and how often.
	KeyUse(ctx context.Context, workspace ident.ID, after int64) ([]Use, error)
}

// Credentials answers who holds a key, and keeps the books on its use.
type Credentials interface {
	// Caller returns the holder of the key with this hash, nil when there is
	// no such key.
	Caller(ctx context.Context, hash Hash) (*Caller, error)
	// AddUses adds to the counts of keys; it need not be durable at once.
	AddUses(ctx context.Context, uses []Use) error
	// Live returns all keys that are not revoked, of every workspace, with
	// what happened to their owners.
	Live(ctx context.Context) ([]*Caller, error)
}

// NewKey is a key with its secret's hash, on the way into the store.
type NewKey struct {
	Key
	Hash Hash
}

// Note is what a change is remembered by.
type Note struct {
	Cause record.Cause
	At    clock.Instant
	// Action names the change in the audit log, such as workspace.create.
	Action string
	// Event is told to the workspace, if Type is set.
	Event record.Event
}

// Use is what one key was used for since the last report.
type Use struct {
	WorkspaceID ident.ID
	KeyID       ident.ID
	Day         int64
	Count       int64
	At          clock.Instant
	Address     netip.Addr
	Agent       string
}

// Limits on active keys.
const (
	MaxKeysPerUser      = 20
	MaxKeysPerWorkspace = 100
)
