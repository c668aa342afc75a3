package creative_test

import (
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

func setKit(c *fixture, body any, match ...string) *storetest.Answer {
	return c.Answer(c.Creatives.SetBrandKit(c.T.Context(), c.Cause(), record.ParseMatch(match), storetest.Sent(c.T, body)))
}

func getKit(c *fixture) *storetest.Answer {
	return c.Answer(c.Creatives.BrandKit(c.T.Context(), c.Workspace))
}

// TestBrandKit checks reading, setting and clearing the kit, its versions and
// its events, and that another workspace has none of it.
func TestBrandKit(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	var k creative.BrandKit
	getKit(c).OK().Decode(&k)
	want(t, "kit at first", *creative.EmptyBrandKit(), k)
	logo := asset(c, onePixel(t))
	full := `{"name":"Northbean","voice":"friendly","colors":["#6F4E37","#f5ebe0"],"typefaces":{"heading":"fraunces","text":"dm_sans"},"logo_asset_id":"` + logo + `","banned_words":["cheap"]}`
	setKit(c, full, `"0.0"`).OK().Decode(&k)
	want(t, "version and colors", []any{int64(1), []string{"#6f4e37", "#f5ebe0"}}, []any{k.Version, k.Colors})
	if k.UpdatedAt == nil || k.UpdatedBy == nil {
		t.Errorf("got %+v", k)
	}
	want(t, "the same again", any(1.0), setKit(c, full).OK().Record()["version"])
	setKit(c, `{"name":"Two"}`, `"0.0"`).Fault(fault.PreconditionFailed)
	setKit(c, `{"name":"Two"}`, `"1.0"`).OK()
	k = creative.BrandKit{}
	getKit(c).OK().Decode(&k)
	want(t, "what was left out", []any{int64(2), "Two", 0, 0, true}, []any{k.Version, *k.Name, len(k.Colors), len(k.BannedWords), k.LogoAssetID == nil})
	id := string(creative.BrandKitID(c.Workspace))
	if !ident.Valid(ident.BrandKit, id) {
		t.Errorf("%s is no id", id)
	}
	want(t, "events", []string{"brand_kit.updated", "brand_kit.updated"}, c.EventTypes(id))
	var other creative.BrandKit
	getKit(c.another()).OK().Decode(&other)
	want(t, "kit of another workspace", int64(0), other.Version)
}

// TestBrandKitIsChecked checks that a kit with wrong fields is refused.
func TestBrandKitIsChecked(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	for body, wanted := range map[string][2]string{
		`{"colors":["red"]}`: {"colors[0]", "invalid_format"},
		`{"typefaces":{"heading":"comic","text":"inter"}}`:            {"typefaces.heading", "invalid_value"},
		`{"typefaces":{"heading":"inter"}}`:                           {"typefaces.text", "required"},
		`{"logo_asset_id":"` + asset(c.another(), onePixel(t)) + `"}`: {"logo_asset_id", "not_found"},
		`{"logo":"x"}`:  {"logo", "unknown_field"},
		`{"version":1}`: {"version", "read_only"},
	} {
		wantDetail(t, setKit(c, body), wanted[0], wanted[1])
	}
}

// TestBrandKitInGeneration checks that a generation uses the kit for what its
// request does not say, and that banned words hold for every request.
func TestBrandKitInGeneration(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	logo := asset(c, onePixel(t))
	setKit(c, `{"name":"Leaf & Co","voice":"friendly","colors":["#1b4332"],"typefaces":{"heading":"oswald","text":"inter"},"logo_asset_id":"`+logo+`","banned_words":["quiet"]}`).OK()
	p := loadCreative(c, generate(c, map[string]any{"prompt": tea}).OK().ID()).Generation.Parameters
	b := p.Brand
	want(t, "brand", []any{"Leaf & Co", "friendly", []string{"#1b4332"}, "/v1/assets/" + logo, "oswald", "friendly"}, []any{b.Name, b.Voice, b.Colors, b.LogoURL, b.Typefaces.Heading, *p.Tone})
	made := generate(c, map[string]any{"prompt": tea, "tone": "urgent", "brand": map[string]any{"name": "Own", "banned_words": []string{"spring"}}}).OK()
	p = loadCreative(c, made.ID()).Generation.Parameters
	want(t, "own brand", []any{"Own", "urgent", []string{"spring", "quiet"}}, []any{p.Brand.Name, *p.Tone, p.Brand.BannedWords})
	for _, v := range variants(c, made.ID()) {
		for channel, text := range v.Content.ByChannel {
			for _, line := range text.AllTexts(channel) {
				if strings.Contains(strings.ToLower(line), "quiet") || strings.Contains(strings.ToLower(line), "spring") {
					t.Errorf("got %q with a banned word", line)
				}
			}
		}
	}
}

// TestPhoto checks that pictures show the photo of the request, and that one that
// does not exist is refused.
func TestPhoto(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	body := func(id string) string {
		return `{"prompt":"Green tea, 20% off until Sunday","type":"image","sizes":["300x250"],"formats":["jpeg","svg"],"variants":1,"seed":1,"photo_asset_id":"` + id + `"}`
	}
	wantDetail(t, generate(c, body(asset(c.another(), onePixel(t)))), "photo_asset_id", "not_found")
	photo := asset(c, smallPhoto(t))
	v, list := generateNow(t, c, body(photo))
	want(t, "status", creative.StatusReady, v.Status)
	media := list[0].Content.Media
	want(t, "formats", []string{"image/jpeg", "image/svg+xml"}, []string{media[0].MIMEType, media[1].MIMEType})
	svg, err := c.Creatives.Assets.Bytes(t.Context(), c.Workspace, media[1].AssetID)
	if err != nil || !strings.Contains(string(svg), "<image ") {
		t.Errorf("got a picture without a photo, %v", err)
	}
}
