package creative

import (
	"regexp"
	"slices"
	"strings"

	"fanfare/internal/body"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/policy"
)

// readOnly lists the fields that callers cannot write.
var readOnly = func() []string {
	list := []string{
		"id", "type", "status", "policy", "source", "generation", "variant_count", "primary_variant_id", "version",
		"created_by", "created_at", "updated_at", "archived_at", "content.media", "approval.by", "approval.at",
	}
	for _, channel := range Channels {
		list = append(list, "content.by_channel."+channel+".html")
	}
	return list
}()

// readUpload parses an uploaded creative.
func readUpload(f *body.Reader) Upload {
	var u Upload
	body.Set(&u.Type, f.Choice("type", body.Required, UploadedTypes))
	readCommon(f, &u.Spec)
	o := f.Nested("content", body.Required)
	if o == nil {
		u.Content = Content{ByChannel: map[string]policy.Copy{}, Media: []Media{}}
		return u
	}
	u.Content = readContent(o)
	u.Content.Media = readMedia(o)
	o.Done()
	c := &u.Content
	switch u.Type {
	case "image", "carousel":
		if len(c.Media) == 0 {
			f.Bad("content.media", "required", "is required for a creative of type "+u.Type+".", nil)
		}
	case "text", "email":
		if c.Headline == nil && c.Body == nil && c.Description == nil && len(c.ByChannel) == 0 {
			f.Bad("content.headline", "required", "or another text is required for a creative of type "+u.Type+".", nil)
		}
	}
	return u
}

// readSpec parses the writable fields of a stored creative.
func readSpec(f *body.Reader) Spec {
	var s Spec
	readCommon(f, &s)
	s.Approval.Status = ApprovalNotRequired
	if o := f.Nested("approval", body.Optional); o != nil {
		body.Set(&s.Approval.Status, o.Choice("status", body.Optional, Approvals))
		s.Approval.Note = o.Text("note", body.Nullable, 0, MaxNote)
		o.Done()
	}
	if o := f.Nested("content", body.Optional); o != nil {
		s.Content = readContent(o)
		o.Done()
	}
	return s
}

func readCommon(f *body.Reader, s *Spec) {
	body.Set(&s.Name, f.Text("name", body.Required, 1, MaxName))
	s.Channels = f.Choices("channels", len(Channels), Channels)
	s.Tags = f.Tags()
	s.Metadata = f.Metadata()
	if o := f.Nested("rights", body.Nullable); o != nil {
		s.Rights = &Rights{ExpiresAt: o.Instant("expires_at"), Licence: o.Text("licence", body.Nullable, 0, MaxLicence)}
		body.Set(&s.Rights.AIDisclosure, o.Flag("ai_disclosure"))
		o.Done()
	}
}

// readContent parses the text of a content. The caller parses the other fields.
func readContent(o *body.Reader) Content {
	c := Content{
		Headline:     o.Text("headline", body.Nullable, 0, MaxHeadline),
		Body:         o.Text("body", body.Nullable, 0, MaxBody),
		Description:  o.Text("description", body.Nullable, 0, MaxDescription),
		CallToAction: o.Choice("call_to_action", body.Nullable, CallsToAction),
		LandingURL:   o.URL("landing_url", nil),
		Language:     o.Language("language", body.Nullable),
		ByChannel:    readByChannel(o),
	}
	c.ByChannel = emailsWithHTML(c.ByChannel, deref(c.Language))
	return c
}

func readByChannel(f *body.Reader) map[string]policy.Copy {
	out := map[string]policy.Copy{}
	o := f.Nested("by_channel", body.Optional)
	if o == nil {
		return out
	}
	for _, m := range o.Object.Members {
		if !slices.Contains(Channels, m.Name) {
			continue
		}
		presence := body.Optional
		if f.Patch {
			presence = body.Nullable
		}
		if c := o.Nested(m.Name, presence); c != nil {
			out[m.Name] = readCopy(c)
		}
	}
	o.Done()
	return out
}

