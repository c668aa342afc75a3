package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/campaign"
	"fanfare/internal/connection"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/job"
	"fanfare/internal/page"
	"fanfare/internal/ratelimit"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// Step is one use of the store, as the services and the background work make
// it.
type Step struct {
	Name string
	// several says that it is more than one transaction.
	several bool
	Run     func(ctx context.Context) error
}

// Steps are all uses of the store, in an order in which they work. Each may be
// tried again after a failure.
func (w *Fixture) Steps() []Step {
	list := slices.Concat(w.accountSteps(), w.signInSteps(), w.campaignSteps(), w.audienceSteps(), w.assetSteps(), w.creativeSteps(), w.providerSteps(), w.brandKitSteps(), w.connectionSteps(), w.syncSteps(), w.factSteps(), w.searchSteps(), w.reportSteps())
	return append(list, w.systemSteps()...)
}

func (w *Fixture) accountSteps() []Step {
	acc, creds := w.Accounts, w.DB.Accounts()
	var key account.Key
	var secret string
	return []Step{
		{"workspace.create", false, func(ctx context.Context) error {
			_, err := acc.CreateWorkspace(ctx, Operator, account.NewWorkspace{
				MostOwned: 1000,
				Name:      "Second", Plan: "starter", Owner: "owner@example.com", Currency: "USD", Timezone: "UTC",
			})
			return err
		}},
		{"workspace.set-plan", false, func(ctx context.Context) error {
			_, err := acc.SetPlan(ctx, Operator, w.Workspace, "enterprise")
			return err
		}},
		{"workspace.suspend", true, func(ctx context.Context) error {
			_, err := acc.Suspend(ctx, Operator, w.Workspace, true)
			if err == nil {
				_, err = acc.Suspend(ctx, Operator, w.Workspace, false)
			}
			return err
		}},
		{"user.create", false, func(ctx context.Context) error {
			_, err := acc.AddMember(ctx, Operator, w.Workspace, "editor@example.com", "editor", false)
			return err
		}},
		{"user.set-role", false, func(ctx context.Context) error {
			_, err := acc.SetRole(ctx, Operator, w.Workspace, "editor@example.com", "admin")
			return err
		}},
		{"key.create", false, func(ctx context.Context) (err error) {
			secret, key, err = acc.CreateKey(ctx, Operator, w.Workspace, "editor@example.com", account.KeyOptions{
				Name: "Key", Lifetime: 24 * time.Hour, Scopes: account.Scopes{"campaigns": "read"}, Addresses: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")},
			})
			return err
		}},
		{"key.use", false, func(ctx context.Context) error {
			return creds.AddUses(ctx, []account.Use{{
				WorkspaceID: w.Workspace, KeyID: key.ID, Day: w.Clock.Now().Unix() / 86400, Count: 3, At: w.Now(), Address: netip.MustParseAddr("203.0.113.7"), Agent: "test",
			}})
		}},
		{"caller", false, func(ctx context.Context) error {
			c, err := creds.Caller(ctx, account.HashSecret(secret))
			if err == nil && (c == nil || c.Key.ID != key.ID || c.Role != account.Admin || c.Workspace.ID != w.Workspace) {
				err = fmt.Errorf("got caller %+v", c)
			}
			return err
		}},
		{"live keys", false, func(ctx context.Context) error { _, err := creds.Live(ctx); return err }},
		{"key.rotate", false, func(ctx context.Context) error {
			_, _, err := acc.Rotate(ctx, Operator, w.Workspace, key.ID, time.Hour)
			return err
		}},
		{"key.revoke", false, func(ctx context.Context) error {
			_, err := acc.Revoke(ctx, Operator, w.Workspace, key.ID, "by_operator")
			return err
		}},
		{"key.list", false, func(ctx context.Context) error { _, err := acc.Keys(ctx, w.Workspace); return err }},
		{"user.remove", false, func(ctx context.Context) error {
			_, err := acc.Remove(ctx, Operator, w.Workspace, "editor@example.com")
			return err
		}},
		{"user.list", false, func(ctx context.Context) error { _, err := acc.Members(ctx, w.Workspace); return err }},
	}
}

