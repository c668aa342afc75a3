package campaign

import (
	"slices"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Delivery says whether the campaign delivers, and lists the issues if it does
// not.
type Delivery struct {
	Status DeliveryStatus `json:"status"`
	Issues []Issue        `json:"issues"`
}

// DeliveryStatus is the current state of delivery.
type DeliveryStatus string

// The delivery statuses.
const (
	NotLaunched      DeliveryStatus = "not_launched"
	PendingStart     DeliveryStatus = "pending_start"
	Delivering       DeliveryStatus = "delivering"
	Limited          DeliveryStatus = "limited"
	Blocked          DeliveryStatus = "blocked"
	DeliveryPaused   DeliveryStatus = "paused"
	Ended            DeliveryStatus = "ended"
	DeliveryArchived DeliveryStatus = "archived"
)

// DeliveryStatuses lists all delivery statuses.
var DeliveryStatuses = []string{
	string(NotLaunched), string(PendingStart), string(Delivering), string(Limited),
	string(Blocked), string(DeliveryPaused), string(Ended), string(DeliveryArchived),
}

// Issue is one reason why a campaign delivers less than it could, or not at
// all.
type Issue struct {
	Code        string        `json:"code"`
	Message     string        `json:"message"`
	Field       *string       `json:"field"`
	ResourceID  *ident.ID     `json:"resource_id"`
	Since       clock.Instant `json:"since"`
	Remediation *string       `json:"remediation"`

	blocking bool
}

// refresh recomputes the allowed actions, the delivery issues and the delivery
// status. Delivery also depends on the usability of the records that the
// campaign refers to.
func (c *Campaign) refresh(usability map[ident.ID]record.Usability, now clock.Instant) {
	c.AllowedActions = allowedActions[c.Status]
	if c.Status == StatusPaused && c.MayStillRun() {
		c.AllowedActions = append(slices.Clone(c.AllowedActions), Pause)
	}
	c.Delivery.Issues = c.issues(c.Delivery.Issues, usability, now)
	c.Delivery.Status = c.deliveryStatus(now)
}

// sameIssues reports whether two lists have the same issues. It ignores since.
func sameIssues(a, b []Issue) bool {
	return slices.EqualFunc(a, b, func(a, b Issue) bool { return a.Code == b.Code && equalPtr(a.ResourceID, b.ResourceID) })
}

func (c *Campaign) deliveryStatus(now clock.Instant) DeliveryStatus {
	switch c.Status {
	case StatusArchived:
		return DeliveryArchived
	case StatusCompleted:
		return Ended
	case StatusDraft:
		return NotLaunched
	case StatusPaused:
		return DeliveryPaused
	case StatusActive:
	}
	if start := c.Schedule.StartAt; start != nil && *start > now {
		return PendingStart
	}
	status := Delivering
	for _, issue := range c.Delivery.Issues {
		switch {
		case issue.blocking:
			return Blocked
		case issue.Code != dataLost:
			status = Limited
		}
	}
	return status
}

// issueText is the text and the severity of a delivery issue.
type issueText struct {
	field, message, remediation string
	blocking                    bool
}

// issueTexts has every delivery issue by code.
var issueTexts = map[string]issueText{
	// no_connection does not block: not_linked does, because a connection alone
	// delivers nothing.
	"no_connection": {
		"connection_ids", "No ad platform is connected to this campaign.", "Add the id of a connection to connection_ids.", false,
	},
	notLinked: {
		"external_refs", "No campaign on an ad platform is linked to this campaign, so nothing delivers it. Launching creates nothing on a platform.",
		"Create the campaign on the ad platform, then link it with POST /v1/connections/{id}/links. If you deliver it by other means, add the connection that you send its numbers to, of platform api or csv, to connection_ids.", true,
	},
	pushPendingIssue: {"external_refs", "The ad platform has not confirmed the requested state.", "The state is written again by itself. If it is urgent, change it on the ad platform.", false},
	pushFailedIssue:  {"external_refs", "The requested state could not be written to the ad platform.", "Change it on the ad platform. It is tried again after every sync, and when access is granted anew.", false},
	driftedIssue:     {"external_refs", "A platform campaign is not in the state of this campaign.", "Change it on the ad platform.", false},
	// Choice: platform campaigns keep running after access has ended, so these
	// issues limit delivery and do not block it.
	"connection_reauth_required": {"connection_ids", "Access to this connection's platform has ended; its metrics and states are not up to date.", "Grant access anew with POST /v1/connections/{id}/reconnect.", false},
	"connection_error":           {"connection_ids", "This connection has not worked lately; its metrics and states are not up to date.", "Look at the runs of the connection.", false},
	"no_creative_ready": {
		"creative_ids", "There is no creative that is ready to be shown.", "Add a creative to creative_ids whose status is ready, and approved where that is required.", true,
	},
	"creative_rejected": {"creative_ids", "This creative was rejected by whoever approves.", "Change it and have it approved, or take it out of creative_ids.", false},
	// Choice: without a usable audience or a budget, platforms still deliver by
	// their own settings, so these issues limit delivery and do not block it.
	"no_audience":        {"audience_ids", "No audience is chosen; platforms target as they please.", "Add the id of an audience to audience_ids.", false},
	"audience_too_small": {"audience_ids", "This audience has too few members to be used.", "Add members until its status is ready.", false},
	"audience_not_ready": {"audience_ids", "This audience cannot be used: it is archived, being made, or has failed.", "Restore it, wait for it, or choose another.", false},
	"no_budget":          {"budget", "No budget is set; nothing limits spend here.", "Set budget to a daily or lifetime amount.", false},
	// Choice: platforms stop at a daily limit on their own, and spend that
	// cannot be converted does not stop them, so these issues limit delivery
	// and do not block it.
	"daily_cap_reached": {"budget", "What may be spent in a day is spent; delivery goes on at midnight in the campaign's time zone.", "Raise budget.daily_cap, or the amount of a daily budget, to deliver more today.", false},
	"budget_exhausted":  {"budget", "The lifetime budget is spent.", "Raise budget.amount.", true},
	dataLost: {
		"spend_to_date", "Metrics of this connection were lost on the server. spend_to_date and budget_remaining show what was known before the loss, or what is stored again if that is more.",
		"See status_reason of the connection. Metrics of a platform are read again. Data of your own has to be sent again; then set data_lost_at of the connection to null with PATCH /v1/connections/{id}.", false,
	},
	"currency_mismatch": {"budget", "A platform reports spend in a currency that has no exchange rate to the campaign's, so spend and what is left are unknown.", "Set the budget in the platform's currency, or have exchange rates imported for the days of the report.", false},
}

// issues returns the current delivery issues. An issue that existed before
// keeps its since. A completed or archived campaign only has the push and drift
// issues of its platform campaigns, and those of lost facts.
func (c *Campaign) issues(before []Issue, usability map[ident.ID]record.Usability, now clock.Instant) []Issue {
	list := []Issue{}
	add := func(code string, resource *ident.ID) *Issue {
		h := issueTexts[code]
		issue := Issue{Code: code, Message: h.message, Field: &h.field, ResourceID: resource, Since: now, Remediation: &h.remediation, blocking: h.blocking}
		for _, old := range before {
			if old.Code == code && equalPtr(old.ResourceID, resource) {
				issue.Since = old.Since
			}
		}
		list = append(list, issue)
		return &list[len(list)-1]
	}
	usable := func(ids []ident.ID, ignored string) (n int) {
		for _, id := range ids {
			switch u, there := usability[id]; {
			case there && u.Issue == "":
				n++
			case there && u.Issue != ignored:
				add(u.Issue, &id)
			}
		}
		return n
	}
	for _, id := range c.lostBy {
		add(dataLost, &id)
	}
	if !c.canDeliver() {
		c.pushIssues(usability, false, add)
		return list
	}
	c.linkIssues(usability, usable, add)
	if usable(c.CreativeIDs, "no_creative_ready") == 0 {
		add("no_creative_ready", nil)
	}
	if usable(c.AudienceIDs, ""); len(c.AudienceIDs) == 0 {
		add("no_audience", nil)
	}
	if c.Budget == nil {
		add("no_budget", nil)
	}
	if c.budgetExhausted() {
		add("budget_exhausted", nil)
	}
	if c.dailyCapReached {
		add("daily_cap_reached", nil)
	}
	if c.rateMissing {
		add("currency_mismatch", nil)
	}
	return list
}

// equalPtr reports whether both pointers are nil or point to equal values.
func equalPtr[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
