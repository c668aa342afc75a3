package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// audienceSpec returns the fields that a caller sends for an audience.
func audienceSpec(name string, kind audience.Type) audience.Spec {
	s := audience.Spec{Name: name, Type: kind, Tags: []string{}, Metadata: map[string]string{}}
	if kind == audience.TypeTargeting {
		s.Definition.Targeting = &audience.Targeting{
			Countries: []string{"DE"}, Regions: []string{}, Languages: []string{}, Genders: []string{}, Interests: []string{}, Devices: []string{},
			IncludeAudienceIDs: []ident.ID{}, ExcludeAudienceIDs: []ident.ID{},
		}
	}
	return s
}

// Audience makes one through its service.
func (w *Fixture) Audience(spec audience.Spec) ident.ID {
	w.T.Helper()
	d, err := w.Audiences.CreateSpec(w.T.Context(), w.Cause(), spec)
	w.must(err)
	return w.audience(d).ID
}

func (w *Fixture) audience(d record.Doc) *audience.Audience {
	w.T.Helper()
	a := &audience.Audience{}
	w.must(json.Unmarshal(d.JSON, a))
	return a
}

// hashes are those of members from one number up to another.
func hashes(from, to int) []string {
	list := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf("%064x", i))
	}
	return list
}

// change changes members.
func (w *Fixture) change(id ident.ID, m audience.MemberChange) audience.MembersChanged {
	w.T.Helper()
	d, err := w.Audiences.ChangeMembers(w.T.Context(), w.Cause(), id, record.Match{}, Sent(w.T, m))
	w.must(err)
	var c audience.MembersChanged
	w.must(json.Unmarshal(d.JSON, &c))
	return c
}

func (w *Fixture) audienceSteps() []Step {
	s, jobs, tries := w.Audiences, w.DB.Jobs(), 0
	var list, own ident.ID
	var claimed []job.Job
	act := func(name string, f func(ctx context.Context, cause record.Cause) (record.Doc, error)) Step {
		return Step{"audience." + name, false, func(ctx context.Context) error {
			tries++
			cause := w.Cause()
			cause.Idempotency = &record.Idempotency{Key: fmt.Sprintf("audience-%s-%d", name, tries), Fingerprint: "f", Status: 200}
			_, err := f(ctx, cause)
			return err
		}}
	}
	create := func(to *ident.ID, spec func() audience.Spec) Step {
		return act("create", func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			d, err := s.CreateSpec(ctx, cause, spec())
			if err == nil {
				*to = w.audience(d).ID
			}
			return d, err
		})
	}
	change := func(name string, m audience.MemberChange) Step {
		return act(name, func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			return s.ChangeMembers(ctx, cause, list, record.Match{}, Sent(w.T, m))
		})
	}
	return []Step{
		create(&list, func() audience.Spec {
			spec := audienceSpec("Readers", audience.TypeCustomerList)
			spec.Tags = []string{"a", "b"}
			return spec
		}),
		create(&own, func() audience.Spec {
			spec := audienceSpec("Like readers", audience.TypeLookalike)
			spec.Definition.Lookalike = &audience.Lookalike{SeedAudienceID: list, Countries: []string{"DE"}, SizePercent: 2}
			return spec
		}),
		act("update", func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			return s.Update(ctx, cause, list, record.Match{}, Sent(w.T, map[string]any{"name": "All readers", "tags": []string{"b", "c"}}))
		}),
		{"audience.campaign", false, func(ctx context.Context) error {
			spec := w.Draft("For readers").Spec
			spec.AudienceIDs = []ident.ID{list}
			_, err := w.Campaigns.CreateSpec(ctx, w.Cause(), spec)
			return err
		}},
		change("add some", audience.MemberChange{Add: hashes(0, 10)}),
		change("add too many for a statement", audience.MemberChange{Add: hashes(5, 600), Remove: hashes(0, 3)}),
		change("add nobody", audience.MemberChange{Add: hashes(5, 10)}),
		{"audience.change nothing", false, func(ctx context.Context) error {
			_, err := s.ChangeMembers(ctx, w.Cause(), list, record.Match{}, Sent(w.T, audience.MemberChange{}))
			return err
		}},
		change("remove most", audience.MemberChange{Remove: hashes(0, 560)}),
		act("archive", func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			return s.Archive(ctx, cause, list, record.Match{})
		}),
		act("restore", func(ctx context.Context, cause record.Cause) (record.Doc, error) {
			return s.Restore(ctx, cause, list, record.Match{})
		}),
		{"audience.claim", false, func(ctx context.Context) (err error) {
			claimed, err = jobs.Claim(ctx, w.Now(), w.Now().Add(time.Minute), 5)
			// Two campaigns that refer to something for the first time wait
			// too.
			slices.SortFunc(claimed, func(a, b job.Job) int { return strings.Compare(a.Kind, b.Kind) })
			if err == nil && (len(claimed) != 3 || claimed[0].Kind != record.JobRefresh || claimed[0].Args != string(list)) {
				err = fmt.Errorf("claimed %v", claimed)
			}
			return err
		}},
		{"audience.follow", false, func(ctx context.Context) error { return w.Campaigns.Follow(ctx, w.Workspace, list) }},
		{"audience.followed", false, func(ctx context.Context) error { return jobs.Done(ctx, claimed[0]) }},
		{"audience.settled", false, func(ctx context.Context) error { return jobs.Done(ctx, claimed[1]) }},
		{"audience.settled too", false, func(ctx context.Context) error { return jobs.Done(ctx, claimed[2]) }},
		{"audience.insights", false, func(ctx context.Context) error {
			_, err := s.Insights(ctx, w.Workspace, list, audience.InsightsRequest{Timezone: "UTC"})
			return err
		}},
		{"audience.list", false, w.listAudiences},
	}
}

