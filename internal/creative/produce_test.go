package creative_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/store/storetest"
)

// generateNow generates with the author and returns what came of it.
func generateNow(t testing.TB, c *fixture, body string) (*creative.Creative, []creative.Variant) {
	t.Helper()
	id := begin(c, body)
	runJob(t, c, id)
	return loadCreative(c, id), variants(c, id)
}

// TestUnusableDrafts checks drafts of a provider that follows no rule.
func TestUnusableDrafts(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	for name, drafts := range map[string]func(b *creative.Brief) []creative.Draft{
		"no drafts":      func(*creative.Brief) []creative.Draft { return nil },
		"an empty draft": func(*creative.Brief) []creative.Draft { return []creative.Draft{{}} },
		"another channel": func(*creative.Brief) []creative.Draft {
			return draftsOf(&creative.Brief{Channels: []string{"search"}}, "One")
		},
		"nothing but space": func(b *creative.Brief) []creative.Draft { return draftsOf(b, " \u00a0\n") },
		"nothing but marks": func(b *creative.Brief) []creative.Draft { return draftsOf(b, "<br><img src=x>") },
		"too long":          func(b *creative.Brief) []creative.Draft { return draftsOf(b, strings.Repeat("long ", 150)) },
	} {
		a.respondWith(drafts)
		v, list := generateNow(t, c, byModel)
		if v.Status != creative.StatusFailed || v.Generation.Error.Code != creative.FailAnswer || !v.Generation.Error.Retryable || len(list) != 0 {
			t.Errorf("%s: got %s and %+v", name, v.Status, v.Generation.Error)
		}
	}
}

// TestDrafts wants of an author's drafts those that can be used, and a word on
// each of the others.
func TestDrafts(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	a.respondWith(func(b *creative.Brief) []creative.Draft {
		list := draftsOf(b, "One", "Two", "One", strings.Repeat("x", 201), "Three", "Four", "Five")
		social := list[3].ByChannel["social"]
		social.ShortText = nil
		list[3].ByChannel["social"] = social
		return list
	})
	v, list := generateNow(t, c, `{"prompt":"Mountain green tea","provider":"openai","channels":["social"],"variants":4}`)
	var texts []string
	for _, x := range list {
		texts = append(texts, *x.Content.Headline)
	}
	want(t, "headlines", []string{"One", "Two", "Three", "Four"}, texts)
	want(t, "reasons", []string{
		"Variant 3 repeats another.", "Variant 4 breaks the limits of social.headlines (201 of 200), social.short_text (0 of 100).",
	}, v.Generation.Dropped)
	want(t, "model", "author-1", *v.Generation.Model)
}

// TestPlainText checks that only plain text of the requested channels is kept
// from a provider that returns markup, fields that the channel does not have,
// and unknown codes.
func TestPlainText(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	secret := "<script>alert(1)</script>"
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		list := draftsOf(b, "<b>Green\u202e</b> tea\x07")
		list = append(list, draftsOf(&creative.Brief{Channels: []string{"search"}}, "Unasked")...)
		list[0].ByChannel["email"] = policy.Copy{Body: &secret}
		social := list[0].ByChannel["social"]
		social.Body, social.Subject = &secret, &secret
		list[0].ByChannel["social"] = social
		list[0].Angle, list[0].CallToAction = "ängste_nehmen", "Click here!"
		return &creative.Result{Language: "en", Drafts: list[:1]}, nil
	}
	v, list := generateNow(t, c, byModel)
	if v.Status != creative.StatusReady {
		t.Fatalf("got %s: %+v", v.Status, v.Generation.Error)
	}
	want(t, "headline", "Green tea", *v.Content.Headline)
	want(t, "channels", 1, len(v.Content.ByChannel))
	social := v.Content.ByChannel["social"]
	if social.Body != nil || social.Subject != nil || v.Content.CallToAction != nil {
		t.Errorf("got %+v and %+v", social, v.Content)
	}
	want(t, "name", "Ängste nehmen", list[0].Name)
	// The record can be sent back as it is.
	res := get(c, string(v.ID))
	want(t, "version after a round trip", any(2.0), patch(c, string(v.ID), res.Record()).OK().Record()["version"])
	if strings.ContainsAny(string(res.JSON), "<\x00\u202e") || strings.Contains(string(res.JSON), `\u0000`) {
		t.Errorf("got %s", res.JSON)
	}
}

