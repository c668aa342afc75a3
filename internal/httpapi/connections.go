package httpapi

import (
	"net/http"

	"fanfare/internal/connection"
	"fanfare/internal/ident"
)

var connectionList = listing{
	sorts:    []string{"created_at", "updated_at", "platform", "sync.last_success_at"},
	statuses: connection.Statuses,
	filters: []filter{
		{name: "platform", allowed: connection.Platforms},
		{name: "q", longest: connection.MaxName},
	},
}

// connectionRoutes are the operations on connections.
func (a *API) connectionRoutes() []route {
	const all, one = "/v1/connections", "/v1/connections/{id}"
	s := &resource{prefix: ident.Connection, listing: &connectionList, get: a.Connections.Get, list: a.Connections.List}
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listConnections", handle: a.listRecords(s), compress: true},
		{method: http.MethodGet, pattern: one, operation: "getConnection", handle: s.getRecord},
	}
}
