package creative

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/creative/policy"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// variantReadOnly lists the fields of variants that callers cannot write.
var variantReadOnly = func() []string {
	list := []string{
		"id", "creative_id", "position", "status", "is_primary", "is_control", "weight", "approval", "policy", "differences", "aspect_ratio",
		"language", "generation", "metrics", "version", "created_at", "updated_at", "archived_at", "content.media",
	}
	for _, channel := range Channels {
		list = append(list, "content.by_channel."+channel+".html")
	}
	return list
}()

// Detail codes of changes of variants.
const (
	// codePolicyBlocked: the policy check blocks a text.
	codePolicyBlocked = "policy_blocked"
	// codeNoAlternative: the brief gives no other line for a place.
	codeNoAlternative = "no_alternative"
)

// Variant returns the stored document of a variant.
func (s *Service) Variant(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.Store.VariantDoc(ctx, workspace, id)
}

// UpdateVariant applies a merge patch to the texts of a variant and draws its
// pictures again. A text that its channel or the policy check does not allow is
// refused.
func (s *Service) UpdateVariant(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error) {
	return s.changeVariant(ctx, cause, id, match, func(c *Creative, v *Variant, all []*Variant) error {
		stored, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode variant: %w", err)
		}
		f, err := body.Merge(stored, *patch, variantReadOnly)
		if err != nil {
			return err
		}
		name := f.Text("name", body.Required, 1, MaxName)
		content := v.Content
		if o := f.Nested("content", body.Optional); o != nil {
			content = readContent(o)
			content.Media = v.Content.Media
			o.Done()
		}
		f.Done()
		if err := f.Err(); err != nil {
			return err
		}
		v.Name = *name
		return s.changeContent(ctx, cause, c, v, content, all)
	})
}

// ApproveVariant records that a variant may be shown.
func (s *Service) ApproveVariant(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, note *string) (record.Doc, error) {
	return s.decideVariant(ctx, cause, id, match, ApprovalApproved, note)
}

// RejectVariant takes a variant out of the traffic. If it is the primary one,
// another one becomes primary.
func (s *Service) RejectVariant(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, note *string) (record.Doc, error) {
	return s.decideVariant(ctx, cause, id, match, ApprovalRejected, note)
}

func (s *Service) decideVariant(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, status string, note *string) (record.Doc, error) {
	return s.changeVariant(ctx, cause, id, match, func(_ *Creative, v *Variant, all []*Variant) error {
		if was := v.Approval; was != nil && was.Status == status && reflect.DeepEqual(was.Note, note) {
			return nil
		}
		if v.Status != StatusReady {
			const message = "The policy check stopped this variant. Edit its texts first."
			return fault.New(fault.InvalidState, message, fault.Detail{Code: string(fault.InvalidState), Message: message})
		}
		now := clock.At(s.Now())
		v.Approval = &Approval{Status: status, By: &cause.Actor, At: &now, Note: note}
		if !slices.ContainsFunc(all, (*Variant).isShown) {
			const message = "This is the last variant that is shown. Approve another one first, or reject the creative with PATCH /v1/creative/{id}."
			return fault.New(fault.InvalidState, message, fault.Detail{Code: string(fault.InvalidState), Message: message})
		}
		splitTraffic(all)
		return nil
	})
}

// isShown reports whether a variant gets traffic.
func (v *Variant) isShown() bool {
	return v.Status == StatusReady && (v.Approval == nil || v.Approval.Status != ApprovalRejected)
}

// splitTraffic splits the traffic evenly among the shown variants. A primary
// variant that is not shown hands its place to the first one that is, approved
// ones before others.
func splitTraffic(all []*Variant) {
	var shown []*Variant
	for _, v := range all {
		v.Weight = 0
		if v.isShown() {
			shown = append(shown, v)
		}
	}
	if len(shown) == 0 {
		return
	}
	primary := slices.IndexFunc(shown, func(v *Variant) bool { return v.IsPrimary })
	if primary < 0 {
		primary = max(slices.IndexFunc(shown, func(v *Variant) bool { return v.Approval != nil }), 0)
		for _, v := range all {
			v.IsPrimary, v.IsControl = v == shown[primary], v == shown[primary]
		}
	}
	for _, v := range shown {
		v.Weight = 100 / len(shown)
	}
	shown[primary].Weight += 100 % len(shown)
}

