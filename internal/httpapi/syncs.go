package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

var syncList = listing{
	sorts:    []string{"created_at", "updated_at"},
	statuses: connection.RunStatuses,
}

// syncRoutes returns the operations on sync runs.
func (a *API) syncRoutes() []route {
	const one = "/v1/syncs/{id}"
	s := &resource{prefix: ident.Sync, get: a.Connections.GetRun}
	return []route{
		{method: http.MethodGet, pattern: one, operation: "getSync", handle: s.getRecord},
		{method: http.MethodPost, pattern: one + "/cancel", operation: "cancelSync", handle: a.cancelSync(s), body: optionalBody, exists: s.exists},
	}
}

func (a *API) syncConnection(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		id, err := r.recordID(s.prefix)
		if err != nil {
			return response{}, err
		}
		d, err := a.Connections.Sync(ctx, r.idempotentCause(http.StatusAccepted), id, r.match(), &r.object)
		if err != nil {
			return response{}, err
		}
		res := found(d)
		res.status, res.retryAfter, res.location = http.StatusAccepted, pollSeconds, r.recordPath(d.ID())
		return res, nil
	}
}

// recordPath returns the path of a record.
func (r *request) recordPath(id ident.ID) string {
	if strings.HasPrefix(string(id), ident.Sync+"_") {
		return "/v1/syncs/" + string(id)
	}
	return collection(r.route.pattern) + string(id)
}

func (a *API) listSyncs(ctx context.Context, r *request) (response, error) {
	q, params, err := a.listQuery(r, &syncList)
	if err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Connection)
	if err != nil {
		return response{}, err
	}
	w := r.caller.Workspace.ID
	if _, err := a.Connections.Get(ctx, w, id); err != nil {
		return response{}, err
	}
	p, err := a.inTurn(func(ctx context.Context, w ident.ID, q page.Query) (page.Page, error) {
		return a.Connections.ListRuns(ctx, w, id, q)
	})(ctx, w, q)
	if err != nil {
		return response{}, err
	}
	return a.pageOf(r, p, params), nil
}

func (a *API) cancelSync(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		id, err := s.readAction(ctx, r, nil)
		if err != nil {
			return response{}, err
		}
		d, err := a.Connections.Cancel(ctx, r.idempotentCause(http.StatusOK), id, r.match())
		return found(d), err
	}
}

var entityFilters = []string{"kind", "linked"}

func (a *API) listEntities(ctx context.Context, r *request) (response, error) {
	values, err := r.query(append([]string{"limit", "cursor"}, entityFilters...)...)
	if err != nil {
		return response{}, err
	}
	p := &params{values: values}
	limit := p.limit()
	kinds, linked, canonical := p.entities()
	if err := p.err(); err != nil {
		return response{}, err
	}
	after := ""
	if text, has := values["cursor"]; has {
		c, err := a.openCursor(r, text, p, canonical, entityFilters)
		if err != nil {
			return response{}, err
		}
		inside, _ := url.ParseQuery(c.Params)
		kept := paramsOf(inside)
		kinds, linked, canonical = kept.entities()
		after = c.After.Text + " " + c.After.ID
	}
	id, err := r.recordID(ident.Connection)
	if err != nil {
		return response{}, err
	}
	list, err := a.Connections.Entities(ctx, r.caller.Workspace.ID, id, kinds, linked, after, limit+1)
	if err != nil {
		return response{}, err
	}
	found := page.Page{}
	for i, l := range list {
		if i == limit {
			last := list[limit-1]
			found.Next = &page.Position{Text: last.Kind, ID: last.ExternalID}
			break
		}
		e, err := encoded(l)
		if err != nil {
			return response{}, err
		}
		found.Docs = append(found.Docs, record.Doc{JSON: e.data})
	}
	return a.pageOf(r, found, canonical.Encode()), nil
}

// entities reads the filters of the list of entities. It also returns their
// canonical form.
func (p *params) entities() (kinds []string, linked *bool, canonical url.Values) {
	canonical = url.Values{}
	if _, has := p.values["kind"]; has {
		kinds = p.readSet("kind", connection.Kinds)
		canonical.Set("kind", strings.Join(kinds, ","))
	}
	if _, has := p.values["linked"]; has {
		yes := p.choice("linked", flags, "false") == "true"
		linked = &yes
		canonical.Set("linked", p.values["linked"])
	}
	return kinds, linked, canonical
}
