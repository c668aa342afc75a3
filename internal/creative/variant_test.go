package creative_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

const facts = `"product":"Lumo 8 folding bike","offer":"20% off","price":"from £649","deadline":"30 June","audience":"commuters",
	"benefits":["folds in ten seconds","weighs 9 kg","fits under a desk"],"proof":["4.8 stars from 2,100 reviews"],"call_to_action":"Book a test ride","place":"Leeds"`

// bike generates a creative with several variants.
func bike(c *fixture, rest string) *creative.Creative {
	return loadCreative(c, generate(c, `{"brief":{`+facts+`},"seed":7,"variants":3`+rest+`}`).OK().ID())
}

func patchVariant(c *fixture, id ident.ID, body any, match ...string) *storetest.Answer {
	return c.Answer(c.Creatives.UpdateVariant(c.T.Context(), c.Cause(), id, record.ParseMatch(match), storetest.Sent(c.T, body)))
}

func regenerateLine(c *fixture, id ident.ID, field string) *storetest.Answer {
	return c.Answer(c.Creatives.RegenerateLine(c.T.Context(), c.Cause(), id, record.Match{}, field))
}

func reject(c *fixture, id ident.ID) *storetest.Answer {
	return c.Answer(c.Creatives.RejectVariant(c.T.Context(), c.Cause(), id, record.Match{}, nil))
}

func approve(c *fixture, id ident.ID, note *string) *storetest.Answer {
	return c.Answer(c.Creatives.ApproveVariant(c.T.Context(), c.Cause(), id, record.Match{}, note))
}

// TestUpdateVariant changes the texts of a variant. The creative follows its
// primary variant only.
func TestUpdateVariant(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	b := bike(c, "")
	all := variants(c, string(b.ID))
	c.Clock.Advance(time.Millisecond)
	second := patchVariant(c, all[1].ID, `{"name":"Short","content":{"by_channel":{"social":{"primary_text":"Folds in ten seconds."}}}}`).OK()
	want(t, "ETag", `"2.0"`, second.ETag())
	changed := variants(c, string(b.ID))
	want(t, "name and text", []string{"Short", "Folds in ten seconds."}, []string{changed[1].Name, *changed[1].Content.ByChannel["social"].PrimaryText})
	want(t, "headlines stay", all[1].Content.ByChannel["social"].Headlines, changed[1].Content.ByChannel["social"].Headlines)
	want(t, "the others", []creative.Variant{all[0], all[2]}, []creative.Variant{changed[0], changed[2]})
	after := loadCreative(c, string(b.ID))
	want(t, "version and content of the creative", []any{int64(2), b.Content}, []any{after.Version, after.Content})
	want(t, "events", []string{"created", "ready", "updated"}, eventTypes(c, string(b.ID)))
	patchVariant(c, all[0].ID, `{"content":{"headline":"Lumo 8","by_channel":{"social":{"headlines":["Lumo 8, 20% off"]}}}}`, `"1.0"`).OK()
	after = loadCreative(c, string(b.ID))
	want(t, "content of the creative", []string{"Lumo 8", "Lumo 8, 20% off"}, []string{*after.Content.Headline, after.Content.ByChannel["social"].Headlines[0]})
	for _, v := range variants(c, string(b.ID))[1:] {
		if !slices.Contains(v.Differences, "headline") {
			t.Errorf("got differences %v want headline among them", v.Differences)
		}
	}
	// Nothing changes, so nothing is written.
	patchVariant(c, all[0].ID, `{"content":{"headline":"Lumo 8"}}`).OK()
	want(t, "version", int64(3), loadCreative(c, string(b.ID)).Version)
}

