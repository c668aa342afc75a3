package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/fanfaretest"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/postgres"
)

// posts lists the operations that take an Idempotency-Key.
func posts(t testing.TB) []*fanfaretest.Operation {
	var list []*fanfaretest.Operation
	for _, op := range fanfaretest.TheContract().Operations() {
		takes := op.Parameter("header", "Idempotency-Key") != nil
		if takes != (op.Method == http.MethodPost && changes(op)) {
			t.Errorf("%s: an Idempotency-Key is for every POST that changes something and for nothing else", op.OperationID)
		}
		if takes {
			list = append(list, op)
		}
	}
	slices.SortFunc(list, func(a, b *fanfaretest.Operation) int { return strings.Compare(a.OperationID, b.OperationID) })
	return list
}

// count returns the number of events.
func count(c *fanfaretest.Tenant) int {
	return len(walkEvents(c))
}

func walkEvents(c *fanfaretest.Tenant) []string {
	ids, next := []string{}, "?limit=100"
	for {
		l := c.Do("GET", "/v1/events"+next, nil).Want(200).List()
		for _, e := range l.Data {
			ids = append(ids, e["id"].(string))
		}
		if !l.HasMore {
			return ids
		}
		next = "?limit=100&cursor=" + *l.NextCursor
	}
}

// TestW11Replay checks that a repeated POST has one effect and the same
// response, byte for byte, with fresh rate limit headers.
func TestW11Replay(t *testing.T) {
	t.Parallel()
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, open(t))
			for _, op := range posts(t) {
				c := w.Tenant(account.Growth)
				call := goodCall(c, op).with("Idempotency-Key: k-1")
				first := call.by(c.Client)
				if first.Status >= 300 || first.Header.Get("Idempotency-Replayed") != "" {
					t.Fatalf("%s: got %d, replayed %q, want a first answer", op.OperationID, first.Status, first.Header.Get("Idempotency-Replayed"))
				}
				events := count(c)
				w.Clock.Advance(24*time.Hour - time.Second)
				// Later changes to the record do not change the stored
				// response.
				collection := strings.Join(strings.Split(op.Path, "/")[:3], "/")
				item := fanfaretest.TheContract().Doc.Paths.Find(collection + "/{id}")
				// A sync answers a run, which nobody can patch.
				if id := first.ID(); id != "" && item != nil && item.Patch != nil && op.OperationID != "syncConnection" {
					patch := &fanfaretest.Operation{Operation: item.Patch, Method: http.MethodPatch, Item: item}
					if res := c.Do("PATCH", collection+"/"+id, smallestExample(t, patch)); res.Status == 200 {
						events++
					} else {
						// A file that is committed stays as it is.
						res.WantError(409, "invalid_state")
					}
				}
				again := call.by(c.Client)
				if again.Status != first.Status || string(again.Body) != string(first.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
					t.Errorf("%s: got %d %s, want the first answer again, %d %s", op.OperationID, again.Status, again.Body, first.Status, first.Body)
				}
				for _, h := range []string{"Location", "ETag", "Content-Type"} {
					if again.Header.Get(h) != first.Header.Get(h) {
						t.Errorf("%s: got %s %q want %q", op.OperationID, h, again.Header.Get(h), first.Header.Get(h))
					}
				}
				if again.Header.Get("X-Request-Id") == first.Header.Get("X-Request-Id") || again.Header.Get("X-RateLimit-Reset") == first.Header.Get("X-RateLimit-Reset") {
					t.Errorf("%s: got the headers of the first answer, want fresh ones", op.OperationID)
				}
				if got := count(c); got != events {
					t.Errorf("%s: got %d events want %d: a replay does nothing", op.OperationID, got, events)
				}
				other := call
				other.body = ` {} `
				other.by(c.Client).WantError(422, "idempotency_key_reused")
			}
		})
	}
}

