package campaign

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Service implements the operations on campaigns.
type Service struct {
	store    Store
	refs     map[string]References
	spending Spending
	now      func() time.Time
	random   io.Reader
	// Platforms is nil if no platform campaigns can be linked.
	Platforms Platforms
}

// New returns the service. refs looks up audience_ids, creative_ids and
// connection_ids; without an entry for a kind, its ids do not exist. Without
// spending, campaigns have no spend.
func New(store Store, refs map[string]References, spending Spending, now func() time.Time, random io.Reader) *Service {
	return &Service{store: store, refs: refs, spending: spending, now: now, random: random}
}

// CreateSpec creates a draft. It checks the spec like a request body.
func (s *Service) CreateSpec(ctx context.Context, cause record.Cause, spec Spec) (record.Doc, error) {
	sent, err := body.ValueOf(spec)
	if err != nil {
		return record.Doc{}, fmt.Errorf("encode campaign: %w", err)
	}
	return s.Create(ctx, cause, sent, Defaults{})
}

// Create creates a draft from a request body.
func (s *Service) Create(ctx context.Context, cause record.Cause, sent *body.Value, d Defaults) (record.Doc, error) {
	spec, err := s.parseSpec(ctx, cause.Workspace, body.NewReader(sent, false), d, nil)
	if err != nil {
		return record.Doc{}, err
	}
	return s.insert(ctx, cause, spec)
}

func (s *Service) insert(ctx context.Context, cause record.Cause, spec Spec) (record.Doc, error) {
	t := s.now()
	now := clock.At(t)
	c := &Campaign{
		ID:     ident.New(ident.Campaign, t, s.random),
		Status: StatusDraft,
		Spec:   spec,
		Common: record.Common{WorkspaceID: cause.Workspace, Version: 1, CreatedBy: cause.Actor, CreatedAt: now, UpdatedAt: now},
	}
	usability, err := s.usability(ctx, c)
	if err != nil {
		return record.Doc{}, err
	}
	c.refresh(usability, now)
	return s.store.Save(ctx, c, record.Save{Cause: cause, At: now, Events: []record.Event{{Type: "campaign.created"}}, Jobs: c.settleJobs(nil, now)})
}

// Get returns the stored document.
func (s *Service) Get(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.store.Doc(ctx, workspace, id)
}

// List returns one page of campaigns.
func (s *Service) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	return s.store.List(ctx, workspace, q)
}

// Update applies a merge patch. A patch that changes nothing returns the record
// without an event.
func (s *Service) Update(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, patch *body.Value, d Defaults) (record.Doc, error) {
	return s.change(ctx, cause, id, match, func(c *Campaign, now clock.Instant) ([]record.Event, error) {
		return s.applyPatch(ctx, c, now, patch, d)
	})
}

// applyPatch applies a merge patch to a campaign that was loaded.
func (s *Service) applyPatch(ctx context.Context, c *Campaign, now clock.Instant, patch *body.Value, d Defaults) ([]record.Event, error) {
	merged, err := body.Merge(c.Stored().JSON, *patch, readOnly)
	if err != nil {
		return nil, err
	}
	spec, err := s.parseSpec(ctx, c.WorkspaceID, merged, d, &c.Spec)
	if err != nil {
		return nil, err
	}
	if c.Status == StatusArchived {
		return nil, c.invalidState(Update, notArchived...)
	}
	if err := c.checkImmutable(&spec, now); err != nil {
		return nil, err
	}
	old := record.Diff(&c.Spec, &spec)
	if len(old) == 0 {
		return nil, nil
	}
	was := c.Budget
	c.Spec = spec
	if old["budget"] != nil || old["schedule"] != nil {
		if err := s.refreshSpend(ctx, c, now); err != nil {
			return nil, err
		}
		if err := c.checkBudgetCoversSpend(was); err != nil {
			return nil, err
		}
		if c.reopen(now) {
			old["status"] = StatusCompleted
		}
	}
	return []record.Event{{Type: "campaign.updated", Previous: old}}, nil
}

