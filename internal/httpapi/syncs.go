package httpapi

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

var syncList = listing{
	sorts:    []string{"created_at", "updated_at"},
	statuses: connection.RunStatuses,
}

// syncRoutes are the operations on sync runs.
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
		var req connection.Request
		id, err := s.action(ctx, r, func(f *fields) { readSync(f, &req) })
		if err != nil {
			return response{}, err
		}
		d, err := a.Connections.Sync(ctx, r.caused(http.StatusAccepted), id, req)
		if err != nil {
			return response{}, err
		}
		res := found(d)
		res.status, res.retryAfter, res.location = http.StatusAccepted, askAgain, r.place(idOf(d))
		return res, nil
	}
}

func readSync(f *fields, req *connection.Request) {
	req.Mode = connection.ModeIncremental
	mode := f.choice("mode", optional, connection.Modes)
	set(&req.Mode, mode)
	if f.object.get("streams") != nil {
		if req.Streams = f.choices("streams", len(connection.Streams), connection.Streams); len(req.Streams) == 0 && f.err() == nil {
			f.bad("streams", "too_few_items", "must have at least 1 item; leave it out for everything.", fault.Meta{"minimum": 1})
		}
	}
	req.First, req.Last = f.day("start_date"), f.day("end_date")
	if mode == nil && f.object.get("mode") != nil {
		// Nobody knows which days would be right with it.
		return
	}
	backfill := req.Mode == connection.ModeBackfill
	for _, name := range []string{"start_date", "end_date"} {
		switch there := f.object.get(name) != nil; {
		case backfill && !there:
			f.bad(name, "required", "is required for mode backfill.", nil)
		case !backfill && there:
			f.bad(name, "incompatible_fields", "is for mode backfill only.", nil)
		}
	}
	if req.First != nil && req.Last != nil && *req.First > *req.Last {
		f.bad("end_date", "invalid_value", "must not be before start_date.", nil)
	}
}

// day reads a calendar day.
func (f *fields) day(name string) *clock.Date {
	v := f.typed(name, optional, func(v *value) bool { return v.kind == kindString }, "a string")
	if v == nil {
		return nil
	}
	d, ok := clock.ParseDate(v.text)
	if !ok {
		f.bad(f.at(name), "invalid_format", "must be a day such as 2026-11-15.", nil)
		return nil
	}
	return &d
}

// place is where a record is found.
func (r *request) place(id ident.ID) string {
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
	p, err := a.Connections.ListRuns(ctx, w, id, q)
	if err != nil {
		return response{}, err
	}
	return a.pageOf(r, p, params), nil
}

func (a *API) cancelSync(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		id, err := s.action(ctx, r, nil)
		if err != nil {
			return response{}, err
		}
		d, err := a.Connections.Cancel(ctx, r.caused(http.StatusOK), id, r.match())
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
			found.Next = &page.Place{Text: last.Kind, ID: last.ExternalID}
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

// entities reads what is wanted of a platform, and writes down the canonical
// form.
func (p *params) entities() (kinds []string, linked *bool, canonical url.Values) {
	canonical = url.Values{}
	if _, has := p.values["kind"]; has {
		kinds = p.set("kind", connection.Kinds)
		canonical.Set("kind", strings.Join(kinds, ","))
	}
	if _, has := p.values["linked"]; has {
		yes := p.choice("linked", flags, "false") == "true"
		linked = &yes
		canonical.Set("linked", p.values["linked"])
	}
	return kinds, linked, canonical
}

// callback is the page that a person sees who comes back from a platform.
var callback = template.Must(template.New("callback").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fanfare</title><meta name="viewport" content="width=device-width"></head>
<body style="font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem">
<h1>{{if .Connected}}Connected{{else}}Not connected{{end}}</h1><p>{{.Message}}</p></body></html>
`))

// grantAccess takes a person in who comes back from a platform.
func (a *API) grantAccess(r *request, platform string) error {
	ctx, cancel := context.WithTimeout(r.http.Context(), handlerTime)
	defer cancel()
	q := r.http.URL.Query()
	code := q.Get("code")
	if code == "" {
		code = q.Get("auth_code")
	}
	d, bound, err := a.Connections.Complete(ctx, platform, q.Get("state"), code, q.Get("error"), r.session)
	if err == nil && bound {
		r.w.Header()["Location"] = []string{"/connections/" + string(idOf(d))}
		r.head(http.StatusFound)
		return nil
	}
	view := struct {
		Connected bool
		Message   string
	}{true, "Access is granted and figures are on their way. You can close this page."}
	status := http.StatusOK
	if err != nil {
		f, known := errors.AsType[*fault.Error](err)
		if !known {
			return err
		}
		status, view.Connected, view.Message = http.StatusBadRequest, false, f.Message
	}
	var b strings.Builder
	if err := callback.Execute(&b, view); err != nil {
		return err
	}
	h := r.w.Header()
	h["Content-Security-Policy"], h["Referrer-Policy"] = hDocsPolicy, []string{"no-referrer"}
	r.send(status, "text/html; charset=utf-8", []byte(b.String()))
	return nil
}
