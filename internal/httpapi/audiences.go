package httpapi

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"fanfare/internal/audience"
	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

var audienceList = listing{
	sorts:    []string{"created_at", "updated_at", "name", "size.estimate"},
	statuses: audience.Statuses,
	filters: []filter{
		{name: "type", allowed: audience.Types},
		{name: "tag", lower: true, longest: body.MaxTag},
		{name: "q", longest: audience.MaxName},
	},
}

func (a *API) audiences() *resource {
	return &resource{
		prefix: ident.Audience, listing: &audienceList,
		get: a.Audiences.Get, list: a.Audiences.List, archive: a.Audiences.Archive, restore: a.Audiences.Restore,
	}
}

// audienceRoutes are the operations on audiences.
func (a *API) audienceRoutes() []route {
	const all, one = "/v1/audiences", "/v1/audiences/{id}"
	s := a.audiences()
	return []route{
		{method: http.MethodGet, pattern: all, operation: "listAudiences", handle: a.listRecords(s), compress: true},
		{method: http.MethodPost, pattern: all, operation: "createAudience", handle: a.createAudience, body: jsonBody},
		{method: http.MethodGet, pattern: one, operation: "getAudience", handle: s.getRecord},
		{method: http.MethodPatch, pattern: one, operation: "updateAudience", handle: a.updateAudience, body: patchBody},
		{method: http.MethodDelete, pattern: one, operation: "archiveAudience", handle: s.archiveRecord, critical: true},
		{method: http.MethodPost, pattern: one + "/restore", operation: "restoreAudience", handle: s.restoreRecord, body: optionalBody, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/members", operation: "getAudienceMembers", handle: a.getAudienceMembers},
		{method: http.MethodPost, pattern: one + "/members", operation: "changeAudienceMembers", handle: a.changeAudienceMembers, body: jsonBody, exists: s.exists},
		{method: http.MethodGet, pattern: one + "/insights", operation: "getAudienceInsights", handle: a.getAudienceInsights},
	}
}

func (a *API) createAudience(ctx context.Context, r *request) (response, error) {
	f := body.NewReader(&r.object, false)
	kind := audience.TypeTargeting
	chosen := f.Choice("type", body.Optional, audience.Creatable)
	if chosen != nil {
		kind = audience.Type(*chosen)
	}
	spec := readAudience(f)
	// Where nobody knows the type, nobody knows what belongs to it.
	if f.Skip("definition"); chosen != nil || f.Object.Get("type") == nil {
		spec.Type, spec.Definition = kind, readDefinition(f, kind)
	}
	f.Done(audienceReadOnly...)
	if err := a.audienceProblems(ctx, r, f, &audience.Audience{}, &spec); err != nil {
		return response{}, err
	}
	d, err := a.Audiences.Create(ctx, r.caused(http.StatusCreated), spec)
	if err != nil {
		return response{}, err
	}
	return r.created(d, idOf(d)), nil
}

func (a *API) updateAudience(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Audience)
	if err != nil {
		return response{}, err
	}
	d, err := a.Audiences.Revise(ctx, r.cause(), id, r.match(), func(current record.Doc) (audience.Spec, error) {
		var was audience.Audience
		if err := json.Unmarshal(current.JSON, &was); err != nil {
			return audience.Spec{}, fmt.Errorf("read audience: %w", err)
		}
		readOnly := audienceReadOnly
		if was.Type == audience.TypePlatform {
			readOnly = append(slices.Clone(readOnly), "definition")
		}
		f, err := body.Merge(current.JSON, r.object, readOnly)
		if err != nil {
			return audience.Spec{}, err
		}
		spec := readAudience(f)
		spec.Type, spec.Definition = was.Type, was.Definition
		if was.Type != audience.TypePlatform {
			spec.Definition = readDefinition(f, was.Type)
		}
		f.Done()
		return spec, a.audienceProblems(ctx, r, f, &was, &spec)
	})
	return found(d), err
}

// audienceProblems returns all that is wrong with a body.
func (a *API) audienceProblems(ctx context.Context, r *request, f *body.Reader, was *audience.Audience, next *audience.Spec) error {
	return f.ErrWith(func() ([]fault.Detail, error) {
		return a.Audiences.Dangling(ctx, r.caller.Workspace.ID, was.ID, &was.Spec, next)
	})
}

var audienceReadOnly = []string{
	"id", "type", "status", "size", "size_by_connection", "external_refs", "version", "created_by", "created_at", "updated_at", "archived_at",
}

// readAudience reads the writable members that every type has; what is absent
// gets its default.
func readAudience(f *body.Reader) audience.Spec {
	s := audience.Spec{
		Description: f.Text("description", body.Nullable, 0, audience.MaxDescription),
		Tags:        f.Tags(),
		Metadata:    f.Metadata(),
	}
	body.Set(&s.Name, f.Text("name", body.Required, 1, audience.MaxName))
	return s
}

// readDefinition reads what the type asks for.
func readDefinition(f *body.Reader, kind audience.Type) (d audience.Definition) {
	if kind == audience.TypeLookalike {
		if o := f.Nested("definition", body.Required); o != nil {
			d.Lookalike = readLookalike(o)
		}
		return d
	}
	o := f.Nested("definition", body.Optional)
	if o == nil {
		o = body.NewReader(&body.Value{Kind: body.KindObject}, false)
	}
	if kind == audience.TypeTargeting {
		d.Targeting = readTargeting(o)
	}
	o.Done()
	return d
}