// Transition launches, pauses or resumes the campaign.
func (s *Service) Transition(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, a Action) (record.Doc, error) {
	return s.change(ctx, cause, id, match, func(c *Campaign, now clock.Instant) ([]record.Event, error) {
		was := c.Status
		if err := c.transition(a, now); err != nil || c.Status == was {
			return nil, err
		}
		return []record.Event{{Type: transitions[a].Event, Previous: map[string]any{"status": was}}}, nil
	})
}

// CheckLaunch returns the error that a launch would return, or the record as it
// is with the delivery issues that it would have after the launch. It changes
// nothing.
//
// Choice: a state that the launch writes to a platform counts as confirmed. Its
// confirmation takes seconds and needs nothing from the user.
func (s *Service) CheckLaunch(ctx context.Context, workspace, id ident.ID, match record.Match) (record.Doc, error) {
	c, err := s.store.Load(ctx, workspace, id)
	if err != nil {
		return record.Doc{}, err
	}
	if err := match.Check(c.Version); err != nil {
		return record.Doc{}, err
	}
	c.restoreFlags()
	launched, now := *c, clock.At(s.now())
	if err := launched.transition(Launch, now); err != nil {
		return record.Doc{}, err
	}
	launched.Delivery.Status = launched.deliveryStatus(now)
	if s.Platforms != nil && launched.Runs() {
		if launched.ExternalRefs, err = s.Platforms.Request(ctx, workspace, id, true); err != nil {
			return record.Doc{}, fmt.Errorf("look up platform campaigns of %s: %w", id, err)
		}
		confirmPushes(launched.ExternalRefs)
	}
	usability, err := s.usability(ctx, &launched)
	if err != nil {
		return record.Doc{}, err
	}
	launched.refresh(usability, now)
	c.Delivery.Issues = launched.Delivery.Issues
	text, err := json.Marshal(c, json.Deterministic(true))
	if err != nil {
		return record.Doc{}, fmt.Errorf("encode campaign: %w", err)
	}
	return record.Doc{Stamp: c.Stamp(), JSON: text}, nil
}

// Archive archives the campaign from any status. Linked platform campaigns are
// paused, not archived: the transaction stores the requested state and the job
// that writes it (connection.Service.Push). Archiving again changes nothing,
// except that it requests the pause again while a platform campaign may still
// run.
func (s *Service) Archive(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error) {
	return s.change(ctx, cause, id, match, func(c *Campaign, now clock.Instant) ([]record.Event, error) {
		was := c.Status
		if c.archive(now); was == StatusArchived {
			return nil, nil
		}
		return []record.Event{{Type: "campaign.archived", Previous: map[string]any{"status": was}}}, nil
	})
}

// Restore restores an archived campaign as a draft, or as paused if it was
// launched.
func (s *Service) Restore(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error) {
	return s.change(ctx, cause, id, match, func(c *Campaign, now clock.Instant) ([]record.Event, error) {
		if err := c.restore(now); err != nil {
			return nil, err
		}
		// An archived campaign has no issues that store dailyCapReached and
		// rateMissing.
		if err := s.refreshSpend(ctx, c, now); err != nil {
			return nil, err
		}
		return []record.Event{{Type: "campaign.restored", Previous: map[string]any{"status": StatusArchived}}}, nil
	})
}

// Duplicate creates a draft with the same writable fields, without past dates
// and without the experiment. Without a name in the body, it has the original's
// name with a suffix.
func (s *Service) Duplicate(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, sent *body.Value) (record.Doc, error) {
	f := body.NewReader(sent, false)
	name := f.Text("name", body.Optional, 1, MaxName)
	f.Done()
	c, err := s.store.Load(ctx, cause.Workspace, id)
	if err != nil {
		return record.Doc{}, err
	}
	if err := match.Check(c.Version); err != nil {
		return record.Doc{}, err
	}
	if err := f.Err(); err != nil {
		return record.Doc{}, err
	}
	spec, now := c.Spec, clock.At(s.now())
	spec.Experiment = nil
	spec.Name = copyName(c.Name)
	body.Set(&spec.Name, name)
	if at := spec.Schedule.StartAt; at != nil && *at <= now {
		spec.Schedule.StartAt = nil
	}
	if at := spec.Schedule.EndAt; at != nil && *at <= now {
		spec.Schedule.EndAt = nil
	}
	return s.insert(ctx, cause, spec)
}

