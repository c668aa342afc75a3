package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// Synced makes a connection that is synced and is not stored yet, with its
// first run.
func (w *Fixture) Synced(name string) (*connection.Connection, *connection.Run) {
	now, minutes := w.Now(), int64(60)
	common := record.Common{WorkspaceID: w.Workspace, Version: 1, CreatedBy: record.System, CreatedAt: now, UpdatedAt: now}
	c := &connection.Connection{
		ID: ident.New(ident.Connection, w.Clock.Now(), rand.Reader), Platform: connection.PlatformSandbox, Name: name, Status: connection.StatusConnected,
		Sync: connection.Sync{State: connection.SyncQueued, IntervalMinutes: &minutes}, Common: common,
	}
	r := &connection.Run{
		ID: ident.New(ident.Sync, w.Clock.Now(), rand.Reader), ConnectionID: c.ID, Trigger: connection.TriggerInitial, Mode: connection.ModeFull,
		Status: connection.RunQueued, Window: connection.Days{StartDate: friday - 89, EndDate: friday}, Attempt: 1, Common: common,
	}
	c.Private = connection.Private{Sealed: "sealed", SealVersion: 1, Queue: []ident.ID{r.ID}}
	return c, r
}

// applied returns a change of a connection together with a run.
func (w *Fixture) applied(c *connection.Connection, r *connection.Run, event string) *connection.Change {
	ch := &connection.Change{Cause: w.Cause(), At: w.Now(), Connection: c, Runs: []connection.RunChange{{Run: r}}}
	if event != "" {
		ch.Runs[0].Events = []record.Event{{Type: event}}
	}
	return ch
}

func (w *Fixture) syncSteps() []Step {
	var id, run ident.ID
	var claimed []job.Job
	tries := 0
	apply := func(ctx context.Context, ch *connection.Change) error {
		tries++
		ch.Cause.Idempotency = &record.Idempotency{Key: fmt.Sprintf("sync-%d", tries), Fingerprint: "f", Status: 202}
		_, err := w.DB.Connections().Apply(ctx, ch)
		return err
	}
	return []Step{
		{"sync.connect", false, func(ctx context.Context) error {
			c, r := w.Synced("Synced")
			id, run = c.ID, r.ID
			ch := w.applied(c, r, "")
			ch.Events = []record.Event{{Type: "connection.created"}, {Type: "connection.connected"}}
			ch.Jobs = []record.Job{w.job(connection.JobSync, id)}
			return apply(ctx, ch)
		}},
		{"sync.forget", false, func(ctx context.Context) error {
			c, err := w.DB.Connections().Load(ctx, w.Workspace, id)
			if err != nil {
				return err
			}
			return apply(ctx, &connection.Change{Cause: w.Cause(), At: w.Now(), Connection: c, Forget: true})
		}},
		{"sync.sealed", false, func(ctx context.Context) error {
			list, err := w.DB.Sealed(ctx)
			if err == nil && !slices.Contains(list, "sealed") {
				err = fmt.Errorf("got sealed %v", list)
			}
			return err
		}},
		{"sync.claim", false, func(ctx context.Context) (err error) {
			claimed, err = w.DB.Jobs().Claim(ctx, w.Now(), w.Now().Add(time.Minute), 5)
			if err == nil && (len(claimed) != 1 || claimed[0].Kind != connection.JobSync || claimed[0].Args != string(id)) {
				err = fmt.Errorf("claimed %v", claimed)
			}
			return err
		}},
		{"sync.begin", false, func(ctx context.Context) error {
			c, err := w.DB.Connections().Load(ctx, w.Workspace, id)
			if err != nil {
				return err
			}
			r, err := w.DB.Runs().Load(ctx, w.Workspace, run)
			if err != nil {
				return err
			}
			c.Sync.State, c.Sync.CurrentRunID, c.Private.Queue = connection.SyncRunning, &run, nil
			c.Touch(w.Now(), 0)
			r.Status, r.Plan = connection.RunRunning, []connection.SyncPart{{Account: "1", Entities: true}}
			r.Touch(w.Now(), 1)
			return apply(ctx, w.applied(c, r, "sync.started"))
		}},
		{"sync.end", false, func(ctx context.Context) error {
			r, err := w.DB.Runs().Load(ctx, w.Workspace, run)
			if err != nil {
				return err
			}
			r.Status = connection.RunSucceeded
			r.Touch(w.Now(), 1)
			ch := w.applied(nil, r, "sync.succeeded")
			ch.AnswerRun, ch.FactsWritten, ch.Push = true, true, true
			ch.Jobs = []record.Job{w.job(record.JobSpend, w.Workspace)}
			return w.withoutSpend(ctx, apply(ctx, ch))
		}},
		{"sync.done", false, func(ctx context.Context) error { return w.DB.Jobs().Done(ctx, claimed[0]) }},
		{"sync.list", false, func(ctx context.Context) error {
			if _, err := w.DB.Runs().Doc(ctx, w.Workspace, run); err != nil {
				return err
			}
			for _, sort := range runSorts {
				q := page.Query{Limit: 1, Sort: sort, After: &page.Position{ID: "syn_0"}, Filters: []page.Filter{{Name: "connection_id", Values: []string{string(id)}}}}
				if _, err := w.DB.Runs().List(ctx, w.Workspace, q); err != nil {
					return err
				}
			}
			return nil
		}},
		{"link.found", false, func(ctx context.Context) error {
			return w.DB.Links().Found(ctx, w.Workspace, id, "1", fact.KindCampaign, []connection.Link{w.link(id, "1", "a"), w.link(id, "1", "b")})
		}},
		{"link.found less", false, func(ctx context.Context) error {
			return w.DB.Links().Found(ctx, w.Workspace, id, "1", fact.KindCampaign, []connection.Link{w.link(id, "1", "a")})
		}},
		{"link.put", false, func(ctx context.Context) error {
			tries++
			cause := w.Cause()
			cause.Idempotency = &record.Idempotency{Key: fmt.Sprintf("link-%d", tries), Fingerprint: "f", Status: 200}
			l := w.link(id, "1", "a")
			linked := ident.ID("cmp_1")
			l.RecordID = &linked
			return w.DB.Links().Put(ctx, id, []connection.Link{l}, []byte(`{}`), record.Save{Cause: cause, At: w.Now()})
		}},
		{"link.pushed", false, func(ctx context.Context) error {
			l, push := w.link(id, "1", "a"), record.PushPending
			linked := ident.ID("cmp_1")
			l.RecordID = &linked
			noted, err := w.DB.Links().Pushed(ctx, w.Workspace, &l, &push, nil)
			if err == nil && !noted {
				err = errors.New("the push was not noted")
			}
			return err
		}},
		{"link.read", false, func(ctx context.Context) error { return w.readLinks(ctx, id) }},
	}
}