// audienceFilters are the filters of the list, each with its possible values.
func audienceFilters() map[string][]string {
	return map[string][]string{"type": audience.Types, "tag": append(listTags, "none"), "q": listQuestions}
}

var audienceSorts = []string{"created_at", "updated_at", "name", "size.estimate"}

// listAudiences makes every statement that a list can be.
func (w *Fixture) listAudiences(ctx context.Context) error {
	for _, sort := range audienceSorts {
		for name, values := range audienceFilters() {
			for _, after := range []*page.Position{nil, {ID: "aud_0"}, {Null: true, ID: "aud_0"}} {
				q := page.Query{Limit: 1, Sort: sort, After: after, Filters: []page.Filter{{Name: name, Values: values[:1]}}}
				if _, err := w.DB.Audiences().List(ctx, w.Workspace, q); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// listedAudience is an audience as the naive evaluator has it.
type listedAudience struct {
	a   *audience.Audience
	doc record.Doc
}

func (p listedAudience) document() record.Doc { return p.doc }

func (p listedAudience) position(sort string) page.Position {
	place := page.Position{ID: string(p.a.ID)}
	switch sort {
	case "created_at":
		place.Int = int64(p.a.CreatedAt)
	case "updated_at":
		place.Int = int64(p.a.UpdatedAt)
	case "name":
		place.Text = strings.ToLower(p.a.Name)
	case "size.estimate":
		if place.Null = p.a.Size == nil; !place.Null {
			place.Int = p.a.Size.Estimate
		}
	}
	return place
}

func (p listedAudience) matches(q page.Query) bool {
	return satisfies(q, string(p.a.Status), &p.a.Common, p.a.Name, map[string][]string{"type": {string(p.a.Type)}, "tag": p.a.Tags})
}

// recordsAudienceLists compares every list with the naive evaluator.
func recordsAudienceLists(t *testing.T, w *Fixture) {
	r := mathrand.New(mathrand.NewPCG(3, 1))
	other, _, _ := w.AddWorkspace("other@example.com")
	base := w.Now()
	var all []listedAudience
	for i := range 120 {
		w.Clock.Advance(time.Millisecond)
		a := &audience.Audience{
			ID: ident.New(ident.Audience, w.Clock.Now(), rand.Reader), Status: audience.Status(pick(r, audience.Statuses)),
			Spec:   audienceSpec(pick(r, listNames), audience.Type(pick(r, audience.Types))),
			Common: record.Common{WorkspaceID: w.Workspace, Version: 1, CreatedBy: record.System},
		}
		a.CreatedAt, a.UpdatedAt = base.Add(time.Duration(r.IntN(6))*time.Hour), base.Add(time.Duration(r.IntN(6))*time.Hour)
		a.Tags = some(r, listTags)
		if r.IntN(2) == 0 {
			a.Size = &audience.Size{Estimate: int64(r.IntN(4))}
		}
		save := w.Save("audience.created")
		if i%4 == 3 {
			a.WorkspaceID, save.Cause.Workspace = other, other
		}
		d, err := w.DB.Audiences().Save(t.Context(), a, save)
		w.must(err)
		if a.WorkspaceID == w.Workspace {
			all = append(all, listedAudience{a, d})
		}
	}
	read := func(q page.Query) (page.Page, error) { return w.DB.Audiences().List(t.Context(), w.Workspace, q) }
	middle := base.Add(3 * time.Hour)
	for _, sort := range audienceSorts {
		for _, desc := range []bool{false, true} {
			for _, status := range [][]string{nil, {}, {"ready"}, {"too_small", "failed"}, {"archived"}} {
				compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 7, Status: status})
			}
			compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 3, From: &middle})
			compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 3, Until: &middle})
			for name, values := range audienceFilters() {
				for i := range values {
					compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 9, Status: []string{}, Filters: []page.Filter{{Name: name, Values: values[i : i+1]}}})
				}
			}
		}
	}
}