func (w *Fixture) campaignSteps() []Step {
	s, tries := w.Campaigns, 0
	var c *campaign.Campaign
	var id, second ident.ID
	act := func(name string, f func(ctx context.Context, cause record.Cause) error) Step {
		return Step{name, false, func(ctx context.Context) error {
			tries++
			cause := w.Cause()
			cause.Idempotency = &record.Idempotency{Key: fmt.Sprintf("%s-%d", name, tries), Fingerprint: "f", Status: 200}
			return f(ctx, cause)
		}}
	}
	move := func(a campaign.Action) Step {
		return act(string(a), func(ctx context.Context, cause record.Cause) error {
			_, err := s.Transition(ctx, cause, id, record.Match{}, a)
			return err
		})
	}
	start := w.Now().Add(time.Hour)
	return []Step{
		act("insert with refs and job", func(ctx context.Context, cause record.Cause) error {
			c = w.Draft("Summer")
			c.Tags, c.Channels, c.AudienceIDs, c.CreativeIDs = []string{"a", "b"}, []string{"social"}, []ident.ID{"aud_1"}, []ident.ID{"crv_1"}
			c.Schedule.StartAt = &start
			id = c.ID
			_, err := w.DB.Campaigns().Save(ctx, c, record.Save{Cause: cause, At: w.Now(), Events: []record.Event{{Type: "campaign.created"}}, Jobs: []record.Job{{Kind: campaign.JobSettle, Workspace: w.Workspace, ID: c.ID, At: start}}})
			return err
		}),
		act("patch", func(ctx context.Context, cause record.Cause) error {
			_, err := s.Update(ctx, cause, id, record.Match{}, Sent(w.T, map[string]any{"name": "Summer sale", "tags": []string{"b", "c"}}), campaign.Defaults{})
			return err
		}),
		act("patch without change", func(ctx context.Context, cause record.Cause) error {
			_, err := s.Update(ctx, cause, id, record.Match{}, Sent(w.T, w.Load(id).Spec), campaign.Defaults{})
			return err
		}),
		act("duplicate", func(ctx context.Context, cause record.Cause) error {
			d, err := s.Duplicate(ctx, cause, id, record.Match{}, Sent(w.T, "{}"))
			if err == nil && docName(w.T, d) != "Summer sale (copy)" {
				err = fmt.Errorf("got copy %s", d.JSON)
			}
			return err
		}),
		move(campaign.Launch), move(campaign.Pause), move(campaign.Resume),
		{"settle", false, func(ctx context.Context) error {
			w.Clock.Advance(2 * time.Hour)
			defer w.Clock.Advance(-2 * time.Hour)
			_, err := s.Settle(ctx, w.Workspace, id)
			return err
		}},
		{"spent", false, func(ctx context.Context) error {
			s := campaign.New(w.DB.Campaigns(), nil, fakeSpending{id}, w.Clock.Now, rand.Reader)
			return s.UpdateSpend(ctx, w.Workspace)
		}},
		act("archive", func(ctx context.Context, cause record.Cause) error {
			_, err := s.Archive(ctx, cause, id, record.Match{})
			return err
		}),
		act("restore", func(ctx context.Context, cause record.Cause) error {
			_, err := s.Restore(ctx, cause, id, record.Match{})
			return err
		}),
		act("large", func(ctx context.Context, cause record.Cause) error {
			d := w.Draft("Large")
			text := strings.Repeat("long ", 5_000)
			d.Description, second = &text, d.ID
			_, err := w.DB.Campaigns().Save(ctx, d, record.Save{Cause: cause, At: w.Now(), Events: []record.Event{{Type: "campaign.created"}}, Enable: new(false)})
			return err
		}),
		{"read", false, func(ctx context.Context) error {
			_, err := w.DB.Campaigns().Doc(ctx, w.Workspace, second)
			return err
		}},
		{"answer", false, func(ctx context.Context) error {
			a, err := w.DB.StoredResponse(ctx, w.Workspace, fmt.Sprintf("large-%d", tries))
			if err == nil && (a == nil || a.Resource != second) {
				err = fmt.Errorf("got answer %v", a)
			}
			return err
		}},
		{"list", false, w.listEverything},
	}
}

