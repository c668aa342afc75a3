package creative_test

import (
	"testing"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

// TestRoundTrip sends a record back as it was read, in every status. Nothing
// changes (W2, W3, W4).
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	a := useFakeProvider(c)
	ids := []string{
		generate(c, map[string]any{"prompt": tea, "channels": creative.Channels, "landing_url": "https://leaf.example/", "brand": map[string]any{"name": "Leaf & Co"}}).OK().ID(),
		create(c, withPicture(asset(c, onePixel(t)), `"alt_text":"A cup"`)),
	}
	for _, status := range statuses[:3] {
		ids = append(ids, createInStatus(t, c, a, status))
	}
	pictures := begin(c, `{"prompt":"Mountain tea","type":"image","sizes":["320x50"]}`)
	runJob(t, c, pictures)
	for _, id := range append(ids, pictures) {
		patch(c, id, `{"approval":{"status":"approved","note":"Fine"}}`).OK()
		before, events := get(c, id), len(eventsOf(c, id))
		c.Clock.Advance(time.Minute)
		for _, body := range []any{before.Record(), "{}", `{"tags":[],"content":{},"approval":{}}`} {
			res := patch(c, id, body).OK()
			want(t, "body", string(before.JSON), string(res.JSON))
			want(t, "ETag", before.ETag(), res.ETag())
		}
		want(t, "events", events, len(eventsOf(c, id)))
	}
}

// TestReadOnly checks that a fault names the read-only field.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := create(c, withPicture(asset(c, onePixel(t)), `"alt_text":"A cup"`))
	before := read(c, id)
	for field, body := range map[string]string{
		"id": `{"id":"crv_01h455vb4pex5vsknk084sn02q"}`, "type": `{"type":"text"}`, "status": `{"status":"archived"}`, "policy": `{"policy":{"status":"pass"}}`,
		"source": `{"source":"generated"}`, "generation": `{"generation":{}}`, "variant_count": `{"variant_count":2}`, "primary_variant_id": `{"primary_variant_id":null}`,
		"version": `{"version":2}`, "created_by": `{"created_by":null}`, "created_at": `{"created_at":null}`, "updated_at": `{"updated_at":1}`, "archived_at": `{"archived_at":"2026-11-15T12:00:00Z"}`,
		"content.media": `{"content":{"headline":"Two","media":[]}}`, "approval.by": `{"approval":{"by":{"type":"user","id":null,"name":"Eve"}}}`, "approval.at": `{"approval":{"status":"approved","at":"2026-11-15T12:00:00Z"}}`,
	} {
		wantDetail(t, patch(c, id, body), field, "read_only")
	}
	for field, body := range map[string]string{
		"name": `{"name":null}`, "content": `{"content":null}`, "approval": `{"approval":null}`, "channels": `{"channels":null}`, "tags": `{"tags":null}`,
		"content.by_channel": `{"content":{"by_channel":null}}`, "approval.status": `{"approval":{"status":null}}`, "rights.ai_disclosure": `{"rights":{"ai_disclosure":null}}`,
	} {
		wantDetail(t, patch(c, id, body), field, "not_nullable")
	}
	for field, body := range map[string]string{
		"title": `{"title":"x"}`, "content.title": `{"content":{"title":"x"}}`, "content.by_channel.radio": `{"content":{"by_channel":{"radio":{}}}}`,
		"content.by_channel.social.text": `{"content":{"by_channel":{"social":{"text":"x"}}}}`, "approval.reason": `{"approval":{"reason":"x"}}`, "rights.owner": `{"rights":{"owner":"x"}}`,
	} {
		wantDetail(t, patch(c, id, body), field, "unknown_field")
	}
	want(t, "the record", before, read(c, id))
	wantDetail(t, post(c, `{"name":"x","type":"text","status":"ready","content":{"body":"x"}}`), "status", "read_only")
}

