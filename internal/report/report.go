// Package report defines what people keep about metrics: saved views of lists,
// saved reports, dashboards and annotations of charts. It uses no HTTP and no
// SQL; store.go declares the interfaces that it needs.
package report

import (
	"context"
	"io"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Limits of the writable fields. The OpenAPI contract has the same limits.
const (
	MaxName    = 200
	MaxWord    = 64
	MaxFilters = 30
	MaxValues  = 100
	MaxValue   = 200
	MaxColumns = 50
	MaxTiles   = 30
	MaxNote    = 500
)

// Status is the status of a record.
type Status string

// The statuses.
const (
	StatusActive   Status = "active"
	StatusArchived Status = "archived"
)

// Allowed values of the enumerated fields.
var (
	Statuses     = []string{string(StatusActive), string(StatusArchived)}
	Visibilities = []string{private, shared}
	Kinds        = []string{KindView, KindReport}
	Pages        = []string{"overview", "campaigns", "creative", "audiences", "connections", "analytics"}
	Charts       = []string{"table", "number", "line", "area", "bar", "stacked_bar"}
	Orders       = []string{"asc", "desc"}
	Compares     = []string{"previous_period", "previous_year"}
)

const (
	private = "private"
	shared  = "shared"
)

// Head begins every record of this package.
type Head struct {
	ID     ident.ID `json:"id"`
	Status Status   `json:"status"`
	// OwnerID is the user who created the record, also with an API key.
	OwnerID ident.ID `json:"owner_id"`
}

// Caller is the user behind a request. Manage allows changing what others have
// shared.
type Caller struct {
	User   ident.ID
	Manage bool
}

// Service implements the operations of this package.
type Service struct {
	Deps
	views       keeper[View, *View]
	dashboards  keeper[Dashboard, *Dashboard]
	annotations keeper[Annotation, *Annotation]
}

// Deps are the dependencies of a Service.
type Deps struct {
	Views      Store[View]
	Dashboards Store[Dashboard]

	Annotations Annotations
	Moments     Moments
	Queries     Queries
	// Presets are the names of ranges of days.
	Presets []string
	Now     func() time.Time
	Random  io.Reader
}

// New returns the service.
func New(d Deps) *Service {
	return &Service{
		Deps:       d,
		views:      keeper[View, *View]{d.Views, "saved_view", ident.SavedView, d.Now, d.Random},
		dashboards: keeper[Dashboard, *Dashboard]{d.Dashboards, "dashboard", ident.Dashboard, d.Now, d.Random},

		annotations: keeper[Annotation, *Annotation]{d.Annotations, "annotation", ident.Annotation, d.Now, d.Random},
	}
}

// kept is a record of this package.
type kept[T any] interface {
	*T
	head() *Head
	common() *record.Common
	// private reports that only the owner sees the record.
	private() bool
}

// keeper has what all kinds of records share: who may see and change them.
type keeper[T any, P kept[T]] struct {
	store  Store[T]
	name   string
	prefix string
	now    func() time.Time
	random io.Reader
}

// event returns the entry of the audit log for a change. These records have no
// events, because events can be read by everybody in the workspace.
func (k *keeper[T, P]) event(change string) []record.Event {
	return []record.Event{{Type: k.name + "." + change, AuditOnly: true}}
}

// create stores a new record.
func (k *keeper[T, P]) create(ctx context.Context, cause record.Cause, by Caller, v *T) (record.Doc, error) {
	p, t := P(v), k.now()
	now := clock.At(t)
	*p.head() = Head{ID: ident.New(k.prefix, t, k.random), Status: StatusActive, OwnerID: by.User}
	*p.common() = record.Common{WorkspaceID: cause.Workspace, Version: 1, CreatedBy: cause.Actor, CreatedAt: now, UpdatedAt: now}
	return k.store.Save(ctx, v, record.Save{Cause: cause, At: now, Events: k.event("created")})
}

// load reads a record that the caller may see.
func (k *keeper[T, P]) load(ctx context.Context, workspace ident.ID, by Caller, id ident.ID) (P, error) {
	v, err := k.store.Load(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	if p := P(v); !p.private() || p.head().OwnerID == by.User {
		return p, nil
	}
	return nil, fault.Missing()
}

// get returns the document of a record that the caller may see.
func (k *keeper[T, P]) get(ctx context.Context, workspace ident.ID, by Caller, id ident.ID) (record.Doc, error) {
	p, err := k.load(ctx, workspace, by, id)
	if err != nil {
		return record.Doc{}, err
	}
	return p.common().Stored(), nil
}

// list returns one page of the records that the caller may see.
func (k *keeper[T, P]) list(ctx context.Context, workspace ident.ID, by Caller, q page.Query) (page.Page, error) {
	q.Filters = append(q.Filters, page.Filter{Name: "visible", Values: []string{string(by.User)}})
	return k.store.List(ctx, workspace, q)
}

// change is the only way to modify a record: load, check, apply, save. It
// retries after a concurrent change. apply returns what happened, empty for
// nothing.
func (k *keeper[T, P]) change(ctx context.Context, cause record.Cause, by Caller, id ident.ID, match record.Match, apply func(P, clock.Instant) (change string, err error)) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		p, err := k.load(ctx, cause.Workspace, by, id)
		if err != nil {
			return record.Doc{}, err
		}
		if p.head().OwnerID != by.User && !by.Manage {
			return record.Doc{}, notOwner()
		}
		if err := match.Check(p.common().Version); err != nil {
			return record.Doc{}, err
		}
		now := clock.At(k.now())
		change, err := apply(p, now)
		if err != nil {
			return record.Doc{}, err
		}
		if change == "" {
			return p.common().Stored(), nil
		}
		p.common().Touch(now, 1)
		return k.store.Save(ctx, p, record.Save{Cause: cause, At: now, Events: k.event(change)})
	})
}

// archive archives a record. Archiving again changes nothing.
func (k *keeper[T, P]) archive(ctx context.Context, cause record.Cause, by Caller, id ident.ID, match record.Match) (record.Doc, error) {
	return k.change(ctx, cause, by, id, match, func(p P, now clock.Instant) (string, error) {
		if p.head().Status == StatusArchived {
			return "", nil
		}
		p.head().Status, p.common().ArchivedAt = StatusArchived, &now
		return "archived", nil
	})
}

// notOwner is the fault of a change of what another user has shared.
func notOwner() error {
	const message = "Only its owner and admins can change this record. Save a copy of your own."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: string(fault.InsufficientPermissions), Message: message})
}

// checkLive returns a fault if a record is archived.
func checkLive(h *Head) error {
	if h.Status != StatusArchived {
		return nil
	}
	const message = "The record is archived and cannot be changed."
	return fault.New(fault.Archived, message, fault.Detail{Code: string(fault.Archived), Message: message, Meta: fault.Meta{"current_status": StatusArchived}})
}

// readOnly lists the fields that callers cannot write.
var readOnly = []string{"id", "status", "owner_id", "version", "created_by", "created_at", "updated_at", "archived_at"}
