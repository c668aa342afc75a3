package creative_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/store/storetest"
)

// outcome is the result of an action in a status.
type outcome struct {
	// to is the status after it; empty for a refusal.
	to string
	// event is the event of the action; empty if nothing changes.
	event string
	// code is the error of a refusal, required what it says is needed.
	code     string
	required string
}

func invalidIn(required string) outcome { return outcome{code: "invalid_state", required: required} }

func archivedFault(required string) outcome { return outcome{code: "archived", required: required} }

const notArchived = "generating ready failed"

// transitions is what each action does in each status, refusals included.
// docs/PROTOCOL.md, "States and fields", refers to it.
var transitions = map[string]map[string]outcome{
	"generating": {
		"archive": {to: "archived", event: "archived"}, "restore": invalidIn("archived"), "retry": invalidIn("failed"),
		"rename": {to: "generating", event: "updated"}, "rewrite": invalidIn("ready failed"),
	},
	"ready": {
		"archive": {to: "archived", event: "archived"}, "restore": invalidIn("archived"), "retry": invalidIn("failed"),
		"rename": {to: "ready", event: "updated"}, "rewrite": {to: "ready", event: "updated"},
	},
	"failed": {
		"archive": {to: "archived", event: "archived"}, "restore": invalidIn("archived"), "retry": {to: "generating", event: "updated"},
		"rename": {to: "failed", event: "updated"}, "rewrite": {to: "failed", event: "updated"},
	},
	"gone generating": {
		"archive": {to: "archived"}, "restore": {to: "generating", event: "restored"}, "retry": archivedFault("failed"), "rename": archivedFault(notArchived), "rewrite": archivedFault(notArchived),
	},
	"gone ready": {
		"archive": {to: "archived"}, "restore": {to: "ready", event: "restored"}, "retry": archivedFault("failed"), "rename": archivedFault(notArchived), "rewrite": archivedFault(notArchived),
	},
	"gone failed": {
		"archive": {to: "archived"}, "restore": {to: "failed", event: "restored"}, "retry": archivedFault("failed"), "rename": archivedFault(notArchived), "rewrite": archivedFault(notArchived),
	},
}

// act runs an action. It advances the clock first.
func act(c *fixture, id, action string) *storetest.Answer {
	c.Clock.Advance(time.Millisecond)
	switch action {
	case "archive":
		return archive(c, id)
	case "restore":
		return restore(c, id)
	case "retry":
		return retry(c, id)
	case "rename":
		return patch(c, id, `{"name":"Two"}`)
	}
	return patch(c, id, `{"content":{"headline":"Two"}}`)
}

// TestTransitions takes every action in every status.
func TestTransitions(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	for _, status := range statuses {
		for action, o := range transitions[status] {
			name := action + " in " + status
			id := createInStatus(t, c, a, status)
			before, events := read(c, id), len(eventsOf(c, id))
			want(t, name+": status to begin with", any(apiStatus(status)), before["status"])
			c.Clock.Advance(time.Minute)
			res := act(c, id, action)
			after := read(c, id)
			checkOutcome(t, name, o, res, before, after)
			fresh := eventsOf(c, id)[events:]
			want(t, name+": events", o.event != "", len(fresh) == 1)
			if len(fresh) == 1 {
				previous := map[string]any{"status": before["status"]}
				switch action {
				case "rename":
					previous = map[string]any{"name": before["name"]}
				case "rewrite":
					previous = map[string]any{"content": before["content"]}
				}
				want(t, name+": the event", []any{"creative." + o.event, after, previous}, []any{fresh[0]["type"], fresh[0]["data"], fresh[0]["previous"]})
			}
			wanted := int64(0)
			if after["status"] == "generating" {
				wanted = 1
			}
			want(t, name+": jobs", wanted, countGenerateJobs(t, c, id))
			want(t, name+": archived_at", after["status"] == "archived", after["archived_at"] != nil)
		}
	}
}

func checkOutcome(t *testing.T, name string, o outcome, res *storetest.Answer, before, after map[string]any) {
	t.Helper()
	if o.code != "" {
		e := res.Fault(fault.Code(o.code))
		if len(e.Details) != 1 {
			t.Fatalf("%s: got %d details want 1", name, len(e.Details))
		}
		required := []string{}
		for _, s := range e.Details[0].Meta["required_status"].([]any) {
			required = append(required, s.(string))
		}
		want(t, name+": meta", []any{before["status"], o.required}, []any{e.Details[0].Meta["current_status"], strings.Join(required, " ")})
		want(t, name+": the record", before, after)
		return
	}
	if res.Err != nil || after["status"] != o.to {
		t.Errorf("%s: got %v and status %v want %s", name, res.Err, after["status"], o.to)
	}
	if changed := o.event != ""; changed != (after["version"] != before["version"]) || changed != (after["updated_at"] != before["updated_at"]) {
		t.Errorf("%s: got version %v after %v, want a new one only for a change", name, after["version"], before["version"])
	}
}

