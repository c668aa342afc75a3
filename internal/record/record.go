// Package record holds what every stored record has in common: its bytes as
// the API answers them, its version, and who changed it why.
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

// Stamp tells two states of a record apart. Version rises when a caller's
// field or the status changes, Rev when the system refreshes something.
type Stamp struct{ Version, Rev int64 }

// ETag is the strong entity tag of this state.
func (s Stamp) ETag() string {
	b := make([]byte, 0, 24)
	b = append(b, '"')
	b = strconv.AppendInt(b, s.Version, 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, s.Rev, 10)
	return string(append(b, '"'))
}

// Doc is a record as the API answers it.
type Doc struct {
	Stamp
	JSON []byte
}

// ID returns the id that begins the JSON of every record, empty where there is
// no record.
func (d Doc) ID() ident.ID {
	rest, ok := bytes.CutPrefix(d.JSON, []byte(`{"id":"`))
	if !ok {
		return ""
	}
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return ident.ID(id)
}

// Match is the caller's precondition on the version, from If-Match. The zero
// value demands nothing.
type Match struct {
	set bool
	any bool
	// bare says that the header has no tag in double quotes.
	bare     bool
	versions []int64
}

// ParseMatch reads the If-Match headers: "*" or entity tags, of which the
// version part counts. Weak tags and foreign tags match nothing, as RFC 9110
// wants, and so does a header without any.
func ParseMatch(headers []string) Match {
	if len(headers) == 0 {
		return Match{}
	}
	header := strings.Join(headers, ",")
	m := Match{set: true, any: strings.Trim(header, " \t") == "*", bare: !strings.Contains(header, `"`)}
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.Trim(tag, " \t")
		if len(tag) < 3 || tag[0] != '"' || tag[len(tag)-1] != '"' {
			continue
		}
		version, _, _ := strings.Cut(tag[1:len(tag)-1], ".")
		// Only as ETag writes it: "01" and "+1" are tags of somebody else.
		if n, err := strconv.ParseInt(version, 10, 64); err == nil && strconv.FormatInt(n, 10) == version {
			m.versions = append(m.versions, n)
		}
	}
	return m
}

// Holds reports whether a record of this version satisfies the precondition.
func (m Match) Holds(version int64) bool {
	return !m.set || m.any || slices.Contains(m.versions, version)
}

// Check is Holds as a fault that names the current version.
func (m Match) Check(version int64) error {
	if m.Holds(version) {
		return nil
	}
	message := "If-Match names another version of the record. Read it again and decide anew."
	if m.bare {
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
	shown := struct {
		Type string    `json:"type"`
		ID   *ident.ID `json:"id"`
		Name string    `json:"name"`
	}{Type: a.Type, Name: a.Name}
	if a.ID != "" {
		shown.ID = &a.ID
	}
	b, err := json.Marshal(shown)
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

// Cause accompanies every change: in which workspace, by whom, from where, and
// under which request. It is written beside the change in its transaction.
type Cause struct {
	Workspace ident.ID
	Actor     Actor
	RequestID ident.ID
	Address   string
	// Session is that of a signed-in person, empty for everybody else.
	Session ident.ID
	Once    *Once
}

// Once makes a write happen at most once: the answer is stored under the
// caller's key in the transaction of the effect.
type Once struct {
	Key         string
	Fingerprint string
	Status      int
}

// ErrUsed says that the caller's key was used by another request meanwhile and
// that nothing was done; the remembered answer is there to be read.
var ErrUsed = errors.New("idempotency key was used meanwhile")

// Answer is a remembered answer.
type Answer struct {
	Fingerprint string
	Status      int
	Resource    ident.ID
	Doc         Doc
}

// Event is something that happened, on its way into the outbox.
type Event struct {
	Type string
	// Previous holds the changed members' old values.
	Previous map[string]any
	// Restricted events are for admins and owners only.
	Restricted bool
}

// ErrRace is returned by a store when the record has changed since it was
// loaded.
var ErrRace = errors.New("record has changed meanwhile")

// Retry runs a change of a record, and once more whenever somebody else was
// faster.
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

// Save is what is written beside a record.
type Save struct {
	Cause  Cause
	At     clock.Instant
	Events []Event
	// Next is when background work has to look at the record again, nil for
	// never.
	Next *clock.Instant
	// Enable is the state that is requested of the platform campaigns which a
	// campaign is linked to: true for enabled, false for paused, nil for no
	// request.
	Enable *bool
}

// Common are the members every record has.
type Common struct {
	WorkspaceID ident.ID `json:"-"`
	Rev         int64    `json:"-"`
	// stored is the record as it was loaded.
	stored Doc

	Version    int64          `json:"version"`
	CreatedBy  Actor          `json:"created_by"`
	CreatedAt  clock.Instant  `json:"created_at"`
	UpdatedAt  clock.Instant  `json:"updated_at"`
	ArchivedAt *clock.Instant `json:"archived_at"`
}

// Loaded tells a record just decoded where it comes from; for stores.
func (c *Common) Loaded(workspace ident.ID, d Doc) {
	c.WorkspaceID, c.Rev, c.stored = workspace, d.Rev, d
}

// Stored returns the record as it was loaded.
func (c *Common) Stored() Doc { return c.stored }

// Stamp returns the state of the record that a write compares with.
func (c *Common) Stamp() Stamp { return Stamp{Version: c.Version, Rev: c.Rev} }

// Touch marks a change: of what a caller may write or of the status, when
// there are events; of what the system refreshes, when there are none.
func (c *Common) Touch(now clock.Instant, events int) {
	if events > 0 {
		c.Version, c.Rev, c.UpdatedAt = c.Version+1, 0, now
		return
	}
	c.Rev++
}

// Words lists statuses in a sentence.
func Words[S ~string](list []S) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, " or ")
}

type urgentKey struct{}

// Urgent marks the writes of a context as urgent: they stop spend, and get
// through on a full disk.
func Urgent(ctx context.Context) context.Context { return context.WithValue(ctx, urgentKey{}, true) }

// IsUrgent reports whether Urgent has marked a context.
func IsUrgent(ctx context.Context) bool { return ctx.Value(urgentKey{}) != nil }

// ExternalRef links a record to the same thing on a platform.
type ExternalRef struct {
	ConnectionID   ident.ID `json:"connection_id"`
	Platform       string   `json:"platform"`
	ExternalID     string   `json:"external_id"`
	ExternalStatus *string  `json:"external_status"`
	// Enabled is what ExternalStatus means, nil for an audience and for what
	// no sync has read since it is recorded.
	Enabled *bool `json:"enabled"`
	// Channel is where a campaign runs on the platform, nil where unknown.
	Channel *string `json:"channel"`
	URL     *string `json:"url"`
	// Push is what became of the last state that was to be written there,
	// PushError why it has not been confirmed.
	Push      *string       `json:"push"`
	PushError *PushError    `json:"push_error"`
	SyncedAt  clock.Instant `json:"synced_at"`
}

// PushError is why a platform has not confirmed a state. Since is the moment
// of the first attempt that failed.
type PushError struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Since   clock.Instant `json:"since"`
}