// readLinks makes every statement that reads links.
func (w *Fixture) readLinks(ctx context.Context, id ident.ID) error {
	s, yes, no := w.DB.Links(), true, false
	_, all := s.OfConnection(ctx, w.Workspace, id, fact.KindCampaign, nil)
	_, some := s.OfConnection(ctx, w.Workspace, id, fact.KindCampaign, []string{"a", "b"})
	_, its := s.OfRecord(ctx, w.Workspace, "cmp_1")
	err := errors.Join(all, some, its)
	for _, kind := range connection.Kinds {
		_, named := s.Names(ctx, w.Workspace, kind, []string{"a", "b"})
		err = errors.Join(err, named)
	}
	for _, linked := range []*bool{nil, &yes, &no} {
		_, first := s.Page(ctx, w.Workspace, id, nil, linked, "", 1)
		_, more := s.Page(ctx, w.Workspace, id, connection.Kinds, linked, "campaign a", 1)
		err = errors.Join(err, first, more)
	}
	return err
}

// link is a campaign on a platform.
func (w *Fixture) link(id ident.ID, account, external string) connection.Link {
	status := "ENABLED"
	return connection.Link{
		Kind: fact.KindCampaign, ExternalID: external, AccountID: account, Platform: connection.PlatformMetaAds, Name: "Name of " + external, Status: &status,
		SyncedAt: w.Now(), Connection: id, Runs: true,
	}
}

var runSorts = []string{"created_at", "updated_at"}

// listedRun is a run as the naive evaluator has it.
type listedRun struct {
	r   *connection.Run
	doc record.Doc
}

func (l listedRun) document() record.Doc { return l.doc }

func (l listedRun) position(sort string) page.Position {
	at := l.r.CreatedAt
	if sort == "updated_at" {
		at = l.r.UpdatedAt
	}
	return page.Position{ID: string(l.r.ID), Int: int64(at)}
}

