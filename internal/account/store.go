package account

import (
	"context"
	"net/netip"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Store stores accounts. Every write is atomic: it saves the change, its event
// and its audit entry together, or nothing. A missing record is a not_found
// fault.
type Store interface {
	// AddWorkspace saves a workspace, its owner and, unless first is nil, a
	// first key. If a user with the owner's email exists, that user becomes the
	// owner. It returns the owner. It fails if the owner already owns most
	// workspaces. If most is 0, the operator creates the workspace: the owner
	// becomes its founder, and the founder of the workspaces that the owner
	// creates from then on.
	AddWorkspace(ctx context.Context, w Workspace, owner User, first *NewKey, most int64, note Note) (User, error)
	Workspaces(ctx context.Context) ([]Workspace, error)
	Workspace(ctx context.Context, id ident.ID) (Workspace, error)
	// ChangeWorkspace applies change to the stored workspace in a transaction.
	ChangeWorkspace(ctx context.Context, id ident.ID, change func(*Workspace), note Note) (Workspace, error)
	// SaveMember adds a user to a workspace or changes the role. It creates the
	// user if the email is unknown. It rejects a change that would leave the
	// workspace without an active owner.
	SaveMember(ctx context.Context, workspace ident.ID, m Member, note Note) (Member, error)
	Members(ctx context.Context, workspace ident.ID) ([]Member, error)
	// AddKey saves a key unless its user or workspace has the maximum number of
	// keys. replaced, if not nil, is the rotated key with its new expiry;
	// AddKey fails if it was revoked meanwhile.
	AddKey(ctx context.Context, k NewKey, replaced *Key, note Note) error
	// SaveKey saves changes to a key. Despite concurrent changes, it never
	// extends the expiry and never undoes a revocation.
	SaveKey(ctx context.Context, k Key, note Note) error
	Keys(ctx context.Context, workspace ident.ID) ([]Key, error)
	// Founder returns the founder of a workspace, empty if it is not known.
	Founder(ctx context.Context, workspace ident.ID) (ident.ID, error)
}

// MemberReader reads account data for signed-in users.
type MemberReader interface {
	// WorkspacesOf lists the workspaces where a user is an active member.
	WorkspacesOf(ctx context.Context, user ident.ID) ([]WorkspaceRole, error)
	// MemberCaller returns a user in a workspace as a caller without a key, nil
	// if the user was never a member.
	MemberCaller(ctx context.Context, workspace, user ident.ID) (*Caller, error)
	// KeyUse returns the uses of a workspace's keys on the days after the given
	// one.
	KeyUse(ctx context.Context, workspace ident.ID, after int64) ([]Use, error)
}

// Credentials finds the callers of keys and counts the uses of keys.
type Credentials interface {
	// Caller returns the caller of the key with this hash, nil if the key does
	// not exist.
	Caller(ctx context.Context, hash Hash) (*Caller, error)
	// AddUses adds to the counts of keys. The write need not be durable at
	// once.
	AddUses(ctx context.Context, uses []Use) error
	// Live returns all keys of all workspaces that are not revoked, with the
	// state of their owners.
	Live(ctx context.Context) ([]*Caller, error)
}

// NewKey is a key to store, with the hash of its secret.
type NewKey struct {
	Key
	Hash Hash
}

// Note is the audit entry and the event of a change.
type Note struct {
	Cause record.Cause
	At    clock.Instant
	// Action names the change in the audit log, such as workspace.create.
	Action string
	// Event is the event to write, none if Type is empty.
	Event record.Event
}

// Use is the number of requests of one key on one day since the last flush.
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
