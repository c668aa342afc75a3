package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Connections is the service over the fixture's store.
func (w *Fixture) Connections() *connection.Service {
	return connection.New(connection.Parts{Store: w.DB.Connections(), Now: w.Clock.Now, Random: rand.Reader})
}

// source is an account of the caller's own.
func source(name, account string) connection.Source {
	return connection.Source{Platform: connection.PlatformAPI, Name: name, Account: account, Currency: "EUR", Zone: "Europe/Berlin"}
}

func (w *Fixture) connectionSteps() []Step {
	s, jobs, tries := w.Connections(), w.DB.Jobs(), 0
	var feed connection.KnownSource
	var claimed []job.Job
	find := func(name string, src connection.Source) Step {
		return Step{"connection." + name, false, func(ctx context.Context) (err error) {
			cause := w.Cause()
			cause.Idempotency = &record.Idempotency{Key: "connection", Fingerprint: "f", Status: 200}
			feed, err = s.Source(ctx, cause, src)
			return err
		}}
	}
	done := func(i int) Step {
		return Step{"connection.spent", false, func(ctx context.Context) error { return jobs.Done(ctx, claimed[i]) }}
	}
	return []Step{
		find("create", source("Shop", "default")),
		find("find", source("shop", "default")),
		find("add account", source("Shop", "second")),
		{"connection.begin", false, func(ctx context.Context) error { return s.Begin(ctx, w.Workspace, feed.Connection) }},
		{"connection.fed", false, func(ctx context.Context) error {
			tries++
			cause := w.Cause()
			cause.Idempotency = &record.Idempotency{Key: fmt.Sprintf("connection-%d", tries), Fingerprint: "f", Status: 200}
			return s.RecordFeed(ctx, cause, feed.Connection, connection.FeedResult{First: 20_000, Last: 20_010, Rows: 3, Answer: []byte(`{}`)})
		}},
		{"connection.claim", false, func(ctx context.Context) (err error) {
			claimed, err = jobs.Claim(ctx, w.Now().Add(11*time.Minute), w.Now().Add(12*time.Minute), 5)
			if err == nil && (len(claimed) != 2 || claimed[0].Kind != record.JobSpend || claimed[1].Kind != record.JobSpend) {
				err = fmt.Errorf("claimed %v", claimed)
			}
			return err
		}},
		done(0), done(1),
		{"connection.disconnect", false, func(ctx context.Context) error {
			c, err := w.DB.Connections().Load(ctx, w.Workspace, feed.Connection)
			if err != nil {
				return err
			}
			return w.disconnect(ctx, c)
		}},
		{"connection.claim follow", false, func(ctx context.Context) (err error) {
			claimed, err = jobs.Claim(ctx, w.Now(), w.Now().Add(time.Minute), 5)
			if err == nil && (len(claimed) != 1 || claimed[0].Kind != record.JobRefresh || claimed[0].Args != string(feed.Connection)) {
				err = fmt.Errorf("claimed %v", claimed)
			}
			return err
		}},
		done(0),
		{"connection.usability", false, func(ctx context.Context) error {
			_, err := w.DB.Connections().Usability(ctx, w.Workspace, []ident.ID{feed.Connection, "con_1"})
			return err
		}},
		{"connection.grants", false, func(ctx context.Context) error {
			c, err := w.DB.Connections().Load(ctx, w.Workspace, feed.Connection)
			if err == nil {
				err = w.useGrants(ctx, c, []string{"hash of " + string(feed.Connection)})
			}
			if err != nil {
				return err
			}
			_, err = w.DB.Connections().GrantUsers(ctx, []string{"one", "two"}, feed.Connection)
			return err
		}},
		{"connection.list", false, w.listConnections},
	}
}

// useGrants stores the grants that a connection uses.
func (w *Fixture) useGrants(ctx context.Context, c *connection.Connection, hashes []string) error {
	c.Touch(w.Now(), 0)
	cause := w.Cause()
	cause.Workspace = c.WorkspaceID
	_, err := w.DB.Connections().Apply(ctx, &connection.Change{Cause: cause, At: w.Now(), Connection: c, Grants: hashes})
	return err
}