func (l listedRun) matches(q page.Query) bool {
	return satisfies(q, string(l.r.Status), &l.r.Common, "", map[string][]string{"connection_id": {string(l.r.ConnectionID)}})
}

// recordsRunLists compares the lists of runs with the naive evaluator.
func recordsRunLists(t *testing.T, w *Fixture) {
	r := mathrand.New(mathrand.NewPCG(6, 1))
	other, _, _ := w.AddWorkspace("other@example.com")
	base, owners := w.Now(), []ident.ID{"con_1", "con_2"}
	var all []listedRun
	for i := range 60 {
		_, run := w.Synced("Listed")
		run.ConnectionID, run.Status = owners[r.IntN(2)], connection.RunStatus(pick(r, connection.RunStatuses))
		run.CreatedAt, run.UpdatedAt = base.Add(time.Duration(r.IntN(6))*time.Hour), base.Add(time.Duration(r.IntN(6))*time.Hour)
		ch := w.applied(nil, run, "")
		if i%4 == 3 {
			run.WorkspaceID, ch.Cause.Workspace = other, other
		}
		ch.AnswerRun = true
		d, err := w.DB.Connections().Apply(t.Context(), ch)
		w.must(err)
		if run.WorkspaceID == w.Workspace {
			all = append(all, listedRun{run, d})
		}
	}
	read := func(q page.Query) (page.Page, error) { return w.DB.Runs().List(t.Context(), w.Workspace, q) }
	for _, sort := range runSorts {
		for _, desc := range []bool{false, true} {
			for _, status := range [][]string{nil, {}, {"failed"}, {"queued", "waiting"}} {
				for _, owner := range owners {
					compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 7, Status: status, Filters: []page.Filter{{Name: "connection_id", Values: []string{string(owner)}}}})
				}
			}
		}
	}
}

// recordsRuns checks that a connection and its runs are written together or not
// at all, and that private parts are read back unchanged.
func recordsRuns(t *testing.T, w *Fixture) {
	c, r := w.Synced("Together")
	ch := w.applied(c, r, "")
	ch.Events, ch.Jobs, ch.AnswerRun = []record.Event{{Type: "connection.created"}}, []record.Job{w.job(connection.JobSync, c.ID)}, true
	ch.Cause.Idempotency = &record.Idempotency{Key: "k", Fingerprint: "f", Status: 202}
	d, err := w.DB.Connections().Apply(t.Context(), ch)
	w.must(err)
	if a, err := w.DB.StoredResponse(t.Context(), w.Workspace, "k"); err != nil || a == nil || a.Resource != r.ID {
		t.Errorf("got remembered answer %+v, %v want that of the run %s", a, err, r.ID)
	}
	w.Count(1, `SELECT count(*) FROM job WHERE kind = $1 AND args = $2`, connection.JobSync, string(c.ID))

	loaded, err := w.DB.Connections().Load(t.Context(), w.Workspace, c.ID)
	w.must(err)
	if diff := cmp.Diff(c.Private, loaded.Private); diff != "" {
		t.Errorf("what is private differs (-want +got):\n%s", diff)
	}
	run, err := w.DB.Runs().Load(t.Context(), w.Workspace, r.ID)
	w.must(err)
	if run.Plan != nil || run.Stored().Stamp != d.Stamp {
		t.Errorf("got plan %v and stamp %v want none and %v", run.Plan, run.Stored().Stamp, d.Stamp)
	}
	run.Plan = []connection.SyncPart{{Account: "1", Family: fact.Base, First: friday - 1, Last: friday, Status: "pending", Error: &connection.RunError{Class: "rate"}}}
	run.Touch(w.Now(), 1)
	_, err = w.DB.Connections().Apply(t.Context(), w.applied(nil, run, "sync.started"))
	w.must(err)
	again, err := w.DB.Runs().Load(t.Context(), w.Workspace, r.ID)
	w.must(err)
	if diff := cmp.Diff(run.Plan, again.Plan); diff != "" {
		t.Errorf("plan differs (-want +got):\n%s", diff)
	}

	// run was loaded before the change above was stored.
	before := State(t, w.Raw)
	loaded.Name = "Another"
	loaded.Touch(w.Now(), 1)
	run.Touch(w.Now(), 1)
	if _, err := w.DB.Connections().Apply(t.Context(), w.applied(loaded, run, "sync.failed")); !errors.Is(err, record.ErrRace) {
		t.Errorf("a run that somebody else has changed: got %v want %v", err, record.ErrRace)
	}
	twin, first := w.Synced("TOGETHER")
	if _, err := w.DB.Connections().Apply(t.Context(), w.applied(twin, first, "")); !errors.Is(err, record.ErrRace) {
		t.Errorf("a name that is taken: got %v want %v", err, record.ErrRace)
	}
	if diff := cmp.Diff(before, State(t, w.Raw)); diff != "" {
		t.Errorf("a lost race left something behind:\n%s", diff)
	}
	if _, err := w.DB.Runs().Load(t.Context(), "wsp_other", r.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a run of another workspace: got %v want not_found", err)
	}
}

