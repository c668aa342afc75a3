package httpapi

import (
	"context"
	"slices"
	"strings"

	"fanfare/internal/account"
	"fanfare/internal/ident"
	"fanfare/internal/page"
)

// EventTypes lists all event types, for filters and for the contract.
var EventTypes = []string{
	"campaign.created", "campaign.updated", "campaign.launched", "campaign.paused", "campaign.resumed",
	"campaign.completed", "campaign.archived", "campaign.restored", "campaign.delivery_changed",
	"creative.created", "creative.ready", "creative.failed", "creative.updated", "creative.archived", "creative.restored",
	"audience.created", "audience.updated", "audience.ready", "audience.too_small", "audience.archived", "audience.restored",
	"connection.created", "connection.updated", "connection.connected", "connection.reauth_required", "connection.error", "connection.disconnected",
	"sync.started", "sync.succeeded", "sync.partial", "sync.failed", "metrics.restated", "campaign.drifted",
	"campaign.push_delayed", "campaign.push_failed", "campaign.push_applied",
	"import.created", "import.updated", "import.committed", "import.undone", "import.failed",
	"rates.updated", "brand_kit.updated",
	"api_key.created", "api_key.rotated", "api_key.expiring", "api_key.revoked",
	"quota.warning", "quota.exceeded",
}

var eventList = listing{
	sorts:   []string{"created_at"},
	filters: []filter{{name: "type", allowed: append(slices.Clone(EventTypes), families(EventTypes)...)}, {name: "resource_id", longest: 64}},
}

// families returns the wildcard pattern of each event family, such as
// campaign.*.
func families(types []string) []string {
	var list []string
	for _, t := range types {
		family, _, _ := strings.Cut(t, ".")
		list = append(list, family+".*")
	}
	return slices.Compact(list)
}

func (a *API) listEvents(ctx context.Context, r *request) (response, error) {
	q, params, err := a.listQuery(r, &eventList)
	if err != nil {
		return response{}, err
	}
	for i, f := range q.Filters {
		if f.Name == "type" {
			q.Filters[i].Values = expandTypes(f.Values)
		}
	}
	if !r.caller.Role.AtLeast(account.Admin) {
		q.Filters = append(q.Filters, page.Filter{Name: "open"})
	}
	p, err := a.inTurn(a.Events.List)(ctx, r.caller.Workspace.ID, q)
	if err != nil {
		return response{}, err
	}
	return a.pageOf(r, p, params), nil
}

func expandTypes(patterns []string) []string {
	var list []string
	for _, p := range patterns {
		family, all := strings.CutSuffix(p, "*")
		for _, t := range EventTypes {
			if t == p || all && strings.HasPrefix(t, family) {
				list = append(list, t)
			}
		}
	}
	return list
}

func (a *API) getEvent(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Event)
	if err != nil {
		return response{}, err
	}
	d, err := a.Events.Doc(ctx, r.caller.Workspace.ID, id, r.caller.Role.AtLeast(account.Admin))
	res := found(d)
	// An event never changes, so it has no version and no ETag.
	res.etag = ""
	return res, err
}
