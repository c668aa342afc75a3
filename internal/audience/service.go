package audience

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Service implements the operations on audiences.
type Service struct {
	store  Store
	facts  Facts
	now    func() time.Time
	random io.Reader
}

// New returns the service. Without facts, insights have no metrics.
func New(store Store, facts Facts, now func() time.Time, random io.Reader) *Service {
	return &Service{store: store, facts: facts, now: now, random: random}
}

// CreateSpec creates an audience. It checks the spec like a request body.
func (s *Service) CreateSpec(ctx context.Context, cause record.Cause, spec Spec) (record.Doc, error) {
	sent, err := body.ValueOf(spec)
	if err != nil {
		return record.Doc{}, fmt.Errorf("encode audience: %w", err)
	}
	return s.Create(ctx, cause, sent)
}

// Create creates an audience from a request body.
func (s *Service) Create(ctx context.Context, cause record.Cause, sent *body.Value) (record.Doc, error) {
	f := body.NewReader(sent, false)
	spec := readNew(f)
	if err := s.checkSpec(ctx, cause.Workspace, "", f, nil, &spec); err != nil {
		return record.Doc{}, err
	}
	t := s.now()
	now := clock.At(t)
	a := &Audience{
		ID: ident.New(ident.Audience, t, s.random), Spec: spec,
		SizeByConnection: []PlatformSize{}, ExternalRefs: []record.ExternalRef{},
		Common: record.Common{WorkspaceID: cause.Workspace, Version: 1, CreatedBy: cause.Actor, CreatedAt: now, UpdatedAt: now},
	}
	if a.Type == TypeCustomerList {
		a.Size = exactSize(0, now)
	}
	a.Status = a.readyStatus()
	return s.store.Save(ctx, a, record.Save{Cause: cause, At: now, Events: []record.Event{{Type: "audience.created"}}})
}

// Get returns the stored document.
func (s *Service) Get(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.store.Doc(ctx, workspace, id)
}

// List returns one page of audiences.
func (s *Service) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	return s.store.List(ctx, workspace, q)
}

// Update applies a merge patch. A patch that changes nothing returns the record
// without an event.
func (s *Service) Update(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error) {
	return s.change(ctx, cause, id, match, func(a *Audience, _ clock.Instant) (*record.Event, error) {
		f, spec, err := readPatch(a, patch)
		if err != nil {
			return nil, err
		}
		if err := s.checkSpec(ctx, cause.Workspace, id, f, &a.Spec, &spec); err != nil {
			return nil, err
		}
		if err := a.requireNotArchived("update"); err != nil {
			return nil, err
		}
		old := record.Diff(&a.Spec, &spec)
		if len(old) == 0 {
			return nil, nil
		}
		a.Spec = spec
		return &record.Event{Type: "audience.updated", Previous: old}, nil
	})
}

// Archive archives the audience from any status, even if campaigns use it.
// Archiving again changes nothing.
func (s *Service) Archive(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error) {
	return s.change(ctx, cause, id, match, func(a *Audience, now clock.Instant) (*record.Event, error) {
		if a.Status == StatusArchived {
			return nil, nil
		}
		was := a.Status
		a.archive(now)
		return &record.Event{Type: "audience.archived", Previous: map[string]any{"status": was}}, nil
	})
}

// Restore restores an archived audience.
func (s *Service) Restore(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error) {
	return s.change(ctx, cause, id, match, func(a *Audience, _ clock.Instant) (*record.Event, error) {
		if err := a.restore(); err != nil {
			return nil, err
		}
		return &record.Event{Type: "audience.restored", Previous: map[string]any{"status": StatusArchived}}, nil
	})
}

// ChangeMembers adds and removes members of a customer list, all or nothing.
// The body has the form of a MemberChange. Adding an existing member or removing
// a missing one changes nothing. The returned document is a MembersChanged and
// has no version.
func (s *Service) ChangeMembers(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, sent *body.Value) (record.Doc, error) {
	f := body.NewReader(sent, false)
	m := readMembers(f)
	return record.Retry(ctx, func() (record.Doc, error) {
		a, err := s.loadMatching(ctx, cause.Workspace, id, match)
		if err != nil {
			return record.Doc{}, err
		}
		if err := f.Err(); err != nil {
			return record.Doc{}, err
		}
		if err := a.requireCustomerList(); err != nil {
			return record.Doc{}, err
		}
		return s.store.ChangeMembers(ctx, a, m, record.Save{Cause: cause, At: clock.At(s.now())})
	})
}

// change is the only way to modify an audience: load, check, apply, save. It
// retries after a concurrent change.
func (s *Service) change(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, apply func(*Audience, clock.Instant) (*record.Event, error)) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		a, err := s.loadMatching(ctx, cause.Workspace, id, match)
		if err != nil {
			return record.Doc{}, err
		}
		now, before := clock.At(s.now()), a.Status.Usability()
		event, err := apply(a, now)
		if err != nil {
			return record.Doc{}, err
		}
		save := record.Save{Cause: cause, At: now, Jobs: record.RefreshJobs(before, a.Status.Usability(), a.WorkspaceID, a.ID, now)}
		switch {
		case event != nil:
			save.Events = []record.Event{*event}
			a.Touch(now, 1)
		case cause.Idempotency == nil:
			return a.Stored(), nil
		}
		return s.store.Save(ctx, a, save)
	})
}

// UpdateRefs stores the platform audiences that look returns and their matched
// sizes.
func (s *Service) UpdateRefs(ctx context.Context, workspace, id ident.ID, look func(context.Context) ([]record.ExternalRef, error)) error {
	_, err := record.Retry(ctx, func() (record.Doc, error) {
		refs, err := look(ctx)
		if err != nil {
			return record.Doc{}, err
		}
		a, err := s.loadMatching(ctx, workspace, id, record.Match{})
		if err != nil {
			return record.Doc{}, err
		}
		now := clock.At(s.now())
		a.ExternalRefs = refs
		a.Touch(now, 0)
		return s.store.Save(ctx, a, record.Save{Cause: record.Cause{Workspace: workspace, Actor: record.System}, At: now})
	})
	return err
}

func (s *Service) loadMatching(ctx context.Context, workspace, id ident.ID, match record.Match) (*Audience, error) {
	a, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	return a, match.Check(a.Version)
}

// missingRefs lists ids in a definition that do not exist, are archived, or are
// the audience itself (id). It skips ids that the record already has, because
// their records may have been archived since.
func (s *Service) missingRefs(ctx context.Context, workspace, id ident.ID, was, next *Spec) ([]fault.Detail, error) {
	fresh := next.Definition.references()
	if was != nil {
		had := was.Definition.references()
		fresh = slices.DeleteFunc(fresh, func(r audienceRef) bool {
			return slices.ContainsFunc(had, func(h audienceRef) bool { return h.id == r.id })
		})
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	ids := make([]ident.ID, len(fresh))
	for i, r := range fresh {
		ids[i] = r.id
	}
	statuses, err := s.store.Statuses(ctx, workspace, ids)
	if err != nil {
		return nil, fmt.Errorf("look up audiences: %w", err)
	}
	var details []fault.Detail
	for _, r := range fresh {
		status, there := statuses[r.id]
		switch {
		case r.id == id:
			details = append(details, fault.Detail{Field: r.field, Code: "invalid_value", Message: r.field + " is the audience itself.", Meta: fault.Meta{"id": r.id}})
		case !there:
			details = append(details, fault.MissingRef(r.field, r.id))
		case status == StatusArchived:
			details = append(details, fault.ArchivedRef(r.field, r.id))
		}
	}
	return details, nil
}