// TestRewriteRefusalNamesContent wants the member named that cannot be changed
// yet.
func TestRewriteRefusalNamesContent(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := createInStatus(t, c, useFakeProvider(c), "generating")
	e := patch(c, id, `{"name":"Two","content":{"body":"Mine"}}`).Fault("invalid_state")
	want(t, "detail", []string{"content", "body", "immutable"}, []string{e.Details[0].Field, e.Details[0].In, e.Details[0].Code})
	patch(c, id, `{"name":"Two","content":{"body":null}}`).OK() // no text is no text
	archive(c, id, `"1"`).Fault("precondition_failed")
	archive(c, id, `"2"`).OK()
	archive(c, id, `"2"`).Fault("precondition_failed")
	restore(c, id, `"9"`).Fault("precondition_failed")
	retry(c, id, `"9"`).Fault("precondition_failed")
}

// blockedCall is a provider that blocks until the test releases it or its
// context ends.
type blockedCall struct{ begun, finish chan struct{} }

func (a *fakeProvider) block(heeds bool) blockedCall {
	h := blockedCall{make(chan struct{}, 10), make(chan struct{})}
	writes := a.write
	a.write = func(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
		h.begun <- struct{}{}
		if heeds {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		<-h.finish
		return writes(ctx, b)
	}
	return h
}

// TestArchiveStopsGeneration archives a creative while a provider works. The
// call is canceled, and a result that still arrives is dropped. After a
// restore, the creative is generated again.
func TestArchiveStopsGeneration(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	writes := a.write
	for _, heeds := range []bool{true, false} {
		h := a.block(heeds)
		id := begin(c, byModel)
		done := make(chan error, 1)
		go func() { done <- c.Creatives.Run(context.Background(), c.Workspace, ident.ID(id)) }()
		<-h.begun
		act(c, id, "archive").OK()
		close(h.finish)
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("got %v of the stopped work", err)
		}
		v := loadCreative(c, id)
		want(t, "status and variants", []any{creative.StatusArchived, 0, 0}, []any{v.Status, v.VariantCount, len(variants(c, id))})
		want(t, "jobs", int64(0), countGenerateJobs(t, c, id))
		a.write = writes
		runJob(t, c, id)
		want(t, "events", []string{"created", "archived"}, eventTypes(c, id))
		c.Clock.Advance(time.Hour)
		act(c, id, "restore").OK()
		runJob(t, c, id)
		v = loadCreative(c, id)
		want(t, "status and variants once restored", []any{creative.StatusReady, 3, 3}, []any{v.Status, v.VariantCount, len(variants(c, id))})
		want(t, "events once restored", []string{"created", "archived", "restored", "ready"}, eventTypes(c, id))
	}
}

// TestShutdownIsNoFailure stops the server while the work is done: it is done
// again, whatever it was busy with.
func TestShutdownIsNoFailure(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a, s := useFakeProvider(c), c.Creatives
	fetch := func(context.Context, string) ([]byte, error) { return nil, nil }
	writes := a.write
	s.Fetch = fetch
	begun := make(chan struct{}, 1)
	for what, hold := range map[string]func(){
		"an author who heeds it": func() {
			a.write = func(ctx context.Context, _ *creative.Brief) (*creative.Result, error) {
				begun <- struct{}{}
				<-ctx.Done()
				return nil, creative.Fail(creative.FailTimeout, true, "The provider did not finish in time.")
			}
		},
		"a logo that does not come": func() {
			s.Fetch = func(ctx context.Context, _ string) ([]byte, error) {
				begun <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}
		},
	} {
		hold()
		id := begin(c, `{"prompt":"Mountain tea","provider":"openai","type":"image","sizes":["320x50"],"brand":{"logo_url":"https://leaf.example/logo.png"}}`)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx, c.Workspace, ident.ID(id)) }()
		<-begun
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v want %v", what, err, context.Canceled)
		}
		want(t, what+": status and jobs", []any{"generating", int64(1)}, []any{read(c, id)["status"], countGenerateJobs(t, c, id)})
		a.write, s.Fetch = writes, fetch
	}
}

