package creative

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative/claims"
	"fanfare/internal/creative/policy"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// outcome is the result of one try: variants or a failure.
type outcome struct {
	failure  *FailureError
	result   *Result
	variants []Variant
	usage    Usage
	// replaced says what the built-in composer or renderer did in place of the
	// provider, nil for nothing.
	replaced *Replaced
}

func failedOutcome(f *FailureError) *outcome { return &outcome{failure: f} }

// generateVariants generates the variants of a creative. Failures of the
// provider or the brief are an outcome; an error is internal.
func (s *Service) generateVariants(ctx context.Context, cause record.Cause, c *Creative, work OpenProvider) (*outcome, error) {
	o, err := s.writeVariants(ctx, cause, c, work)
	if f, failed := errors.AsType[*FailureError](err); failed {
		o.failure, err = f, nil
	}
	return o, err
}

func (s *Service) writeVariants(ctx context.Context, cause record.Cause, c *Creative, work OpenProvider) (*outcome, error) {
	o := &outcome{result: &Result{}}
	b := c.brief()
	if err := s.checkModelBudget(ctx, c, work); err != nil {
		return o, err
	}
	if err := s.addReferences(ctx, c, b); err != nil {
		return o, err
	}
	result, err := s.writeText(ctx, c.WorkspaceID, b, work)
	if result != nil {
		o.result = result
		o.usage.Add(result.Usage)
	}
	if err != nil {
		return o, err
	}
	if b.Language == "" {
		b.Language = result.Language
	}
	review := policy.Review
	if !work.Quick {
		review = reviewModel
	}
	drafts := s.cleanDrafts(b, result)
	for i, d := range drafts {
		content := contentOf(b, &d, result.Language)
		v := s.newVariant(c, i+1, variantName(d.Angle, i), content, review(b.Source(), b.Channels, d.ByChannel))
		v.Generation = &VariantGeneration{Seed: b.Seed, Parameters: map[string]string{}}
		if d.Angle != "" {
			v.Generation.Parameters["angle"] = d.Angle
		}
		if v.Policy.Status == policy.Block {
			v.Status = StatusFailed
		} else if err := s.newImages(cause, c, b, work, o).add(ctx, &d, &v); isScriptFailure(err) {
			// Choice: the text is of use without the picture.
			o.result.LeftOut = append(o.result.LeftOut, fmt.Sprintf("Variant %d has no pictures. %s", i+1, scriptReason(err)))
			v.Content.Media, v.AspectRatio = []Media{}, nil
		} else if err != nil {
			return o, err
		}
		o.variants = append(o.variants, v)
	}
	return o, selectPrimary(o.variants, result.Dropped)
}

// reviewModel checks the copy of a language model, which nobody has read.
func reviewModel(src *policy.BriefSource, channels []string, byChannel map[string]policy.Copy) policy.Result {
	return claims.Review(src, channels, byChannel, policy.Block)
}