// recordsGrants counts the connections that use a grant, of all workspaces.
func recordsGrants(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	s := w.Connections()
	var list []*connection.Connection
	for _, workspace := range []ident.ID{w.Workspace, w.Workspace, other} {
		cause := w.Cause()
		cause.Workspace = workspace
		feed, err := s.Source(t.Context(), cause, source(fmt.Sprintf("Shop %d", len(list)), "default"))
		w.must(err)
		c, err := w.DB.Connections().Load(t.Context(), workspace, feed.Connection)
		w.must(err)
		list = append(list, c)
	}
	use := func(i int, hashes ...string) {
		t.Helper()
		c, err := w.DB.Connections().Load(t.Context(), list[i].WorkspaceID, list[i].ID)
		w.must(err)
		w.must(w.useGrants(t.Context(), c, hashes))
	}
	users := func(want int64, except int, hashes ...string) {
		t.Helper()
		n, err := w.DB.Connections().GrantUsers(t.Context(), hashes, list[except].ID)
		if err != nil || n != want {
			t.Errorf("%v without connection %d: got %d users (%v) want %d", hashes, except, n, err, want)
		}
	}
	users(0, 0, "a")
	use(0, "a", "b")
	use(1, "b")
	use(2, "a")
	users(1, 0, "a")
	users(2, 0, "a", "b")
	users(1, 2, "a")
	users(0, 0, "c")
	users(0, 0)
	use(2) // nil changes nothing
	users(1, 0, "a")
	use(2, []string{}...)
	use(0, "b")
	users(2, 2, "b", "a")
	users(0, 0, "a")
}

// disconnect ends a connection.
func (w *Fixture) disconnect(ctx context.Context, c *connection.Connection) error {
	now := w.Now()
	c.Status, c.ArchivedAt = connection.StatusDisconnected, &now
	c.Touch(now, 1)
	save := w.Save("connection.disconnected")
	save.Jobs = []record.Job{w.job(record.JobRefresh, c.ID)}
	_, err := w.DB.Connections().Save(ctx, c, save)
	return err
}

func connectionFilters() map[string][]string {
	return map[string][]string{"platform": {"api", "csv", "none"}, "q": listQuestions}
}

var connectionSorts = []string{"created_at", "updated_at", "platform", "sync.last_success_at"}