// TestCallToAction maps the text of a button to a call to action.
func TestCallToAction(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	for words, wanted := range map[string]string{"shop_now": "shop_now", "Learn more": "learn_more", "Jetzt kaufen": "", "": ""} {
		a.respondWith(func(b *creative.Brief) []creative.Draft {
			list := draftsOf(b, "One")
			list[0].CallToAction = words
			return list
		})
		got := ""
		if v, _ := generateNow(t, c, byModel); v.Content.CallToAction != nil {
			got = *v.Content.CallToAction
		}
		want(t, "call to action of "+words, wanted, got)
	}
}

// TestPolicyBlocks checks that blocked variants fail: some of them, or all.
func TestPolicyBlocks(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	const bad = "This tea cures cancer"
	a.respondWith(func(b *creative.Brief) []creative.Draft { return draftsOf(b, bad, bad+" and gout") })
	v, list := generateNow(t, c, byModel)
	e := v.Generation.Error
	if v.Status != creative.StatusFailed || e.Code != creative.FailPolicy || e.Retryable || len(list) != 0 {
		t.Fatalf("got %s, %+v and %d variants", v.Status, e, len(list))
	}
	for _, part := range []string{"medical_claim", "social.primary_text", "cures cancer"} {
		if !strings.Contains(e.Message, part) {
			t.Errorf("got message %q want %s in it", e.Message, part)
		}
	}
	a.respondWith(func(b *creative.Brief) []creative.Draft {
		return draftsOf(b, bad, "One", bad+" and gout", "Two", "Three")
	})
	v, list = generateNow(t, c, `{"prompt":"Mountain green tea","provider":"openai","channels":["social"],"variants":5}`)
	want(t, "status and count", []any{creative.StatusReady, 5}, []any{v.Status, v.VariantCount})
	type row struct {
		Status           creative.Status
		Primary, Control bool
		Weight           int
		Policy           string
		Differs          bool
	}
	var got []row
	for _, x := range list {
		got = append(got, row{x.Status, x.IsPrimary, x.IsControl, x.Weight, x.Policy.Status, slices.Contains(x.Differences, "headline")})
	}
	failed := row{creative.StatusFailed, false, false, 0, "block", true}
	want(t, "variants", []row{
		failed,
		{creative.StatusReady, true, true, 34, "pass", false},
		failed,
		{creative.StatusReady, false, false, 33, "pass", true},
		{creative.StatusReady, false, false, 33, "pass", true},
	}, got)
	want(t, "primary", []any{list[1].ID, "One", "pass"}, []any{*v.PrimaryVariantID, *v.Content.Headline, v.Policy.Status})
	want(t, "failed ones in the list", 2, len(c.Members(c.Creatives.Variants(t.Context(), c.Workspace, v.ID, page.Query{Limit: 10, Sort: "position", Status: []string{"failed"}}))))
}

// TestDifferences checks the differences of variants.
func TestDifferences(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	a.respondWith(func(b *creative.Brief) []creative.Draft {
		list := draftsOf(b, "One", "One", "One")
		other := "Another text"
		for i, change := range []func(*policy.Copy){
			func(c *policy.Copy) { c.PrimaryText = &other }, func(c *policy.Copy) { c.Headlines = []string{other} },
		} {
			copied := list[i+1].ByChannel["other"]
			change(&copied)
			list[i+1].ByChannel["other"] = copied
		}
		list[2].CallToAction = "sign_up"
		return list
	})
	_, list := generateNow(t, c, `{"prompt":"Tea","provider":"openai","channels":["other"]}`)
	want(t, "differences", [][]string{{}, {"body"}, {"headline", "call_to_action"}}, [][]string{list[0].Differences, list[1].Differences, list[2].Differences})
}

