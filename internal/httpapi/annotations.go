package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"fanfare/internal/ident"
	"fanfare/internal/report"
)

// annotationRoutes returns the operations on annotations of charts.
func (a *API) annotationRoutes() []route {
	const all = "/v1/annotations"
	s := a.Reports
	k := kept{prefix: ident.Annotation, create: s.CreateAnnotation, get: s.GetAnnotation, update: s.UpdateAnnotation, archive: s.ArchiveAnnotation}
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listAnnotations", handle: a.listAnnotations, compress: true},
		{method: http.MethodPost, pattern: all, operation: "createAnnotation", handle: k.createOne, body: jsonBody},
		{method: http.MethodGet, pattern: all + "/{id}", operation: "getAnnotation", handle: k.getOne},
		{method: http.MethodPatch, pattern: all + "/{id}", operation: "updateAnnotation", handle: k.updateOne, body: patchBody},
		{method: http.MethodDelete, pattern: all + "/{id}", operation: "archiveAnnotation", handle: k.archiveOne},
	}
}

// annotationFilters are the parameters of the list of annotations.
var annotationFilters = []string{"start_date", "end_date", "campaign_id", "kind"}

func (a *API) listAnnotations(ctx context.Context, r *request) (response, error) {
	values, err := r.query(append([]string{"limit", "cursor"}, annotationFilters...)...)
	if err != nil {
		return response{}, err
	}
	p := &params{values: values}
	limit := p.limit()
	q, canonical := p.annotationQuery()
	if err := p.err(); err != nil {
		return response{}, err
	}
	if text, has := values["cursor"]; has {
		c, err := a.openCursor(r, text, p, canonical, annotationFilters)
		if err != nil {
			return response{}, err
		}
		inside, _ := url.ParseQuery(c.Params)
		q, canonical = paramsOf(inside).annotationQuery()
		q.After = &c.After
	}
	q.Limit = limit
	leave, err := a.lists.Take(ctx, r.caller.Workspace.ID, listWait)
	if err != nil {
		return response{}, err
	}
	defer leave()
	found, err := a.Reports.ListAnnotations(ctx, r.caller.Workspace.ID, r.caller.Workspace.Timezone, q)
	if err != nil {
		return response{}, err
	}
	return a.pageOf(r, found, canonical.Encode()), nil
}

// annotationQuery reads the filters of the list of annotations. It also returns
// their canonical form.
func (p *params) annotationQuery() (q report.AnnotationQuery, canonical url.Values) {
	canonical = url.Values{}
	q.First, q.Last = p.days()
	for _, name := range []string{"start_date", "end_date"} {
		if v, has := p.values[name]; has {
			canonical.Set(name, v)
		}
	}
	if id := p.filter(filter{name: "campaign_id", prefix: ident.Campaign}, canonical); id != nil {
		campaign := ident.ID(id[0])
		q.CampaignID = &campaign
	}
	if q.Kinds = p.readSet("kind", report.AnnotationKinds); q.Kinds != nil {
		canonical.Set("kind", strings.Join(q.Kinds, ","))
	}
	return q, canonical
}