// TestUpdateVariantRefuses refuses what platforms and the policy refuse, and old
// versions.
func TestUpdateVariantRefuses(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	b := bike(c, `,"channels":["search","social"]`)
	v := variants(c, string(b.ID))[1]
	before := string(get(c, string(b.ID)).JSON)
	long := strings.Repeat("long ", 10)
	wantDetail(t, patchVariant(c, v.ID, `{"content":{"by_channel":{"search":{"headlines":["`+long+`","One","Two"]}}}}`), "content.by_channel.search.headlines[0]", "too_long")
	wantDetail(t, patchVariant(c, v.ID, `{"content":{"by_channel":{"search":{"headlines":["One"]}}}}`), "content.by_channel.search.headlines", "required")
	wantDetail(t, patchVariant(c, v.ID, `{"content":{"by_channel":{"social":{"primary_text":"Cures cancer. Guaranteed."}}}}`), "content.by_channel.social.primary_text", "policy_blocked")
	wantDetail(t, patchVariant(c, v.ID, `{"weight":3}`), "weight", "read_only")
	patchVariant(c, v.ID, `{"name":"New"}`, `"9.0"`).Fault("precondition_failed")
	patchVariant(c, "var_01h455vb4pex5vsknk084sn02q", `{"name":"New"}`).Fault("not_found")
	patchVariant(c.another(), v.ID, `{"name":"New"}`).Fault("not_found")
	want(t, "the creative", before, string(get(c, string(b.ID)).JSON))
	archive(c, string(b.ID)).OK()
	patchVariant(c, v.ID, `{"name":"New"}`).Fault("archived")
}

// TestVariantPictures draws the pictures of a changed text again. Assets that no
// variant has anymore lose their reference.
func TestVariantPictures(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := begin(c, `{"brief":{`+facts+`},"type":"image","variants":2,"sizes":["320x50","300x250"],"seed":7}`)
	runJob(t, c, id)
	before := variants(c, id)
	patchVariant(c, before[1].ID, `{"content":{"by_channel":{"display":{"headlines":["Weighs 9 kg"]}}}}`).OK()
	after := variants(c, id)
	want(t, "the other variant", before[0], after[0])
	want(t, "number of pictures", len(before[1].Content.Media), len(after[1].Content.Media))
	for i, m := range after[1].Content.Media {
		was := before[1].Content.Media[i]
		want(t, "size", []int64{*was.Width, *was.Height}, []int64{*m.Width, *m.Height})
		if m.SHA256 == was.SHA256 || !strings.Contains(*m.AltText, "Weighs 9 kg") {
			t.Errorf("got picture %+v, want another one with the new text", m)
		}
	}
	refs := func(asset ident.ID) int64 {
		return c.Int(`SELECT count(*) FROM ref WHERE kind = 'asset_id' AND value = $1`, string(asset))
	}
	want(t, "references", []int64{1, 1, 0}, []int64{refs(before[0].Content.Media[0].AssetID), refs(after[1].Content.Media[0].AssetID), refs(before[1].Content.Media[0].AssetID)})
	// A text that no picture shows leaves the pictures as they are.
	patchVariant(c, before[1].ID, `{"name":"Light"}`).OK()
	want(t, "pictures", after[1].Content.Media, variants(c, id)[1].Content.Media)
}

// TestDecideVariant approves and rejects variants. A rejected one gets no
// traffic, and another one becomes primary.
func TestDecideVariant(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	b := bike(c, "")
	all := variants(c, string(b.ID))
	note := "Good."
	approve(c, all[2].ID, &note).OK()
	reject(c, all[0].ID).OK()
	after := variants(c, string(b.ID))
	want(t, "weights", []int{0, 50, 50}, []int{after[0].Weight, after[1].Weight, after[2].Weight})
	want(t, "primary", []bool{false, false, true}, []bool{after[0].IsPrimary, after[1].IsPrimary, after[2].IsPrimary})
	want(t, "decisions", []any{"rejected", (*creative.Approval)(nil), "approved", note}, []any{after[0].Approval.Status, after[1].Approval, after[2].Approval.Status, *after[2].Approval.Note})
	is := loadCreative(c, string(b.ID))
	want(t, "the creative", []any{all[2].ID, all[2].Content, creative.ApprovalNotRequired}, []any{*is.PrimaryVariantID, is.Content, is.Approval.Status})
	// The same decision changes nothing.
	reject(c, all[0].ID).OK()
	want(t, "version", is.Version, loadCreative(c, string(b.ID)).Version)
	reject(c, all[1].ID).OK()
	reject(c, all[2].ID).Fault("invalid_state")
	want(t, "weight of the last one", 100, variants(c, string(b.ID))[2].Weight)
	approve(c, all[0].ID, nil).OK()
	want(t, "weight once approved again", 50, variants(c, string(b.ID))[0].Weight)
	// A new text has not been decided on.
	patchVariant(c, all[2].ID, `{"content":{"by_channel":{"social":{"primary_text":"Folds in ten seconds."}}}}`).OK()
	if v := variants(c, string(b.ID))[2]; v.Approval != nil {
		t.Errorf("got approval %+v of a new text want none", v.Approval)
	}
}