// TestTimeout fails a generation after ten minutes.
func TestTimeout(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	id := createInStatus(t, c, a, "generating")
	a.failWith(errors.New("the network is broken"))
	c.Clock.Advance(creative.MaxDuration - time.Millisecond)
	if err := c.Creatives.Run(t.Context(), c.Workspace, ident.ID(id)); err == nil {
		t.Error("got no error of a fault of ours")
	}
	want(t, "status before the end", any("generating"), read(c, id)["status"])
	c.Clock.Advance(time.Millisecond)
	runJob(t, c, id)
	v := loadCreative(c, id)
	want(t, "status and reason", []any{creative.StatusFailed, "timeout", true}, []any{v.Status, v.Generation.Error.Code, v.Generation.Error.Retryable})
	want(t, "events", []string{"created", "failed"}, eventTypes(c, id))
	want(t, "jobs", int64(0), countGenerateJobs(t, c, id))
	// A retry and a restored one have ten minutes of their own.
	act(c, id, "retry").OK()
	act(c, id, "archive").OK()
	c.Clock.Advance(time.Hour)
	act(c, id, "restore").OK()
	a.respondWith(func(b *creative.Brief) []creative.Draft { return draftsOf(b, "One") })
	runJob(t, c, id)
	want(t, "status in the end", any("ready"), read(c, id)["status"])
}

// TestConcurrentRuns runs the same generation twice at once, as after a crash:
// one result counts, and each call to the model is paid for.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	cost := int64(250_000)
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		return &creative.Result{Language: "en", Drafts: draftsOf(b, "One", "Two"), Usage: creative.Usage{Calls: 1, CostMicros: &cost}}, nil
	}
	h := a.block(false)
	id := begin(c, byModel)
	c.Clock.Advance(time.Millisecond)
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- c.Creatives.Run(context.Background(), c.Workspace, ident.ID(id)) }()
	}
	<-h.begun
	<-h.begun
	close(h.finish)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	runJob(t, c, id)
	v := loadCreative(c, id)
	want(t, "status, version, variants", []any{creative.StatusReady, int64(2), 2}, []any{v.Status, v.Version, len(variants(c, id))})
	want(t, "events", []string{"created", "ready"}, eventTypes(c, id))
	want(t, "spent", 2*cost, spent(t, c, "2026-11"))
	// A creative that does not exist, or belongs to another workspace, needs
	// nothing.
	for _, other := range []ident.ID{"crv_01h455vb4pex5vsknk084sn02q", "crv_none"} {
		if err := c.Creatives.Run(t.Context(), c.Workspace, other); err != nil {
			t.Errorf("got %v for %s", err, other)
		}
	}
}

