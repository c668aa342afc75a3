package audience

import (
	"context"

	"fanfare/internal/analytics"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Store stores audiences. Every write is atomic: it saves the record, its
// event, its audit entry and the caller's idempotency key together, or nothing.
// A missing record is a not_found fault. A concurrent change is record.ErrRace.
type Store interface {
	// Save writes a new record, or one that has not changed since Load.
	Save(ctx context.Context, a *Audience, save record.Save) (record.Doc, error)
	Load(ctx context.Context, workspace, id ident.ID) (*Audience, error)
	Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	// ChangeMembers changes the members of a list that has not changed since
	// Load, and saves the list as WithMemberChange returns it. The returned
	// document is a MembersChanged, which is also stored under the caller's
	// idempotency key.
	ChangeMembers(ctx context.Context, a *Audience, m MemberChange, save record.Save) (record.Doc, error)
	// Statuses returns the statuses of audiences. It omits ids that do not
	// exist.
	Statuses(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]Status, error)
	// Overlaps lists the customer lists that share members with the given one,
	// most shared first, without archived ones.
	Overlaps(ctx context.Context, workspace, id ident.ID, most int) ([]SharedMembers, error)
	// Campaigns lists the campaigns that target an audience, newest first,
	// without archived ones.
	Campaigns(ctx context.Context, workspace, id ident.ID, most int) ([]analytics.CampaignMetrics, error)
}

// Facts returns the metrics of audiences.
type Facts interface {
	// AudienceInsights returns the metrics of an audience from first to last, both
	// included, with a warning if none exist. Shares are compared with the
	// baseline: workspace, or the id of an audience. A breakdown that no
	// platform reported is empty.
	AudienceInsights(ctx context.Context, workspace, id ident.ID, baseline string, first, last clock.Date) (*analytics.AudienceFacts, error)
}

// MemberChange are hashes of members to add and to remove. No hash is in both.
type MemberChange struct {
	Add    []string `json:"add"`
	Remove []string `json:"remove"`
}

// MembersChanged is the result of a change of members.
type MembersChanged struct {
	AudienceID ident.ID `json:"audience_id"`
	Added      int64    `json:"added"`
	Removed    int64    `json:"removed"`
	Count      int64    `json:"count"`
	Status     Status   `json:"status"`
}

// SharedMembers is a customer list and the number of members that it shares
// with another one.
type SharedMembers struct {
	With   *Audience
	Shared int64
}
