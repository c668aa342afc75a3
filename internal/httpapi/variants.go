package httpapi

import (
	"context"
	"net/http"

	"fanfare/internal/body"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// variantRoutes returns the operations on one variant of a creative.
func (a *API) variantRoutes() []route {
	const one = "/v1/variants/{id}"
	s := &resource{prefix: ident.Variant, get: a.Creatives.Variant}
	return []route{
		{method: http.MethodGet, pattern: one, operation: "getVariant", handle: s.getRecord},
		{method: http.MethodPatch, pattern: one, operation: "updateVariant", handle: a.updateVariant, body: patchBody},
		{method: http.MethodPost, pattern: one + "/approve", operation: "approveVariant", handle: decideVariant(s, a.Creatives.ApproveVariant), body: optionalBody, exists: s.exists},
		{method: http.MethodPost, pattern: one + "/reject", operation: "rejectVariant", handle: decideVariant(s, a.Creatives.RejectVariant), body: optionalBody, exists: s.exists},
		{method: http.MethodPost, pattern: one + "/regenerate", operation: "regenerateVariantLine", handle: a.regenerateLine(s), body: jsonBody, exists: s.exists},
	}
}

func (a *API) updateVariant(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Variant)
	if err != nil {
		return response{}, err
	}
	d, err := a.Creatives.UpdateVariant(ctx, r.cause(), id, r.match(), &r.object)
	return found(d), err
}

type decision func(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, note *string) (record.Doc, error)

func decideVariant(s *resource, decide decision) handler {
	return func(ctx context.Context, r *request) (response, error) {
		var note *string
		id, err := s.readAction(ctx, r, func(f *body.Reader) { note = f.Text("note", body.Nullable, 0, creative.MaxNote) })
		if err != nil {
			return response{}, err
		}
		d, err := decide(ctx, r.idempotentCause(http.StatusOK), id, r.match(), note)
		return found(d), err
	}
}

func (a *API) regenerateLine(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		field := ""
		id, err := s.readAction(ctx, r, func(f *body.Reader) { body.Set(&field, f.Text("field", body.Required, 1, creative.MaxName)) })
		if err != nil {
			return response{}, err
		}
		d, err := a.Creatives.RegenerateLine(ctx, r.idempotentCause(http.StatusOK), id, r.match(), field)
		return found(d), err
	}
}
