package connection

import (
	"context"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// Store keeps connections and their runs. Every writing method is atomic: it
// saves the records, their events, their audit entries and the caller's
// idempotency key together, or nothing. A missing record is a not_found fault,
// a lost race record.ErrRace.
type Store interface {
	// Save writes a new record, or one that nobody has changed since it was
	// loaded. A new one whose name a living connection of the platform has is
	// a lost race too.
	Save(ctx context.Context, c *Connection, save record.Save) (record.Doc, error)
	// Load reads a record with what is private of it.
	Load(ctx context.Context, workspace, id ident.ID) (*Connection, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// Named loads the living connection of a platform that has a name, in
	// whichever case.
	Named(ctx context.Context, workspace ident.ID, platform, name string) (*Connection, error)
	// SaveAfterFacts is Save after facts were stored: it stores the answer
	// instead of the record under the idempotency key.
	SaveAfterFacts(ctx context.Context, c *Connection, answer []byte, save record.Save) error
	// Enqueue schedules a job.
	Enqueue(ctx context.Context, j record.Job) error
	// Apply writes a connection and runs of it together.
	Apply(ctx context.Context, ch *Change) (record.Doc, error)
	// GrantUsers counts the connections of all workspaces, except one, that use
	// a grant with one of these hashes.
	GrantUsers(ctx context.Context, hashes []string, except ident.ID) (int64, error)
}

// Change is what is written together about a connection.
type Change struct {
	Cause record.Cause
	At    clock.Instant
	// Connection is nil where it stays as it is.
	Connection *Connection
	Events     []record.Event
	Runs       []RunChange
	Jobs       []record.Job
	// FactsWritten says that the change acknowledges facts.
	FactsWritten bool
	// Grants are the hashes of the grants that the connection uses from now on,
	// empty for none, nil if they stay as they are.
	Grants []string
	// Push says that platforms can be reached: the store also writes the
	// PushJobs of the connection's links, which it reads in the transaction.
	Push bool
	// Forget has answers forgotten that are remembered for the connection's own
	// data under idempotency keys.
	Forget bool
	// AnswerRun has the first run answered and remembered, not the connection.
	AnswerRun bool
	// Answer is a run that is answered and remembered as it is here, where
	// nothing else is to be written.
	Answer *Run
}

// RunChange is a run that is written, with what happened to it.
type RunChange struct {
	Run    *Run
	Events []record.Event
}

// Runs reads sync runs.
type Runs interface {
	// Load reads a run with its plan.
	Load(ctx context.Context, workspace, id ident.ID) (*Run, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	// List reads one page of the runs of the connection that the filter
	// connection_id names.
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
}

// Links keeps what the platforms have, and which records of ours that is.
type Links interface {
	// Found notes what an account has now of a kind. Links and pushes that
	// are there stay; what is not on the list is forgotten unless it is linked.
	Found(ctx context.Context, workspace, connection ident.ID, account, kind string, list []Link) error
	// OfConnection reads the links of a connection, those with these external
	// ids, or all for nil.
	OfConnection(ctx context.Context, workspace, connection ident.ID, kind string, external []string) ([]Link, error)
	// OfRecord reads the links to a record.
	OfRecord(ctx context.Context, workspace, record ident.ID) ([]Link, error)
	// Put writes existing links and the jobs, all or none, and stores the answer
	// under the idempotency key. It returns record.ErrRace if a link has changed
	// since it was read.
	Put(ctx context.Context, connection ident.ID, list []Link, answer []byte, save record.Save) error
	// Sending stores what is private of a link before a state is written,
	// unless another state was requested meanwhile or the link is another
	// record's. It reports whether it did.
	Sending(ctx context.Context, workspace ident.ID, l *Link) (bool, error)
	// Pushed stores the result of a push, with what was read back and what is
	// private, under the condition of Sending. It reports whether it did.
	Pushed(ctx context.Context, workspace ident.ID, l *Link, push *string, why *record.PushError) (bool, error)
	// Page reads some in the order of kind and external id.
	Page(ctx context.Context, workspace, connection ident.ID, kinds []string, linked *bool, after string, limit int) ([]Link, error)
	// Names finds records of a kind by their names in lower case; a name that
	// several have gives them all.
	Names(ctx context.Context, workspace ident.ID, kind string, names []string) (map[string][]ident.ID, error)
}

// Link is something on a platform, as the API answers it.
type Link struct {
	Kind       string    `json:"kind"`
	ExternalID string    `json:"external_id"`
	AccountID  string    `json:"account_id"`
	Platform   string    `json:"platform"`
	Name       string    `json:"name"`
	Status     *string   `json:"external_status"`
	Runs       bool      `json:"enabled"`
	Channel    *string   `json:"channel"`
	URL        *string   `json:"url"`
	RecordID   *ident.ID `json:"record_id"`
	Push       *string   `json:"push"`
	// PushError is why the platform has not confirmed the requested state.
	PushError *record.PushError `json:"push_error"`
	SyncedAt  clock.Instant     `json:"synced_at"`

	// Connection is the connection that found it, Wanted the state that was
	// last requested; they are stored beside what is answered.
	Connection ident.ID `json:"-"`
	Wanted     *bool    `json:"-"`
	// Private is what the service remembers and callers never see.
	Private LinkPrivate `json:"-"`
	// Sum is a checksum of the link as it was read, 0 if it was not.
	Sum int64 `json:"-"`
}

// LinkPrivate is what belongs to a link and is not answered.
type LinkPrivate struct {
	// OwedTo has requests that were not confirmed when their record lost the
	// link, the oldest first and at most one of a record.
	OwedTo []Owed `json:"owed_to,omitempty"`
	// EnableUntil and PauseUntil are until when a write of that state which the
	// platform has not answered may still take effect, 0 where there is none.
	EnableUntil clock.Instant `json:"enable_until,omitzero"`
	PauseUntil  clock.Instant `json:"pause_until,omitzero"`
}

// Owed is a state that a record requested.
type Owed struct {
	Record ident.ID `json:"record"`
	Enable bool     `json:"enable"`
}

// Facts is where figures go.
type Facts interface {
	Write(ctx context.Context, b *fact.Batch) error
	// Totals adds up what an account has in the base family, by day.
	Totals(ctx context.Context, workspace ident.ID, s *fact.Source, first, last clock.Date) (map[clock.Date]fact.Values, error)
	// Erase takes out everything that came through a connection.
	Erase(ctx context.Context, workspace, connection ident.ID) error
}

// Linkable is a slice whose records can be linked to objects of platforms.
type Linkable interface {
	// UpdateRefs stores the platform objects that look returns in the record. It
	// calls look again if the record has changed meanwhile.
	UpdateRefs(ctx context.Context, workspace, id ident.ID, look func(context.Context) ([]record.ExternalRef, error)) error
}

// Campaigns are the campaigns that platforms deliver.
type Campaigns interface {
	Linkable
	// Runs reports whether platforms should deliver a campaign.
	Runs(ctx context.Context, workspace, campaign ident.ID) (bool, error)
}

// Vault keeps credentials unreadable.
type Vault interface {
	Seal(workspace, connection ident.ID, version int64, plain secret.Text) (string, error)
	Open(workspace, connection ident.ID, version int64, sealed string) (secret.Text, error)
	// GrantHashes returns the keyed hashes of a grant's name, one for each
	// master key, that of the active one first.
	GrantHashes(grant string) []string
}
