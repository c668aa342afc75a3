package httpapi

import (
	"context"
	"net/http"

	"fanfare/internal/account"
	"fanfare/internal/body"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/report"
)

var savedViewList = listing{
	sorts:    []string{"created_at", "updated_at", "name"},
	statuses: report.Statuses,
	filters: []filter{
		{name: "kind", allowed: report.Kinds},
		{name: "page", allowed: report.Pages},
		{name: "visibility", allowed: report.Visibilities},
		{name: "q", longest: report.MaxName},
	},
}

var dashboardList = listing{
	sorts:    []string{"created_at", "updated_at", "name"},
	statuses: report.Statuses,
	filters:  []filter{{name: "visibility", allowed: report.Visibilities}, {name: "q", longest: report.MaxName}},
}

// kept has the operations on records that belong to a user.
type kept struct {
	prefix  string
	listing *listing
	create  func(context.Context, record.Cause, report.Caller, *body.Value) (record.Doc, error)
	get     func(context.Context, ident.ID, report.Caller, ident.ID) (record.Doc, error)
	list    func(context.Context, ident.ID, report.Caller, page.Query) (page.Page, error)
	update  func(context.Context, record.Cause, report.Caller, ident.ID, record.Match, *body.Value) (record.Doc, error)
	archive func(context.Context, record.Cause, report.Caller, ident.ID, record.Match) (record.Doc, error)
}

// reportRoutes returns the operations on saved views and dashboards.
func (a *API) reportRoutes() []route {
	const views, dashboards = "/v1/saved-views", "/v1/dashboards"
	s := a.Reports
	v := kept{prefix: ident.SavedView, listing: &savedViewList, create: s.CreateView, get: s.GetView, list: s.ListViews, update: s.UpdateView, archive: s.ArchiveView}
	d := kept{prefix: ident.Dashboard, listing: &dashboardList, create: s.CreateDashboard, get: s.GetDashboard, list: s.ListDashboards, update: s.UpdateDashboard, archive: s.ArchiveDashboard}
	return []route{
		{method: http.MethodGet, pattern: views, operation: "listSavedViews", handle: a.listKept(&v), compress: true},
		{method: http.MethodPost, pattern: views, operation: "createSavedView", handle: v.createOne, body: jsonBody},
		{method: http.MethodGet, pattern: views + "/{id}", operation: "getSavedView", handle: v.getOne},
		{method: http.MethodPatch, pattern: views + "/{id}", operation: "updateSavedView", handle: v.updateOne, body: patchBody},
		{method: http.MethodDelete, pattern: views + "/{id}", operation: "archiveSavedView", handle: v.archiveOne},
		{method: http.MethodGet, pattern: dashboards, operation: "listDashboards", handle: a.listKept(&d), compress: true},
		{method: http.MethodPost, pattern: dashboards, operation: "createDashboard", handle: d.createOne, body: jsonBody},
		{method: http.MethodGet, pattern: dashboards + "/{id}", operation: "getDashboard", handle: d.getOne},
		{method: http.MethodPatch, pattern: dashboards + "/{id}", operation: "updateDashboard", handle: d.updateOne, body: patchBody},
		{method: http.MethodDelete, pattern: dashboards + "/{id}", operation: "archiveDashboard", handle: d.archiveOne},
	}
}

// reportCaller returns the user behind the request. A key acts for the user who
// created it.
func (r *request) reportCaller() report.Caller {
	return report.Caller{User: r.caller.User.ID, Manage: r.caller.Role.AtLeast(account.Admin)}
}

func (a *API) listKept(k *kept) handler {
	return func(ctx context.Context, r *request) (response, error) {
		q, params, err := a.listQuery(r, k.listing)
		if err != nil {
			return response{}, err
		}
		list := func(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
			return k.list(ctx, workspace, r.reportCaller(), q)
		}
		p, err := a.inTurn(list)(ctx, r.caller.Workspace.ID, q)
		if err != nil {
			return response{}, err
		}
		return a.pageOf(r, p, params), nil
	}
}

func (k *kept) createOne(ctx context.Context, r *request) (response, error) {
	d, err := k.create(ctx, r.idempotentCause(http.StatusCreated), r.reportCaller(), &r.object)
	if err != nil {
		return response{}, err
	}
	return r.created(d, d.ID()), nil
}

func (k *kept) getOne(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(k.prefix)
	if err != nil {
		return response{}, err
	}
	d, err := k.get(ctx, r.caller.Workspace.ID, r.reportCaller(), id)
	return found(d), err
}

func (k *kept) updateOne(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(k.prefix)
	if err != nil {
		return response{}, err
	}
	d, err := k.update(ctx, r.cause(), r.reportCaller(), id, r.match(), &r.object)
	return found(d), err
}

func (k *kept) archiveOne(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(k.prefix)
	if err != nil {
		return response{}, err
	}
	d, err := k.archive(ctx, r.cause(), r.reportCaller(), id, r.match())
	return found(d), err
}
