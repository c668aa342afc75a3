package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Creative makes a record that is not stored yet.
func (w *Fixture) Creative(name string, status creative.Status) *creative.Creative {
	now := w.Now()
	return &creative.Creative{
		ID: ident.New(ident.Creative, w.Clock.Now(), rand.Reader), Status: status, Type: "text", Source: "generated",
		Spec: creative.Spec{
			Name: name, Approval: creative.Approval{Status: creative.ApprovalNotRequired}, Channels: []string{"social"},
			Content: creative.Content{ByChannel: map[string]policy.Copy{}, Media: []creative.Media{}}, Tags: []string{}, Metadata: map[string]string{},
		},
		Policy: policy.Result{Status: policy.Pass, Findings: []policy.Finding{}},
		Common: record.Common{WorkspaceID: w.Workspace, Version: 1, CreatedBy: record.System, CreatedAt: now, UpdatedAt: now},
	}
}

// Variant makes a variant of a creative, with pictures.
func (w *Fixture) Variant(id ident.ID, position int, assets ...ident.ID) creative.Variant {
	v := creative.Variant{
		ID: ident.New(ident.Variant, w.Clock.Now(), rand.Reader), CreativeID: id, Position: position, Name: fmt.Sprint("Variant ", position), Status: creative.StatusReady,
		Content: creative.Content{ByChannel: map[string]policy.Copy{}, Media: []creative.Media{}},
		Policy:  policy.Result{Status: policy.Pass, Findings: []policy.Finding{}}, Differences: []string{},
		Version: 1, CreatedAt: w.Now(), UpdatedAt: w.Now(),
	}
	for _, a := range assets {
		v.Content.Media = append(v.Content.Media, creative.Media{AssetID: a})
	}
	return v
}

// saveCreative stores a creative.
func (w *Fixture) saveCreative(c *creative.Creative, list ...creative.Variant) record.Doc {
	w.T.Helper()
	d, err := w.DB.Creatives().Save(w.T.Context(), c, creative.Save{Save: w.Save("creative.created"), Variants: list})
	w.must(err)
	return d
}

// changeCreative loads a creative and saves it with a change.
func (w *Fixture) changeCreative(ctx context.Context, cause record.Cause, id ident.ID, change func(*creative.Creative, *creative.Save)) (record.Doc, error) {
	c, err := w.DB.Creatives().Load(ctx, w.Workspace, id)
	if err != nil {
		return record.Doc{}, err
	}
	save := creative.Save{Save: record.Save{Cause: cause, At: w.Now(), Events: []record.Event{{Type: "creative.updated"}}}}
	change(c, &save)
	c.Touch(save.At, 1)
	return w.DB.Creatives().Save(ctx, c, save)
}

