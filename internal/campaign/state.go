package campaign

import (
	"fmt"
	"maps"
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Status is the lifecycle status of a campaign.
type Status string

// The statuses.
const (
	StatusDraft     Status = "draft"
	StatusActive    Status = "active"
	StatusPaused    Status = "paused"
	StatusCompleted Status = "completed"
	StatusArchived  Status = "archived"
)

// Statuses lists all statuses in lifecycle order.
var Statuses = []string{string(StatusDraft), string(StatusActive), string(StatusPaused), string(StatusCompleted), string(StatusArchived)}

// Action is an operation of a caller on a campaign.
type Action string

// The actions.
const (
	Update    Action = "update"
	Launch    Action = "launch"
	Pause     Action = "pause"
	Resume    Action = "resume"
	Archive   Action = "archive"
	Duplicate Action = "duplicate"
	Restore   Action = "restore"
)

// transitions lists the transitions that callers request by name. Every other
// transition is rejected, including one into the current status. The only
// exception: a paused campaign can be paused again while a platform campaign
// may still run.
var transitions = map[Action]struct {
	From, To Status
	Event    string
}{
	Launch: {StatusDraft, StatusActive, "campaign.launched"},
	Pause:  {StatusActive, StatusPaused, "campaign.paused"},
	Resume: {StatusPaused, StatusActive, "campaign.resumed"},
}

// allowedActions lists the actions that callers can take in each status.
var allowedActions = map[Status][]Action{
	StatusDraft:     {Update, Launch, Archive, Duplicate},
	StatusActive:    {Update, Pause, Archive, Duplicate},
	StatusPaused:    {Update, Resume, Archive, Duplicate},
	StatusCompleted: {Update, Archive, Duplicate},
	StatusArchived:  {Duplicate, Restore},
}

// notArchived are the statuses of a campaign that is not archived.
var notArchived = []Status{StatusDraft, StatusActive, StatusPaused, StatusCompleted}

// editableStatuses lists the fields that can be changed only in some statuses.
var editableStatuses = map[string][]Status{
	"objective":      {StatusDraft},
	"attribution":    {StatusDraft},
	"experiment":     {StatusDraft},
	"channels":       {StatusDraft, StatusPaused},
	"connection_ids": {StatusDraft, StatusPaused},
}

// transition applies a transition and sets its timestamps.
func (c *Campaign) transition(a Action, now clock.Instant) error {
	m := transitions[a]
	c.requestPause = a == Pause && c.MayStillRun()
	if c.requestPause && c.Status == StatusPaused {
		return nil
	}
	if c.Status != m.From {
		return c.invalidState(a, m.From)
	}
	if a == Launch && c.Schedule.EndAt != nil && *c.Schedule.EndAt <= now {
		return fault.Invalid([]fault.Detail{{
			Field: "schedule.end_at", Code: "invalid_value",
			Message: "schedule.end_at is in the past: move it into the future, or remove it, before launching.",
			Meta:    fault.Meta{"end_at": c.Schedule.EndAt.String(), "now": now.String()},
		}})
	}
	c.Status = m.To
	switch a {
	case Launch:
		c.LaunchedAt = &now
	case Pause:
		c.PausedAt = &now
	case Resume:
		c.PausedAt = nil
	default:
	}
	return nil
}

// archive archives the campaign from any status. An active campaign stops
// delivering: its linked platform campaigns are paused (see Service.save).
func (c *Campaign) archive(now clock.Instant) {
	c.requestPause = c.MayStillRun()
	if c.Status != StatusArchived {
		c.Status, c.ArchivedAt = StatusArchived, &now
	}
}

// restore returns an archived campaign to a status without spend: draft, or
// paused if it was launched.
func (c *Campaign) restore(now clock.Instant) error {
	if c.Status != StatusArchived {
		return c.invalidState(Restore, StatusArchived)
	}
	c.ArchivedAt = nil
	if c.LaunchedAt == nil {
		c.Status = StatusDraft
		return nil
	}
	c.Status, c.PausedAt, c.CompletedAt = StatusPaused, &now, nil
	return nil
}

// canComplete reports whether the schedule or spend can complete the campaign.
func (c *Campaign) canComplete() bool { return c.Status == StatusActive || c.Status == StatusPaused }

// canDeliver reports whether the campaign can still deliver, now or after a
// transition.
func (c *Campaign) canDeliver() bool {
	return c.Status != StatusCompleted && c.Status != StatusArchived
}

// hasEnded reports whether the campaign can spend nothing more: its end has
// passed, or its lifetime budget is spent.
func (c *Campaign) hasEnded(now clock.Instant) bool {
	end := c.Schedule.EndAt
	return end != nil && *end <= now || c.budgetExhausted()
}

// complete completes an active or paused campaign that is over, and returns the event.
func (c *Campaign) complete(now clock.Instant) []record.Event {
	if !c.canComplete() || !c.hasEnded(now) {
		return nil
	}
	was := c.Status
	c.Status, c.CompletedAt = StatusCompleted, &now
	return []record.Event{{Type: "campaign.completed", Previous: map[string]any{"status": was}}}
}

// reopen sets a completed campaign that is no longer over to paused. It reports
// whether the status changed.
func (c *Campaign) reopen(now clock.Instant) bool {
	if c.Status != StatusCompleted || c.hasEnded(now) {
		return false
	}
	c.Status, c.CompletedAt, c.PausedAt = StatusPaused, nil, &now
	return true
}

// nextChange returns when the campaign next changes without a caller, or nil.
func (c *Campaign) nextChange(now clock.Instant) *clock.Instant {
	turn, midnight := c.nextTransition(now), c.midnight()
	if turn == nil || midnight != nil && *midnight < *turn {
		return midnight
	}
	return turn
}

// nextTransition returns when an active or paused campaign starts or ends.
func (c *Campaign) nextTransition(now clock.Instant) *clock.Instant {
	start := c.Schedule.StartAt
	switch {
	case !c.canComplete():
		return nil
	case c.budgetExhausted():
		return &now
	case c.Status == StatusActive && start != nil && *start > now:
		return start
	}
	return c.Schedule.EndAt
}

// references lists the records that delivery depends on.
func (c *Campaign) references() []ident.ID {
	return slices.Concat(c.AudienceIDs, c.CreativeIDs, c.Connections())
}

// JobSettle is the job that applies a campaign's schedule.
const JobSettle = "campaign.settle"

// settleJobs schedules the next JobSettle, or cancels it if nothing is due.
func (c *Campaign) settleJobs(had []ident.ID, now clock.Instant) []record.Job {
	j := record.Job{Kind: JobSettle, Workspace: c.WorkspaceID, ID: c.ID}
	switch next := c.nextSettle(had, now); {
	case next != nil:
		j.At = *next
	case c.Version > 1:
		j.Cancel = true
	default:
		return nil
	}
	return []record.Job{j}
}

// nextSettle returns when to settle the campaign again: at its next scheduled
// time, or at once if it refers to a new record. That record may have changed
// during this write, and its change was sent only to the campaigns that
// referred to it then.
func (c *Campaign) nextSettle(had []ident.ID, now clock.Instant) *clock.Instant {
	for _, id := range c.references() {
		if !slices.Contains(had, id) {
			return &now
		}
	}
	return c.nextChange(now)
}

// invalidState returns the fault for an action that the current status does not
// allow, with the statuses and actions that are allowed.
func (c *Campaign) invalidState(a Action, required ...Status) error {
	code := fault.InvalidState
	message := fmt.Sprintf("Cannot %s a campaign that is %s; it must be %s.", a, c.Status, record.JoinStatuses(required))
	if c.Status == StatusArchived && a != Restore {
		code = fault.Archived
		message = fmt.Sprintf("Cannot %s an archived campaign; restore it first.", a)
	}
	return fault.New(code, message, c.stateDetail(string(code), message, required))
}

func (c *Campaign) stateDetail(code, message string, required []Status) fault.Detail {
	return fault.Detail{Code: code, Message: message, Meta: fault.Meta{
		"current_status": c.Status, "required_status": required, "allowed_actions": allowedActions[c.Status],
	}}
}

// checkImmutable returns a fault that lists the changed fields that the current
// status does not allow to change.
func (c *Campaign) checkImmutable(next *Spec, now clock.Instant) error {
	var details []fault.Detail
	refuse := func(field, why string, required []Status) {
		d := c.stateDetail("immutable", field+" "+why, required)
		d.Field, d.In = field, "body"
		details = append(details, d)
	}
	for _, field := range slices.Sorted(maps.Keys(record.Diff(&c.Spec, next))) {
		if may, limited := editableStatuses[field]; limited && !slices.Contains(may, c.Status) {
			refuse(field, "can only be changed while the campaign is "+record.JoinStatuses(may)+".", may)
		}
	}
	launched := c.LaunchedAt != nil
	if launched && c.Budget != nil && next.Budget != nil && c.Budget.Currency != next.Budget.Currency {
		refuse("budget.currency", "is fixed once the campaign was launched.", []Status{StatusDraft})
	}
	start := c.Schedule.StartAt
	if launched && start != nil && *start <= now && !equalPtr(start, next.Schedule.StartAt) {
		refuse("schedule.start_at", "is fixed once it has passed.", []Status{StatusDraft})
	}
	switch len(details) {
	case 0:
		return nil
	case 1:
		return fault.New(fault.InvalidState, details[0].Message, details...)
	}
	return fault.New(fault.InvalidState, "The campaign's status does not allow these changes.", details...)
}
