package campaign

import (
	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

// Delivery says whether the campaign reaches anybody, and if not, why.
type Delivery struct {
	Status DeliveryStatus `json:"status"`
	Issues []Issue        `json:"issues"`
}

// DeliveryStatus is what the campaign does at the moment.
type DeliveryStatus string

// The delivery statuses.
const (
	NotLaunched  DeliveryStatus = "not_launched"
	PendingStart DeliveryStatus = "pending_start"
	Delivering   DeliveryStatus = "delivering"
	Limited      DeliveryStatus = "limited"
	Blocked      DeliveryStatus = "blocked"
	DelivPaused  DeliveryStatus = "paused"
	Ended        DeliveryStatus = "ended"
	DelivGone    DeliveryStatus = "archived"
)

// DeliveryStatuses lists all delivery statuses.
var DeliveryStatuses = []string{
	string(NotLaunched), string(PendingStart), string(Delivering), string(Limited),
	string(Blocked), string(DelivPaused), string(Ended), string(DelivGone),
}

// Issue is one reason why a campaign does not deliver as it could.
type Issue struct {
	Code        string        `json:"code"`
	Message     string        `json:"message"`
	Field       *string       `json:"field"`
	ResourceID  *ident.ID     `json:"resource_id"`
	Since       clock.Instant `json:"since"`
	Remediation *string       `json:"remediation"`

	blocking bool
}

// refresh brings everything derived up to date: what may be done next, and
// what keeps the campaign from delivering. It reports whether the delivery
// status changed.
func (c *Campaign) refresh(now clock.Instant) bool {
	before := c.Delivery
	c.AllowedActions = allowed[c.Status]
	c.Delivery.Issues = c.issues(before.Issues, now)
	c.Delivery.Status = c.deliveryStatus(now)
	return before.Status != c.Delivery.Status
}

func (c *Campaign) deliveryStatus(now clock.Instant) DeliveryStatus {
	switch c.Status {
	case StatusArchived:
		return DelivGone
	case StatusCompleted:
		return Ended
	case StatusDraft:
		return NotLaunched
	case StatusPaused:
		return DelivPaused
	case StatusActive:
	}
	if start := c.Schedule.StartAt; start != nil && *start > now {
		return PendingStart
	}
	status := Delivering
	for _, issue := range c.Delivery.Issues {
		if issue.blocking {
			return Blocked
		}
		status = Limited
	}
	return status
}

// issues lists what stands in the way. An issue that was there before keeps
// its since. A campaign that is over has none.
func (c *Campaign) issues(before []Issue, now clock.Instant) []Issue {
	list := []Issue{}
	if c.Status == StatusArchived || c.Status == StatusCompleted {
		return list
	}
	add := func(code, field, message, remediation string, blocking bool) {
		issue := Issue{Code: code, Message: message, Field: &field, Since: now, Remediation: &remediation, blocking: blocking}
		for _, old := range before {
			if old.Code == code {
				issue.Since = old.Since
			}
		}
		list = append(list, issue)
	}
	if len(c.ConnectionIDs) == 0 {
		add("no_connection", "connection_ids", "No ad platform is connected to this campaign.",
			"Add the id of a connection to connection_ids.", true)
	}
	if len(c.CreativeIDs) == 0 {
		add("no_creative_ready", "creative_ids", "There is no creative to show.",
			"Add the id of a ready creative to creative_ids.", true)
	}
	// Choice: without an audience or a budget the platforms still deliver by
	// their own settings, so these two limit and do not block.
	if len(c.AudienceIDs) == 0 {
		add("no_audience", "audience_ids", "No audience is chosen; platforms target as they please.",
			"Add the id of an audience to audience_ids.", false)
	}
	if c.Budget == nil {
		add("no_budget", "budget", "No budget is set; nothing limits spend here.",
			"Set budget to a daily or lifetime amount.", false)
	}
	return list
}