// recordsRunsGo checks that runs are deleted after their retention unless they
// have not ended.
func recordsRunsGo(t *testing.T, w *Fixture) {
	for _, status := range connection.RunStatuses {
		_, r := w.Synced(status)
		r.Status = connection.RunStatus(status)
		_, err := w.DB.Connections().Apply(t.Context(), w.applied(nil, r, ""))
		w.must(err)
	}
	count := func(want int64) {
		t.Helper()
		_, err := w.DB.Prune(t.Context())
		w.must(err)
		w.Count(want, `SELECT count(*) FROM sync_run`)
	}
	w.Clock.Advance(store.RunRetention*time.Microsecond - time.Millisecond)
	count(7)
	w.Clock.Advance(time.Millisecond)
	count(3)
	w.Count(3, `SELECT count(*) FROM sync_run WHERE status IN ('queued', 'running', 'waiting')`)
}

// recordsLinks stores the entities of a platform several times.
func recordsLinks(t *testing.T, w *Fixture) {
	s, id := w.DB.Links(), ident.ID("con_1")
	found := func(account string, list ...connection.Link) {
		t.Helper()
		w.must(s.Found(t.Context(), w.Workspace, id, account, fact.KindCampaign, list))
	}
	externals := func(list []connection.Link, err error) (names []string) {
		t.Helper()
		w.must(err)
		for _, l := range list {
			names = append(names, l.ExternalID)
		}
		return names
	}
	wants := func(what string, want, got []string) {
		t.Helper()
		if !slices.Equal(want, got) {
			t.Errorf("%s: got %v want %v", what, got, want)
		}
	}
	all := func() []string {
		t.Helper()
		return externals(s.OfConnection(t.Context(), w.Workspace, id, fact.KindCampaign, nil))
	}
	found("1", w.link(id, "1", "b"), w.link(id, "1", "a"), w.link(id, "1", "c"))
	found("2", w.link(id, "2", "d"))
	wants("at first", []string{"a", "b", "c", "d"}, all())

	a := w.link(id, "1", "a")
	linked, pause, push := ident.ID("cmp_1"), false, record.PushApplied
	a.RecordID, a.Wanted, a.Push, a.Runs = &linked, &pause, &push, false
	w.must(s.Put(t.Context(), id, []connection.Link{a}, nil, w.Save()))
	c := w.link(id, "1", "c")
	c.RecordID = &linked
	w.must(s.Put(t.Context(), id, []connection.Link{c}, nil, w.Save()))
	w.Clock.Advance(time.Hour)
	look := w.link(id, "1", "a")
	look.Name = "Renamed"
	found("1", look)
	wants("what is linked or another account's stays", []string{"a", "c", "d"}, all())

	got, err := s.OfRecord(t.Context(), w.Workspace, linked)
	w.must(err)
	drifted := record.PushDrifted
	look.RecordID, look.Wanted, look.Push = &linked, &pause, &drifted
	if diff := cmp.Diff([]connection.Link{look, c}, got, cmpopts.IgnoreFields(connection.Link{}, "Sum")); diff != "" {
		t.Errorf("links differ (-want +got):\n%s", diff)
	}
	yes, no := true, false
	wants("linked", []string{"a", "c"}, externals(s.Page(t.Context(), w.Workspace, id, nil, &yes, "", 9)))
	wants("not linked", []string{"d"}, externals(s.Page(t.Context(), w.Workspace, id, connection.Kinds, &no, "", 9)))
	wants("after one", []string{"c"}, externals(s.Page(t.Context(), w.Workspace, id, []string{fact.KindCampaign}, nil, "campaign a", 1)))
	wants("another kind", nil, externals(s.Page(t.Context(), w.Workspace, id, []string{fact.KindAudience}, nil, "", 9)))
	wants("by their ids", []string{"a"}, externals(s.OfConnection(t.Context(), w.Workspace, id, fact.KindCampaign, []string{"a", "none"})))
	wants("another workspace", nil, externals(s.OfConnection(t.Context(), "wsp_other", id, fact.KindCampaign, nil)))
	wants("another connection", nil, externals(s.Page(t.Context(), w.Workspace, "con_2", nil, nil, "", 9)))
}