func copyName(name string) string {
	const suffix = " (copy)"
	runes := []rune(name)
	return string(runes[:min(len(runes), MaxName-len(suffix))]) + suffix
}

// Settle applies the passing of time: a start, an end or a day that has passed.
// It returns when to call it again, or nil for never. Repeated calls are safe.
func (s *Service) Settle(ctx context.Context, workspace, id ident.ID) (next *clock.Instant, err error) {
	return s.settle(ctx, workspace, id, func(c *Campaign, now clock.Instant) error {
		if midnight := c.midnight(); midnight == nil || *midnight > now {
			return nil
		}
		return s.refreshSpend(ctx, c, now)
	})
}

// settle changes a campaign on behalf of the system. look updates its spend.
func (s *Service) settle(ctx context.Context, workspace, id ident.ID, look func(*Campaign, clock.Instant) error) (next *clock.Instant, err error) {
	return s.settleWith(ctx, workspace, id, func(c *Campaign, now clock.Instant) ([]record.Event, error) { return nil, look(c, now) })
}

func (s *Service) settleWith(ctx context.Context, workspace, id ident.ID, look func(*Campaign, clock.Instant) ([]record.Event, error)) (next *clock.Instant, err error) {
	cause := record.Cause{Workspace: workspace, Actor: record.System}
	_, err = s.change(ctx, cause, id, record.Match{}, func(c *Campaign, now clock.Instant) ([]record.Event, error) {
		events, err := look(c, now)
		if err != nil {
			return nil, err
		}
		events = append(events, c.complete(now)...)
		next = c.nextChange(now)
		return events, nil
	})
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return next, err
}

// change is the only way to modify a campaign: load, check, apply, save. It
// retries after a concurrent change.
func (s *Service) change(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, apply func(*Campaign, clock.Instant) ([]record.Event, error)) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		c, err := s.store.Load(ctx, cause.Workspace, id)
		if err != nil {
			return record.Doc{}, err
		}
		if err := match.Check(c.Version); err != nil {
			return record.Doc{}, err
		}
		c.restoreFlags()
		now, before := clock.At(s.now()), *c
		events := c.complete(now)
		requested, err := apply(c, now)
		if err != nil {
			return record.Doc{}, err
		}
		return s.save(ctx, cause, c, &before, now, append(events, requested...))
	})
}

// save writes the record if it changed. If the campaign starts or stops
// running, or a caller stops it again, save also stores the requested state of
// its platform campaigns and schedules its push for now.
func (s *Service) save(ctx context.Context, cause record.Cause, c, before *Campaign, now clock.Instant, events []record.Event) (record.Doc, error) {
	save, err := s.prepare(ctx, cause, c, before, now, events)
	if err != nil {
		return record.Doc{}, err
	}
	if save == nil {
		return s.store.Doc(ctx, cause.Workspace, c.ID)
	}
	if stops(c, before) {
		ctx = record.WithUrgent(ctx)
	}
	return s.store.Save(ctx, c, *save)
}

// stops reports whether a change stops a campaign.
func stops(c, before *Campaign) bool { return before.Runs() && !c.Runs() || c.requestPause }