// recordsMembers follows a list through additions and removals.
func recordsMembers(t *testing.T, w *Fixture) {
	id := w.Audience(audienceSpec("Members", audience.TypeCustomerList))
	other := w.Audience(audienceSpec("Others", audience.TypeCustomerList))
	w.change(other, audience.MemberChange{Add: hashes(0, 5)})
	for i, tt := range []struct {
		add, remove    []string
		added, removed int64
		count          int64
		status         audience.Status
		stamp          record.Stamp
	}{
		{hashes(0, 99), nil, 99, 0, 99, "too_small", record.Stamp{Version: 1, Rev: 1}},
		{hashes(0, 99), hashes(500, 600), 0, 0, 99, "too_small", record.Stamp{Version: 1, Rev: 1}},
		{hashes(90, 100), nil, 1, 0, 100, "ready", record.Stamp{Version: 2}},
		{hashes(100, 1700), hashes(0, 50), 1600, 50, 1650, "ready", record.Stamp{Version: 2, Rev: 1}},
		{hashes(0, 1), hashes(50, 1650), 1, 1600, 51, "too_small", record.Stamp{Version: 3}},
		{nil, hashes(0, 2000), 0, 51, 0, "too_small", record.Stamp{Version: 3, Rev: 1}},
	} {
		got := w.change(id, audience.MemberChange{Add: tt.add, Remove: tt.remove})
		if want := (audience.MembersChanged{AudienceID: id, Added: tt.added, Removed: tt.removed, Count: tt.count, Status: tt.status}); got != want {
			t.Errorf("change %d: got %+v want %+v", i, got, want)
		}
		a, err := w.DB.Audiences().Load(t.Context(), w.Workspace, id)
		w.must(err)
		if a.MemberCount() != tt.count || a.Status != tt.status || a.Stamp() != tt.stamp {
			t.Errorf("change %d: got %d %s %v want %d %s %v", i, a.MemberCount(), a.Status, a.Stamp(), tt.count, tt.status, tt.stamp)
		}
		w.Count(tt.count, `SELECT count(*) FROM audience_member WHERE workspace_id = $1 AND audience_id = $2`, string(w.Workspace), string(id))
		w.Count(tt.count, `SELECT size FROM audience WHERE workspace_id = $1 AND id = $2`, string(w.Workspace), string(id))
	}
	w.Count(5, `SELECT count(*) FROM audience_member WHERE workspace_id = $1`, string(w.Workspace))
	// The stored response is the answer and not the record.
	cause := w.Cause()
	cause.Idempotency = &record.Idempotency{Key: "members", Fingerprint: "f", Status: 200}
	d, err := w.Audiences.ChangeMembers(t.Context(), cause, id, record.Match{}, Sent(t, audience.MemberChange{Add: hashes(0, 1)}))
	w.must(err)
	answer, err := w.DB.StoredResponse(t.Context(), w.Workspace, "members")
	w.must(err)
	if answer == nil || answer.Doc.Stamp != (record.Stamp{}) || string(answer.Doc.JSON) != string(d.JSON) || answer.Resource != id {
		t.Errorf("got remembered %+v want %s", answer, d.JSON)
	}
	if _, err := w.Audiences.ChangeMembers(t.Context(), cause, id, record.Match{}, Sent(t, audience.MemberChange{})); !errors.Is(err, record.ErrKeyUsed) {
		t.Errorf("the same key again: got %v want %v", err, record.ErrKeyUsed)
	}
	stranger := w.Cause()
	stranger.Workspace, _, _ = w.AddWorkspace("other@example.com")
	if _, err := w.Audiences.ChangeMembers(t.Context(), stranger, id, record.Match{}, Sent(t, audience.MemberChange{Add: hashes(0, 1)})); !fault.Is(err, fault.NotFound) {
		t.Errorf("from another workspace: got %v want not_found", err)
	}
}

// recordsMembersRace lets many callers change one list at once.
func recordsMembersRace(t *testing.T, w *Fixture) {
	const callers, times = 8, 6
	id := w.Audience(audienceSpec("Shared", audience.TypeCustomerList))
	together(callers, func(i int) {
		for n := range times {
			// Neighbors add some of the same and remove some of each other's.
			from := (i*times + n) * 20
			m := audience.MemberChange{Add: hashes(from, from+40), Remove: hashes(max(0, from-10), from)}
			if i%2 == 0 {
				slices.Reverse(m.Add)
			}
			if _, err := w.Audiences.ChangeMembers(t.Context(), w.Cause(), id, record.Match{}, Sent(t, m)); err != nil {
				t.Error(err)
			}
		}
	})
	a, err := w.DB.Audiences().Load(t.Context(), w.Workspace, id)
	w.must(err)
	w.Count(a.MemberCount(), `SELECT count(*) FROM audience_member WHERE workspace_id = $1 AND audience_id = $2`, string(w.Workspace), string(id))
	if a.MemberCount() < 400 || a.Status != audience.StatusReady {
		t.Errorf("got %d members and status %s", a.MemberCount(), a.Status)
	}
}

