package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/secret"
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
		{method: http.MethodGet, pattern: all, operation: "listConnections", handle: a.warned(a.listRecords(s)), compress: true},
		{method: http.MethodPost, pattern: all, operation: "createConnection", handle: a.createConnection, body: jsonBody},
		{method: http.MethodGet, pattern: one, operation: "getConnection", handle: a.warned(s.getRecord)},
		{method: http.MethodPatch, pattern: one, operation: "updateConnection", handle: a.updateConnection, body: patchBody},
		{method: http.MethodDelete, pattern: one, operation: "disconnectConnection", handle: a.disconnectConnection},
		{method: http.MethodPost, pattern: one + "/reconnect", operation: "reconnectConnection", handle: a.reconnectConnection(s), body: optionalBody, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/accounts", operation: "listConnectionAccounts", handle: a.listAccounts},
		{method: http.MethodGet, pattern: one + "/entities", operation: "listConnectionEntities", handle: a.listEntities, compress: true},
		{method: http.MethodPost, pattern: one + "/links", operation: "linkConnectionEntities", handle: a.linkEntities(s), body: jsonBody, exists: s.exists},
		{method: http.MethodPost, pattern: one + "/sync", operation: "syncConnection", handle: a.syncConnection(s), body: optionalBody, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/syncs", operation: "listConnectionSyncs", handle: a.listSyncs, compress: true},
		{method: http.MethodGet, pattern: "/v1/platforms", operation: "listPlatforms", handle: a.listPlatforms},
	}
}

// warned adds a warning to answers that tell how far metrics are, while this
// node has no metrics.
func (a *API) warned(handle func(context.Context, *request) (response, error)) func(context.Context, *request) (response, error) {
	return func(ctx context.Context, r *request) (response, error) {
		res, err := handle(ctx, r)
		res.warnings = a.factsWarnings()
		return res, err
	}
}

func (a *API) createConnection(ctx context.Context, r *request) (response, error) {
	f := newFields(&r.object, false)
	spec := connection.Spec{Home: r.roots()}
	set(&spec.Platform, f.choice("platform", required, connection.Connectable))
	set(&spec.Name, f.text("name", required, 1, connection.MaxName))
	readConfig(f, &spec.Config)
	spec.Credentials = readCredentials(f)
	set(&spec.WriteEnabled, f.flag("write_enabled"))
	set(&spec.LinkByName, f.flag("link_by_name"))
	f.done()
	if err := f.err(); err != nil {
		return response{}, err
	}
	d, err := a.Connections.Create(ctx, r.caused(http.StatusCreated), spec)
	if err != nil {
		return response{}, err
	}
	return r.created(d, idOf(d)), nil
}

// roots are the currency and zone of the caller's workspace.
func (r *request) roots() connection.Home {
	return connection.Home{Currency: r.caller.Workspace.Currency, Zone: r.caller.Workspace.Timezone}
}

// maxSeed is the largest whole number that every JSON reader takes exactly.
const maxSeed = 1<<53 - 1

func readConfig(f *fields, c *connection.Config) {
	n := f.nested("config", optional)
	if n == nil {
		return
	}
	c.Seed = n.integer("seed", optional, 0, maxSeed)
	set(&c.Currency, n.currency("currency", optional))
	set(&c.Timezone, n.zone("timezone", optional))
	n.done()
}

// Limits of tokens.
const (
	maxToken    = 4096
	maxClientID = 512
)

func readCredentials(f *fields) *connection.Given {
	n := f.nested("credentials", optional)
	if n == nil {
		return nil
	}
	g := &connection.Given{}
	hidden := func(name string) (t secret.Text) {
		if v := n.text(name, optional, 1, maxToken); v != nil {
			t = secret.New(*v)
		}
		return t
	}
	g.Access, g.Refresh, g.ClientSecret = hidden("access_token"), hidden("refresh_token"), hidden("client_secret")
	set(&g.ClientID, n.text("client_id", optional, 1, maxClientID))
	n.done()
	return g
}

var connectionReadOnly = []string{
	"id", "platform", "status", "status_reason", "capabilities", "scopes_granted", "scopes_missing", "credentials_expire_at", "config", "health",
	"authorization_url", "reauth_url", "version", "created_by", "created_at", "updated_at", "archived_at",
}

func (a *API) updateConnection(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Connection)
	if err != nil {
		return response{}, err
	}
	d, err := a.Connections.Get(ctx, r.caller.Workspace.ID, id)
	if err != nil {
		return response{}, err
	}
	f := newFields(&r.object, true)
	u := readConnectionUpdate(f)
	f.done(connectionReadOnly...)
	if err := unknownAccounts(f, d, u); err != nil {
		return response{}, err
	}
	if wrong := f.err(); wrong != nil {
		if err := r.match().Check(d.Version); err != nil {
			return response{}, err
		}
		return response{}, wrong
	}
	d, err = a.Connections.Revise(ctx, r.cause(), id, r.match(), u)
	return found(d), err
}