// TestW11SameKeyOtherRequest checks that another method, path or body is
// rejected.
func TestW11SameKeyOtherRequest(t *testing.T) {
	t.Parallel()
	w := fanfaretest.New(t, nil, ample)
	c, stranger := w.Tenant(account.Growth), w.Tenant(account.Growth)
	const key = "Idempotency-Key: k-1"
	id := c.Do("POST", "/v1/campaigns", `{"name":"One"}`, key).Want(201).ID()
	for _, other := range []call{
		{"POST", "/v1/campaigns", `{"name":"Two"}`, nil},
		{"POST", "/v1/campaigns", `{"name": "One"}`, nil},
		{"POST", "/v1/campaigns/" + id + "/launch", nil, nil},
		{"POST", "/v1/campaigns/" + id + "/duplicate", `{"name":"One"}`, nil},
	} {
		e := other.with(key).by(c.Client).WantError(422, "idempotency_key_reused")
		if e.Details[0].Field != "Idempotency-Key" || e.Details[0].In != "header" {
			t.Errorf("%s: got detail %+v want the header", other.target, e.Details)
		}
	}
	if n := len(names(c.Client, "")); n != 1 {
		t.Errorf("got %d campaigns want 1", n)
	}
	// Idempotency-Keys belong to the workspace: another workspace has its own,
	// another API key of the same workspace has not.
	if got := stranger.Do("POST", "/v1/campaigns", `{"name":"One"}`, key).Want(201).ID(); got == id {
		t.Error("got another workspace's record, want a new one")
	}
	if got := c.As(account.Editor).Do("POST", "/v1/campaigns", `{"name":"One"}`, key).Want(201).ID(); got != id {
		t.Errorf("got %s for another key of the workspace, want the remembered %s", got, id)
	}
	// Operations without an effect ignore the header.
	c.Do("PATCH", "/v1/campaigns/"+id, `{"name":"Two"}`, key).Want(200)
	c.Do("DELETE", "/v1/campaigns/"+id, nil, key).Want(200)
}

// TestW11FailuresAreNotRemembered checks that a retry after a failure runs
// again.
func TestW11FailuresAreNotRemembered(t *testing.T) {
	t.Parallel()
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, engine := newFaultyService(t, open)
			c := w.Tenant(account.Growth)
			const key = "Idempotency-Key: k-1"
			c.Do("POST", "/v1/campaigns", `{"name":""}`, key).WantError(422, "validation_failed")
			engine.fail(nil, errPanic)
			c.Do("POST", "/v1/campaigns", `{"name":"One"}`, key).WantError(500, "internal_error")
			engine.fail(nil, nil)
			id := c.Do("POST", "/v1/campaigns", `{"name":"One"}`, key).Want(201).ID()
			pause := "/v1/campaigns/" + id + "/pause"
			c.Do("POST", pause, nil, "Idempotency-Key: k-2").WantError(409, "invalid_state")
			c.Do("POST", "/v1/campaigns/"+id+"/launch", nil).Want(200)
			res := c.Do("POST", pause, nil, "Idempotency-Key: k-2").Want(200)
			if res.Header.Get("Idempotency-Replayed") != "" {
				t.Error("got a replay, want the pause to run now")
			}
		})
	}
}

// TestW11ExpiresAfterADay checks that a key can be used again after a day.
func TestW11ExpiresAfterADay(t *testing.T) {
	t.Parallel()
	fanfaretest.Each(t, func(t *testing.T, w *fanfaretest.Service) {
		c := w.Tenant(account.Growth)
		const key = "Idempotency-Key: k-1"
		first := c.Do("POST", "/v1/campaigns", `{"name":"One"}`, key).Want(201).ID()
		for range 2 {
			w.Clock.Advance(24 * time.Hour)
			res := c.Do("POST", "/v1/campaigns", `{"name":"Other"}`, key).Want(201)
			if res.ID() == first || res.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("got %s, replayed %q, want a new campaign after a day", res.ID(), res.Header.Get("Idempotency-Replayed"))
			}
			if again := c.Do("POST", "/v1/campaigns", `{"name":"Other"}`, key).Want(201); again.ID() != res.ID() {
				t.Errorf("got %s want the remembered %s", again.ID(), res.ID())
			}
		}
		if _, err := w.App.DB.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Do("POST", "/v1/campaigns", `{"name":"Other"}`, key).Want(201)
	})
}