// prepare completes a changed campaign and returns what is saved with it, nil if
// nothing has to be saved.
func (s *Service) prepare(ctx context.Context, cause record.Cause, c, before *Campaign, now clock.Instant, events []record.Event) (*record.Save, error) {
	// Runs depends on the delivery status.
	c.Delivery.Status = c.deliveryStatus(now)
	var enable *bool
	if run := c.Runs(); s.Platforms != nil && (before.Runs() != run || c.requestPause) {
		refs, err := s.Platforms.Request(ctx, cause.Workspace, c.ID, run)
		if err != nil {
			return nil, fmt.Errorf("look up platform campaigns of %s: %w", c.ID, err)
		}
		if c.ExternalRefs = refs; len(refs) > 0 {
			enable = &run
		}
	}
	usability, err := s.usability(ctx, c)
	if err != nil {
		return nil, err
	}
	c.refresh(usability, now)
	moved := before.Delivery.Status != c.Delivery.Status
	switch {
	case len(events) > 0 || moved || !sameIssues(before.Delivery.Issues, c.Delivery.Issues) || !c.sameSpend(before) || !sameRefs(before.ExternalRefs, c.ExternalRefs):
		c.Touch(now, len(events))
	case cause.Idempotency == nil && enable == nil:
		return nil, nil
	}
	if moved && len(events) == 0 {
		events = []record.Event{{Type: "campaign.delivery_changed", Previous: map[string]any{"delivery": map[string]any{"status": before.Delivery.Status}}}}
	}
	save := &record.Save{Cause: cause, At: now, Events: events, Jobs: c.settleJobs(before.references(), now), Enable: enable}
	if enable != nil {
		save.Jobs = append(save.Jobs, record.Job{Kind: record.JobPush, Workspace: c.WorkspaceID, ID: c.ID, At: now})
	}
	return save, nil
}

// missingRefs lists ids that do not exist or are archived. It skips ids that
// the record already has, because their records may have been archived since.
func (s *Service) missingRefs(ctx context.Context, workspace ident.ID, was, next *Spec) ([]fault.Detail, error) {
	if was == nil {
		was = &Spec{}
	}
	lists := []struct {
		kind, field string
		old, next   []ident.ID
	}{
		{"audience_ids", "audience_ids", was.AudienceIDs, next.AudienceIDs},
		{"audience_ids", "excluded_audience_ids", was.ExcludedAudienceIDs, next.ExcludedAudienceIDs},
		{"creative_ids", "creative_ids", was.CreativeIDs, next.CreativeIDs},
		{"connection_ids", "connection_ids", was.ConnectionIDs, next.ConnectionIDs},
	}
	var details []fault.Detail
	for _, list := range lists {
		fresh := slices.DeleteFunc(slices.Clone(list.next), func(id ident.ID) bool { return slices.Contains(list.old, id) })
		if len(fresh) == 0 {
			continue
		}
		usability, err := s.lookUp(ctx, workspace, list.kind, fresh)
		if err != nil {
			return nil, err
		}
		for i, id := range list.next {
			field := fmt.Sprintf("%s[%d]", list.field, i)
			u, there := usability[id]
			switch {
			case !slices.Contains(fresh, id):
			case !there:
				details = append(details, fault.MissingRef(field, id))
			case u.Archived:
				details = append(details, fault.ArchivedRef(field, id))
			}
		}
	}
	return details, nil
}

func (s *Service) lookUp(ctx context.Context, workspace ident.ID, kind string, ids []ident.ID) (map[ident.ID]record.Usability, error) {
	refs := s.refs[kind]
	if refs == nil || len(ids) == 0 {
		return nil, nil
	}
	found, err := refs.Usability(ctx, workspace, ids)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", kind, err)
	}
	return found, nil
}

// usability looks up every record that delivery depends on.
func (s *Service) usability(ctx context.Context, c *Campaign) (map[ident.ID]record.Usability, error) {
	all := map[ident.ID]record.Usability{}
	for kind, ids := range map[string][]ident.ID{"audience_ids": c.AudienceIDs, "creative_ids": c.CreativeIDs, "connection_ids": c.Connections()} {
		found, err := s.lookUp(ctx, c.WorkspaceID, kind, ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

// batchSize is the number of campaigns per batch. Only tests change it.
var batchSize = 500

// Follow updates the delivery of all campaigns that refer to a record whose
// usability changed. Repeated calls are safe.
func (s *Service) Follow(ctx context.Context, workspace, id ident.ID) error {
	for after := ident.ID(""); ; {
		list, err := s.store.Referring(ctx, workspace, id, after, batchSize)
		if err != nil {
			return err
		}
		for _, campaign := range list {
			if _, err := s.Settle(ctx, workspace, campaign); err != nil {
				return err
			}
			after = campaign
		}
		if len(list) < batchSize {
			return nil
		}
	}
}