// TestContentUpdate changes texts: those of the primary variant change with
// them, and the policy is asked again.
func TestContentUpdate(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := generate(c, `{"prompt":"Mountain tea from the valley","channels":["social","push"],"variants":3}`).OK().ID()
	before, others := loadCreative(c, id), variants(c, id)
	c.Clock.Advance(time.Minute)
	patch(c, id, `{"content":{"headline":"Mine","by_channel":{"push":null,"social":{"primary_text":"This tea cures cancer"}}}}`).OK()
	v, list := loadCreative(c, id), variants(c, id)
	want(t, "headline and version", []any{"Mine", int64(2)}, []any{*v.Content.Headline, v.Version})
	social := before.Content.ByChannel["social"]
	text := "This tea cures cancer"
	social.PrimaryText = &text
	want(t, "copy", map[string]policy.Copy{"social": social}, v.Content.ByChannel)
	want(t, "status", creative.StatusReady, v.Status)
	finding := v.Policy.Findings[0]
	want(t, "policy", []any{"block", "medical_claim", "social", "primary_text"}, []any{v.Policy.Status, finding.Rule, finding.Channel, finding.Field})
	want(t, "content, policy, version of the primary variant", []any{v.Content, v.Policy, int64(2), v.UpdatedAt}, []any{list[0].Content, list[0].Policy, list[0].Version, list[0].UpdatedAt})
	want(t, "the other variants", others[1:], list[1:])
	last := eventsOf(c, id)[2]
	previous := last["previous"].(map[string]any)
	if len(previous) != 1 || previous["content"] == nil {
		t.Errorf("got previous %v want the content", previous)
	}
	patch(c, id, `{"content":{"by_channel":{"social":{"primary_text":"Tea from the valley"}}}}`).OK()
	want(t, "policy in the end", "pass", loadCreative(c, id).Policy.Status)
	// What is written in the brief may be said.
	patch(c, id, `{"content":{"by_channel":{"social":{"primary_text":"Now $5"}}}}`).OK()
	want(t, "rule", "price_not_in_brief", loadCreative(c, id).Policy.Findings[0].Rule)
	// Text that was never written can be added to a failed one, and is lost
	// when it is generated after all.
	a := useFakeProvider(c)
	id = createInStatus(t, c, a, "failed")
	patch(c, id, `{"content":{"headline":"By hand"},"rights":{"licence":"Ours"}}`).OK()
	act(c, id, "retry").OK()
	runJob(t, c, id)
	v = loadCreative(c, id)
	want(t, "headline and rights", []any{"One", creative.Rights{Licence: v.Rights.Licence}}, []any{*v.Content.Headline, *v.Rights})
}

// TestFieldUpdates changes each member and finds the old value in the event.
func TestFieldUpdates(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := generate(c, `{"prompt":"Mountain tea","tags":["a"],"metadata":{"k":"v","l":"w"}}`).OK().ID()
	for i, tt := range []struct {
		body, member string
		is, was      any
	}{
		{`{"name":"Two"}`, "name", "Two", "Mountain tea"},
		{`{"channels":["email","sms"]}`, "channels", []any{"email", "sms"}, []any{"social"}},
		{`{"tags":["B","c"]}`, "tags", []any{"b", "c"}, []any{"a"}},
		{`{"metadata":{"k":null,"m":"x"}}`, "metadata", map[string]any{"l": "w", "m": "x"}, map[string]any{"k": "v", "l": "w"}},
		{`{"rights":{"licence":"CC0","expires_at":"2027-01-01T00:00:00Z"}}`, "rights", map[string]any{"licence": "CC0", "expires_at": "2027-01-01T00:00:00.000Z", "ai_disclosure": false}, nil},
		{`{"rights":{"ai_disclosure":true}}`, "rights", map[string]any{"licence": "CC0", "expires_at": "2027-01-01T00:00:00.000Z", "ai_disclosure": true}, map[string]any{"licence": "CC0", "expires_at": "2027-01-01T00:00:00.000Z", "ai_disclosure": false}},
		{`{"rights":null}`, "rights", nil, map[string]any{"licence": "CC0", "expires_at": "2027-01-01T00:00:00.000Z", "ai_disclosure": true}},
	} {
		c.Clock.Advance(time.Second)
		rec := patch(c, id, tt.body).OK().Record()
		want(t, tt.body, []any{tt.is, float64(i + 2)}, []any{rec[tt.member], rec["version"]})
		events := eventsOf(c, id)
		last := events[len(events)-1]
		want(t, "event of "+tt.body, []any{"creative.updated", map[string]any{tt.member: tt.was}}, []any{last["type"], last["previous"]})
	}
	want(t, "by tag", 1, len(list(c, by("tag", "c"))))
	want(t, "by its old tag", 0, len(list(c, by("tag", "a"))))
	want(t, "by channel", 1, len(list(c, by("channel", "sms", "audio"))))
	want(t, "by its old channel", 0, len(list(c, by("channel", "social"))))
}