func (w *Fixture) creativeSteps() []Step {
	s, jobs, tries := w.DB.Creatives(), w.DB.Jobs(), 0
	var id, picture, primary ident.ID
	var last record.Cause
	var claimed []job.Job
	act := func(name string, f func(ctx context.Context, cause record.Cause) (record.Doc, error)) Step {
		return Step{"creative." + name, false, func(ctx context.Context) error {
			tries++
			last = w.Cause()
			last.Idempotency = &record.Idempotency{Key: fmt.Sprintf("creative-%s-%d", name, tries), Fingerprint: "f", Status: 202}
			_, err := f(ctx, last)
			return err
		}}
	}
	change := func(name string, f func(*creative.Creative, *creative.Save)) Step {
		return act(name, func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			return w.changeCreative(ctx, cause, id, f)
		})
	}
	return []Step{
		act("picture", func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			d, err := w.Assets.Store(ctx, cause, drawing("Tea"))
			if err == nil {
				picture = assetOf(w.T, d).ID
			}
			return d, err
		}),
		act("insert with job", func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			c := w.Creative("Tea", creative.StatusGenerating)
			c.Tags, id = []string{"a", "b"}, c.ID
			jobs := []record.Job{w.job(creative.JobGenerate, c.ID)}
			return s.Save(ctx, c, creative.Save{Save: record.Save{Cause: cause, At: w.Now(), Events: []record.Event{{Type: "creative.created"}}, Jobs: jobs}})
		}),
		change("finish", func(c *creative.Creative, save *creative.Save) {
			list := []creative.Variant{w.Variant(id, 1, picture), w.Variant(id, 2, picture)}
			primary = list[0].ID
			c.Status, c.PrimaryVariantID = creative.StatusReady, &list[0].ID
			save.Variants, save.Spend, save.Month = list, 1000, "2026-11"
			save.Events = append(save.Events, record.Event{Type: "creative.ready"})
			save.Jobs = w.generated(id)
		}),
		{"creative.amend", false, func(ctx context.Context) error {
			d, err := s.Doc(ctx, w.Workspace, id)
			if err != nil {
				return err
			}
			return s.ReplaceResponse(ctx, last, id, d)
		}},
		change("patch with primary", func(c *creative.Creative, save *creative.Save) {
			v, err := s.Variant(w.T.Context(), w.Workspace, primary)
			w.must(err)
			v.Version, v.Name = v.Version+1, "Another"
			c.Tags, save.Changed, save.Spend, save.Month = []string{"b", "c"}, []*creative.Variant{v}, 500, "2026-11"
		}),
		change("archive", func(c *creative.Creative, save *creative.Save) {
			c.Status, c.ArchivedAt = creative.StatusArchived, &save.At
			save.Jobs = []record.Job{w.job(record.JobRefresh, id)}
		}),
		change("restore", func(c *creative.Creative, _ *creative.Save) { c.Status, c.ArchivedAt = creative.StatusReady, nil }),
		{"creative.claim", false, func(ctx context.Context) (err error) {
			claimed, err = jobs.Claim(ctx, w.Now(), w.Now().Add(time.Minute), 5)
			if err == nil && (len(claimed) != 1 || claimed[0].Args != string(id)) {
				err = fmt.Errorf("claimed %v", claimed)
			}
			return err
		}},
		{"creative.followed", false, func(ctx context.Context) error { return jobs.Done(ctx, claimed[0]) }},
		act("upload", func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			c := w.Creative("Mine", creative.StatusReady)
			return s.Save(ctx, c, creative.Save{
				Save:     record.Save{Cause: cause, At: w.Now(), Events: []record.Event{{Type: "creative.created"}, {Type: "creative.ready"}}},
				Variants: []creative.Variant{w.Variant(c.ID, 1, picture)},
			})
		}),
		{"creative.spent", false, func(ctx context.Context) error {
			n, err := s.ModelSpend(ctx, w.Workspace, "2026-11")
			if err == nil && n != 1500 {
				err = fmt.Errorf("got %d spent", n)
			}
			return err
		}},
		{"creative.usability", false, func(ctx context.Context) error {
			_, err := s.Usability(ctx, w.Workspace, []ident.ID{id, "crv_none"})
			return err
		}},
		{"creative.list", false, func(ctx context.Context) error { return w.listCreatives(ctx, id) }},
	}
}

// creativeFilters are the filters of the list, each with its possible values.
func creativeFilters() map[string][]string {
	return map[string][]string{
		"type": creative.Types, "source": creative.Sources, "approval": creative.Approvals, "channel": creative.Channels[:5],
		"tag": append(listTags, "none"), "q": listQuestions,
	}
}

var (
	creativeSorts = []string{"created_at", "updated_at", "name"}
	variantSorts  = []string{"position", "created_at", "name"}
)

// listCreatives makes every statement that a list can be.
func (w *Fixture) listCreatives(ctx context.Context, id ident.ID) error {
	for _, after := range []*page.Position{nil, {ID: "crv_0"}} {
		for _, sort := range creativeSorts {
			for name, values := range creativeFilters() {
				q := page.Query{Limit: 1, Sort: sort, After: after, Filters: []page.Filter{{Name: name, Values: values[:1]}}}
				if _, err := w.DB.Creatives().List(ctx, w.Workspace, q); err != nil {
					return err
				}
			}
		}
		for _, sort := range variantSorts {
			if _, err := w.DB.Creatives().Variants(ctx, w.Workspace, id, page.Query{Limit: 1, Sort: sort, After: after}); err != nil {
				return err
			}
		}
	}
	return nil
}

// listedCreative is a creative as the naive evaluator has it.
type listedCreative struct {
	c   *creative.Creative
	doc record.Doc
}

func (x listedCreative) document() record.Doc { return x.doc }

func (x listedCreative) position(sort string) page.Position {
	place := page.Position{ID: string(x.c.ID)}
	switch sort {
	case "created_at":
		place.Int = int64(x.c.CreatedAt)
	case "updated_at":
		place.Int = int64(x.c.UpdatedAt)
	case "name":
		place.Text = strings.ToLower(x.c.Name)
	}
	return place
}