func spent(t testing.TB, c *fixture, month string) int64 {
	t.Helper()
	n, err := c.DB.Creatives().ModelSpend(t.Context(), c.Workspace, month)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFailures checks every kind of provider failure.
func TestFailures(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	for _, code := range []string{
		creative.FailTimeout, creative.FailProvider, creative.FailThrottled, creative.FailCredentials, creative.FailRefused,
		creative.FailAnswer, creative.FailScript, creative.FailLogo,
	} {
		for _, retryable := range []bool{false, true} {
			a.failWith(creative.Fail(code, retryable, "Because of %s.", code).Because(errors.New("key sk-secret was refused")))
			id := begin(c, byModel)
			c.Clock.Advance(time.Second)
			runJob(t, c, id)
			v := loadCreative(c, id)
			want(t, code+": status", creative.StatusFailed, v.Status)
			want(t, code+": reason", creative.GenerationErr{Code: code, Message: "Because of " + code + ".", Retryable: retryable}, *v.Generation.Error)
			want(t, code+": finished", v.UpdatedAt, *v.Generation.FinishedAt)
			want(t, code+": events", []string{"created", "failed"}, eventTypes(c, id))
			want(t, code+": variants", []any{0, 0}, []any{v.VariantCount, len(variants(c, id))})
		}
	}
}

// TestInternalErrorIsRetried checks that an internal error changes nothing and
// that the generation is tried again.
func TestInternalErrorIsRetried(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	writes := a.write
	id := createInStatus(t, c, a, "generating")
	before := read(c, id)
	broken := errors.New("broken")
	a.failWith(broken)
	for range 3 {
		if err := c.Creatives.Run(t.Context(), c.Workspace, ident.ID(id)); !errors.Is(err, broken) {
			t.Errorf("got %v want %v", err, broken)
		}
	}
	want(t, "the record", before, read(c, id))
	want(t, "jobs", int64(1), countGenerateJobs(t, c, id))
	a.write = writes
	runJob(t, c, id)
	want(t, "events", []string{"created", "ready"}, eventTypes(c, id))
	// Where the caller waits for the built-in generator, nothing is left.
	n := c.Int(`SELECT count(*) FROM creative WHERE workspace_id = $1`, string(c.Workspace))
	c.Creatives.Providers = brokenCatalog{a}
	if res := generate(c, `{"prompt":"Mountain tea","provider":"composer"}`); !errors.Is(res.Err, errBroken) {
		t.Errorf("got %v want %v", res.Err, errBroken)
	}
	want(t, "creatives", n, c.Int(`SELECT count(*) FROM creative WHERE workspace_id = $1`, string(c.Workspace)))
	c.Creatives.Providers = a
	// The runner tries again by itself.
	id = begin(c, byModel)
	tries := 0
	a.write = func(ctx context.Context, b *creative.Brief) (*creative.Result, error) {
		switch tries++; tries {
		case 1:
			return nil, broken
		case 2:
			panic("a bug")
		}
		return writes(ctx, b)
	}
	jobs := runJobs(t, c)
	for _, failure := range []string{"%broken%", "%a bug%"} {
		for c.Int(`SELECT count(*) FROM job WHERE workspace_id = $1 AND args = $2 AND last_error LIKE $3`, string(c.Workspace), id, failure) == 0 {
			runtime.Gosched()
		}
		c.Clock.Advance(time.Minute)
		jobs.Wake()
	}
	for read(c, id)["status"] == "generating" {
		runtime.Gosched()
	}
	want(t, "status in the end", any("ready"), read(c, id)["status"])
	want(t, "tries", 3, tries)
}

var errBroken = errors.New("broken")

// brokenCatalog opens nothing.
type brokenCatalog struct{ creative.ProviderCatalog }

func (brokenCatalog) Open(context.Context, ident.ID, string) (creative.OpenProvider, error) {
	return creative.OpenProvider{}, errBroken
}

// TestBuiltInFailure wants a creative with the reason also where the caller
// waits, and a retry of it to answer at once.
func TestBuiltInFailure(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := generate(c, `{"prompt":"Tea","brand":{"banned_words":["tea"]},"provider":"composer"}`).OK().ID()
	v := loadCreative(c, id)
	want(t, "status and reason", []any{creative.StatusFailed, creative.FailNotUnderstood, false}, []any{v.Status, v.Generation.Error.Code, v.Generation.Error.Retryable})
	want(t, "name", "Tea", v.Name)
	c.Clock.Advance(time.Minute)
	again := retry(c, id).Record()
	want(t, "status and version of the retry", []any{"failed", 2.0}, []any{again["status"], again["version"]})
	want(t, "events", []string{"created", "failed", "updated", "failed"}, eventTypes(c, id))
	if loadCreative(c, id).Generation.Cost == nil {
		t.Error("got no cost")
	}
}

// TestWorkspaceIsolation reads creatives of another workspace.
func TestWorkspaceIsolation(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := createInStatus(t, c, useFakeProvider(c), "generating")
	other := c.another()
	for _, action := range []string{"archive", "restore", "retry", "rename"} {
		act(other, id, action).Fault("not_found")
	}
	other.Answer(other.Creatives.Get(t.Context(), other.Workspace, ident.ID(id))).Fault(fault.NotFound)
	if _, err := other.Creatives.Variants(t.Context(), other.Workspace, ident.ID(id), page.Query{Limit: 10, Sort: "position"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v of foreign variants want not_found", err)
	}
	want(t, "lists", 0, len(listAll(other)))
	if err := c.Creatives.Run(t.Context(), other.Workspace, ident.ID(id)); err != nil {
		t.Error(err)
	}
	want(t, "status", any("generating"), read(c, id)["status"])
	runJob(t, c, id)
	own := *loadCreative(c, id).PrimaryVariantID
	if _, err := c.DB.Creatives().Variant(t.Context(), other.Workspace, own); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v of a foreign variant want not_found", err)
	}
	if !slices.Contains([]string{"ready"}, read(c, id)["status"].(string)) {
		t.Error("the owner cannot generate")
	}
}

// TestStatusOf checks that the place of the status in a document does not
// matter.
func TestStatusOf(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]creative.Status{
		`{"id":"crv_1","status":"generating","x":1}`:       creative.StatusGenerating,
		`{"content":{"status":"failed"},"status":"ready"}`: creative.StatusReady,
		`{"content":{"status":"failed"}}`:                  "",
		`{"status":null}`:                                  "",
		`["status","ready"]`:                               "",
		``:                                                 "",
	} {
		if got := creative.StatusOf([]byte(doc)); got != want {
			t.Errorf("%s: got %q want %q", doc, got, want)
		}
	}
}

// TestWait checks the status of a finished generation and of one that runs.
func TestWait(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for body, want := range map[string]creative.Status{
		`{"prompt":"Tea"}`:                creative.StatusReady,
		`{"prompt":"Tea","type":"image"}`: creative.StatusGenerating,
	} {
		id := generate(c, body).OK().ID()
		d, status, err := c.Creatives.Wait(t.Context(), c.Cause(), ident.ID(id), time.Nanosecond)
		answerWithStatus(c, d, status, err).OK()
		if status != want {
			t.Errorf("%s: got %q want %q", body, status, want)
		}
	}
}