func readConnectionUpdate(f *fields) (u connection.Update) {
	u.Name = f.text("name", optional, 1, connection.MaxName)
	u.WriteEnabled, u.LinkByName = f.flag("write_enabled"), f.flag("link_by_name")
	if n := f.nested("sync", optional); n != nil {
		u.IntervalMinutes = n.integer("interval_minutes", optional, 15, 1440)
		u.LookbackDays = n.integer("lookback_days", optional, 1, 90)
		n.done("state", "current_run_id", "last_run_id", "last_success_at", "last_error", "next_run_at", "data_through", "backfilled_since")
	}
	for _, o := range f.objects("accounts", connection.MaxAccounts) {
		account := o.text("external_id", required, 1, connection.MaxAccountID)
		on := o.flag("enabled")
		if o.object.get("enabled") == nil {
			o.bad(o.at("enabled"), "required", "is required.", nil)
		}
		o.done("platform", "name", "currency", "timezone", "url")
		if account != nil && on != nil {
			if u.Accounts == nil {
				u.Accounts = map[string]bool{}
			}
			u.Accounts[*account] = *on
		}
	}
	return u
}

// unknownAccounts refuses accounts that the connection does not have, where
// they stand in the body.
func unknownAccounts(f *fields, d record.Doc, u connection.Update) error {
	c, err := connection.Read(d)
	if err != nil {
		return err
	}
	missing := c.Missing(u)
	if len(missing) == 0 {
		return nil
	}
	for i, account := range f.object.get("accounts").items {
		if v := account.get("external_id"); v != nil && slices.Contains(missing, v.text) {
			f.bad(fmt.Sprintf("accounts[%d].external_id", i), "not_found", "names no account of the connection.", nil)
		}
	}
	return nil
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
		var given *connection.Given
		id, err := s.action(ctx, r, func(f *fields) { given = readCredentials(f) })
		if err != nil {
			return response{}, err
		}
		d, err := a.Connections.Reconnect(ctx, r.caused(http.StatusOK), id, r.match(), given, r.roots())
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
	return listed(c.Accounts)
}

// listed answers with all of a list that has no pages.
func listed[T any](list []T) (response, error) {
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

// platformInfo is a platform as it is listed.
type platformInfo struct {
	Platform         string   `json:"platform"`
	Name             string   `json:"name"`
	Auth             string   `json:"auth"`
	Configured       bool     `json:"configured"`
	APIVersion       *string  `json:"api_version"`
	SunsetOn         *string  `json:"sunset_on"`
	LookbackDays     int      `json:"lookback_days"`
	HistoryDays      int      `json:"history_days"`
	Scopes           []string `json:"scopes"`
	WriteScopes      []string `json:"write_scopes"`
	Capabilities     []string `json:"capabilities"`
	ConfigFields     []string `json:"config_fields"`
	CredentialFields []string `json:"credential_fields"`
}

func (a *API) listPlatforms(_ context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	var list []platformInfo
	sandbox := platformInfo{
		Platform: connection.PlatformSandbox, Name: "Sandbox", Auth: "none", Configured: true, Scopes: []string{}, WriteScopes: []string{},
		Capabilities: []string{}, ConfigFields: []string{"seed", "currency", "timezone"}, CredentialFields: []string{},
	}
	for _, p := range a.Connections.About() {
		info := platformInfo{
			Platform: p.Platform, Name: p.Name, Auth: "oauth", Configured: p.Configured, APIVersion: &p.Version, LookbackDays: p.LookbackDays, HistoryDays: p.HistoryDays,
			Scopes: slices.Concat([]string{}, p.Scopes), WriteScopes: slices.Concat([]string{}, p.WriteScopes), Capabilities: slices.Concat([]string{}, p.Capabilities),
			ConfigFields: []string{}, CredentialFields: []string{"access_token", "refresh_token", "client_id", "client_secret"},
		}
		if p.Sunset != nil {
			day := p.Sunset.String()
			info.SunsetOn = &day
		}
		list = append(list, info)
		sandbox.LookbackDays, sandbox.HistoryDays = max(sandbox.LookbackDays, p.LookbackDays), max(sandbox.HistoryDays, p.HistoryDays)
		for _, capability := range p.Capabilities {
			if !slices.Contains(sandbox.Capabilities, capability) {
				sandbox.Capabilities = append(sandbox.Capabilities, capability)
			}
		}
	}
	return listed(append(list, sandbox))
}

func (a *API) linkEntities(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		var req connection.LinkRequest
		id, err := s.action(ctx, r, func(f *fields) {
			for _, o := range f.objects("links", maxLinks) {
				req.Links = append(req.Links, readLink(o))
			}
			req.ByName = f.choice("match", optional, []string{"name"}) != nil
		})
		if err != nil {
			return response{}, err
		}
		answer, err := a.Connections.Link(ctx, r.caused(http.StatusOK), id, req)
		return response{status: http.StatusOK, data: answer}, err
	}
}

// maxLinks is how many links one call may make.
const maxLinks = 1000

func readLink(o *fields) (l connection.LinkWish) {
	set(&l.Kind, o.choice("kind", required, connection.Kinds))
	set(&l.External, o.text("external_id", required, 1, connection.MaxAccountID))
	if v := o.object.get("record_id"); v != nil && v.kind == kindNull {
		o.read["record_id"] = true
	} else if id := o.text("record_id", required, 1, 64); id != nil {
		l.Record = ident.ID(*id)
	}
	o.done()
	return l
}