// TestRegenerateLine replaces one line and nothing else.
func TestRegenerateLine(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	b := bike(c, `,"channels":["search","email"]`)
	v := variants(c, string(b.ID))[1]
	old := v.Content.ByChannel["search"].Headlines
	regenerateLine(c, v.ID, "content.by_channel.search.headlines[1]").OK()
	is := variants(c, string(b.ID))[1]
	now := is.Content.ByChannel["search"].Headlines
	if now[1] == old[1] || slices.Contains(old, now[1]) {
		t.Errorf("got line %q want another than %q", now[1], old)
	}
	want(t, "the other lines", slices.Concat(old[:1], old[2:]), slices.Concat(now[:1], now[2:]))
	want(t, "the other channel", v.Content.ByChannel["email"], is.Content.ByChannel["email"])
	regenerateLine(c, v.ID, "content.by_channel.email.subject").OK()
	email := variants(c, string(b.ID))[1].Content.ByChannel["email"]
	if *email.Subject == *v.Content.ByChannel["email"].Subject || !strings.Contains(*email.HTML, "<title>") {
		t.Errorf("got subject %q want another one, in the HTML too", *email.Subject)
	}
	for _, field := range []string{"headline", "content.by_channel.search.headlines[40]", "content.by_channel.sms.primary_text", "content.by_channel.email.html"} {
		wantDetail(t, regenerateLine(c, v.ID, field), "field", "invalid_value")
	}
	own := post(c, `{"name":"Own","type":"text","content":{"by_channel":{"sms":{"primary_text":"Ours"}}}}`).OK()
	wantDetail(t, regenerateLine(c, variants(c, own.ID())[0].ID, "content.by_channel.sms.primary_text"), "field", "no_alternative")
	poor := generate(c, `{"brief":{"product":"绿茶","benefits":["手工采摘"]},"variants":1}`).OK()
	wantDetail(t, regenerateLine(c, variants(c, poor.ID())[0].ID, "content.by_channel.social.headlines[0]"), "field", "no_alternative")
}

// TestMoreLikeThis makes variants of the same facts that are all led by the idea
// of a variant.
func TestMoreLikeThis(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	b := bike(c, `,"channels":["search"],"tone":"friendly"`)
	like := variants(c, string(b.ID))[1]
	angle := like.Generation.Parameters["angle"]
	id := generate(c, map[string]any{"like_variant_id": like.ID, "seed": 11, "variants": 3}).OK().ID()
	is := loadCreative(c, id)
	want(t, "facts, channels, tone", []any{b.Generation.Brief, b.Channels, b.Generation.Parameters.Tone}, []any{is.Generation.Brief, is.Channels, is.Generation.Parameters.Tone})
	list := variants(c, id)
	if len(list) < 2 {
		t.Errorf("got %d variants want several: %q", len(list), is.Generation.Dropped)
	}
	for _, v := range list {
		want(t, "idea", angle, v.Generation.Parameters["angle"])
		if slices.Equal(v.Content.ByChannel["search"].Headlines, like.Content.ByChannel["search"].Headlines) {
			t.Errorf("got the lines of the variant again: %q", v.Content.ByChannel["search"].Headlines)
		}
	}
	wantDetail(t, generate(c, `{"like_variant_id":"var_01h455vb4pex5vsknk084sn02q"}`), "like_variant_id", "not_found")
	own := post(c, `{"name":"Own","type":"text","content":{"headline":"Ours"}}`).OK()
	wantDetail(t, generate(c, map[string]any{"like_variant_id": variants(c, own.ID())[0].ID}), "like_variant_id", "invalid_value")
}