// TestApproval approves and rejects creatives.
func TestApproval(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := generate(c, `{"prompt":"Mountain tea"}`).OK().ID()
	want(t, "approval of its own", creative.Approval{Status: "not_required"}, loadCreative(c, id).Approval)
	require := func(required bool) {
		t.Helper()
		if _, err := c.Accounts.SetApproval(t.Context(), storetest.Operator, c.Workspace, required); err != nil {
			t.Fatal(err)
		}
	}
	usable := func(id string) record.Usability {
		t.Helper()
		found, err := c.DB.Creatives().Usability(t.Context(), c.Workspace, []ident.ID{ident.ID(id)})
		if err != nil {
			t.Fatal(err)
		}
		return found[ident.ID(id)]
	}
	require(true)
	uploaded := create(c, `{"name":"One","type":"text","content":{"body":"Tea"}}`)
	want(t, "approval of own material", "pending", loadCreative(c, uploaded).Approval.Status)
	id = generate(c, `{"prompt":"Mountain tea"}`).OK().ID()
	want(t, "approval to begin with", creative.Approval{Status: "pending"}, loadCreative(c, id).Approval)
	want(t, "usable", record.Usability{Issue: "no_creative_ready"}, usable(id))
	for i, tt := range []struct {
		body, status, note string
		usable             record.Usability
	}{
		{`{"approval":{"status":"approved"}}`, "approved", "", record.Usability{}},
		{`{"approval":{"status":"rejected","note":"Too loud"}}`, "rejected", "Too loud", record.Usability{Issue: "creative_rejected"}},
		{`{"approval":{"note":"Much too loud"}}`, "rejected", "Much too loud", record.Usability{Issue: "creative_rejected"}},
		{`{"approval":{"status":"pending","note":null}}`, "pending", "", record.Usability{Issue: "no_creative_ready"}},
	} {
		c.Clock.Advance(time.Minute)
		patch(c, id, tt.body).OK()
		v := loadCreative(c, id).Approval
		note := ""
		if v.Note != nil {
			note = *v.Note
		}
		want(t, tt.body, []any{tt.status, tt.note, clock.At(c.Clock.Now())}, []any{v.Status, note, *v.At})
		if v.By == nil || v.By.Type != "api_key" || v.By.ID == "" {
			t.Errorf("%s: got by %+v", tt.body, v.By)
		}
		want(t, "usable after "+tt.body, tt.usable, usable(id))
		want(t, "version", int64(i+2), loadCreative(c, id).Version)
	}
	wantDetail(t, patch(c, id, `{"approval":{"status":"not_required"}}`), "approval.status", "invalid_value")
	wantDetail(t, patch(c, id, `{"approval":{"status":"yes"}}`), "approval.status", "invalid_value")
	decided := loadCreative(c, id).Approval
	c.Clock.Advance(time.Minute)
	patch(c, id, `{"name":"Two"}`).OK()
	want(t, "approval after another change", decided, loadCreative(c, id).Approval)
	want(t, "waiting ones", 2, len(list(c, by("approval", "pending"))))
	require(false)
	patch(c, id, `{"approval":{"status":"not_required"}}`).OK()
	want(t, "usable in the end", record.Usability{}, usable(id))
}