func (x listedCreative) matches(q page.Query) bool {
	return satisfies(q, string(x.c.Status), &x.c.Common, x.c.Name, map[string][]string{
		"type": {x.c.Type}, "source": {x.c.Source}, "approval": {x.c.Approval.Status}, "channel": x.c.Channels, "tag": x.c.Tags,
	})
}

// recordsCreativeLists compares every list with the naive evaluator.
func recordsCreativeLists(t *testing.T, w *Fixture) {
	r := mathrand.New(mathrand.NewPCG(4, 1))
	mine := w.Workspace
	other, _, _ := w.AddWorkspace("other@example.com")
	base := w.Now()
	var all []listedCreative
	for i := range 120 {
		w.Clock.Advance(time.Millisecond)
		w.Workspace = mine
		if i%4 == 3 {
			w.Workspace = other
		}
		c := w.Creative(pick(r, listNames), creative.Status(pick(r, creative.Statuses)))
		c.CreatedAt, c.UpdatedAt = base.Add(time.Duration(r.IntN(6))*time.Hour), base.Add(time.Duration(r.IntN(6))*time.Hour)
		c.Type, c.Source, c.Approval.Status = pick(r, creative.Types), pick(r, creative.Sources), pick(r, creative.Approvals)
		c.Channels, c.Tags = some(r, creative.Channels[:4]), some(r, listTags)
		d := w.saveCreative(c)
		if w.Workspace == mine {
			all = append(all, listedCreative{c, d})
		}
	}
	w.Workspace = mine
	read := func(q page.Query) (page.Page, error) { return w.DB.Creatives().List(t.Context(), w.Workspace, q) }
	middle := base.Add(3 * time.Hour)
	for _, sort := range creativeSorts {
		for _, desc := range []bool{false, true} {
			for _, status := range [][]string{nil, {}, {"ready"}, {"generating", "failed"}, {"archived"}} {
				compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 7, Status: status})
			}
			compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 3, From: &middle})
			compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 3, Until: &middle})
			for name, values := range creativeFilters() {
				for i := range values {
					compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 9, Status: []string{}, Filters: []page.Filter{{Name: name, Values: values[i : i+1]}}})
				}
			}
		}
	}
	compare(t, read, all, page.Query{Sort: "name", Limit: 5, Filters: []page.Filter{{Name: "type", Values: creative.Types[:3]}, {Name: "channel", Values: creative.Channels[:2]}}})
}

// recordsVariants lists the variants of one creative among others.
func recordsVariants(t *testing.T, w *Fixture) {
	var ids []ident.ID
	for range 3 {
		c := w.Creative("Tea", creative.StatusReady)
		ids = append(ids, c.ID)
		var list []creative.Variant
		for i := range 7 {
			v := w.Variant(c.ID, i+1)
			v.Name = listNames[(i*5)%len(listNames)]
			if i == 2 {
				v.Status = creative.StatusFailed
			}
			list = append(list, v)
			w.Clock.Advance(time.Millisecond)
		}
		w.saveCreative(c, list...)
	}
	names := func(q page.Query) (list []string) {
		t.Helper()
		for {
			p, err := w.DB.Creatives().Variants(t.Context(), w.Workspace, ids[1], q)
			w.must(err)
			for _, d := range p.Docs {
				list = append(list, docName(t, d))
			}
			if p.Next == nil {
				return list
			}
			q.After = p.Next
		}
	}
	inOrder := []string{listNames[0], listNames[5], listNames[10], listNames[15], listNames[20], listNames[25], listNames[30]}
	sorted := slices.SortedFunc(slices.Values(inOrder), func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	backwards := slices.Clone(inOrder)
	slices.Reverse(backwards)
	for _, tt := range []struct {
		query page.Query
		want  []string
	}{
		{page.Query{Sort: "position", Limit: 3}, inOrder},
		{page.Query{Sort: "position", Desc: true, Limit: 2}, backwards},
		{page.Query{Sort: "created_at", Limit: 100}, inOrder},
		{page.Query{Sort: "name", Limit: 3}, sorted},
		{page.Query{Sort: "position", Limit: 3, Status: []string{"failed"}}, inOrder[2:3]},
	} {
		if got := names(tt.query); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v want %v", show(tt.query), got, tt.want)
		}
	}
	other, _, _ := w.AddWorkspace("other@example.com")
	p, err := w.DB.Creatives().Variants(t.Context(), other, ids[1], page.Query{Sort: "position", Limit: 3})
	if err != nil || len(p.Docs) != 0 {
		t.Errorf("from another workspace: got %d variants, %v", len(p.Docs), err)
	}
}