// TestStrictest checks that headline and body fit every requested channel.
func TestStrictest(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	a.respondWith(func(b *creative.Brief) []creative.Draft {
		list := draftsOf(b, "One")
		for channel, copied := range list[0].ByChannel {
			copied.SetTexts("headlines", []string{channel + " 1", channel + " 2", channel + " 3"}[:max(1, len(copied.Headlines))])
			list[0].ByChannel[channel] = copied
		}
		return list
	})
	v, _ := generateNow(t, c, `{"prompt":"Tea","provider":"openai","channels":["social","push","search"]}`)
	want(t, "headline", "search 1", *v.Content.Headline)
	v, _ = generateNow(t, c, `{"prompt":"Tea","provider":"openai","channels":["social","push"]}`)
	want(t, "headline", "push 1", *v.Content.Headline)
}

// onePixel returns a small image.
func onePixel(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 2, 3))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// smallPhoto returns an opaque picture.
func smallPhoto(t testing.TB) []byte {
	t.Helper()
	p := image.NewGray(image.Rect(0, 0, 16, 16))
	for i := range p.Pix {
		p.Pix[i] = uint8(i)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPictures has the author draw, or the built-in renderer where it does not,
// and counts what both used.
func TestPictures(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	cost := func(n int64) *int64 { return &n }
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		return &creative.Result{Language: "en", Drafts: draftsOf(b, "One", "Two"), Usage: creative.Usage{InputTokens: 10, OutputTokens: 20, Calls: 1, CostMicros: cost(1000)}}, nil
	}
	a.paint = func(_ context.Context, _ *creative.Brief, s creative.Shape, format string) (*creative.Picture, creative.Usage, error) {
		if format != "jpeg" || !slices.Contains(creative.Backgrounds, s) {
			t.Errorf("got a picture of %+v as %s asked for, want a background", s, format)
		}
		return &creative.Picture{Shape: s, MIMEType: "image/jpeg", Bytes: smallPhoto(t)}, creative.Usage{Images: 1, Calls: 1, Retries: 1, CostMicros: cost(40_000)}, nil
	}
	const body = `{"prompt":"Tea","provider":"openai","fallback":"none","type":"image","sizes":["320x50","300x250"],"formats":["png","svg"]}`
	v, list := generateNow(t, c, body)
	want(t, "cost", creative.Usage{InputTokens: 10, OutputTokens: 20, Images: 2, Calls: 3, Retries: 2}, v.Generation.Cost.Usage)
	want(t, "amount and spent", []any{"0.081000", int64(81_000)}, []any{*v.Generation.Cost.Amount, spent(t, c, "2026-11")})
	for _, x := range list {
		media := x.Content.Media
		want(t, "media", []any{4, "image/png", "image/svg+xml"}, []any{len(media), media[0].MIMEType, media[1].MIMEType})
		if alt := *media[0].AltText; !strings.HasPrefix(alt, *x.Content.Headline+".") {
			t.Errorf("got alternative text %q", alt)
		}
		if got := x.Assets(); len(got) != 5 || x.Generation.Parameters["background_wide"] != string(got[4]) {
			t.Errorf("got assets %v and parameters %v want a background for all", got, x.Generation.Parameters)
		}
		if x.AspectRatio != nil {
			t.Errorf("got aspect ratio %s of a size", *x.AspectRatio)
		}
	}
	want(t, "rights", creative.Rights{AIDisclosure: true}, *v.Rights)
	// What fails in the middle was paid for all the same.
	pictures := 0
	paints := a.paint
	a.paint = func(ctx context.Context, b *creative.Brief, s creative.Shape, format string) (*creative.Picture, creative.Usage, error) {
		if pictures++; pictures == 2 {
			return nil, creative.Usage{Calls: 1, CostMicros: cost(500)}, creative.Fail(creative.FailRefused, false, "The provider refused.")
		}
		return paints(ctx, b, s, format)
	}
	v, list = generateNow(t, c, body)
	want(t, "failed", []any{creative.StatusFailed, creative.FailRefused, 0, "0.041500"}, []any{v.Status, v.Generation.Error.Code, len(list), *v.Generation.Cost.Amount})
	want(t, "spent", int64(81_000+41_500), spent(t, c, "2026-11"))
	// A fault of ours in the middle is tried again, from the start.
	broken := errors.New("broken")
	a.paint = func(context.Context, *creative.Brief, creative.Shape, string) (*creative.Picture, creative.Usage, error) {
		return nil, creative.Usage{}, broken
	}
	id := begin(c, body)
	if err := c.Creatives.Run(t.Context(), c.Workspace, ident.ID(id)); !errors.Is(err, broken) {
		t.Errorf("got %v want %v", err, broken)
	}
	a.paint = paints
	runJob(t, c, id)
	want(t, "status in the end", any("ready"), read(c, id)["status"])
}

// TestLogo checks that the logo comes from the workspace's assets or from its
// URL, and only if the creative has images.
func TestLogo(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a, s := useFakeProvider(c), c.Creatives
	var told []byte
	a.paint = func(_ context.Context, b *creative.Brief, s creative.Shape, _ string) (*creative.Picture, creative.Usage, error) {
		told = b.Brand.Logo
		return &creative.Picture{Shape: s, MIMEType: "image/jpeg", Bytes: smallPhoto(t)}, creative.Usage{}, nil
	}
	fetched := append(onePixel(t), 0)
	var asked []string
	s.Fetch = func(_ context.Context, url string) ([]byte, error) {
		if asked = append(asked, url); strings.Contains(url, "away") {
			return nil, errors.New("away")
		}
		return fetched, nil
	}
	picture := func(url string) string {
		return fmt.Sprintf(`{"prompt":"Tea","provider":"openai","type":"image","sizes":["320x50"],"brand":{"logo_url":%q}}`, url)
	}
	generateNow(t, c, picture("/v1/assets/"+asset(c, onePixel(t))))
	want(t, "logo of an asset", onePixel(t), told)
	generateNow(t, c, picture("https://leaf.example/logo.png"))
	want(t, "logo of an address", fetched, told)
	v, _ := generateNow(t, c, picture("https://away.example/logo.png"))
	want(t, "logo that is away", []any{creative.FailLogo, true}, []any{v.Generation.Error.Code, v.Generation.Error.Retryable})
	generateNow(t, c, `{"prompt":"Tea","provider":"openai","brand":{"logo_url":"https://text.example/logo.png"}}`)
	want(t, "addresses", []string{"https://leaf.example/logo.png", "https://away.example/logo.png"}, asked)
	// What cannot be drawn has its text all the same, and a reason.
	v, _ = generateNow(t, c, `{"brief":{"product":"绿茶","benefits":["手工采摘","春天的味道"]},"language":"zh","provider":"composer","type":"image","sizes":["320x50"]}`)
	want(t, "a script without a font", []any{creative.StatusReady, 0, true}, []any{v.Status, len(v.Content.Media), v.Content.Headline != nil})
	if why := strings.Join(v.Generation.Dropped, " "); !strings.Contains(why, "has no pictures") || !strings.Contains(why, "--fonts") {
		t.Errorf("got reasons %q", why)
	}
}

// TestBudget checks the monthly budget for models.
func TestBudget(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	budget := func(micros *int64) {
		t.Helper()
		if _, err := c.Accounts.SetModelBudget(t.Context(), storetest.Operator, c.Workspace, micros); err != nil {
			t.Fatal(err)
		}
	}
	calls := 0
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		calls++
		price := int64(600_000)
		return &creative.Result{Language: "en", Drafts: draftsOf(b, fmt.Sprint("Tea ", calls)), Usage: creative.Usage{Calls: 1, CostMicros: &price}}, nil
	}
	limit, none := int64(1_000_000), int64(0)
	budget(&limit)
	for i, wanted := range []creative.Status{creative.StatusReady, creative.StatusReady, creative.StatusFailed} {
		v, _ := generateNow(t, c, byModel)
		want(t, fmt.Sprintf("status of %d", i+1), wanted, v.Status)
		if e := v.Generation.Error; e != nil {
			want(t, "reason", []any{creative.FailBudget, true}, []any{e.Code, e.Retryable})
			if !strings.Contains(e.Message, "1.200000 of 1.000000") {
				t.Errorf("got message %q", e.Message)
			}
		}
	}
	want(t, "calls and spent", []int64{2, 1_200_000}, []int64{int64(calls), spent(t, c, "2026-11")})
	want(t, "composer", any("ready"), generate(c, `{"prompt":"Tea","provider":"composer"}`).OK().Record()["status"])
	// The next month has its own.
	c.Clock.Advance(17 * 24 * time.Hour)
	v, _ := generateNow(t, c, byModel)
	want(t, "status and spent in the next month", []any{creative.StatusReady, int64(600_000)}, []any{v.Status, spent(t, c, "2026-12")})
	a.unpriced = true
	v, _ = generateNow(t, c, byModel)
	want(t, "without a price", []any{creative.FailBudget, false}, []any{v.Generation.Error.Code, v.Generation.Error.Retryable})
	budget(&none)
	a.unpriced = false
	v, _ = generateNow(t, c, byModel)
	want(t, "without a cent", creative.FailBudget, v.Generation.Error.Code)
	budget(nil)
	a.unpriced = true
	v, _ = generateNow(t, c, byModel)
	want(t, "without a limit", creative.StatusReady, v.Status)
}