// listEverything makes every statement that a list can be.
func (w *Fixture) listEverything(ctx context.Context) error {
	from, until := w.Now().Add(-time.Hour), w.Now().Add(time.Hour)
	filters := []page.Filter{{}}
	for name, values := range listFilters() {
		filters = append(filters, page.Filter{Name: name, Values: values[:1]}, page.Filter{Name: name, Values: values[:min(2, len(values))]})
	}
	for _, sort := range listSorts {
		for _, f := range filters {
			for _, after := range []*page.Position{nil, {ID: "cmp_0"}, {Null: true, ID: "cmp_0"}} {
				for _, desc := range []bool{false, true} {
					q := page.Query{Limit: 1, Sort: sort, Desc: desc, From: &from, Until: &until, After: after}
					switch f.Name {
					case "":
						q.From, q.Until = nil, nil
					case "q":
						q.Status, q.Filters = []string{}, []page.Filter{{Name: "q", Values: f.Values[:1]}}
					default:
						q.Status, q.Filters = []string{"draft", "active"}, []page.Filter{f}
					}
					if _, err := w.DB.Campaigns().List(ctx, w.Workspace, q); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, f := range [][]page.Filter{nil, {{Name: "type", Values: []string{"campaign.created"}}}, {{Name: "resource_id", Values: []string{"cmp_0"}}}, {{Name: "open"}}} {
		p, err := w.DB.Events().List(ctx, w.Workspace, page.Query{Limit: 1, Sort: "created_at", Desc: true, Filters: f, From: &from})
		if err != nil {
			return err
		}
		if p.Next != nil {
			if _, err := w.DB.Events().Doc(ctx, w.Workspace, ident.ID(p.Next.ID), f == nil); err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
	}
	return nil
}

func (w *Fixture) systemSteps() []Step {
	jobs, quotas, limits := w.DB.Jobs(), w.DB.Quotas(), ratelimit.Limits{PerMinute: 10, PerDay: 100}
	var claimed []job.Job
	claim := func(ctx context.Context) (err error) {
		claimed, err = jobs.Claim(ctx, w.Now(), w.Now().Add(time.Minute), 5)
		if err == nil && len(claimed) != 1 {
			err = fmt.Errorf("claimed %d jobs", len(claimed))
		}
		return err
	}
	return []Step{
		{"job.ensure", false, func(ctx context.Context) error { return jobs.Ensure(ctx, "prune", w.Now()) }},
		{"job.due", false, func(ctx context.Context) error { _, _, err := jobs.Due(ctx); return err }},
		{"job.claim", false, claim},
		{"job.again", false, func(ctx context.Context) error { return jobs.Again(ctx, claimed[0], w.Now(), "") }},
		{"job.claim again", false, claim},
		{"job.fails", false, func(ctx context.Context) error { return jobs.Again(ctx, claimed[0], w.Now(), "broken") }},
		{"job.extend", false, func(ctx context.Context) error {
			_, err := jobs.Extend(ctx, claimed[0], w.Now().Add(time.Minute))
			return err
		}},
		{"job.release", false, func(ctx context.Context) error { return jobs.Release(ctx, w.Now()) }},
		{"job.claim at last", false, claim},
		{"job.done", false, func(ctx context.Context) error { return jobs.Done(ctx, claimed[0]) }},
		{"quota.take", false, func(ctx context.Context) error {
			_, err := quotas.Take(ctx, w.Workspace, limits, w.Clock.Now())
			return err
		}},
		{"quota.refund", false, func(ctx context.Context) error {
			return quotas.Refund(ctx, w.Workspace, ratelimit.Ticket{Opened: w.Clock.Now(), DayOf: w.Clock.Now().Unix() / 86400}, w.Clock.Now())
		}},
		{"quota.look", false, func(ctx context.Context) error {
			_, err := quotas.Peek(ctx, w.Workspace, limits, w.Clock.Now())
			return err
		}},
		{"quota.save", false, func(ctx context.Context) error {
			return quotas.SaveUsage(ctx, map[ident.ID]ratelimit.Usage{w.Workspace: {Minute: 1, Day: 2}})
		}},
		{"quota.load", false, func(ctx context.Context) error { _, err := quotas.LoadUsage(ctx); return err }},
		{"budget.reserve", false, func(ctx context.Context) error {
			_, _, err := w.DB.CallBudgets().Reserve(ctx, string(w.Workspace), w.Clock.Now(), time.Second)
			return err
		}},
		{"budget.hold", false, func(ctx context.Context) error {
			return w.DB.CallBudgets().Hold(ctx, string(w.Workspace), connection.Holds{NotBefore: w.Clock.Now().Add(time.Minute)})
		}},
		{"budget.holds", false, func(ctx context.Context) error {
			h, err := w.DB.CallBudgets().Holds(ctx, string(w.Workspace))
			if err == nil && !h.NotBefore.Equal(w.Clock.Now().Add(time.Minute)) {
				err = fmt.Errorf("got the holds %v", h)
			}
			// A backup does not have the budgets.
			return errors.Join(err, w.Raw.Write(store.Across(ctx), func(tx store.Tx) error {
				_, err := tx.Exec(`DELETE FROM call_budget`)
				return err
			}))
		}},
		{"daily", false, func(ctx context.Context) error {
			return w.DB.EmitDaily(ctx, w.Workspace, "quota.warning", map[string]any{"used": 80})
		}},
		{"cursor keys", false, func(ctx context.Context) error { _, err := w.DB.CursorKeys(ctx); return err }},
		{"ready", false, w.DB.Ready},
		{"mark of facts", true, func(ctx context.Context) error {
			_, err := w.DB.HasSynced(ctx)
			err = errors.Join(err, w.DB.SetFactsMark(ctx, store.FactsMark{ID: "fct_1"}), w.DB.ChangeFactsMark(ctx, store.FactsMark{ID: "fct_1"}, store.FactsMark{ID: "fct_1"}), w.DB.RaiseFactsMark(ctx, store.FactsMark{ID: "fct_1", Generation: w.generation()}))
			// A backup does not have the mark.
			return errors.Join(err, w.Raw.Write(store.Across(ctx), func(tx store.Tx) error {
				_, err := tx.Exec(`DELETE FROM setting WHERE name = $1`, "facts")
				return err
			}))
		}},
		{"witness", false, func(ctx context.Context) error {
			_, err := store.New(w.Engine, 0, w.Clock.Now, rand.Reader).CountChanges(ctx, filepath.Join(w.T.TempDir(), "witness"))
			_, lost := w.DB.MissingChanges(ctx)
			// A backup does not have the mark of the file.
			return errors.Join(err, lost, w.Raw.Write(store.Across(ctx), func(tx store.Tx) error {
				_, err := tx.Exec(`DELETE FROM setting WHERE name = $1`, "counted_changes")
				return err
			}))
		}},
		{"skew", false, func(ctx context.Context) error { _, err := w.DB.Skew(ctx); return err }},
		{"audit.verify", false, func(ctx context.Context) error {
			r, err := w.DB.VerifyAudit(ctx, func(int64) {})
			if err == nil && len(r.Faults) > 0 {
				err = fmt.Errorf("the audit log has faults: %v", r.Faults)
			}
			return err
		}},
		{"reshape", true, func(ctx context.Context) error {
			err := w.Raw.Write(store.Across(ctx), func(tx store.Tx) error {
				for _, statement := range []string{`DELETE FROM setting WHERE name LIKE 'shape:%'`, `UPDATE campaign SET shape = 0`, `UPDATE event SET checksum = NULL`} {
					if _, err := tx.Exec(statement); err != nil {
						return err
					}
				}
				return nil
			})
			return errors.Join(err, reshapeAll(ctx, w.DB))
		}},
		{"prune", true, func(ctx context.Context) error { _, err := w.DB.Prune(ctx); return err }},
		{"pending", false, func(ctx context.Context) error { _, err := store.FindPending(ctx, w.Engine); return err }},
		{"dump", false, func(ctx context.Context) error {
			return store.Dump(ctx, w.Engine, func(store.Chunk, int64) error { return nil })
		}},
	}
}

// recordsNothingLeft makes every statement of every transaction fail in turn.
func recordsNothingLeft(t *testing.T, w *Fixture) {
	broken := errors.New("the statement failed")
	at := 0
	n := 0
	w.Engine.Statement = func(_ string, inside bool) error {
		if !inside {
			return nil
		}
		if n++; n == at {
			return broken
		}
		return nil
	}
	failures := 0
	for _, s := range w.Steps() {
		if s.several {
			continue
		}
		before := State(t, w.Raw)
		for at = 1; ; at++ {
			n = 0
			err := s.Run(t.Context())
			if err == nil {
				break
			}
			if !errors.Is(err, broken) {
				t.Fatalf("%s, failing at %d: %v", s.Name, at, err)
			}
			failures++
			if after := State(t, w.Raw); !maps.Equal(before, after) {
				t.Fatalf("%s left something behind when statement %d failed", s.Name, at)
			}
		}
		if n >= at {
			t.Fatalf("%s succeeded although statement %d failed", s.Name, at)
		}
	}
	if failures < 100 {
		t.Errorf("only %d failures were tried", failures)
	}
}

// recordsTwice runs every transaction twice, discards the first result, and
// wants the same outcome as running it once.
func recordsTwice(t *testing.T, w *Fixture) {
	rows := func(twice bool) map[string]int {
		counts := map[string]int{}
		before := State(t, w.Raw)
		w.Engine.Twice = twice
		for _, s := range w.Steps() {
			if err := s.Run(t.Context()); err != nil {
				t.Fatalf("%s (twice: %v): %v", s.Name, twice, err)
			}
		}
		for table, s := range State(t, w.Raw) {
			counts[table] = s.Rows - before[table].Rows
		}
		return counts
	}
	once := rows(false)
	first := w.Workspace
	w.Clock.Advance(24 * time.Hour) // for what happens once a day
	w.Workspace, w.Owner, w.Secret = w.AddWorkspace("third@example.com")
	_, err := w.DB.Prune(t.Context())
	w.must(err)
	twice := rows(true)
	// The members and the settings are there already.
	once["account_user"], once["setting"] = 0, 0
	if !maps.Equal(once, twice) {
		t.Errorf("rows after running once and twice in %s and %s: %v and %v", first, w.Workspace, once, twice)
	}
}
