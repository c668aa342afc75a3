package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

var creativeList = listing{
	sorts:    []string{"created_at", "updated_at", "name"},
	statuses: creative.Statuses,
	filters: []filter{
		{name: "type", allowed: creative.Types},
		{name: "source", allowed: creative.Sources},
		{name: "approval", allowed: creative.Approvals},
		{name: "channel", allowed: creative.Channels},
		{name: "tag", lower: true, longest: body.MaxTag},
		{name: "q", longest: creative.MaxName},
	},
}

var variantList = listing{
	sorts:     []string{"position", "created_at", "name"},
	ascending: true,
	statuses:  creative.Statuses,
	filters:   []filter{{name: "include", allowed: []string{"metrics"}, single: true}},
}

func (a *API) creatives() *resource {
	return &resource{
		prefix: ident.Creative, listing: &creativeList,
		get: a.Creatives.Get, list: a.inTurn(a.Creatives.List), archive: a.Creatives.Archive, restore: a.Creatives.Restore,
	}
}

// creativeRoutes returns the operations on creatives.
func (a *API) creativeRoutes() []route {
	const all, one = "/v1/creative", "/v1/creative/{id}"
	s := a.creatives()
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listCreatives", handle: a.listRecords(s), compress: true},
		{method: http.MethodPost, pattern: all, operation: "createCreative", handle: a.createCreative, body: jsonBody},
		{method: http.MethodPost, pattern: all + "/generate", operation: "generateCreative", handle: a.generateCreative, body: jsonBody, waits: true},
		{method: http.MethodPost, pattern: all + "/understand", operation: "understandBrief", handle: a.understandBrief, body: jsonBody, reads: true},
		{method: http.MethodGet, pattern: one, operation: "getCreative", handle: a.getCreative},
		{method: http.MethodPatch, pattern: one, operation: "updateCreative", handle: a.updateCreative, body: patchBody},
		{method: http.MethodDelete, pattern: one, operation: "archiveCreative", handle: s.archiveRecord, critical: true},
		{method: http.MethodPost, pattern: one + "/restore", operation: "restoreCreative", handle: s.restoreRecord, body: optionalBody, exists: s.exists},
		{method: http.MethodPost, pattern: one + "/retry", operation: "retryCreative", handle: a.retryCreative, body: optionalBody, exists: s.exists, waits: true},
		{method: http.MethodGet, pattern: one + "/variants", operation: "listCreativeVariants", handle: a.listVariants, compress: true},
	}
}

func (a *API) listVariants(ctx context.Context, r *request) (response, error) {
	lost := ""
	res, err := a.listRecords(&resource{listing: &variantList, list: func(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
		id, err := r.recordID(ident.Creative)
		if err != nil {
			return page.Page{}, err
		}
		if len(q.Filters) == 0 {
			return a.inTurn(func(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
				return a.Creatives.Variants(ctx, workspace, id, q)
			})(ctx, workspace, q)
		}
		// include filters nothing. It is declared as a filter so that cursors
		// contain it.
		q.Filters = nil
		if lost, err = a.Analytics.LostMessage(ctx, workspace); err != nil {
			return page.Page{}, err
		}
		return a.Creatives.VariantsWithMetrics(ctx, workspace, id, q)
	}})(ctx, r)
	if err == nil && lost != "" {
		res.warnings = a.nodeWarnings(false, lost)
	}
	return res, err
}

func (a *API) getCreative(ctx context.Context, r *request) (response, error) {
	res, err := a.creatives().getRecord(ctx, r)
	if err == nil && creative.StatusOf(res.data) == creative.StatusGenerating {
		res.retryAfter = pollSeconds
	}
	return res, err
}

func (a *API) createCreative(ctx context.Context, r *request) (response, error) {
	d, err := a.Creatives.Create(ctx, r.idempotentCause(http.StatusCreated), &r.object)
	if err != nil {
		return response{}, err
	}
	return r.created(d, d.ID()), nil
}

func (a *API) updateCreative(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Creative)
	if err != nil {
		return response{}, err
	}
	d, err := a.Creatives.Update(ctx, r.cause(), id, r.match(), &r.object)
	return found(d), err
}

func (a *API) generateCreative(ctx context.Context, r *request) (response, error) {
	cause := r.idempotentCause(http.StatusCreated)
	d, now, err := a.Creatives.Generate(ctx, cause, &r.object)
	if err != nil {
		return response{}, err
	}
	return a.generated(ctx, r, cause, d, now, http.StatusCreated)
}

func (a *API) understandBrief(_ context.Context, r *request) (response, error) {
	understood, err := creative.Understand(&r.object)
	if err != nil {
		return response{}, err
	}
	return encoded(understood)
}

func (a *API) retryCreative(ctx context.Context, r *request) (response, error) {
	id, err := a.creatives().readAction(ctx, r, nil)
	if err != nil {
		return response{}, err
	}
	cause := r.idempotentCause(http.StatusOK)
	d, now, err := a.Creatives.Regenerate(ctx, cause, id, r.match())
	if err != nil {
		return response{}, err
	}
	return a.generated(ctx, r, cause, d, now, http.StatusOK)
}

const (
	// defaultWait is how long a request waits for a generation without a Prefer
	// header; longestWait is the maximum that the header may set.
	defaultWait = 2 * time.Second
	longestWait = 30 * time.Second
	// pollSeconds is the Retry-After of unfinished work, in seconds.
	pollSeconds = 2
)

// generated waits for a generation as the caller prefers; now is the status of
// the creative. It returns the finished creative, or 202 with the current one.
func (a *API) generated(ctx context.Context, r *request, cause record.Cause, d record.Doc, now creative.Status, status int) (response, error) {
	id := d.ID()
	wait, applied := preference(r.http.Header["Prefer"])
	if now == creative.StatusGenerating && wait > 0 {
		var err error
		if d, now, err = a.Creatives.Wait(ctx, cause, id, wait); err != nil {
			return response{}, err
		}
	}
	res := found(d)
	res.status, res.applied = status, applied
	if now == creative.StatusGenerating {
		res.status, res.retryAfter = http.StatusAccepted, pollSeconds
	}
	if res.status != http.StatusOK {
		res.location = collection(r.route.pattern) + string(id)
	}
	return res, nil
}

// preference returns the wait time of the Prefer header (RFC 7240) and the
// value of Preference-Applied. It ignores other preferences.
func preference(headers []string) (wait time.Duration, applied string) {
	wait = defaultWait
	for part := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "respond-async":
			return 0, "respond-async"
		case "wait":
			n, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
			if err == nil && n >= 0 && applied == "" {
				wait = min(time.Duration(min(n, 3600))*time.Second, longestWait)
				applied = fmt.Sprintf("wait=%d", int(wait.Seconds()))
			}
		}
	}
	return wait, applied
}