// TestUnknownPrice checks that the cost is null without a price.
func TestUnknownPrice(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		return &creative.Result{Language: "en", Drafts: draftsOf(b, "Tea"), Usage: creative.Usage{Calls: 1, InputTokens: 5}}, nil
	}
	v, _ := generateNow(t, c, byModel)
	if v.Generation.Cost.Amount != nil || v.Generation.Cost.InputTokens != 5 {
		t.Errorf("got cost %+v", v.Generation.Cost)
	}
	want(t, "spent", int64(0), spent(t, c, "2026-11"))
}

// TestBriefIsComplete checks the brief that the provider gets.
func TestBriefIsComplete(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	first := generate(c, `{"prompt":"Mountain green tea from the valley"}`).OK().ID()
	campaign := newCampaign(c, `{"name":"One","objective":"leads","channels":["push","sms"],"tracking":{"landing_url":"https://leaf.example/"}}`).ID()
	var told *creative.Brief
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		told = b
		return &creative.Result{Language: "de", Drafts: draftsOf(b, "Tee")}, nil
	}
	v, _ := generateNow(t, c, fmt.Sprintf(`{"prompt":"Tea","negative_prompt":"sugar","provider":"openai","variants":2,"tone":"calm","language":"de","call_to_action":"sign_up",
		"campaign_id":%q,"seed":9,"brand":{"name":"Leaf","voice":"warm","colors":["#AABBCC"],"banned_words":["cheap"]},"references":[{"creative_id":%q},{"url":"https://leaf.example/style"}]}`, campaign, first))
	example := loadCreative(c, first)
	want(t, "facts", "Tea", told.Facts.Facts[0].Text)
	told.Facts = nil
	want(t, "the brief", &creative.Brief{
		Prompt: "Tea", NegativePrompt: "sugar", Type: "text", Channels: []string{"push", "sms"}, Variants: 2, Formats: []string{"png"}, Language: "de", Tone: "calm",
		Brand:        creative.Brand{Name: "Leaf", Voice: "warm", Colors: []string{"#aabbcc"}, BannedWords: []string{"cheap"}},
		CallToAction: "sign_up", LandingURL: "https://leaf.example/", Objective: "leads", Examples: []string{*example.Content.Headline, *example.Content.Body}, Seed: 9,
	}, told)
	want(t, "channels and landing page", []any{[]string{"push", "sms"}, "https://leaf.example/"}, []any{v.Channels, *v.Content.LandingURL})
	// A retry gets the same result.
	a.failWith(creative.Fail(creative.FailProvider, true, "Away."))
	v, _ = generateNow(t, c, byModel)
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		told = b
		return &creative.Result{Language: "en", Drafts: draftsOf(b, "Tea")}, nil
	}
	act(c, string(v.ID), "retry").OK()
	runJob(t, c, string(v.ID))
	want(t, "seed of the retry", v.Generation.Seed, told.Seed)
	if v := loadCreative(c, string(v.ID)); v.Status != creative.StatusReady || v.Generation.Error != nil {
		t.Errorf("got %s and %+v", v.Status, v.Generation.Error)
	}
}