// TestW11ManyAtOnce sends the same POST 64 times concurrently: it has one
// effect, and every caller gets its response or is asked to retry.
func TestW11ManyAtOnce(t *testing.T) {
	t.Parallel()
	for name, open := range fanfaretest.Engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fanfaretest.New(t, open(t), ample)
			for _, op := range posts(t) {
				alone, c := w.Tenant(account.Growth), w.Tenant(account.Growth)
				once := goodCall(alone, op).with("Idempotency-Key: k-1")
				effect := -count(alone)
				once.by(alone.Client)
				effect += count(alone)
				call := goodCall(c, op).with("Idempotency-Key: k-1")
				before := count(c)
				answers := make([]*fanfaretest.Response, 64)
				var wg sync.WaitGroup
				for i := range answers {
					wg.Go(func() { answers[i] = call.by(c.Client) })
				}
				wg.Wait()
				kinds, bodies := map[string]int{}, map[string]bool{}
				for _, r := range answers {
					kind := fmt.Sprint(r.Status, r.Header.Get("Idempotency-Replayed"))
					if r.Status == 409 {
						kind = r.Error().Code
					} else {
						bodies[string(r.Body)] = true
					}
					kinds[kind]++
				}
				success := fmt.Sprint(answers[0].Status)
				if answers[0].Status == 409 {
					success = fmt.Sprint(call.by(c.Client).Status)
				}
				if kinds[success] != 1 || len(bodies) != 1 || kinds[success]+kinds[success+"true"]+kinds["idempotency_in_progress"] != 64 {
					t.Errorf("%s: got %v with %d different answers, want one success, replays and 409", op.OperationID, kinds, len(bodies))
				}
				if got := count(c) - before; got != effect {
					t.Errorf("%s: got %d new events want %d, as of one call", op.OperationID, got, effect)
				}
			}
		})
	}
}

func TestW11KeySyntax(t *testing.T) {
	t.Parallel()
	c := newTenant(t)
	long := strings.Repeat("k", 255)
	for _, values := range [][]string{{""}, {long + "k"}, {"two words"}, {"naïve"}, {"tab\there"}, {"a", "b"}, {`""`}, {`"with space "`}, {"\x7f"}} {
		e := c.DoWithHeader("POST", "/v1/campaigns", `{"name":"One"}`, map[string][]string{"Idempotency-Key": values}).WantError(400, "invalid_idempotency_key")
		if e.Details[0].Field != "Idempotency-Key" || e.Details[0].In != "header" || e.Details[0].Meta["maximum"] != 255.0 {
			t.Errorf("%q: got detail %+v", values, e.Details)
		}
	}
	ids := map[string]string{}
	for _, value := range []string{"k", long, `"quoted"`, "quoted", `8e03978e-40d5-43dd-bc93-6894a57f9324`, `"8e03978e-40d5-43dd-bc93-6894a57f9324"`, `a"b\c`, `"a\"b\\c"`, "!~", `"`} {
		ids[value] = c.Do("POST", "/v1/campaigns", `{"name":"One"}`, "Idempotency-Key: "+value).Want(201).ID()
	}
	for raw, quoted := range map[string]string{"quoted": `"quoted"`, `8e03978e-40d5-43dd-bc93-6894a57f9324`: `"8e03978e-40d5-43dd-bc93-6894a57f9324"`, `a"b\c`: `"a\"b\\c"`} {
		if ids[raw] != ids[quoted] {
			t.Errorf("got different records for %s and %s, want the same key", raw, quoted)
		}
	}
	if got := len(slices.Compact(slices.Sorted(maps.Values(ids)))); got != 7 {
		t.Errorf("got %d records want 7", got)
	}
}

// TestW11ManyNodes sends the same POST concurrently to three nodes of one
// database: the transaction detects what other nodes did.
func TestW11ManyNodes(t *testing.T) {
	t.Parallel()
	url, key := pgtest.URL(t), filepath.Join(t.TempDir(), "master.key")
	var nodes []*fanfaretest.Service
	for range 3 {
		e, err := postgres.Open(t.Context(), url, postgres.Options{MaxConns: 8})
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, fanfaretest.New(t, e, ample, func(c *app.Config) { c.MasterKey = key }))
	}
	c := nodes[0].Tenant(account.Growth)
	for round := range 10 {
		key := fmt.Sprintf("Idempotency-Key: round-%d", round)
		answers := make([]*fanfaretest.Response, 12)
		var wg sync.WaitGroup
		for i := range answers {
			node := nodes[i%len(nodes)].Client(c.Key)
			wg.Go(func() { answers[i] = node.Do("POST", "/v1/campaigns", `{"name":"One"}`, key) })
		}
		wg.Wait()
		firsts, ids := 0, map[string]bool{}
		for _, r := range answers {
			if r.Status == http.StatusConflict {
				r.WantError(409, "idempotency_in_progress")
				continue
			}
			ids[r.Want(201).ID()] = true
			if r.Header.Get("Idempotency-Replayed") == "" {
				firsts++
			}
		}
		if firsts != 1 || len(ids) != 1 {
			t.Errorf("round %d: got %d first answers and %d campaigns, want one of each", round, firsts, len(ids))
		}
	}
	if got := len(names(c.Client, "?limit=100")); got != 10 {
		t.Errorf("got %d campaigns want 10", got)
	}
}
