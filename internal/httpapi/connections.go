package httpapi

import (
	"context"
	"net/http"

	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

var connectionList = listing{
	sorts:    []string{"created_at", "updated_at", "platform", "sync.last_success_at"},
	statuses: connection.Statuses,
	filters: []filter{
		{name: "platform", allowed: connection.Platforms},
		{name: "q", longest: connection.MaxName},
	},
}

// connectionRoutes returns the operations on connections and platforms.
func (a *API) connectionRoutes() []route {
	const all, one = "/v1/connections", "/v1/connections/{id}"
	s := &resource{prefix: ident.Connection, listing: &connectionList, get: a.Connections.Get, list: a.inTurn(a.Connections.List)}
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listConnections", handle: a.withNodeWarnings(a.listRecords(s)), compress: true},
		{method: http.MethodPost, pattern: all, operation: "createConnection", handle: a.createConnection, body: jsonBody},
		{method: http.MethodGet, pattern: one, operation: "getConnection", handle: a.withNodeWarnings(s.getRecord)},
		{method: http.MethodPatch, pattern: one, operation: "updateConnection", handle: a.updateConnection, body: patchBody},
		{method: http.MethodDelete, pattern: one, operation: "disconnectConnection", handle: a.disconnectConnection},
		{method: http.MethodPost, pattern: one + "/reconnect", operation: "reconnectConnection", handle: a.reconnectConnection(s), body: optionalBody, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/accounts", operation: "listConnectionAccounts", handle: a.listAccounts},
		{method: http.MethodGet, pattern: one + "/call-plan", operation: "planConnectionCalls", handle: a.planCalls},
		{method: http.MethodPost, pattern: one + "/check", operation: "checkConnection", handle: a.checkConnection(s), body: optionalBody, reads: true, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/entities", operation: "listConnectionEntities", handle: a.listEntities, compress: true},
		{method: http.MethodPost, pattern: one + "/links", operation: "linkConnectionEntities", handle: a.linkEntities(s), body: jsonBody, exists: s.exists},
		{method: http.MethodPost, pattern: one + "/sync", operation: "syncConnection", handle: a.syncConnection(s), body: optionalBody, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/syncs", operation: "listConnectionSyncs", handle: a.listSyncs, compress: true},
		{method: http.MethodGet, pattern: "/v1/platforms", operation: "listPlatforms", handle: a.listPlatforms},
	}
}

// withNodeWarnings adds warnings to a response while this node lacks data.
func (a *API) withNodeWarnings(handle func(context.Context, *request) (response, error)) func(context.Context, *request) (response, error) {
	return func(ctx context.Context, r *request) (response, error) {
		res, err := handle(ctx, r)
		res.warnings = a.nodeWarnings(true, "")
		return res, err
	}
}

func (a *API) createConnection(ctx context.Context, r *request) (response, error) {
	d, err := a.Connections.Create(ctx, r.idempotentCause(http.StatusCreated), &r.object, r.workspaceDefaults())
	if err != nil {
		return response{}, err
	}
	return r.created(d, d.ID()), nil
}

// workspaceDefaults returns the currency and time zone of the caller's workspace.
func (r *request) workspaceDefaults() connection.WorkspaceDefaults {
	return connection.WorkspaceDefaults{Currency: r.caller.Workspace.Currency, Zone: r.caller.Workspace.Timezone}
}

func (a *API) updateConnection(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Connection)
	if err != nil {
		return response{}, err
	}
	d, err := a.Connections.Update(ctx, r.cause(), id, r.match(), &r.object)
	return found(d), err
}

func (a *API) disconnectConnection(ctx context.Context, r *request) (response, error) {
	values, err := r.query("purge")
	if err != nil {
		return response{}, err
	}
	p := &params{values: values}
	purge := p.choice("purge", flags, "false") == "true"
	if err := p.err(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Connection)
	if err != nil {
		return response{}, err
	}
	d, err := a.Connections.Disconnect(ctx, r.cause(), id, r.match(), purge)
	return found(d), err
}

func (a *API) reconnectConnection(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		id, err := r.recordID(s.prefix)
		if err != nil {
			return response{}, err
		}
		d, err := a.Connections.Reconnect(ctx, r.idempotentCause(http.StatusOK), id, r.match(), &r.object, r.workspaceDefaults())
		return found(d), err
	}
}

func (a *API) listAccounts(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Connection)
	if err != nil {
		return response{}, err
	}
	d, err := a.Connections.Get(ctx, r.caller.Workspace.ID, id)
	if err != nil {
		return response{}, err
	}
	c, err := connection.Read(d)
	if err != nil {
		return response{}, err
	}
	return unpagedList(c.Accounts)
}

func (a *API) planCalls(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Connection)
	if err != nil {
		return response{}, err
	}
	plans, err := a.Connections.CallPlan(ctx, r.caller.Workspace.ID, id)
	if err != nil {
		return response{}, err
	}
	return unpagedList(plans)
}

func (a *API) checkConnection(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		id, err := r.recordID(s.prefix)
		if err != nil {
			return response{}, err
		}
		report, err := a.Connections.Check(ctx, r.caller.Workspace.ID, id, &r.object)
		if err != nil {
			return response{}, err
		}
		return encoded(report)
	}
}

// unpagedList returns the response of a list without pages.
func unpagedList[T any](list []T) (response, error) {
	res := response{status: http.StatusOK, list: true}
	for _, item := range list {
		e, err := encoded(item)
		if err != nil {
			return response{}, err
		}
		res.docs = append(res.docs, record.Doc{JSON: e.data})
	}
	return res, nil
}

func (a *API) listPlatforms(_ context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	return unpagedList(a.Connections.Platforms())
}

func (a *API) linkEntities(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		id, err := r.recordID(s.prefix)
		if err != nil {
			return response{}, err
		}
		answer, err := a.Connections.Link(ctx, r.idempotentCause(http.StatusOK), id, r.match(), &r.object)
		return response{status: http.StatusOK, data: answer}, err
	}
}
