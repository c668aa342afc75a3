package creative_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/fanfaretest"
)

// TestGenerateText has the built-in generator answer at once (W9), for every
// channel.
func TestGenerateText(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		res := generate(c, map[string]any{
			"prompt": tea, "channels": creative.Channels, "seed": 7, "tags": []string{"Tea"}, "metadata": map[string]any{"k": "v"},
			"landing_url": "https://leaf.example/tea", "brand": map[string]any{"name": "Leaf & Co"},
		}).Want(201)
		v := loadCreative(c, res.ID())
		if res.Header.Get("Location") != collection+"/"+string(v.ID) || res.Header.Get("ETag") != `"1.0"` || res.Header.Get("Retry-After") != "" || res.Header.Get("Preference-Applied") != "" {
			t.Errorf("got headers %v", res.Header)
		}
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
		at := clock.At(fanfaretest.Start)
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
		}).Want(201).ID())
		want(t, "content of the same request", v.Content, again.Content)
	})
}

// TestVariants checks the order of variants, that the primary one equals the
// creative, and that weights add up.
func TestVariants(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		for _, n := range []int{1, 3, 7, 10} {
			id := generate(c, map[string]any{"prompt": tea, "variants": n}).Want(201).ID()
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
		id := generate(c, `{"prompt":"Mountain tea","variants":4}`).Want(201).ID()
		path := collection + "/" + id + "/variants"
		first := c.Do("GET", path+"?limit=2&sort=position&order=desc", nil).Want(200).List()
		second := c.Do("GET", path+"?limit=2&cursor="+*first.NextCursor, nil).Want(200).List()
		var positions []any
		for _, v := range slices.Concat(first.Data, second.Data) {
			positions = append(positions, v["position"])
		}
		want(t, "positions on two pages", []any{4.0, 3.0, 2.0, 1.0}, positions)
		want(t, "failed ones", 0, len(c.Do("GET", path+"?status=failed", nil).Want(200).List().Data))
		c.Do("GET", collection+"/crv_01h455vb4pex5vsknk084sn02q/variants", nil).WantError(404, "not_found")
	})
}

// TestGenerateImage creates images in the background.
func TestGenerateImage(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		res := generate(c, map[string]any{
			"prompt": tea, "type": "image", "variants": 2, "aspect_ratios": []string{"1:1", "9:16"}, "sizes": []string{"300x250"}, "formats": []string{"png", "svg"},
		}, async).Want(202)
		id := res.ID()
		want(t, "headers", []string{"2", collection + "/" + id, "respond-async"},
			[]string{res.Header.Get("Retry-After"), res.Header.Get("Location"), res.Header.Get("Preference-Applied")})
		rec := res.Record()
		want(t, "status, count, primary", []any{"generating", 0.0, nil}, []any{rec["status"], rec["variant_count"], rec["primary_variant_id"]})
		get := c.Do("GET", collection+"/"+id, nil).Want(200)
		want(t, "Retry-After while generating", "2", get.Header.Get("Retry-After"))
		want(t, "jobs", int64(1), countGenerateJobs(t, c, id))
		runJob(t, c, id)
		get = c.Do("GET", collection+"/"+id, nil).Want(200)
		want(t, "headers once ready", []string{"", `"2.0"`}, []string{get.Header.Get("Retry-After"), get.Header.Get("ETag")})
		want(t, "jobs once ready", int64(0), countGenerateJobs(t, c, id))
		want(t, "events", []string{"created", "ready"}, eventTypes(c, id))
		ready := eventsOf(c, id)[1]
		want(t, "actor and previous", []any{map[string]any{"type": "system", "id": nil}, map[string]any{"status": "generating"}}, []any{ready["actor"], ready["previous"]})
		v := loadCreative(c, id)
		want(t, "times", []any{clock.At(fanfaretest.Start), clock.At(fanfaretest.Start.Add(time.Millisecond))}, []any{*v.Generation.StartedAt, *v.Generation.FinishedAt})
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
				picture := c.Do("GET", m.URL, nil, "Accept: */*").Want(200)
				want(t, "type and size of the picture", []any{m.MIMEType, m.Bytes}, []any{picture.Header.Get("Content-Type"), int64(len(picture.Body))})
			}
			want(t, "formats", []string{"png", "svg+xml", "png", "svg+xml", "png", "svg+xml"}, sizes)
			want(t, "sizes", []int64{1080, 1080, 1080, 1920, 300, 250},
				[]int64{*x.Content.Media[0].Width, *x.Content.Media[0].Height, *x.Content.Media[2].Width, *x.Content.Media[2].Height, *x.Content.Media[4].Width, *x.Content.Media[4].Height})
		}
		want(t, "different pictures", 12, len(sums))
		if !slices.Contains(list[1].Differences, "image") {
			t.Errorf("got differences %v want image among them", list[1].Differences)
		}
	})
}