// changeVariant changes a variant and with it its creative: content, policy and
// primary variant of the creative follow. The response is the variant.
func (s *Service) changeVariant(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, apply func(c *Creative, v *Variant, all []*Variant) error) (record.Doc, error) {
	first, err := s.Store.Variant(ctx, cause.Workspace, id)
	if err != nil {
		return record.Doc{}, err
	}
	_, err = s.changeCreative(ctx, cause, first.CreativeID, record.Match{}, func(c *Creative, save *Save) error {
		all, err := s.allVariants(ctx, c)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(v *Variant) bool { return v.ID == id })
		if i < 0 {
			return fault.Missing()
		}
		save.Answer = all[i]
		if err := match.Check(all[i].Version); err != nil {
			return err
		}
		if c.Status != StatusReady {
			return c.invalidState("change a variant of", StatusReady)
		}
		old := make([]Variant, len(all))
		for k, v := range all {
			old[k] = *v
		}
		if err := apply(c, all[i], all); err != nil {
			return err
		}
		return c.followVariants(old, all, save)
	})
	if err != nil {
		return record.Doc{}, err
	}
	return s.Store.VariantDoc(ctx, cause.Workspace, id)
}

func (s *Service) allVariants(ctx context.Context, c *Creative) ([]*Variant, error) {
	p, err := s.Store.Variants(ctx, c.WorkspaceID, c.ID, page.Query{Limit: 100, Sort: "position"})
	if err != nil {
		return nil, err
	}
	all := make([]*Variant, len(p.Docs))
	for i, d := range p.Docs {
		all[i] = &Variant{}
		if err := json.Unmarshal(d.JSON, all[i]); err != nil {
			return nil, fmt.Errorf("read variant: %w", err)
		}
	}
	return all, nil
}