// TestNotesOfThePrompt has words that a note forbids or asks for reach the
// provider, also when the stored creative is generated again.
func TestNotesOfThePrompt(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	a.failWith(creative.Fail(creative.FailProvider, true, "Away."))
	v, _ := generateNow(t, c, `{"prompt":"Clock repairs in Ely.\nMust include: \"est. 1904\"\nAvoid: antique","provider":"openai","fallback":"none","channels":["sms"],"variants":1}`)
	var told *creative.Brief
	a.write = func(_ context.Context, b *creative.Brief) (*creative.Result, error) {
		told = b
		return &creative.Result{Language: "en", Drafts: draftsOf(b, "Clocks")}, nil
	}
	act(c, string(v.ID), "retry").OK()
	runJob(t, c, string(v.ID))
	want(t, "words to avoid and to include", [][]string{{"antique"}, {"est. 1904"}}, [][]string{told.Avoid, told.MustInclude})
}

// TestStorageFull checks that a workspace at its limit of images gets no new
// ones until the limit is raised. Images that it already has need no space.
func TestStorageFull(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	limit := func(pictures int64) {
		c.LimitAssets(pictures * 64 << 10)
		c.Creatives.Assets = c.Assets
	}
	count := func() int64 {
		t.Helper()
		used, err := c.DB.Assets().Used(t.Context(), c.Workspace, 64<<10)
		if err != nil {
			t.Fatal(err)
		}
		return used / (64 << 10)
	}
	pictures := func(prompt string) string {
		return fmt.Sprintf(`{"prompt":%q,"type":"image","variants":1,"formats":["svg"],"aspect_ratios":["1:1","16:9"],"seed":1}`, prompt)
	}
	limit(3)
	for range 2 {
		v, _ := generateNow(t, c, pictures("Green tea"))
		want(t, "status with room", creative.StatusReady, v.Status)
		want(t, "pictures", int64(2), count())
	}
	id := begin(c, pictures("Black coffee"))
	runJob(t, c, id)
	v := loadCreative(c, id)
	want(t, "status without room", creative.StatusFailed, v.Status)
	if e := v.Generation.Error; e.Code != creative.FailStorage || !e.Retryable || !strings.Contains(e.Message, "--max-asset-gib") {
		t.Errorf("got %+v", e)
	}
	want(t, "pictures", int64(3), count())
	other := c.another()
	v, _ = generateNow(t, other, pictures("Black coffee"))
	want(t, "status in another workspace", creative.StatusReady, v.Status)
	limit(4)
	retry(c, id).OK()
	runJob(t, c, id)
	want(t, "status after the limit was raised", creative.StatusReady, loadCreative(c, id).Status)
}

// TestInventedClaims checks the findings in copy of a model, after a person's
// edit, and that the built-in composer is not suspected.
func TestInventedClaims(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	a.respondWith(func(b *creative.Brief) []creative.Draft {
		return draftsOf(b, "Organic green tea", "Tea picked by Maria Nolan")
	})
	rules := func(p policy.Result) (list []string) {
		for _, f := range p.Findings {
			if s := f.Rule + " " + f.Severity + " " + f.Text; !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		return list
	}
	v, list := generateNow(t, c, byModel)
	want(t, "policy", []string{"quality_not_in_brief warn Organic"}, rules(v.Policy))
	want(t, "second variant", []any{creative.StatusFailed, []string{"name_not_in_brief block Maria Nolan"}}, []any{list[1].Status, rules(list[1].Policy)})
	patch(c, string(v.ID), `{"content":{"by_channel":{"social":{"headlines":["Tea for 500 friends of Maria Nolan"]}}}}`).OK()
	got := rules(loadCreative(c, string(v.ID)).Policy)
	for _, want := range []string{"number_not_in_brief warn 500", "name_not_in_brief warn Maria Nolan"} {
		if !slices.Contains(got, want) {
			t.Errorf("got %q after an edit want %q", got, want)
		}
	}
}