// listConnections makes every statement that a list can be.
func (w *Fixture) listConnections(ctx context.Context) error {
	for _, sort := range connectionSorts {
		for name, values := range connectionFilters() {
			for _, after := range []*page.Position{nil, {ID: "con_0"}, {Null: true, ID: "con_0"}} {
				q := page.Query{Limit: 1, Sort: sort, After: after, Filters: []page.Filter{{Name: name, Values: values[:1]}}}
				if _, err := w.DB.Connections().List(ctx, w.Workspace, q); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// listedConnection is a connection as the naive evaluator has it.
type listedConnection struct {
	c   *connection.Connection
	doc record.Doc
}

func (l listedConnection) document() record.Doc { return l.doc }

func (l listedConnection) position(sort string) page.Position {
	place := page.Position{ID: string(l.c.ID)}
	switch sort {
	case "created_at":
		place.Int = int64(l.c.CreatedAt)
	case "updated_at":
		place.Int = int64(l.c.UpdatedAt)
	case "platform":
		place.Text = l.c.Platform
	case "sync.last_success_at":
		if place.Null = l.c.Sync.LastSuccessAt == nil; !place.Null {
			place.Int = int64(*l.c.Sync.LastSuccessAt)
		}
	}
	return place
}

func (l listedConnection) matches(q page.Query) bool {
	if q.Status == nil && l.c.Status == connection.StatusDisconnected {
		return false
	}
	return satisfies(q, string(l.c.Status), &l.c.Common, l.c.Name, map[string][]string{"platform": {l.c.Platform}})
}

// recordsConnectionLists compares every list with the naive evaluator.
func recordsConnectionLists(t *testing.T, w *Fixture) {
	r := mathrand.New(mathrand.NewPCG(5, 1))
	other, _, _ := w.AddWorkspace("other@example.com")
	base := w.Now()
	var all []listedConnection
	for i := range 80 {
		w.Clock.Advance(time.Millisecond)
		c := &connection.Connection{
			ID: ident.New(ident.Connection, w.Clock.Now(), rand.Reader), Status: connection.Status(pick(r, connection.Statuses)),
			Platform: pick(r, connection.Platforms), Name: fmt.Sprintf("%s %d", pick(r, listNames), i),
			Common: record.Common{WorkspaceID: w.Workspace, Version: 1, CreatedBy: record.System},
		}
		c.CreatedAt, c.UpdatedAt = base.Add(time.Duration(r.IntN(6))*time.Hour), base.Add(time.Duration(r.IntN(6))*time.Hour)
		if r.IntN(2) == 0 {
			at := base.Add(time.Duration(r.IntN(4)) * time.Hour)
			c.Sync.LastSuccessAt = &at
		}
		save := w.Save("connection.created")
		if i%4 == 3 {
			c.WorkspaceID, save.Cause.Workspace = other, other
		}
		d, err := w.DB.Connections().Save(t.Context(), c, save)
		w.must(err)
		if c.WorkspaceID == w.Workspace {
			all = append(all, listedConnection{c, d})
		}
	}
	read := func(q page.Query) (page.Page, error) { return w.DB.Connections().List(t.Context(), w.Workspace, q) }
	for _, sort := range connectionSorts {
		for _, desc := range []bool{false, true} {
			for _, status := range [][]string{nil, {}, {"connected"}, {"pending", "error"}, {"disconnected"}} {
				compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 7, Status: status})
			}
			for name, values := range connectionFilters() {
				for i := range values {
					compare(t, read, all, page.Query{Sort: sort, Desc: desc, Limit: 9, Filters: []page.Filter{{Name: name, Values: values[i : i+1]}}})
				}
			}
		}
	}
}

// recordsSourceRace lets many callers send facts of the same new source at once,
// from different accounts.
func recordsSourceRace(t *testing.T, w *Fixture) {
	s := w.Connections()
	const callers = 24
	var feeds [callers]connection.KnownSource
	together(callers, func(i int) {
		var err error
		name := []string{"Web shop", "WEB SHOP", "web shop"}[i%3]
		if feeds[i], err = s.Source(t.Context(), w.Cause(), source(name, fmt.Sprint("account ", i%4))); err != nil {
			t.Error(err)
			return
		}
		day := clock.Date(20_000 + i)
		if err := s.RecordFeed(t.Context(), w.Cause(), feeds[i].Connection, connection.FeedResult{First: day, Last: day, Rows: 1}); err != nil {
			t.Error(err)
		}
	})
	for i, f := range feeds {
		want := fact.Source{Connection: feeds[0].Connection, Platform: "api", Account: fmt.Sprint("account ", i%4), Currency: "EUR", Zone: "Europe/Berlin"}
		if f.Source != want {
			t.Errorf("caller %d: got %+v want %+v", i, f.Source, want)
		}
	}
	w.Count(1, `SELECT count(*) FROM connection WHERE workspace_id = $1`, string(w.Workspace))
	w.Count(1, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = $2`, string(w.Workspace), "connection.created")
	w.Count(3, `SELECT count(*) FROM event WHERE workspace_id = $1 AND type = $2`, string(w.Workspace), "connection.updated")
	w.Count(1, `SELECT count(*) FROM job WHERE workspace_id = $1 AND kind = $2`, string(w.Workspace), record.JobSpend)
	c, err := w.DB.Connections().Load(t.Context(), w.Workspace, feeds[0].Connection)
	w.must(err)
	if len(c.Accounts) != 4 || c.Version != 4 || *c.Sync.BackfilledSince != 20_000 || *c.Sync.DataThrough != 20_000+callers-1 {
		t.Errorf("got %d accounts, version %d, days %s to %s", len(c.Accounts), c.Version, c.Sync.BackfilledSince, c.Sync.DataThrough)
	}
}

// recordsNames checks that a name is free again after its connection ended, and
// that it is unique only per workspace and platform.
func recordsNames(t *testing.T, w *Fixture) {
	s := w.Connections()
	find := func(cause record.Cause, src connection.Source) ident.ID {
		t.Helper()
		f, err := s.Source(t.Context(), cause, src)
		w.must(err)
		return f.Connection
	}
	first := find(w.Cause(), source("Shop", "a"))
	files := source("Shop", "a")
	files.Platform = connection.PlatformCSV
	foreign := w.Cause()
	foreign.Workspace, _, _ = w.AddWorkspace("other@example.com")
	ids := map[ident.ID]bool{first: true, find(w.Cause(), files): true, find(foreign, source("Shop", "a")): true}
	if len(ids) != 3 {
		t.Errorf("got %d connections want 3", len(ids))
	}
	c, err := w.DB.Connections().Load(t.Context(), w.Workspace, first)
	w.must(err)
	w.must(w.disconnect(t.Context(), c))
	if second := find(w.Cause(), source("shop", "a")); ids[second] {
		t.Errorf("got %s, which is disconnected or another's", second)
	}
	usability, err := w.DB.Connections().Usability(t.Context(), w.Workspace, []ident.ID{first, "con_none", find(foreign, source("Shop", "a"))})
	w.must(err)
	if diff := cmp.Diff(map[ident.ID]record.Usability{first: {Archived: true, Issue: "no_connection", OwnData: true}}, usability); diff != "" {
		t.Errorf("usability differ (-want +got):\n%s", diff)
	}
	copied := *c
	copied.ID, copied.Status, copied.Common = "con_copy", connection.StatusConnected, record.Common{WorkspaceID: w.Workspace, Version: 1}
	copied.Name = strings.ToUpper(c.Name)
	if _, err := w.DB.Connections().Save(t.Context(), &copied, w.Save("connection.created")); !errors.Is(err, record.ErrRace) {
		t.Errorf("a name that is taken: got %v want %v", err, record.ErrRace)
	}
	if _, err := w.DB.Connections().Named(t.Context(), w.Workspace, "csv", "other"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a name that nobody has: got %v want not_found", err)
	}
}
