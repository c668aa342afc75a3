package creative_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/store/storetest"
)

// TestGenerateText has the built-in generator answer at once (W9), for every
// channel.
func TestGenerateText(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	res := generate(c, map[string]any{
		"prompt": tea, "channels": creative.Channels, "seed": 7, "tags": []string{"Tea"}, "metadata": map[string]any{"k": "v"},
		"landing_url": "https://leaf.example/tea", "brand": map[string]any{"name": "Leaf & Co"},
	}).OK()
	v := loadCreative(c, res.ID())
	want(t, "ETag", `"1.0"`, res.ETag())
	want(t, "status, type, source", []any{creative.StatusReady, "text", "generated"}, []any{v.Status, v.Type, v.Source})
	want(t, "approval", creative.Approval{Status: "not_required"}, v.Approval)
	want(t, "tags and metadata", []any{[]string{"tea"}, map[string]string{"k": "v"}}, []any{v.Tags, v.Metadata})
	want(t, "count", 3, v.VariantCount)
	want(t, "channels", creative.Channels, v.Channels)
	if v.Rights != nil {
		t.Errorf("got rights %+v for what no model wrote, want none", v.Rights)
	}
	g := v.Generation
	want(t, "provenance", []any{tea, "composer", int64(7), 3, "https://leaf.example/tea"}, []any{g.Prompt, g.Provider, g.Seed, g.Parameters.Variants, *g.Parameters.LandingURL})
	want(t, "cost", "0.000000", *g.Cost.Amount)
	at := clock.At(storetest.Start)
	want(t, "times", []any{at, at, at}, []any{*g.StartedAt, *g.FinishedAt, v.CreatedAt})
	if g.Error != nil || g.Model == nil {
		t.Errorf("got error %v and model %v", g.Error, g.Model)
	}
	if v.Content.Headline == nil || v.Content.Body == nil || *v.Content.LandingURL != "https://leaf.example/tea" || *v.Content.Language != "en" || len(v.Content.Media) != 0 {
		t.Errorf("got content %+v", v.Content)
	}
	for _, channel := range creative.Channels {
		if copied, there := v.Content.ByChannel[channel]; !there || len(copied.LimitViolations(channel)) > 0 {
			t.Errorf("%s: got %+v, want a text that fits", channel, copied)
		}
	}
	want(t, "events", []string{"created", "ready"}, eventTypes(c, string(v.ID)))
	// The same request and seed give the same texts.
	again := loadCreative(c, generate(c, map[string]any{
		"prompt": tea, "channels": creative.Channels, "seed": 7, "landing_url": "https://leaf.example/tea", "brand": map[string]any{"name": "Leaf & Co"},
	}).OK().ID())
	want(t, "content of the same request", v.Content, again.Content)
}

// TestVariants checks the order of variants, that the primary one equals the
// creative, and that weights add up.
func TestVariants(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for _, n := range []int{1, 3, 7, 10} {
		id := generate(c, map[string]any{"prompt": tea, "variants": n}).OK().ID()
		v, list := loadCreative(c, id), variants(c, id)
		if v.VariantCount != len(list) || len(list)+len(v.Generation.Dropped) != n {
			t.Errorf("got variant_count %d, %d variants and %d reasons want %d in all", v.VariantCount, len(list), len(v.Generation.Dropped), n)
		}
		sum := 0
		for i, x := range list {
			sum += x.Weight
			want(t, "position, creative, status", []any{i + 1, v.ID, creative.StatusReady}, []any{x.Position, x.CreativeID, x.Status})
			want(t, "primary and control", []bool{i == 0, i == 0}, []bool{x.IsPrimary, x.IsControl})
			if i > 0 && len(x.Differences) == 0 {
				t.Errorf("variant %d: got no differences", i+1)
			}
			want(t, "seed", v.Generation.Seed, x.Generation.Seed)
		}
		want(t, "sum of the weights", 100, sum)
		want(t, "content of the primary variant", v.Content, list[0].Content)
		want(t, "primary variant", list[0].ID, *v.PrimaryVariantID)
		want(t, "differences of the primary variant", []string{}, list[0].Differences)
	}
	failed := page.Query{Limit: 10, Sort: "position", Status: []string{"failed"}}
	id := generate(c, `{"prompt":"Mountain tea","variants":4}`).OK().ID()
	want(t, "failed ones", 0, len(c.Members(c.Creatives.Variants(t.Context(), c.Workspace, ident.ID(id), failed))))
	if _, err := c.Creatives.Variants(t.Context(), c.Workspace, "crv_01h455vb4pex5vsknk084sn02q", failed); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v of the variants of no creative want not_found", err)
	}
}

// TestGenerateImage creates images in the background.
func TestGenerateImage(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := begin(c, map[string]any{
		"prompt": tea, "type": "image", "variants": 2, "aspect_ratios": []string{"1:1", "9:16"}, "sizes": []string{"300x250"}, "formats": []string{"png", "svg"},
	})
	rec := read(c, id)
	want(t, "count, primary", []any{0.0, nil}, []any{rec["variant_count"], rec["primary_variant_id"]})
	want(t, "jobs", int64(1), countGenerateJobs(t, c, id))
	runJob(t, c, id)
	want(t, "ETag once ready", `"2.0"`, get(c, id).ETag())
	want(t, "jobs once ready", int64(0), countGenerateJobs(t, c, id))
	want(t, "events", []string{"created", "ready"}, eventTypes(c, id))
	ready := eventsOf(c, id)[1]
	want(t, "actor and previous", []any{map[string]any{"type": "system", "id": nil}, map[string]any{"status": "generating"}}, []any{ready["actor"], ready["previous"]})
	v := loadCreative(c, id)
	want(t, "times", []any{clock.At(storetest.Start), clock.At(storetest.Start.Add(time.Millisecond))}, []any{*v.Generation.StartedAt, *v.Generation.FinishedAt})
	list := variants(c, id)
	want(t, "variants", 2, len(list))
	sums := map[string]bool{}
	for _, x := range list {
		want(t, "aspect ratio", "1:1", *x.AspectRatio)
		var sizes []string
		for _, m := range x.Content.Media {
			sizes = append(sizes, strings.TrimPrefix(m.MIMEType, "image/"))
			sums[m.SHA256] = true
			if m.AltText == nil || *m.AltText == "" || m.Bytes == 0 || *m.Width == 0 || *m.Height == 0 {
				t.Errorf("got media %+v", m)
			}
			want(t, "type and size of the picture", []any{m.MIMEType, m.Bytes}, pictureOf(t, c, m.AssetID))
		}
		want(t, "formats", []string{"png", "svg+xml", "png", "svg+xml", "png", "svg+xml"}, sizes)
		want(t, "sizes", []int64{1080, 1080, 1080, 1920, 300, 250},
			[]int64{*x.Content.Media[0].Width, *x.Content.Media[0].Height, *x.Content.Media[2].Width, *x.Content.Media[2].Height, *x.Content.Media[4].Width, *x.Content.Media[4].Height})
	}
	want(t, "different pictures", 12, len(sums))
	if !slices.Contains(list[1].Differences, "image") {
		t.Errorf("got differences %v want image among them", list[1].Differences)
	}
}
