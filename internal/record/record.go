// Package record defines what all stored records have in common: the JSON
// document as the API returns it, the version, and the cause of a change.
package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// Stamp identifies a state of a record. Version rises when a caller's field or
// the status changes, Rev when the system refreshes another field.
type Stamp struct{ Version, Rev int64 }

// ETag returns the strong entity tag of this state.
func (s Stamp) ETag() string {
	b := make([]byte, 0, 24)
	b = append(b, '"')
	b = strconv.AppendInt(b, s.Version, 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, s.Rev, 10)
	return string(append(b, '"'))
}

// Doc is a record as the API returns it.
type Doc struct {
	Stamp
	JSON []byte
}

// ID returns the id at the start of the JSON of every record, or empty if the
// document is not a record.
func (d Doc) ID() ident.ID {
	rest, ok := bytes.CutPrefix(d.JSON, []byte(`{"id":"`))
	if !ok {
		return ""
	}
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return ident.ID(id)
}

// Match is the caller's precondition from If-Match. The zero value
// matches every version.
type Match struct {
	set bool
	any bool
	// unquoted means that the header has no tag in double quotes.
	unquoted bool
	versions []int64
}

// ParseMatch parses the If-Match headers: "*" or entity tags, of which only the
// version counts. Weak tags and unknown tags match nothing (RFC 9110), nor does
// a header without any tag.
func ParseMatch(headers []string) Match {
	if len(headers) == 0 {
		return Match{}
	}
	header := strings.Join(headers, ",")
	m := Match{set: true, any: strings.Trim(header, " \t") == "*", unquoted: !strings.Contains(header, `"`)}
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.Trim(tag, " \t")
		if len(tag) < 3 || tag[0] != '"' || tag[len(tag)-1] != '"' {
			continue
		}
		version, _, _ := strings.Cut(tag[1:len(tag)-1], ".")
		// Accept only the form that ETag writes, not "01" or "+1".
		if n, err := strconv.ParseInt(version, 10, 64); err == nil && strconv.FormatInt(n, 10) == version {
			m.versions = append(m.versions, n)
		}
	}
	return m
}

// Matches reports whether a record of this version satisfies the precondition.
func (m Match) Matches(version int64) bool {
	return !m.set || m.any || slices.Contains(m.versions, version)
}

// Check returns a fault with the current version unless the version matches.
func (m Match) Check(version int64) error {
	if m.Matches(version) {
		return nil
	}
	message := "If-Match names another version of the record. Read it again and decide anew."
	if m.unquoted {
		message = `If-Match must be a tag in double quotes, such as "1.0" from ETag, or *.`
	}
	return fault.New(fault.PreconditionFailed, message, fault.Detail{
		Field: "If-Match", In: "header", Code: string(fault.PreconditionFailed), Message: message,
		Meta: fault.Meta{"current_version": version},
	})
}

// Actor is who caused a change.
type Actor struct {
	Type string   `json:"type"`
	ID   ident.ID `json:"id"`
	Name string   `json:"name"`
}

// MarshalJSON writes null for the id of the system, which has none.
func (a Actor) MarshalJSON() ([]byte, error) {
	encoded := struct {
		Type string    `json:"type"`
		ID   *ident.ID `json:"id"`
		Name string    `json:"name"`
	}{Type: a.Type, Name: a.Name}
	if a.ID != "" {
		encoded.ID = &a.ID
	}
	b, err := json.Marshal(encoded)
	if err != nil {
		return nil, fmt.Errorf("encode actor: %w", err)
	}
	return b, nil
}

// Actor types.
const (
	ActorUser   = "user"
	ActorKey    = "api_key"
	ActorSystem = "system"
)

// System is the actor of scheduled and background work.
var System = Actor{Type: ActorSystem, Name: "Fanfare"}

// Cause describes a change: its workspace, actor, address and request. It is
// written in the transaction of the change.
type Cause struct {
	Workspace ident.ID
	Actor     Actor
	RequestID ident.ID
	Address   string
	// Session is the session of a signed-in user, otherwise empty.
	Session     ident.ID
	Idempotency *Idempotency
}

// Idempotency makes a write idempotent: the response is stored under the
// caller's idempotency key in the same transaction.
type Idempotency struct {
	Key         string
	Fingerprint string
	Status      int
}

// ErrKeyUsed means that another request used the idempotency key in the
// meantime and that nothing was written. The stored response can be read.
var ErrKeyUsed = errors.New("idempotency key was used meanwhile")

// StoredResponse is the response stored under an idempotency key.
type StoredResponse struct {
	Fingerprint string
	Status      int
	Resource    ident.ID
	Doc         Doc
}