// generated returns the jobs of a creative that becomes ready.
func (w *Fixture) generated(id ident.ID) []record.Job {
	ended := w.job(creative.JobGenerate, id)
	ended.Cancel = true
	return []record.Job{ended, w.job(record.JobRefresh, id)}
}

// recordsCreativeSaves checks what is written with a creative, and that a refused
// write leaves nothing.
func recordsCreativeSaves(t *testing.T, w *Fixture) {
	picture := w.Keep("Tea")
	c := w.Creative("Tea", creative.StatusGenerating)
	save := creative.Save{Save: w.Save("creative.created")}
	save.Jobs = []record.Job{w.job(creative.JobGenerate, c.ID)}
	save.Cause.Idempotency = &record.Idempotency{Key: "k", Fingerprint: "f", Status: 202}
	first, err := w.DB.Creatives().Save(t.Context(), c, save)
	w.must(err)
	jobs := func(kind string) int64 {
		return w.Int(`SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2 AND args = $3`, string(w.Workspace), kind, string(c.ID))
	}
	if g, f := jobs("creative.generate"), jobs("campaign.follow"); g != 1 || f != 0 {
		t.Errorf("got %d and %d jobs of a new one want 1 and 0", g, f)
	}
	variant := w.Variant(c.ID, 1, picture.ID)
	ready := func(spend int64, assets ...ident.ID) func(*creative.Creative, *creative.Save) {
		return func(c *creative.Creative, save *creative.Save) {
			c.Status, save.Variants = creative.StatusReady, []creative.Variant{variant, w.Variant(c.ID, 2, assets...)}
			save.Spend, save.Month, save.Jobs = spend, "2026-11", w.generated(c.ID)
		}
	}
	before := State(t, w.Raw)
	_, err = w.changeCreative(t.Context(), w.Cause(), c.ID, ready(10, picture.ID, "ast_none"))
	if !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("an asset that is gone: got %v want %s", err, fault.ValidationFailed)
	}
	loaded, err := w.DB.Creatives().Load(t.Context(), w.Workspace, c.ID)
	w.must(err)
	if after := State(t, w.Raw); before["variant"] != after["variant"] || before["creative"] != after["creative"] || before["model_spend"] != after["model_spend"] || before["job"] != after["job"] || before["asset"] != after["asset"] {
		t.Error("a refused write has left something")
	}
	w.Clock.Advance(time.Hour)
	done, err := w.changeCreative(t.Context(), w.Cause(), c.ID, ready(10, picture.ID))
	w.must(err)
	if g, f := jobs("creative.generate"), jobs("campaign.follow"); g != 0 || f != 1 {
		t.Errorf("got %d and %d jobs of a ready one want 0 and 1", g, f)
	}
	w.Count(1, `SELECT count(*) FROM ref WHERE workspace_id = $1 AND kind = 'asset_id' AND record_id = $2`, string(w.Workspace), string(c.ID))
	w.Count(int64(w.Now()), `SELECT touched_at FROM asset WHERE workspace_id = $1 AND id = $2`, string(w.Workspace), string(picture.ID))
	// A save of an outdated copy fails and writes nothing.
	before = State(t, w.Raw)
	late := creative.Save{Save: w.Save("creative.ready"), Variants: []creative.Variant{w.Variant(c.ID, 3)}, Spend: 7, Month: "2026-11"}
	loaded.Touch(w.Now(), 1)
	if _, err := w.DB.Creatives().Save(t.Context(), loaded, late); !errors.Is(err, record.ErrRace) {
		t.Errorf("a lost race: got %v want %v", err, record.ErrRace)
	}
	stale := variant
	stale.Version = 5
	if _, err := w.changeCreative(t.Context(), w.Cause(), c.ID, func(_ *creative.Creative, save *creative.Save) { save.Changed = []*creative.Variant{&stale} }); !errors.Is(err, record.ErrRace) {
		t.Errorf("a lost race of the variant: got %v want %v", err, record.ErrRace)
	}
	if after := State(t, w.Raw); before["variant"] != after["variant"] || before["creative"] != after["creative"] || before["model_spend"] != after["model_spend"] || before["event"] != after["event"] {
		t.Error("a lost race has left something")
	}
	w.creativeAnswers(save.Cause, c.ID, first, done)
	w.creativeSpends(c.ID)
}

