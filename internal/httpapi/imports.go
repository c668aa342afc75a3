package httpapi

import (
	"context"
	"net/http"

	"fanfare/internal/body"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
)

var importList = listing{
	sorts:    []string{"created_at", "updated_at", "name"},
	statuses: ingest.Statuses,
}

// importParams are the query parameters of a file upload.
var importParams = []string{"filename", "source", "mode", "currency", "timezone", "commit"}

// importRoutes returns the operations on imports.
func (a *API) importRoutes() []route {
	const all, one = "/v1/imports", "/v1/imports/{id}"
	s := &resource{prefix: ident.Import, listing: &importList, get: a.Ingest.Get, list: a.inTurn(a.Ingest.List)}
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listImports", handle: a.listRecords(s), compress: true},
		{method: http.MethodPost, pattern: all, operation: "createImport", handle: a.createImport, body: tableBody, params: importParams},
		{method: http.MethodGet, pattern: all + "/template", operation: "getImportTemplate", handle: getImportTemplate, answers: []string{csv}},
		{method: http.MethodGet, pattern: one, operation: "getImport", handle: s.getRecord},
		{method: http.MethodPatch, pattern: one, operation: "updateImport", handle: a.updateImport, body: patchBody},
		{method: http.MethodPost, pattern: one + "/commit", operation: "commitImport", handle: a.commitImport(s), body: optionalBody, exists: s.exists},
		{method: http.MethodPost, pattern: one + "/undo", operation: "undoImport", handle: a.undoImport(s), body: optionalBody, exists: s.exists},
	}
}

func getImportTemplate(_ context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, textType: csv + "; charset=utf-8; header=present", text: ingest.Template()}, nil
}

func (a *API) createImport(ctx context.Context, r *request) (response, error) {
	p := &params{values: r.params}
	w := r.caller.Workspace
	u := ingest.Upload{
		Name: p.words("filename", "", ingest.MaxFileName), Source: p.words("source", "", ingest.MaxSource), ContentType: r.media, Bytes: r.body,
		Mode: ingest.Mode(p.choice("mode", ingest.Modes, string(ingest.Upsert))), Currency: p.currency("currency"), Zone: p.zone("timezone"),
		Defaults: connection.WorkspaceDefaults{Currency: w.Currency, Zone: w.Timezone}, Commit: p.choice("commit", flags, "false") == "true",
	}
	if err := p.err(); err != nil {
		return response{}, err
	}
	d, err := a.Ingest.Upload(ctx, r.idempotentCause(http.StatusCreated), u)
	if err != nil {
		return response{}, asParameters(err, importParams)
	}
	return r.created(d, d.ID()), nil
}

func (a *API) updateImport(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Import)
	if err != nil {
		return response{}, err
	}
	d, err := a.Ingest.Update(ctx, r.cause(), id, r.match(), &r.object)
	return found(d), err
}

func (a *API) commitImport(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		var o ingest.Options
		id, err := s.readAction(ctx, r, func(f *body.Reader) { body.Set(&o.SkipErrors, f.Flag("skip_errors")) })
		if err != nil {
			return response{}, err
		}
		d, err := a.Ingest.Commit(ctx, r.idempotentCause(http.StatusOK), id, r.match(), o)
		return found(d), err
	}
}

func (a *API) undoImport(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		id, err := s.readAction(ctx, r, nil)
		if err != nil {
			return response{}, err
		}
		d, err := a.Ingest.Undo(ctx, r.idempotentCause(http.StatusOK), id, r.match())
		return found(d), err
	}
}
