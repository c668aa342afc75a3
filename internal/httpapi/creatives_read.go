package httpapi

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

var creativeReadOnly = []string{
	"id", "type", "status", "policy", "source", "generation", "variant_count", "primary_variant_id", "version",
	"created_by", "created_at", "updated_at", "archived_at", "content.media", "approval.by", "approval.at",
}

// readUpload reads a creative of the caller's own.
func readUpload(f *fields) creative.Upload {
	var u creative.Upload
	set(&u.Type, f.choice("type", required, creative.UploadedTypes))
	readCommon(f, &u.Spec)
	o := f.nested("content", required)
	if o == nil {
		u.Content = creative.Content{ByChannel: map[string]creative.Copy{}, Media: []creative.Media{}}
		return u
	}
	u.Content = readContent(o)
	u.Content.Media = readMedia(o)
	o.done()
	c := &u.Content
	switch u.Type {
	case "image", "carousel":
		if len(c.Media) == 0 {
			f.bad("content.media", "required", "is required for a creative of type "+u.Type+".", nil)
		}
	case "text", "email":
		if c.Headline == nil && c.Body == nil && c.Description == nil && len(c.ByChannel) == 0 {
			f.bad("content.headline", "required", "or another text is required for a creative of type "+u.Type+".", nil)
		}
	}
	return u
}

// readCreative reads the writable members of a stored creative.
func readCreative(f *fields) creative.Spec {
	var s creative.Spec
	readCommon(f, &s)
	s.Approval.Status = creative.ApprovalNotRequired
	if o := f.nested("approval", optional); o != nil {
		set(&s.Approval.Status, o.choice("status", optional, creative.Approvals))
		s.Approval.Note = o.text("note", nullable, 0, creative.MaxNote)
		o.done()
	}
	if o := f.nested("content", optional); o != nil {
		s.Content = readContent(o)
		o.done()
	}
	return s
}

func readCommon(f *fields, s *creative.Spec) {
	set(&s.Name, f.text("name", required, 1, creative.MaxName))
	s.Channels = f.choices("channels", len(creative.Channels), creative.Channels)
	s.Tags = f.tags()
	s.Metadata = f.metadata()
	if o := f.nested("rights", nullable); o != nil {
		s.Rights = &creative.Rights{ExpiresAt: o.instant("expires_at"), Licence: o.text("licence", nullable, 0, creative.MaxLicence)}
		set(&s.Rights.AIDisclosure, o.flag("ai_disclosure"))
		o.done()
	}
}

// readContent reads the text of a content; whoever calls it says what else
// there may be.
func readContent(o *fields) creative.Content {
	return creative.Content{
		Headline:     o.text("headline", nullable, 0, creative.MaxHeadline),
		Body:         o.text("body", nullable, 0, creative.MaxBody),
		Description:  o.text("description", nullable, 0, creative.MaxDescription),
		CallToAction: o.choice("call_to_action", nullable, creative.CallsToAction),
		LandingURL:   o.url("landing_url", nil),
		Language:     o.language("language", nullable),
		ByChannel:    readByChannel(o),
	}
}

func readByChannel(f *fields) map[string]creative.Copy {
	out := map[string]creative.Copy{}
	o := f.nested("by_channel", optional)
	if o == nil {
		return out
	}
	for _, m := range o.object.members {
		if !slices.Contains(creative.Channels, m.name) {
			continue
		}
		presence := optional
		if f.patch {
			presence = nullable
		}
		if c := o.nested(m.name, presence); c != nil {
			out[m.name] = readCopy(c)
		}
	}
	o.done()
	return out
}

func readCopy(f *fields) creative.Copy {
	lines := func(name string, most, longest int) []string {
		return f.list(name, most, func(path, item string) (string, bool) { return item, f.checkText(path, item, 1, longest) })
	}
	c := creative.Copy{
		Headlines:    lines("headlines", 15, 255),
		LongHeadline: f.text("long_headline", nullable, 0, 255),
		Descriptions: lines("descriptions", 5, 1000),
		PrimaryText:  f.text("primary_text", nullable, 0, 5000),
		ShortText:    f.text("short_text", nullable, 0, 500),
		Subject:      f.text("subject", nullable, 0, 255),
		Preheader:    f.text("preheader", nullable, 0, 255),
		Body:         f.text("body", nullable, 0, 10_000),
		Script:       f.text("script", nullable, 0, 5000),
		BusinessName: f.text("business_name", nullable, 0, 100),
		Paths:        lines("paths", 2, 50),
	}
	f.done()
	return c
}

func readMedia(f *fields) []creative.Media {
	list := []creative.Media{}
	for _, o := range f.objects("media", creative.MaxMedia) {
		var m creative.Media
		set(&m.AssetID, o.id("asset_id", required))
		m.AltText = o.text("alt_text", nullable, 0, creative.MaxAltText)
		o.done()
		list = append(list, m)
	}
	return list
}

