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

// Status is where a campaign is in its life.
type Status string

// The statuses.
const (
	StatusDraft     Status = "draft"
	StatusActive    Status = "active"
	StatusPaused    Status = "paused"
	StatusCompleted Status = "completed"
	StatusArchived  Status = "archived"
)

// Statuses lists all statuses in the order of a life.
var Statuses = []string{string(StatusDraft), string(StatusActive), string(StatusPaused), string(StatusCompleted), string(StatusArchived)}

// Action is something a caller can do to a campaign.
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

// moves lists the legal transitions that callers ask for by name. Anything
// absent is refused, also a move into the state the campaign is already in;
// only a paused campaign can be paused again while a platform campaign strays.
var moves = map[Action]struct {
	From, To Status
	Event    string
}{
	Launch: {StatusDraft, StatusActive, "campaign.launched"},
	Pause:  {StatusActive, StatusPaused, "campaign.paused"},
	Resume: {StatusPaused, StatusActive, "campaign.resumed"},
}

// allowed lists what callers can do in each status.
var allowed = map[Status][]Action{
	StatusDraft:     {Update, Launch, Archive, Duplicate},
	StatusActive:    {Update, Pause, Archive, Duplicate},
	StatusPaused:    {Update, Resume, Archive, Duplicate},
	StatusCompleted: {Update, Archive, Duplicate},
	StatusArchived:  {Duplicate, Restore},
}

// living are the statuses of a campaign that is not archived.
var living = []Status{StatusDraft, StatusActive, StatusPaused, StatusCompleted}

// editable lists the members that may not be changed in every status.
var editable = map[string][]Status{
	"objective":      {StatusDraft},
	"attribution":    {StatusDraft},
	"experiment":     {StatusDraft},
	"channels":       {StatusDraft, StatusPaused},
	"connection_ids": {StatusDraft, StatusPaused},
}

// move takes a transition and sets the times that go with it.
func (c *Campaign) move(a Action, now clock.Instant) error {
	m := moves[a]
	c.stopping = a == Pause && c.Strays()
	if c.stopping && c.Status == StatusPaused {
		return nil
	}
	if c.Status != m.From {
		return c.refuse(a, m.From)
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

// archive ends the campaign from any state; an active one stops delivering
// with it.
func (c *Campaign) archive(now clock.Instant) {
	c.stopping = c.Strays()
	if c.Status != StatusArchived {
		c.Status, c.ArchivedAt = StatusArchived, &now
	}
}

// restore brings an archived campaign back to where it cannot spend.
func (c *Campaign) restore(now clock.Instant) error {
	if c.Status != StatusArchived {
		return c.refuse(Restore, StatusArchived)
	}
	c.ArchivedAt = nil
	if c.LaunchedAt == nil {
		c.Status = StatusDraft
		return nil
	}
	c.Status, c.PausedAt, c.CompletedAt = StatusPaused, &now, nil
	return nil
}

// running reports whether time and spend can end the campaign.
func (c *Campaign) running() bool { return c.Status == StatusActive || c.Status == StatusPaused }

// open reports whether the campaign can still deliver, now or after a move.
func (c *Campaign) open() bool { return c.Status != StatusCompleted && c.Status != StatusArchived }

// over reports whether nothing can be spent any more: the end has passed, or a
// lifetime budget is spent.
func (c *Campaign) over(now clock.Instant) bool {
	end := c.Schedule.EndAt
	return end != nil && *end <= now || c.exhausted()
}

// complete ends a running campaign that is over, and tells so.
func (c *Campaign) complete(now clock.Instant) []record.Event {
	if !c.running() || !c.over(now) {
		return nil
	}
	was := c.Status
	c.Status, c.CompletedAt = StatusCompleted, &now
	return []record.Event{{Type: "campaign.completed", Previous: map[string]any{"status": was}}}
}

// reopen lets a completed campaign that is not over any more go on, though
// never by itself. It reports whether it did.
func (c *Campaign) reopen(now clock.Instant) bool {
	if c.Status != StatusCompleted || c.over(now) {
		return false
	}
	c.Status, c.CompletedAt, c.PausedAt = StatusPaused, nil, &now
	return true
}

// nextMoment is when something about the campaign changes by itself.
func (c *Campaign) nextMoment(now clock.Instant) *clock.Instant {
	turn, midnight := c.turn(now), c.midnight()
	if turn == nil || midnight != nil && *midnight < *turn {
		return midnight
	}
	return turn
}

// turn is when a running campaign starts or ends.
func (c *Campaign) turn(now clock.Instant) *clock.Instant {
	start := c.Schedule.StartAt
	switch {
	case !c.running():
		return nil
	case c.exhausted():
		return &now
	case c.Status == StatusActive && start != nil && *start > now:
		return start
	}
	return c.Schedule.EndAt
}

// refers lists the records that delivery depends on.
func (c *Campaign) refers() []ident.ID {
	return slices.Concat(c.AudienceIDs, c.CreativeIDs, c.Connections())
}

// upcoming is when to look at the campaign again: when its schedule says so,
// and at once where it refers to a record for the first time, because what
// happened to that one while this was written was told to others only.
func (c *Campaign) upcoming(had []ident.ID, now clock.Instant) *clock.Instant {
	for _, id := range c.refers() {
		if !slices.Contains(had, id) {
			return &now
		}
	}
	return c.nextMoment(now)
}

// refuse says why an action is impossible now and what is possible.
func (c *Campaign) refuse(a Action, required ...Status) error {
	code := fault.InvalidState
	message := fmt.Sprintf("Cannot %s a campaign that is %s; it must be %s.", a, c.Status, record.Words(required))
	if c.Status == StatusArchived && a != Restore {
		code = fault.Archived
		message = fmt.Sprintf("Cannot %s an archived campaign; restore it first.", a)
	}
	return fault.New(code, message, c.stateDetail(string(code), message, required))
}

func (c *Campaign) stateDetail(code, message string, required []Status) fault.Detail {
	return fault.Detail{Code: code, Message: message, Meta: fault.Meta{
		"current_status": c.Status, "required_status": required, "allowed_actions": allowed[c.Status],
	}}
}

// immutable collects the members of a change that this status forbids.
func (c *Campaign) immutable(next *Spec, now clock.Instant) error {
	var details []fault.Detail
	refuse := func(field, why string, required []Status) {
		d := c.stateDetail("immutable", field+" "+why, required)
		d.Field, d.In = field, "body"
		details = append(details, d)
	}
	for _, field := range slices.Sorted(maps.Keys(record.Diff(&c.Spec, next))) {
		if may, limited := editable[field]; limited && !slices.Contains(may, c.Status) {
			refuse(field, "can only be changed while the campaign is "+record.Words(may)+".", may)
		}
	}
	launched := c.LaunchedAt != nil
	if launched && c.Budget != nil && next.Budget != nil && c.Budget.Currency != next.Budget.Currency {
		refuse("budget.currency", "is fixed once the campaign was launched.", []Status{StatusDraft})
	}
	start := c.Schedule.StartAt
	if launched && start != nil && *start <= now && !equal(start, next.Schedule.StartAt) {
		refuse("schedule.start_at", "is fixed once it has passed.", []Status{StatusDraft})
	}
	if details == nil {
		return nil
	}
	return fault.New(fault.InvalidState, "The campaign's status does not allow this change.", details...)
}