// recordsLinkNames finds records by the names that platforms have for theirs.
func recordsLinkNames(t *testing.T, w *Fixture) {
	one, two, twin, gone := w.Draft("Brand SEARCH"), w.Draft("Twins"), w.Draft("twins"), w.Draft("Gone")
	for _, c := range []*ident.ID{&one.ID, &two.ID, &twin.ID, &gone.ID} {
		w.Clock.Advance(time.Millisecond)
		*c = ident.New(ident.Campaign, w.Clock.Now(), rand.Reader)
	}
	gone.Status = "archived"
	w.Insert(one)
	w.Insert(two)
	w.Insert(twin)
	w.Insert(gone)
	names := make([]string, 0, 1000)
	for i := range 997 {
		names = append(names, fmt.Sprint("name ", i))
	}
	names = append(names, "brand search", "twins", "gone")
	got, err := w.DB.Links().Names(t.Context(), w.Workspace, fact.KindCampaign, names)
	w.must(err)
	if diff := cmp.Diff(map[string][]ident.ID{"brand search": {one.ID}, "twins": {two.ID, twin.ID}}, got); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
	if got, err := w.DB.Links().Names(t.Context(), "wsp_other", fact.KindCampaign, names); err != nil || len(got) != 0 {
		t.Errorf("another workspace: got %v, %v want nothing", got, err)
	}
}

// recordsLinkRaces links entities, requests their pause and stores its result
// while a sync stores what it found. None of them undoes what another wrote.
func recordsLinkRaces(t *testing.T, w *Fixture) {
	s, id := w.DB.Links(), ident.ID("con_1")
	c := w.Draft("Linked")
	w.Insert(c)
	sync := func(more int) {
		list := []connection.Link{w.link(id, "1", "a")}
		for i := range more {
			list = append(list, w.link(id, "1", fmt.Sprint("b", i)))
		}
		if err := s.Found(t.Context(), w.Workspace, id, "1", fact.KindCampaign, list); err != nil {
			t.Error(err)
		}
	}
	read := func() connection.Link {
		list, err := s.OfConnection(t.Context(), w.Workspace, id, fact.KindCampaign, []string{"a"})
		if err != nil || len(list) != 1 {
			t.Fatalf("got %v %v", list, err)
		}
		return list[0]
	}
	// link changes the link as it was read, again after every change by others.
	link := func(change func(l *connection.Link)) {
		_, err := record.Retry(t.Context(), func() (record.Doc, error) {
			l := read()
			change(&l)
			return record.Doc{}, s.Put(t.Context(), id, []connection.Link{l}, []byte(`{}`), record.Save{Cause: w.Cause(), At: w.Now()})
		})
		if err != nil {
			t.Error(err)
		}
	}
	sync(0)
	for i := range 20 {
		together(3, func(n int) {
			switch n {
			case 0:
				sync(20)
			case 1:
				link(func(l *connection.Link) { l.RecordID = &c.ID })
			default:
				link(func(l *connection.Link) { l.Channel = new(fmt.Sprint(i)) })
			}
		})
		if l := read(); l.RecordID == nil || *l.RecordID != c.ID {
			t.Fatalf("round %d: got the link %+v want it linked", i, l)
		}
		run := false
		link(func(l *connection.Link) { l.Wanted, l.Push = &run, new(record.PushPending) })
		l := read()
		together(2, func(n int) {
			if n == 0 {
				sync(20)
				return
			}
			if _, err := s.Pushed(t.Context(), w.Workspace, &l, new(record.PushApplied), nil); err != nil {
				t.Error(err)
			}
		})
		if l := read(); l.Wanted == nil || *l.Wanted || l.Push == nil || *l.Push == record.PushPending {
			t.Fatalf("round %d: got the link %+v want the pause and its result", i, l)
		}
		link(func(l *connection.Link) { l.RecordID, l.Wanted, l.Push = nil, nil, nil })
	}
}