// Event is an event to be written to the outbox.
type Event struct {
	Type string
	// Previous has the old values of the changed fields.
	Previous map[string]any
	// Restricted events are for admins and owners only.
	Restricted bool
	// AuditOnly means that the audit log gets an entry and nobody gets an event.
	AuditOnly bool
}

// ErrRace means that the record has changed since it was loaded.
var ErrRace = errors.New("record has changed meanwhile")

// Retry runs a change, and repeats it after each concurrent change.
func Retry(ctx context.Context, change func() (Doc, error)) (Doc, error) {
	for {
		d, err := change()
		if !errors.Is(err, ErrRace) {
			return d, err
		}
		if err := ctx.Err(); err != nil {
			return Doc{}, fmt.Errorf("write record: %w", err)
		}
	}
}

// Save is written together with a record.
type Save struct {
	Cause  Cause
	At     clock.Instant
	Events []Event
	Jobs   []Job
	// Enable is the requested state of the linked platform campaigns: true for
	// enabled, false for paused, nil for no request.
	Enable *bool
}

// Common has the fields of every record.
type Common struct {
	WorkspaceID ident.ID `json:"-"`
	Rev         int64    `json:"-"`
	// stored is the document as loaded.
	stored Doc

	Version    int64          `json:"version"`
	CreatedBy  Actor          `json:"created_by"`
	CreatedAt  clock.Instant  `json:"created_at"`
	UpdatedAt  clock.Instant  `json:"updated_at"`
	ArchivedAt *clock.Instant `json:"archived_at"`
}

// SetStored sets the workspace and the document of a decoded record. Stores
// call it.
func (c *Common) SetStored(workspace ident.ID, d Doc) {
	c.WorkspaceID, c.Rev, c.stored = workspace, d.Rev, d
}

// Stored returns the document as loaded.
func (c *Common) Stored() Doc { return c.stored }

// Stamp returns the state that a write compares with.
func (c *Common) Stamp() Stamp { return Stamp{Version: c.Version, Rev: c.Rev} }

// Touch increments the version if the change has events, otherwise the
// revision.
func (c *Common) Touch(now clock.Instant, events int) {
	if events > 0 {
		c.Version, c.Rev, c.UpdatedAt = c.Version+1, 0, now
		return
	}
	c.Rev++
}

// JoinStatuses joins statuses for a sentence.
func JoinStatuses[S ~string](list []S) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, " or ")
}

type urgentKey struct{}

// WithUrgent marks the writes of a context as urgent: they stop spend and may
// use the reserve on a full disk.
func WithUrgent(ctx context.Context) context.Context {
	return context.WithValue(ctx, urgentKey{}, true)
}

// IsUrgent reports whether WithUrgent marked the context.
func IsUrgent(ctx context.Context) bool { return ctx.Value(urgentKey{}) != nil }

// ExternalRef links a record to its entity on a platform.
type ExternalRef struct {
	ConnectionID   ident.ID `json:"connection_id"`
	Platform       string   `json:"platform"`
	ExternalID     string   `json:"external_id"`
	ExternalStatus *string  `json:"external_status"`
	// Enabled is the meaning of ExternalStatus. It is nil for audiences and for
	// entities that no sync has read since this field exists.
	Enabled *bool `json:"enabled"`
	// Channel is the channel of the platform campaign, nil if unknown.
	Channel *string `json:"channel"`
	URL     *string `json:"url"`
	// Push is the result of the last requested state. PushError says why the
	// platform has not confirmed it.
	Push      *string       `json:"push"`
	PushError *PushError    `json:"push_error"`
	SyncedAt  clock.Instant `json:"synced_at"`
}

// States of a push. Pending: not confirmed. Applied: confirmed. Failed: needs a
// person or the next sync. Drifted: changed on the platform since.
const (
	PushPending = "pending"
	PushApplied = "applied"
	PushFailed  = "failed"
	PushDrifted = "drifted"
)

// PushError says why a platform has not confirmed a state. Since is the time of
// the first failed attempt.
type PushError struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Since   clock.Instant `json:"since"`
	// Remediation is what a person can do, nil if it goes away by itself.
	Remediation *string `json:"remediation"`
}

// Equal reports whether both say the same.
func (e *PushError) Equal(other *PushError) bool {
	if e == nil || other == nil {
		return e == other
	}
	a, b := *e, *other
	a.Remediation, b.Remediation = nil, nil
	same := e.Remediation == nil && other.Remediation == nil || e.Remediation != nil && other.Remediation != nil && *e.Remediation == *other.Remediation
	return same && a == b
}