func readCopy(f *body.Reader) policy.Copy {
	lines := func(name string, most, longest int) []string {
		return f.List(name, most, func(path, item string) (string, bool) { return item, f.CheckText(path, item, 1, longest) })
	}
	c := policy.Copy{
		Headlines:    lines("headlines", MaxHeadlines, MaxHeadline),
		LongHeadline: f.Text("long_headline", body.Nullable, 0, MaxHeadline),
		Descriptions: lines("descriptions", MaxDescriptions, MaxDescription),
		PrimaryText:  f.Text("primary_text", body.Nullable, 0, MaxPrimaryText),
		ShortText:    f.Text("short_text", body.Nullable, 0, MaxShortText),
		Subject:      f.Text("subject", body.Nullable, 0, MaxSubject),
		Preheader:    f.Text("preheader", body.Nullable, 0, MaxPreheader),
		Body:         f.Text("body", body.Nullable, 0, MaxBody),
		Script:       f.Text("script", body.Nullable, 0, MaxScript),
		BusinessName: f.Text("business_name", body.Nullable, 0, MaxBrandName),
		Paths:        lines("paths", MaxPaths, MaxPath),
	}
	f.Done("html")
	return c
}

func readMedia(f *body.Reader) []Media {
	list := []Media{}
	for _, o := range f.Objects("media", MaxMedia) {
		var m Media
		body.Set(&m.AssetID, o.ID("asset_id", body.Required))
		m.AltText = o.Text("alt_text", body.Nullable, 0, MaxAltText)
		o.Done()
		list = append(list, m)
	}
	return list
}

// readRequest parses a generation request.
func readRequest(f *body.Reader) Request {
	q := Request{
		NegativePrompt: f.Text("negative_prompt", body.Nullable, 0, MaxNegative),
		Provider:       f.Choice("provider", body.Nullable, Providers),
		Seed:           f.Integer("seed", body.Nullable, 0, MaxSeed),
		Tags:           f.Tags(),
		Metadata:       f.Metadata(),
		Parameters: Parameters{
			Type: GeneratedTypes[0], Variants: DefaultVariants,
			Channels:      f.Choices("channels", len(Channels), Channels),
			AspectRatios:  f.Choices("aspect_ratios", len(AspectRatios), shapeNames(AspectRatios)),
			Sizes:         f.Choices("sizes", len(Sizes), shapeNames(Sizes)),
			Formats:       f.Choices("formats", len(Formats), Formats),
			Language:      f.Language("language", body.Nullable),
			Tone:          f.Text("tone", body.Nullable, 0, MaxTone),
			AudienceID:    f.ID("audience_id", body.Nullable),
			CampaignID:    f.ID("campaign_id", body.Nullable),
			Brand:         readBrand(f),
			References:    readReferences(f),
			CallToAction:  f.Choice("call_to_action", body.Nullable, CallsToAction),
			LandingURL:    f.URL("landing_url", nil),
			LikeVariantID: f.ID("like_variant_id", body.Nullable),
			PhotoAssetID:  f.ID("photo_asset_id", body.Nullable),
			Fallback:      f.Choice("fallback", body.Nullable, Fallbacks),
		},
	}
	q.Prompt, q.Brief = readBrief(f)
	body.Set(&q.Type, f.Choice("type", body.Optional, GeneratedTypes))
	if n := f.Integer("variants", body.Optional, 1, MaxVariants); n != nil {
		q.Variants = int(*n)
	}
	return q
}

// readBrief parses a prompt and the fields of a brief, of which one is required.
func readBrief(f *body.Reader) (prompt string, fields *brief.Fields) {
	fields = readBriefFields(f)
	body.Set(&prompt, f.Text("prompt", body.Nullable, 1, MaxPrompt))
	sent := f.Object.Get("prompt")
	like := f.Object.Get("like_variant_id")
	if like != nil && like.Kind == body.KindString {
		return prompt, fields
	}
	if len(fields.List()) == 0 && (sent == nil || sent.Kind == body.KindNull) {
		f.Bad("prompt", "required", "is required without the fields of a brief. Give a prompt, or brief.product.", nil)
	}
	return prompt, fields
}