func readLookalike(o *body.Reader) *audience.Lookalike {
	l := audience.Lookalike{Countries: readCountries(o)}
	body.Set(&l.SeedAudienceID, o.ID("seed_audience_id", body.Required))
	body.Set(&l.SizePercent, o.Integer("size_percent", body.Required, audience.MinPercent, audience.MaxPercent))
	o.Done()
	return &l
}

func readTargeting(o *body.Reader) *audience.Targeting {
	t := audience.Targeting{
		Countries: readCountries(o),
		Regions:   o.Words("regions", audience.MaxItems, audience.MaxWord),
		Languages: o.List("languages", audience.MaxItems, func(path, item string) (string, bool) {
			return item, o.CheckLanguage(path, item)
		}),
		Genders:            o.Choices("genders", len(audience.Genders), audience.Genders),
		Interests:          o.Words("interests", audience.MaxItems, audience.MaxWord),
		Devices:            o.Choices("devices", len(audience.Devices), audience.Devices),
		IncludeAudienceIDs: o.IDs("include_audience_ids", audience.MaxItems),
		ExcludeAudienceIDs: o.IDs("exclude_audience_ids", audience.MaxItems),
	}
	if age := o.Nested("age", body.Nullable); age != nil {
		t.Age = &audience.Age{
			Min: age.Integer("min", body.Nullable, audience.MinAge, audience.MaxAge),
			Max: age.Integer("max", body.Nullable, audience.MinAge, audience.MaxAge),
		}
		if least, most := t.Age.Min, t.Age.Max; least != nil && most != nil && *most < *least {
			age.Bad(age.At("max"), "too_small", "must not be less than min.", fault.Meta{"minimum": *least})
		}
		age.Done()
	}
	for i, id := range t.ExcludeAudienceIDs {
		if slices.Contains(t.IncludeAudienceIDs, id) {
			o.Bad(o.At(fmt.Sprintf("exclude_audience_ids[%d]", i)), "duplicate_item", "is in include_audience_ids too; an audience cannot be both.", fault.Meta{"id": id})
		}
	}
	return &t
}

func readCountries(o *body.Reader) []string {
	return o.List("countries", audience.MaxItems, func(path, item string) (string, bool) {
		if !audience.IsCountry(item) {
			o.Bad(path, "invalid_value", "must be an ISO 3166 country code of two capital letters, such as DE.", nil)
			return "", false
		}
		return item, true
	})
}

func (a *API) getAudienceMembers(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Audience)
	if err != nil {
		return response{}, err
	}
	count, err := a.Audiences.Members(ctx, r.caller.Workspace.ID, id)
	if err != nil {
		return response{}, err
	}
	return encoded(count)
}

func (a *API) changeAudienceMembers(ctx context.Context, r *request) (response, error) {
	var m audience.Members
	id, err := a.audiences().action(ctx, r, func(f *body.Reader) { m = readMembers(f) })
	if err != nil {
		return response{}, err
	}
	d, err := a.Audiences.ChangeMembers(ctx, r.caused(http.StatusOK), id, r.match(), m)
	return found(d), err
}

// readMembers reads hashes to add and to remove. What is wrong with one never
// repeats it, because it may be an address in clear.
func readMembers(f *body.Reader) (m audience.Members) {
	adds := map[string]bool{}
	read := func(name string, check func(path, item string) bool) []string {
		return f.List(name, audience.MaxMembers, func(path, item string) (string, bool) {
			if !isHash(item) {
				f.Bad(path, "invalid_format", "must be a SHA-256 in 64 lower-case hexadecimal digits; addresses in clear are refused.", nil)
				return "", false
			}
			return item, check(path, item)
		})
	}
	m.Add = read("add", func(_, item string) bool {
		adds[item] = true
		return true
	})
	m.Remove = read("remove", func(path, item string) bool {
		if adds[item] {
			f.Bad(path, "duplicate_item", "is in add too; a member cannot come and go at once.", nil)
		}
		return !adds[item]
	})
	if n := len(m.Add) + len(m.Remove); n > audience.MaxMembers {
		f.Bad("remove", "too_many_items", fmt.Sprintf("and add must have at most %d items together; they have %d.", audience.MaxMembers, n), fault.Meta{"maximum": audience.MaxMembers, "actual": n})
	}
	return m
}

// isHash reports whether s is a SHA-256 in lower-case hexadecimal digits.
func isHash(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}

const (
	// insightDays is how long a period is that nobody names.
	insightDays = 30
	// wholeWorkspace is the baseline that is not an audience.
	wholeWorkspace = "workspace"
)

func (a *API) getAudienceInsights(ctx context.Context, r *request) (response, error) {
	values, err := r.query("start_date", "end_date", "timezone", "baseline")
	if err != nil {
		return response{}, err
	}
	if err := a.audiences().exists(ctx, r); err != nil {
		return response{}, err
	}
	workspace := r.caller.Workspace
	p := &params{values: map[string]string{"baseline": wholeWorkspace}}
	maps.Copy(p.values, values)
	var period audience.Period
	period.StartDate, period.EndDate = p.period(workspace.Timezone, insightDays, r.now)
	baseline := p.values["baseline"]
	if baseline != wholeWorkspace {
		_, err := a.Audiences.Get(ctx, workspace.ID, ident.ID(baseline))
		switch {
		case fault.Is(err, fault.NotFound):
			p.bad("baseline", "invalid_value", "must be workspace, or the id of an audience.", nil)
		case err != nil:
			return response{}, err
		}
	}
	if err := p.err(); err != nil {
		return response{}, err
	}
	in, err := a.Audiences.Insights(ctx, workspace.ID, ident.ID(r.pathID), period, baseline)
	if err != nil {
		return response{}, err
	}
	return encoded(in)
}