// followVariants brings the creative up to date with its changed variants and
// lists what is to be written.
func (c *Creative) followVariants(old []Variant, all []*Variant, save *Save) error {
	primary := all[slices.IndexFunc(all, func(v *Variant) bool { return v.IsPrimary })]
	var media, before []ident.ID
	var changed []map[string]any
	for i, v := range all {
		v.Differences = []string{}
		if v != primary {
			v.Differences = contentDifferences(&primary.Content, &v.Content)
		}
		media, before = append(media, v.Assets()...), append(before, old[i].Assets()...)
		if previous := record.Diff(&old[i], v); len(previous) > 0 {
			v.Version, v.UpdatedAt = v.Version+1, save.At
			save.Changed = append(save.Changed, v)
			previous["id"] = v.ID
			changed = append(changed, previous)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	save.NewMedia = without(media, before)
	save.OldMedia = without(before, media)
	was := c.Spec
	c.Content, c.Policy, c.PrimaryVariantID = primary.Content, primary.Policy, &primary.ID
	previous := record.Diff(&was, &c.Spec)
	previous["variants"] = changed
	save.Events = []record.Event{{Type: "creative.updated", Previous: previous}}
	return nil
}

// without returns the ids of a list that are not in another, each once.
func without(list, other []ident.ID) []ident.ID {
	var out []ident.ID
	for _, id := range list {
		if !slices.Contains(other, id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// changeContent sets the content of a variant, checks it and draws its pictures.
func (s *Service) changeContent(ctx context.Context, cause record.Cause, c *Creative, v *Variant, content Content, all []*Variant) error {
	if reflect.DeepEqual(v.Content, content) {
		return nil
	}
	b, review := c.reviewOfEdits()
	spec := Spec{Channels: c.Channels, Content: content}
	found := spec.reviewCopy(b, review)
	var details []fault.Detail
	for channel, text := range content.ByChannel {
		if reflect.DeepEqual(v.Content.ByChannel[channel], text) {
			continue
		}
		details = append(details, textFaults(channel, &text, &found, slices.Contains(c.Channels, channel))...)
	}
	if len(details) > 0 {
		slices.SortStableFunc(details, func(a, b fault.Detail) int { return strings.Compare(a.Field, b.Field) })
		return fault.Invalid(details)
	}
	v.Content, v.Policy, v.Language = content, found, content.Language
	// Choice: a decision is about the text that was seen.
	v.Approval = nil
	if v.Status == StatusFailed && found.Status != policy.Block {
		v.Status = StatusReady
	}
	splitTraffic(all)
	return s.redraw(ctx, cause, c, v, b)
}

// textFaults lists what platforms would refuse of the copy of a channel. On
// channels of the creative, texts that the channel needs must not be missing.
func textFaults(channel string, text *policy.Copy, found *policy.Result, isWhole bool) (details []fault.Detail) {
	path := "content.by_channel." + channel + "."
	for _, o := range text.LimitViolations(channel) {
		field := path + o.Limit.Field
		switch {
		case o.Index < 0 && o.Length > o.Limit.MaxItems:
			details = append(details, fault.Detail{
				Field: field, In: "body", Code: "too_many_items", Message: fmt.Sprintf("%s must have at most %d items; it has %d.", field, o.Limit.MaxItems, o.Length),
				Meta: fault.Meta{"maximum": o.Limit.MaxItems, "actual": o.Length},
			})
		case o.Index < 0 && !isWhole:
		case o.Index < 0:
			details = append(details, fault.Detail{
				Field: field, In: "body", Code: "required", Message: fmt.Sprintf("%s is required on this channel: at least %d.", field, o.Limit.MinItems), Meta: fault.Meta{"minimum": o.Limit.MinItems},
			})
		default:
			if o.Limit.MaxItems > 1 {
				field = itemPath(field, o.Index)
			}
			details = append(details, fault.Detail{
				Field: field, In: "body", Code: "too_long", Message: fmt.Sprintf("%s must have at most %d characters as the channel counts them; it has %d.", field, o.Limit.Hard, o.Length),
				Meta: fault.Meta{"maximum": o.Limit.Hard, "actual": o.Length},
			})
		}
	}
	for _, f := range found.Findings {
		if f.Channel == channel && f.Severity == policy.Block {
			details = append(details, fault.Detail{
				Field: path + f.Field, In: "body", Code: codePolicyBlocked, Message: f.Message, Meta: fault.Meta{"rule": f.Rule, "index": f.Index, "text": f.Text},
			})
		}
	}
	return details
}

// redraw draws the pictures of a variant again, on the same photo or backgrounds.
// Pictures that a model of an earlier release has drawn whole stay.
func (s *Service) redraw(ctx context.Context, cause record.Cause, c *Creative, v *Variant, b *Brief) error {
	if b == nil || len(b.Shapes) == 0 {
		return nil
	}
	work, err := s.Providers.Open(ctx, c.WorkspaceID, BuiltIn)
	if err != nil {
		return fmt.Errorf("open renderer: %w", err)
	}
	b.Language = deref(v.Language)
	d := &Draft{ByChannel: v.Content.ByChannel, CallToAction: deref(v.Content.CallToAction)}
	if v.Generation != nil {
		d.Angle = v.Generation.Parameters["angle"]
	}
	drawn := *v
	drawn.Content.Media = []Media{}
	if err = s.addReferences(ctx, c, b); err == nil {
		m := s.newImages(cause, c, b, work, &outcome{})
		if err = m.reuseBackgrounds(ctx, v); err == nil && c.hasWholePictures(len(m.drawn)) {
			return nil
		}
		if err == nil {
			err = m.add(ctx, d, &drawn)
		}
	}
	if f, failed := errors.AsType[*FailureError](err); failed {
		return fault.Invalid([]fault.Detail{{Field: "content", In: "body", Code: f.Code, Message: f.Message}})
	}
	if err != nil {
		return err
	}
	v.Content.Media = drawn.Content.Media
	return nil
}

// hasWholePictures reports whether a model has drawn the pictures of a variant
// with a number of backgrounds, and not only what is behind its texts.
func (c *Creative) hasWholePictures(backgrounds int) bool {
	return backgrounds == 0 && c.Generation.Cost != nil && c.Generation.Cost.Images > 0
}

// linePattern is the path of one line of a channel's copy.
var linePattern = regexp.MustCompile(`^content\.by_channel\.([a-z_]+)\.([a-z_]+)(?:\[(\d{1,2})\])?$`)

// maxTries is how many times the writer is asked for another line.
const maxTries = 4

// RegenerateLine replaces one line of a variant by another one from the same
// facts. The built-in composer writes it, whoever wrote the others.
func (s *Service) RegenerateLine(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, field string) (record.Doc, error) {
	return s.changeVariant(ctx, cause, id, match, func(c *Creative, v *Variant, all []*Variant) error {
		bad := func(code, message string) error {
			return fault.Invalid([]fault.Detail{{Field: "field", In: "body", Code: code, Message: message}})
		}
		m := linePattern.FindStringSubmatch(field)
		index := 0
		if m != nil && m[3] != "" {
			index, _ = strconv.Atoi(m[3]) // Two digits.
		}
		if m == nil || m[2] == "html" {
			return bad("invalid_value", "field must be the path of a line, such as content.by_channel.search.headlines[0].")
		}
		content := v.Content
		content.ByChannel = maps.Clone(v.Content.ByChannel)
		text := content.ByChannel[m[1]]
		lines := slices.Clone(text.Texts(m[2]))
		if index >= len(lines) {
			return bad("invalid_value", "field names no line of this variant.")
		}
		if c.Generation == nil {
			return bad(codeNoAlternative, "The creative was not generated, so its facts are not known. Edit the line instead.")
		}
		line, err := s.anotherLine(ctx, c, v, all, m[1], m[2])
		if f, failed := errors.AsType[*FailureError](err); failed {
			if f.Code == FailNotUnderstood {
				return bad(f.Code, f.Message)
			}
			return bad(codeNoAlternative, f.Message)
		}
		if err != nil {
			return err
		}
		if line == "" {
			return bad(codeNoAlternative, "The facts give no other line for this place. Add a fact and generate again, or edit the line.")
		}
		old := lines[index]
		lines[index] = line
		text.SetTexts(m[2], lines)
		content.ByChannel[m[1]] = text
		content.ByChannel = emailsWithHTML(content.ByChannel, deref(content.Language))
		for _, general := range []**string{&content.Headline, &content.Body, &content.Description} {
			if *general != nil && **general == old {
				*general = &line
			}
		}
		return s.changeContent(ctx, cause, c, v, content, all)
	})
}

// anotherLine returns a line for a field of a channel that no variant has, empty
// if there is none. Lines with the idea of the variant come first.
func (s *Service) anotherLine(ctx context.Context, c *Creative, v *Variant, all []*Variant, channel, field string) (string, error) {
	work, err := s.Providers.Open(ctx, c.WorkspaceID, BuiltIn)
	if err != nil {
		return "", fmt.Errorf("open composer: %w", err)
	}
	b := c.brief()
	b.Channels, b.Variants = []string{channel}, MaxVariants
	var taken []string
	for _, other := range all {
		taken = append(taken, textsOf(&other.Content)...)
	}
	b.Taken = taken
	angle := ""
	if v.Generation != nil {
		angle = v.Generation.Parameters["angle"]
	}
	limits := policy.LimitsOf(channel)
	limit := limits[max(slices.IndexFunc(limits, func(l policy.Limit) bool { return l.Field == field }), 0)]
	other := ""
	for try := range int64(maxTries) {
		b.Seed = (c.Generation.Seed + v.Version*maxTries + try) & MaxSeed
		r, err := s.writeText(ctx, c.WorkspaceID, b, work)
		if err != nil {
			return "", err
		}
		for _, d := range r.Drafts {
			text := d.ByChannel[channel]
			for _, line := range text.Texts(field) {
				switch {
				case slices.Contains(taken, line) || limit.Length(line) > limit.Hard:
				case d.Angle == angle:
					return line, nil
				case other == "":
					other = line
				}
			}
		}
	}
	return other, nil
}

// textsOf returns all texts of a content.
func textsOf(c *Content) (list []string) {
	for _, channel := range Channels {
		if text, there := c.ByChannel[channel]; there {
			list = append(list, text.AllTexts(channel)...)
		}
	}
	return list
}