// readBriefFields parses the fields of a brief.
func readBriefFields(f *body.Reader) *brief.Fields {
	o := f.Nested("brief", body.Nullable)
	if o == nil {
		return nil
	}
	text := func(name string, most int) *string { return o.Text(name, body.Nullable, 0, most) }
	b := brief.Fields{
		Product: text("product", MaxFact), Kind: o.Choice("kind", body.Nullable, brief.Kinds), Offer: text("offer", MaxFact),
		Price: text("price", MaxFact), PreviousPrice: text("previous_price", MaxFact), Deadline: text("deadline", MaxFact),
		When: text("when", MaxFact), Place: text("place", MaxFact), Audience: text("audience", MaxFact),
		Benefits: o.Texts("benefits", MaxBenefits, MaxFact), Proof: o.Texts("proof", MaxProof, MaxFact),
		CallToAction: text("call_to_action", MaxFact), Contact: text("contact", MaxFact), Code: text("code", MaxCode),
		Occasion: text("occasion", MaxFact), Terms: text("terms", MaxTerms),
		MustInclude: o.Texts("must_include", MaxMustInclude, MaxFact), Avoid: o.Texts("avoid", MaxBanned, MaxBannedWord),
	}
	o.Done()
	return &b
}

func shapeNames(list []Shape) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return names
}

var colorPattern = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

func readBrand(f *body.Reader) *Brand {
	o := f.Nested("brand", body.Nullable)
	if o == nil {
		return nil
	}
	b := Brand{Colors: readColors(o), BannedWords: readBannedWords(o)}
	body.Set(&b.Name, o.Text("name", body.Nullable, 0, MaxBrandName))
	body.Set(&b.Voice, o.Text("voice", body.Nullable, 0, MaxVoice))
	body.Set(&b.LogoURL, readLogo(o))
	b.Typefaces = readTypefaces(o)
	o.Done()
	return &b
}

func readColors(f *body.Reader) []string {
	return f.List("colors", MaxColors, func(path, item string) (string, bool) {
		if !colorPattern.MatchString(item) {
			f.Bad(path, "invalid_format", "must be a colour such as #1b4332.", nil)
			return "", false
		}
		return strings.ToLower(item), true
	})
}

func readBannedWords(f *body.Reader) []string {
	return f.List("banned_words", MaxBanned, func(path, item string) (string, bool) {
		return item, f.CheckText(path, item, 1, MaxBannedWord)
	})
}

// readTypefaces parses the typefaces of a brand.
func readTypefaces(f *body.Reader) *Typefaces {
	o := f.Nested("typefaces", body.Nullable)
	if o == nil {
		return nil
	}
	var t Typefaces
	body.Set(&t.Heading, o.Choice("heading", body.Required, TypefaceNames))
	body.Set(&t.Text, o.Choice("text", body.Required, TypefaceNames))
	o.Done()
	return &t
}

// readLogo parses an asset path or a public URL.
func readLogo(o *body.Reader) *string {
	v := o.Object.Get("logo_url")
	if v == nil || v.Kind != body.KindString || !strings.HasPrefix(v.Text, AssetPath) {
		return o.URL("logo_url", nil)
	}
	return o.Text("logo_url", body.Nullable, 1, body.MaxURL)
}

func readReferences(f *body.Reader) []Reference {
	list := []Reference{}
	for _, o := range f.Objects("references", MaxReferences) {
		list = append(list, Reference{CreativeID: o.ID("creative_id", body.Nullable), URL: o.URL("url", nil)})
		o.Done()
	}
	return list
}