// recordsOverlaps compares lists of known members.
func recordsOverlaps(t *testing.T, w *Fixture) {
	listOf := func(name string, from, to int) ident.ID {
		id := w.Audience(audienceSpec(name, audience.TypeCustomerList))
		w.change(id, audience.MemberChange{Add: hashes(from, to)})
		return id
	}
	this := listOf("This", 0, 400)
	half, few := listOf("Half", 200, 500), listOf("Few", 390, 1190)
	listOf("None", 2000, 2100)
	gone := listOf("Gone", 0, 400)
	_, err := w.Audiences.Archive(t.Context(), w.Cause(), gone, record.Match{})
	w.must(err)
	mine := w.Workspace
	w.Workspace, _, _ = w.AddWorkspace("other@example.com")
	listOf("Foreign", 0, 400)
	w.Workspace = mine
	for range 20 {
		listOf("One", 0, 1)
	}
	in, err := w.Audiences.Insights(t.Context(), w.Workspace, this, audience.InsightsRequest{Timezone: "UTC"})
	w.must(err)
	if len(in.Overlap) != 20 {
		t.Fatalf("got %d overlaps want 20", len(in.Overlap))
	}
	for i, want := range []audience.Overlap{
		{AudienceID: half, Name: "Half", Shared: 200, ShareOfThis: 0.5, Jaccard: 0.4},
		{AudienceID: few, Name: "Few", Shared: 10, ShareOfThis: 0.025, Jaccard: math.Round(10.0/1190*1e4) / 1e4},
	} {
		if in.Overlap[i] != want {
			t.Errorf("got overlap %+v want %+v", in.Overlap[i], want)
		}
	}
}

// recordsFollow checks the usability of audiences and that campaigns are
// refreshed.
func recordsFollow(t *testing.T, w *Fixture) {
	list := w.Audience(audienceSpec("List", audience.TypeCustomerList))
	ready := w.Audience(audienceSpec("Targeting", audience.TypeTargeting))
	usability, err := w.DB.Audiences().Usability(t.Context(), w.Workspace, []ident.ID{list, ready, "aud_none"})
	w.must(err)
	if len(usability) != 2 || usability[list] != (record.Usability{Issue: "audience_too_small"}) || usability[ready] != (record.Usability{}) {
		t.Errorf("got %v", usability)
	}
	spec := w.Draft("For both").Spec
	spec.AudienceIDs = []ident.ID{list, ready}
	d, err := w.Campaigns.CreateSpec(t.Context(), w.Cause(), spec)
	w.must(err)
	var made campaign.Campaign
	w.must(json.Unmarshal(d.JSON, &made))
	issues := func() (codes []string) {
		for _, issue := range w.Load(made.ID).Delivery.Issues {
			if strings.HasPrefix(issue.Code, "audience_") {
				codes = append(codes, issue.Code+" "+string(*issue.ResourceID))
			}
		}
		return codes
	}
	planned := func(id ident.ID) int64 {
		return w.Int(`SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2 AND args = $3`, string(w.Workspace), "campaign.follow", string(id))
	}
	check := func(after string, changed ident.ID, want ...string) {
		t.Helper()
		if n := planned(changed); n != 1 {
			t.Errorf("%s: got %d jobs want 1", after, n)
		}
		w.must(w.Campaigns.Follow(t.Context(), w.Workspace, changed))
		if got := issues(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v want %v", after, got, want)
		}
	}
	small := "audience_too_small " + string(list)
	if got := issues(); !slices.Equal(got, []string{small}) {
		t.Errorf("got %v want %s", got, small)
	}
	w.change(list, audience.MemberChange{Add: hashes(0, 99)})
	if n := planned(list); n != 0 {
		t.Errorf("got %d jobs although nothing is otherwise than before", n)
	}
	w.change(list, audience.MemberChange{Add: hashes(0, 100)})
	check("grown", list)
	_, err = w.Audiences.Archive(t.Context(), w.Cause(), ready, record.Match{})
	w.must(err)
	check("archived", ready, "audience_not_ready "+string(ready))
	_, err = w.Audiences.Restore(t.Context(), w.Cause(), ready, record.Match{})
	w.must(err)
	check("restored", ready)
}