// creativeAnswers amends the response stored under a key, and only that.
func (w *Fixture) creativeAnswers(cause record.Cause, id ident.ID, first, done record.Doc) {
	t := w.T
	t.Helper()
	s := w.DB.Creatives()
	check := func(what string, status int, want record.Doc) {
		t.Helper()
		a, err := w.DB.StoredResponse(t.Context(), w.Workspace, "k")
		if err != nil || a == nil || a.Status != status || string(a.Doc.JSON) != string(want.JSON) || a.Doc.Stamp != want.Stamp {
			t.Errorf("%s: got answer %+v, %v", what, a, err)
		}
	}
	w.must(s.ReplaceResponse(t.Context(), w.Cause(), id, done)) // without a key
	other := cause
	other.Idempotency = &record.Idempotency{Key: "k", Fingerprint: "another", Status: 201}
	w.must(s.ReplaceResponse(t.Context(), other, id, done))
	other.Idempotency = &record.Idempotency{Key: "k", Fingerprint: "f", Status: 201}
	w.must(s.ReplaceResponse(t.Context(), other, "crv_none", done))
	stranger := other
	stranger.Workspace, _, _ = w.AddWorkspace("stranger@example.com")
	w.must(s.ReplaceResponse(t.Context(), stranger, id, done))
	check("what somebody else amends", 202, first)
	w.must(s.ReplaceResponse(t.Context(), other, id, done))
	check("what its owner amends", 201, done)
}

// creativeSpends adds up the spend on models, by workspace and month.
func (w *Fixture) creativeSpends(id ident.ID) {
	t := w.T
	t.Helper()
	for month, amounts := range map[string][]int64{"2026-11": {5, 0, 15}, "2026-12": {7}} {
		for _, n := range amounts {
			_, err := w.changeCreative(t.Context(), w.Cause(), id, func(_ *creative.Creative, save *creative.Save) { save.Spend, save.Month = n, month })
			w.must(err)
		}
	}
	other, _, _ := w.AddWorkspace("other@example.com")
	for _, tt := range []struct {
		workspace ident.ID
		month     string
		want      int64
	}{{w.Workspace, "2026-11", 30}, {w.Workspace, "2026-12", 7}, {w.Workspace, "2027-01", 0}, {other, "2026-11", 0}} {
		if got, err := w.DB.Creatives().ModelSpend(t.Context(), tt.workspace, tt.month); err != nil || got != tt.want {
			t.Errorf("spent in %s: got %d, %v want %d", tt.month, got, err, tt.want)
		}
	}
}

// recordsUsability checks the usability for every status and approval.
func recordsUsability(t *testing.T, w *Fixture) {
	waiting, refused := record.Usability{Issue: "no_creative_ready"}, record.Usability{Issue: "creative_rejected"}
	archived := record.Usability{Archived: true, Issue: "no_creative_ready"}
	want := map[ident.ID]record.Usability{}
	ids := []ident.ID{"crv_none"}
	for status, by := range map[creative.Status]map[string]record.Usability{
		creative.StatusReady:      {"not_required": {}, "approved": {}, "pending": waiting, "rejected": refused},
		creative.StatusGenerating: {"not_required": waiting, "approved": waiting, "pending": waiting, "rejected": waiting},
		creative.StatusFailed:     {"not_required": waiting, "approved": waiting, "pending": waiting, "rejected": waiting},
		creative.StatusArchived:   {"not_required": archived, "approved": archived, "pending": archived, "rejected": archived},
	} {
		for approval, usable := range by {
			c := w.Creative("Tea", status)
			c.Approval.Status = approval
			w.saveCreative(c)
			want[c.ID], ids = usable, append(ids, c.ID)
		}
	}
	got, err := w.DB.Creatives().Usability(t.Context(), w.Workspace, ids)
	w.must(err)
	if len(got) != len(want) {
		t.Errorf("got %d usability want %d", len(got), len(want))
	}
	for id, usable := range want {
		if got[id] != usable {
			t.Errorf("%s: got %+v want %+v", id, got[id], usable)
		}
	}
	other, _, _ := w.AddWorkspace("other@example.com")
	if got, err := w.DB.Creatives().Usability(t.Context(), other, ids); err != nil || len(got) != 0 {
		t.Errorf("from another workspace: got %v, %v", got, err)
	}
}
