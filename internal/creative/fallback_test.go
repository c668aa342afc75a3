package creative_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/ident"
)

// TestFallback checks for every failure of a model who writes in the end, by the
// request and by the setup of the model.
func TestFallback(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	price := int64(700)
	const prompt = `"prompt":"Mountain green tea from Kava Bar, 20% off until Sunday, for students.","provider":"openai"`
	for _, test := range []struct {
		code, request string
		noFallback    bool
		composer      bool
	}{
		{creative.FailTimeout, "", false, true},
		{creative.FailProvider, "", false, true},
		{creative.FailThrottled, "", false, true},
		{creative.FailCredentials, "", false, true},
		{creative.FailRefused, "", false, true},
		{creative.FailAnswer, "", false, true},
		{creative.FailPolicy, "", false, true},
		{creative.FailBudget, "", false, true},
		{creative.FailLogo, "", false, false},
		{creative.FailTimeout, `,"fallback":"none"`, false, false},
		{creative.FailTimeout, `,"fallback":null`, false, true},
		{creative.FailTimeout, "", true, false},
		{creative.FailTimeout, `,"fallback":"composer"`, true, true},
		{creative.FailTimeout, `,"language":"de"`, false, false},
	} {
		name := test.code + test.request + fmt.Sprint(test.noFallback)
		a.noFallback = test.noFallback
		a.write = func(context.Context, *creative.Brief) (*creative.Result, error) {
			return &creative.Result{Model: "author-1", Usage: creative.Usage{Calls: 2, InputTokens: 9, CostMicros: &price}}, creative.Fail(test.code, true, "Because of it.")
		}
		v, list := generateNow(t, c, `{`+prompt+test.request+`}`)
		g := v.Generation
		want(t, name+": cost", []any{"0.000700", int64(2), int64(9)}, []any{*g.Cost.Amount, g.Cost.Calls, g.Cost.InputTokens})
		if !test.composer {
			want(t, name+": status", []any{creative.StatusFailed, "openai", test.code, (*creative.Replaced)(nil), 0}, []any{v.Status, g.Provider, g.Error.Code, g.Replaced, len(list)})
			want(t, name+": reason", strings.Contains(test.request, "language"), strings.Contains(g.Error.Message, "Because of it. The built-in composer could not write it either: It does not translate from English."))
			continue
		}
		want(t, name+": who wrote it", []any{creative.StatusReady, "composer", "composer-2", (*creative.GenerationErr)(nil)}, []any{v.Status, g.Provider, *g.Model, g.Error})
		want(t, name+": why", creative.Replaced{Provider: "openai", Part: "text", Code: test.code, Message: "Because of it."}, *g.Replaced)
		if v.Rights != nil || len(list) == 0 {
			t.Errorf("%s: got %d variants with rights %+v want the composer's, which need no AI disclosure", name, len(list), v.Rights)
		}
	}
}

// TestFallbackUnderstoodTooLittle has a brief that neither can write from. A
// retry asks the model again.
func TestFallbackUnderstoodTooLittle(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	writes := a.write
	a.failWith(creative.Fail(creative.FailThrottled, true, "the provider's limits are used up"))
	v, _ := generateNow(t, c, `{"prompt":"make it punchy please","provider":"openai"}`)
	g := v.Generation
	want(t, "failure", []any{creative.StatusFailed, "openai", creative.FailThrottled, true}, []any{v.Status, g.Provider, g.Error.Code, g.Error.Retryable})
	for _, part := range []string{"limits are used up. The built-in composer could not write it either: Too little", "brief.product"} {
		if !strings.Contains(g.Error.Message, part) {
			t.Errorf("got message %q want %q in it", g.Error.Message, part)
		}
	}
	a.write = writes
	retry(c, string(v.ID)).OK()
	runJob(t, c, string(v.ID))
	v = loadCreative(c, string(v.ID))
	want(t, "after the retry", []any{creative.StatusReady, "openai", (*creative.Replaced)(nil)}, []any{v.Status, v.Generation.Provider, v.Generation.Replaced})
}

// TestFallbackPictures has a model that writes but does not draw: its copy is
// kept and it is not asked for another picture.
func TestFallbackPictures(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	drawn := 0
	a.paint = func(_ context.Context, _ *creative.Brief, s creative.Shape, _ string) (*creative.Picture, creative.Usage, error) {
		if drawn++; drawn > 1 {
			return nil, creative.Usage{Calls: 1}, creative.Fail(creative.FailTimeout, true, "the provider did not finish in time")
		}
		return &creative.Picture{Shape: s, MIMEType: "image/jpeg", Bytes: smallPhoto(t)}, creative.Usage{Calls: 1, Images: 1}, nil
	}
	v, list := generateNow(t, c, `{"prompt":"Mountain green tea","provider":"openai","type":"image","sizes":["320x50"],"variants":3}`)
	g := v.Generation
	want(t, "who wrote it", []any{creative.StatusReady, "openai", "author-1", 2}, []any{v.Status, g.Provider, *g.Model, drawn})
	want(t, "why", creative.Replaced{Provider: "openai", Part: "pictures", Code: creative.FailTimeout, Message: "the provider did not finish in time"}, *g.Replaced)
	want(t, "pictures", []int{1, 1, 1}, []int{len(list[0].Content.Media), len(list[1].Content.Media), len(list[2].Content.Media)})
	want(t, "disclosure", creative.Rights{AIDisclosure: true}, *v.Rights)
}

// TestFallbackIsNotForInterrupted checks that a generation that is stopped is
// not finished by the composer.
func TestFallbackIsNotForInterrupted(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	id := begin(c, `{"prompt":"Mountain green tea","provider":"openai"}`)
	ctx, cancel := context.WithCancel(t.Context())
	a.write = func(context.Context, *creative.Brief) (*creative.Result, error) {
		cancel()
		return nil, creative.Fail(creative.FailProvider, true, "Away.")
	}
	if err := c.Creatives.Run(ctx, c.Workspace, ident.ID(id)); err == nil {
		t.Error("got no error of an interrupted generation")
	}
	want(t, "status", any("generating"), read(c, id)["status"])
}