// readGenerate reads what a caller wants to have generated.
func readGenerate(f *fields) creative.Request {
	q := creative.Request{
		NegativePrompt: f.text("negative_prompt", nullable, 0, creative.MaxNegative),
		Provider:       f.choice("provider", nullable, creative.Providers),
		Seed:           f.integer("seed", nullable, 0, creative.MaxSeed),
		Tags:           f.tags(),
		Metadata:       f.metadata(),
		Parameters: creative.Parameters{
			Type: creative.GeneratedTypes[0], Variants: creative.DefaultVariants,
			Channels:     f.choices("channels", len(creative.Channels), creative.Channels),
			AspectRatios: f.choices("aspect_ratios", len(creative.AspectRatios), shapeNames(creative.AspectRatios)),
			Sizes:        f.choices("sizes", len(creative.Sizes), shapeNames(creative.Sizes)),
			Formats:      f.choices("formats", len(creative.Formats), creative.Formats),
			Language:     f.language("language", nullable),
			Tone:         f.text("tone", nullable, 0, creative.MaxTone),
			AudienceID:   f.id("audience_id", nullable),
			CampaignID:   f.id("campaign_id", nullable),
			Brand:        readBrand(f),
			References:   readReferences(f),
			CallToAction: f.choice("call_to_action", nullable, creative.CallsToAction),
			LandingURL:   f.url("landing_url", nil),
		},
	}
	set(&q.Prompt, f.text("prompt", required, 1, creative.MaxPrompt))
	set(&q.Type, f.choice("type", optional, creative.GeneratedTypes))
	if n := f.integer("variants", optional, 1, creative.MaxVariants); n != nil {
		q.Variants = int(*n)
	}
	return q
}

func shapeNames(list []creative.Shape) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return names
}

var colorShape = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

func readBrand(f *fields) *creative.Brand {
	o := f.nested("brand", nullable)
	if o == nil {
		return nil
	}
	b := creative.Brand{
		Colors: o.list("colors", creative.MaxColors, func(path, item string) (string, bool) {
			if !colorShape.MatchString(item) {
				o.bad(path, "invalid_format", "must be a colour such as #1b4332.", nil)
				return "", false
			}
			return strings.ToLower(item), true
		}),
		BannedWords: o.list("banned_words", creative.MaxBanned, func(path, item string) (string, bool) {
			return item, o.checkText(path, item, 1, creative.MaxBannedWord)
		}),
	}
	set(&b.Name, o.text("name", nullable, 0, creative.MaxBrandName))
	set(&b.Voice, o.text("voice", nullable, 0, creative.MaxVoice))
	set(&b.LogoURL, readLogo(o))
	o.done()
	return &b
}

// readLogo reads the path of an asset, or a public URL.
func readLogo(o *fields) *string {
	v := o.object.get("logo_url")
	if v == nil || v.kind != kindString || !strings.HasPrefix(v.text, creative.AssetPath) {
		return o.url("logo_url", nil)
	}
	return o.text("logo_url", nullable, 1, maxURL)
}

func readReferences(f *fields) []creative.Reference {
	list := []creative.Reference{}
	for _, o := range f.objects("references", creative.MaxReferences) {
		list = append(list, creative.Reference{CreativeID: o.id("creative_id", nullable), URL: o.url("url", nil)})
		o.done()
	}
	return list
}

// language reads a BCP 47 tag.
func (f *fields) language(name string, p presence) *string {
	v := f.typed(name, p, isString, "a string")
	if v == nil || !f.checkLanguage(f.at(name), v.text) {
		return nil
	}
	return &v.text
}

// id reads an identifier. One that cannot exist is kept: whoever looks it up
// says that it names nothing.
func (f *fields) id(name string, p presence) *ident.ID {
	s := f.text(name, p, 1, 64)
	if s == nil {
		return nil
	}
	id := ident.ID(*s)
	return &id
}

// objects reads an array of objects.
func (f *fields) objects(name string, most int) []*fields {
	v := f.typed(name, optional, func(v *value) bool { return v.kind == kindArray }, "an array")
	if v == nil {
		return nil
	}
	if len(v.items) > most {
		f.bad(f.at(name), "too_many_items", fmt.Sprintf("must have at most %d items; it has %d.", most, len(v.items)), fault.Meta{"maximum": most, "actual": len(v.items)})
		return nil
	}
	var list []*fields
	for i := range v.items {
		if o := f.item(fmt.Sprintf("%s[%d]", f.at(name), i), &v.items[i]); o != nil {
			list = append(list, o)
		}
	}
	return list
}

// item reads an object that is not a member.
func (f *fields) item(path string, v *value) *fields {
	switch v.kind {
	case kindObject:
		return &fields{object: v, path: path, read: map[string]bool{}, problems: f.problems, patch: f.patch}
	case kindNull:
		f.bad(path, "not_nullable", "cannot be null.", nil)
	default:
		f.bad(path, "invalid_type", "must be an object.", fault.Meta{"expected": "an object"})
	}
	return nil
}