// writeText asks the provider for texts. The built-in one writes when its turn
// has come: an ordinary prompt takes a millisecond, a hostile one hundreds.
func (s *Service) writeText(ctx context.Context, workspace ident.ID, b *Brief, work OpenProvider) (*Result, error) {
	if work.Quick {
		leave, err := s.texts.Take(ctx, workspace, maxWait)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	return work.Write(ctx, b)
}

// checkModelBudget returns a failure if the workspace's budget does not allow the
// work.
func (s *Service) checkModelBudget(ctx context.Context, c *Creative, work OpenProvider) error {
	if work.Quick {
		return nil
	}
	rules, err := s.Records.Workspace(ctx, c.WorkspaceID)
	if err != nil || rules.Budget == nil {
		return err
	}
	if !work.Priced {
		return Fail(FailBudget, false, "The workspace has a monthly budget for models, and the price of this model is not known. Have the operator set its price, or use provider %s.", BuiltIn)
	}
	spent, err := s.Store.ModelSpend(ctx, c.WorkspaceID, month(*c.Generation.StartedAt))
	if err == nil && spent >= *rules.Budget {
		return Fail(FailBudget, true, "The workspace has spent its monthly budget for models (%s of %s US dollars). Raise it, wait for the next month, or use provider %s.", dollars(spent), dollars(*rules.Budget), BuiltIn)
	}
	return err
}

// addReferences adds fetched data: logo and photo if images are requested, and
// the texts of earlier creatives.
func (s *Service) addReferences(ctx context.Context, c *Creative, b *Brief) error {
	for _, ref := range c.Generation.Parameters.References {
		if ref.CreativeID == nil {
			continue
		}
		if other, err := s.Store.Load(ctx, c.WorkspaceID, *ref.CreativeID); err == nil {
			for _, text := range []*string{other.Content.Headline, other.Content.Body} {
				if text != nil {
					b.Examples = append(b.Examples, *text)
				}
			}
		}
	}
	if id := c.Generation.Parameters.LikeVariantID; id != nil {
		v, err := s.Store.Variant(ctx, c.WorkspaceID, *id)
		if err != nil {
			return err
		}
		if v.Generation != nil {
			b.Angle = v.Generation.Parameters["angle"]
		}
		b.Taken = textsOf(&v.Content)
	}
	if len(b.Shapes) == 0 {
		return nil
	}
	if err := s.addLogo(ctx, c.WorkspaceID, b); err != nil {
		return err
	}
	if id := c.Generation.Parameters.PhotoAssetID; id != nil {
		photo, err := s.readPhoto(ctx, c.WorkspaceID, *id)
		b.Photo = photo
		return err
	}
	return nil
}

// cleanDrafts converts drafts to plain text for the requested channels. It
// drops drafts that exceed a hard limit or repeat another one, with a reason.
func (s *Service) cleanDrafts(b *Brief, r *Result) []Draft {
	var list []Draft
	seen := map[string]bool{}
	for i, d := range r.Drafts {
		var over []string
		var texts strings.Builder
		asked := map[string]policy.Copy{}
		for _, channel := range b.Channels {
			text := d.ByChannel[channel]
			if slices.Contains(d.Skipped, channel) {
				continue
			}
			text = text.PlainText(channel)
			asked[channel] = text
			for _, o := range text.LimitViolations(channel) {
				over = append(over, fmt.Sprintf("%s.%s (%d of %d)", channel, o.Limit.Field, o.Length, o.Limit.Hard))
			}
			fmt.Fprintf(&texts, "%q", text.AllTexts(channel))
		}
		d.ByChannel, d.CallToAction = asked, callToAction(d.CallToAction)
		switch {
		case len(over) > 0:
			r.Dropped = append(r.Dropped, fmt.Sprintf("Variant %d breaks the limits of %s.", i+1, strings.Join(over, ", ")))
		case seen[texts.String()]:
			r.Dropped = append(r.Dropped, fmt.Sprintf("Variant %d repeats another.", i+1))
		default:
			seen[texts.String()] = true
			list = append(list, d)
		}
	}
	return list[:min(len(list), b.Variants)]
}

// callToAction returns the call to action for the text of a button, empty if
// none matches.
func callToAction(words string) string {
	action := strings.ReplaceAll(strings.ToLower(words), " ", "_")
	if !slices.Contains(CallsToAction, action) {
		return ""
	}
	return action
}

// contentOf converts a draft to content. Headline and body are those of the
// channel with the strictest limit, so that they fit every requested channel.
func contentOf(b *Brief, d *Draft, language string) Content {
	c := emptyContent()
	c.ByChannel = emailsWithHTML(d.ByChannel, language)
	c.Headline, _ = strictestText(b, d, "headlines", "subject")
	c.Body, _ = strictestText(b, d, "primary_text", "body", "descriptions", "script")
	if text, there := strictestText(b, d, "descriptions", "preheader"); there && (c.Body == nil || *text != *c.Body) {
		c.Description = text
	}
	if d.CallToAction != "" {
		c.CallToAction = &d.CallToAction
	}
	if b.LandingURL != "" {
		c.LandingURL = &b.LandingURL
	}
	if language != "" {
		c.Language = &language
	}
	return c
}

// strictestText returns the text of the requested channel with the lowest
// limit. For each channel it uses the first of the fields that it has.
func strictestText(b *Brief, d *Draft, fields ...string) (best *string, found bool) {
	least := 0
	for _, channel := range b.Channels {
		text := d.ByChannel[channel]
		for _, field := range fields {
			texts := text.Texts(field)
			if len(texts) == 0 {
				continue
			}
			for _, l := range policy.LimitsOf(channel) {
				if l.Field == field && (!found || l.Hard < least) {
					best, least, found = &texts[0], l.Hard, true
				}
			}
			break
		}
	}
	return best, found
}

func variantName(angle string, i int) string {
	if angle == "" {
		return fmt.Sprintf("Variant %d", i+1)
	}
	words := []rune(strings.ReplaceAll(angle, "_", " "))
	words[0] = unicode.ToUpper(words[0])
	return string(words)
}

// selectPrimary selects the primary variant, splits the traffic among the ready
// ones, and names each variant's difference.
func selectPrimary(variants []Variant, dropped []string) error {
	ready := 0
	primary := -1
	for i := range variants {
		if variants[i].Status != StatusReady {
			continue
		}
		if ready++; primary < 0 {
			primary = i
		}
	}
	if ready == 0 {
		return noVariantFailure(variants, dropped)
	}
	for i := range variants {
		v := &variants[i]
		if v.Status == StatusReady {
			v.Weight = 100 / ready
		}
		if i == primary {
			v.IsPrimary, v.IsControl = true, true
			v.Weight += 100 % ready
			continue
		}
		v.Differences = contentDifferences(&variants[primary].Content, &v.Content)
	}
	return nil
}

// noVariantFailure returns the failure if no variant is usable.
func noVariantFailure(variants []Variant, dropped []string) error {
	for _, v := range variants {
		for _, f := range v.Policy.Findings {
			if f.Severity == policy.Block {
				return Fail(FailPolicy, false, "Every variant was stopped by the policy check; the first by rule %s at %s.%s: %s", f.Rule, f.Channel, f.Field, f.Message)
			}
		}
	}
	return Fail(FailAnswer, true, "The provider made nothing that can be used. %s", strings.Join(dropped, " "))
}

func contentDifferences(a, b *Content) []string {
	list := []string{}
	for _, m := range []struct {
		name string
		a, b *string
	}{
		{"headline", a.Headline, b.Headline},
		{"body", a.Body, b.Body},
		{"description", a.Description, b.Description},
		{"call_to_action", a.CallToAction, b.CallToAction},
		{"language", a.Language, b.Language},
	} {
		if deref(m.a) != deref(m.b) {
			list = append(list, m.name)
		}
	}
	same := slices.EqualFunc(a.Media, b.Media, func(a, b Media) bool { return a.SHA256 == b.SHA256 })
	if !same {
		list = append(list, "image")
	}
	return list
}

// recordCost adds the cost to the month.
func (o *outcome) recordCost(save *Save) {
	if o.usage.CostMicros != nil {
		save.Spend, save.Month = *o.usage.CostMicros, month(save.At)
	}
}

// finishGeneration ends a generation: ready with variants, or failed with a
// reason.
func (s *Service) finishGeneration(c *Creative, o *outcome, save *Save) {
	g := c.Generation
	g.FinishedAt = &save.At
	if g.Replaced = o.replaced; o.replaced != nil && o.replaced.Part == partText {
		g.Provider = BuiltIn
	}
	if o.result != nil {
		g.Dropped = slices.Concat([]string{}, o.result.Dropped, o.result.Skipped, o.result.LeftOut)
		if o.result.Model != "" {
			g.Model = &o.result.Model
		}
		g.Cost = costOf(g.Provider, o.usage)
	}
	o.recordCost(save)
	if f := o.failure; f != nil {
		c.Status = StatusFailed
		g.Error = &GenerationErr{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
		save.Events = append(save.Events, record.Event{Type: "creative.failed", Previous: map[string]any{"status": StatusGenerating}})
		return
	}
	c.Status = StatusReady
	save.Variants = o.variants
	i := slices.IndexFunc(o.variants, func(v Variant) bool { return v.IsPrimary })
	primary := &o.variants[i]
	c.Content, c.Policy, c.VariantCount = primary.Content, primary.Policy, len(o.variants)
	c.PrimaryVariantID = &primary.ID
	if g.Provider != BuiltIn && c.Rights == nil {
		// Choice: text of a model has the AI disclosure from the start. The
		// composer only arranges the caller's words and is not a model.
		c.Rights = &Rights{AIDisclosure: true}
	}
	save.Events = append(save.Events, record.Event{Type: "creative.ready", Previous: map[string]any{"status": StatusGenerating}})
}

func costOf(provider string, u Usage) *Cost {
	c := &Cost{Currency: "USD", Usage: u}
	micros := u.CostMicros
	if provider == BuiltIn && u.Calls == 0 {
		micros = new(int64)
	}
	if micros != nil {
		amount := dollars(*micros)
		c.Amount = &amount
	}
	return c
}