// TestPreferences checks the Prefer header (RFC 7240).
func TestPreferences(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		const picture = `{"prompt":"Mountain tea","type":"image","variants":1,"sizes":["320x50"]}`
		for _, tt := range []struct{ prefer, applied string }{
			{"respond-async", "respond-async"},
			{"wait=0", "wait=0"},
			{"Respond-Async, wait=30", "respond-async"},
			{"wait=30, respond-async", "respond-async"},
			{`handling=lenient, wait="0"`, "wait=0"},
			{"wait=0, wait=20", "wait=0"},
		} {
			res := generate(c, picture, "Prefer: "+tt.prefer).Want(202)
			want(t, "Preference-Applied of "+tt.prefer, tt.applied, res.Header.Get("Preference-Applied"))
		}
		runJobs(t, c)
		for _, tt := range []struct{ prefer, applied string }{
			{"wait=30", "wait=30"}, {"wait=600", "wait=30"}, {"wait=99999999999999999999, wait=25", "wait=25"}, {"wait=-1, wait=20", "wait=20"}, {"wait = 30", "wait=30"},
		} {
			res := generate(c, picture, "Prefer: "+tt.prefer).Want(201)
			want(t, "status and Preference-Applied of "+tt.prefer, []any{"ready", tt.applied, ""},
				[]any{res.Record()["status"], res.Header.Get("Preference-Applied"), res.Header.Get("Retry-After")})
			want(t, "the record of "+tt.prefer, read(c, res.ID()), res.Record())
		}
		// Text is there at once, whatever is preferred.
		res := generate(c, `{"prompt":"Mountain tea"}`, async).Want(201)
		want(t, "status of text", any("ready"), res.Record()["status"])
	})
}

// TestIdempotentGeneration answers a repeated request as the first one, also
// when that was waited for.
func TestIdempotentGeneration(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		const picture = `{"prompt":"Mountain tea","type":"image","variants":1,"sizes":["320x50"]}`
		again := func(what string, first *fanfaretest.Response, path, body string, headers ...string) {
			t.Helper()
			res := c.Do("POST", path, body, headers...).Want(first.Status)
			want(t, what+": body", string(first.Body), string(res.Body))
			want(t, what+": headers", []string{"true", first.Header.Get("Location"), first.Header.Get("Retry-After"), first.Header.Get("ETag")},
				[]string{res.Header.Get("Idempotency-Replayed"), res.Header.Get("Location"), res.Header.Get("Retry-After"), res.Header.Get("ETag")})
		}
		text := generate(c, `{"prompt":"Mountain tea"}`, "Idempotency-Key: text").Want(201)
		again("text", text, collection+"/generate", `{"prompt":"Mountain tea"}`, "Idempotency-Key: text")
		later := generate(c, picture, async, "Idempotency-Key: later").Want(202)
		again("while generating", later, collection+"/generate", picture, async, "Idempotency-Key: later")
		runJob(t, c, later.ID())
		again("once ready", later, collection+"/generate", picture, async, "Idempotency-Key: later")
		generate(c, `{"prompt":"Another"}`, "Idempotency-Key: later").WantError(422, "idempotency_key_reused")
		runJobs(t, c)
		waited := generate(c, picture, "Prefer: wait=30", "Idempotency-Key: waited").Want(201)
		again("what was waited for", waited, collection+"/generate", picture, "Prefer: wait=30", "Idempotency-Key: waited")
		patch(c, waited.ID(), `{"name":"Another"}`).Want(200)
		again("after a change", waited, collection+"/generate", picture, "Idempotency-Key: waited")
		want(t, "creatives", 3, len(c.Do("GET", collection+"?status=all", nil).Want(200).List().Data))
	})
}

// TestIdempotentRetry checks that each retry has its own response.
func TestIdempotentRetry(t *testing.T) {
	each(t, func(t *testing.T, c *fanfaretest.Tenant) {
		a := useFakeProvider(c)
		id := createInStatus(t, c, a, "failed")
		path := collection + "/" + id + "/retry"
		first := c.Do("POST", path, nil, async, "Idempotency-Key: one").Want(202)
		res := c.Do("POST", path, nil, async, "Idempotency-Key: one").Want(202)
		want(t, "the same key", string(first.Body), string(res.Body))
		want(t, "replayed", "true", res.Header.Get("Idempotency-Replayed"))
		c.Do("POST", path, nil, async, "Idempotency-Key: two").WantError(409, "invalid_state")
		runJobs(t, c)
		a.failWith(creative.Fail(creative.FailProvider, true, "The provider is away."))
		for read(c, id)["status"] == "generating" {
			if t.Context().Err() != nil {
				t.Fatal("the generation did not end")
			}
		}
		waited := c.Do("POST", path, nil, "Prefer: wait=30", "Idempotency-Key: two").Want(200)
		if rec := waited.Record(); rec["status"] == "generating" {
			t.Errorf("got status %v want one that is final", rec["status"])
		}
		res = c.Do("POST", path, nil, "Idempotency-Key: two").Want(200)
		want(t, "the answer that was waited for", string(waited.Body), string(res.Body))
		want(t, "Location of a retry", "", res.Header.Get("Location"))
	})
}
