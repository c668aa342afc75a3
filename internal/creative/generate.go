package creative

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/creative/brief"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Request is the input of a generation.
type Request struct {
	// Prompt is empty if Brief has the facts.
	Prompt         string
	Brief          *brief.Fields
	NegativePrompt *string
	Parameters
	Provider *string
	Seed     *int64
	Tags     []string
	Metadata map[string]string

	understood *brief.Understood
}

const (
	// MaxDuration is the maximum duration of a generation.
	MaxDuration = 10 * time.Minute
	// pollInterval is the polling interval of Wait.
	pollInterval = 50 * time.Millisecond
)

func itemPath(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

// missingRefs lists references of the request that do not exist or are
// archived, and copies the data that it needs from those that exist.
func (s *Service) missingRefs(ctx context.Context, workspace ident.ID, r *Request) ([]fault.Detail, error) {
	var details []fault.Detail
	judge := func(field string, id ident.ID, there, archived bool) {
		switch {
		case !there:
			details = append(details, fault.MissingRef(field, id))
		case archived:
			details = append(details, fault.ArchivedRef(field, id))
		}
	}
	if id := r.CampaignID; id != nil {
		c, there, archived, err := s.Records.Campaign(ctx, workspace, *id)
		if err != nil {
			return nil, err
		}
		judge("campaign_id", *id, there, archived)
		r.fillFromCampaign(c)
	}
	if id := r.AudienceID; id != nil {
		there, archived, err := s.Records.Audience(ctx, workspace, *id)
		if err != nil {
			return nil, err
		}
		judge("audience_id", *id, there, archived)
	}
	for i, ref := range r.References {
		if ref.CreativeID == nil {
			continue
		}
		c, err := s.Store.Load(ctx, workspace, *ref.CreativeID)
		missing := fault.Is(err, fault.NotFound)
		if err != nil && !missing {
			return nil, err
		}
		judge(itemPath("references", i)+".creative_id", *ref.CreativeID, !missing, !missing && c.Status == StatusArchived)
	}
	if id, own := logoAsset(r.Brand); own {
		found, err := s.media(ctx, workspace, []ident.ID{id})
		if err != nil {
			return nil, err
		}
		judge("brand.logo_url", id, len(found) == 1, false)
	}
	if id := r.PhotoAssetID; id != nil {
		found, err := s.media(ctx, workspace, []ident.ID{*id})
		if err != nil {
			return nil, err
		}
		judge("photo_asset_id", *id, len(found) == 1, false)
	}
	bad, err := s.checkProvider(ctx, workspace, r)
	return append(details, bad...), err
}

// fillFromVariant fills empty fields of the request from the creative of the
// variant that the new ones shall be like.
func (s *Service) fillFromVariant(ctx context.Context, workspace ident.ID, f *body.Reader, r *Request) error {
	id := r.LikeVariantID
	if id == nil {
		return nil
	}
	v, err := s.Store.Variant(ctx, workspace, *id)
	if fault.Is(err, fault.NotFound) {
		f.Problems.Add(fault.MissingRef("like_variant_id", *id))
		return nil
	}
	if err != nil {
		return err
	}
	c, err := s.Store.Load(ctx, workspace, v.CreativeID)
	if err != nil {
		return err
	}
	isEmpty := r.Prompt == "" && len(r.Brief.List()) == 0
	g := c.Generation
	if g == nil {
		if isEmpty {
			f.Bad("like_variant_id", "invalid_value", "is a variant of an uploaded creative, whose facts are not known. Give brief or prompt too.", nil)
		}
		return nil
	}
	if isEmpty {
		r.Prompt, r.Brief = g.Prompt, g.Brief
	}
	was := g.Parameters
	if f.Object.Get("type") == nil {
		r.Type = was.Type
	}
	if len(r.Channels) == 0 {
		r.Channels = was.Channels
	}
	if len(r.AspectRatios)+len(r.Sizes) == 0 {
		r.AspectRatios, r.Sizes = was.AspectRatios, was.Sizes
	}
	if len(r.Formats) == 0 {
		r.Formats = was.Formats
	}
	r.NegativePrompt, r.PhotoAssetID = cmp.Or(r.NegativePrompt, g.NegativePrompt), cmp.Or(r.PhotoAssetID, was.PhotoAssetID)
	r.Language, r.Tone, r.Brand = cmp.Or(r.Language, was.Language), cmp.Or(r.Tone, was.Tone), cmp.Or(r.Brand, was.Brand)
	r.CallToAction, r.LandingURL, r.Objective = cmp.Or(r.CallToAction, was.CallToAction), cmp.Or(r.LandingURL, was.LandingURL), cmp.Or(r.Objective, was.Objective)
	return nil
}

// fillFromCampaign fills empty fields of the request from the campaign.
func (r *Request) fillFromCampaign(c CampaignContext) {
	if len(r.Channels) == 0 {
		r.Channels = c.Channels
	}
	if r.LandingURL == nil && c.LandingURL != "" {
		r.LandingURL = &c.LandingURL
	}
	if c.Objective != "" {
		r.Objective = &c.Objective
	}
}

func (s *Service) checkProvider(ctx context.Context, workspace ident.ID, r *Request) ([]fault.Detail, error) {
	names, err := s.Providers.Names(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if r.Provider == nil {
		r.Provider = &names[0]
	}
	if slices.Contains(names, *r.Provider) {
		return checkLanguage(r), nil
	}
	return []fault.Detail{{
		Field: "provider", Code: "invalid_value",
		Message: "provider " + *r.Provider + " is not configured. Use " + strings.Join(names, " or ") + ", or ask the operator to set it up.", Meta: fault.Meta{"allowed": names},
	}}, nil
}

// AssetPath is the URL path of assets.
const AssetPath = "/v1/assets/"

// logoAsset returns the id of the logo if it is a stored asset.
func logoAsset(b *Brand) (ident.ID, bool) {
	if b == nil {
		return "", false
	}
	id, own := strings.CutPrefix(b.LogoURL, AssetPath)
	return ident.ID(id), own
}

// Generate creates a creative from a prompt. A generation that takes
// milliseconds is finished on return. Others have the status generating and run
// in the background; Wait waits for them.
func (s *Service) Generate(ctx context.Context, cause record.Cause, sent *body.Value) (record.Doc, Status, error) {
	f := body.NewReader(sent, false)
	r := readRequest(f)
	f.Done()
	if err := s.fillFromVariant(ctx, cause.Workspace, f, &r); err != nil {
		return record.Doc{}, "", err
	}
	if err := s.useBrandKit(ctx, cause.Workspace, &r); err != nil {
		return record.Doc{}, "", err
	}
	dangling, err := s.missingRefs(ctx, cause.Workspace, &r)
	if err != nil {
		return record.Doc{}, "", err
	}
	if f.Problems.Add(dangling...); f.Err() != nil {
		return record.Doc{}, "", f.Err()
	}
	if err := refuse(&r); err != nil {
		return record.Doc{}, "", err
	}
	r.understood = understand(r.Prompt, deref(r.Language), r.Brief)
	if err := checkUnderstood(&r); err != nil {
		return record.Doc{}, "", err
	}
	c, err := s.newGeneration(ctx, cause, &r)
	if err != nil {
		return record.Doc{}, "", err
	}
	save := Save{Save: record.Save{Cause: cause, At: c.CreatedAt, Events: []record.Event{{Type: "creative.created"}}}}
	if err := s.startGeneration(ctx, c, &save); err != nil {
		return record.Doc{}, "", err
	}
	save.Jobs = c.generateJobs("", save.At)
	d, err := s.Store.Save(ctx, c, save)
	return d, c.Status, err
}

// JobGenerate is the job that generates a creative.
const JobGenerate = "creative.generate"

// JobHandlers returns the handler of the background jobs of creatives.
func (s *Service) JobHandlers() []record.JobHandler {
	return []record.JobHandler{
		{Kind: JobGenerate, Limit: MaxDuration, Run: func(ctx context.Context, workspace, id ident.ID, _ int64) (*clock.Instant, error) {
			return nil, s.Run(ctx, workspace, id)
		}},
	}
}

// generateJobs schedules JobGenerate for a creative whose generation starts,
// and cancels it if the generation ends.
func (c *Creative) generateJobs(before Status, at clock.Instant) []record.Job {
	if (before == StatusGenerating) == (c.Status == StatusGenerating) {
		return nil
	}
	return []record.Job{{Kind: JobGenerate, Workspace: c.WorkspaceID, ID: c.ID, At: at, Cancel: before == StatusGenerating}}
}

// startGeneration runs a quick generation at once. Any other one runs in the
// background.
func (s *Service) startGeneration(ctx context.Context, c *Creative, save *Save) error {
	if c.Generation.Provider == BuiltIn && len(c.Generation.Parameters.shapes()) == 0 {
		o, err := s.generateOnce(ctx, save.Cause, c)
		if err != nil {
			return err
		}
		s.finishGeneration(c, o, save)
		return nil
	}
	if once := save.Cause.Idempotency; once != nil {
		later := *once
		later.Status = 202
		save.Cause.Idempotency = &later
	}
	return nil
}

// newGeneration returns the record of a generation that has not started.
func (s *Service) newGeneration(ctx context.Context, cause record.Cause, r *Request) (*Creative, error) {
	if len(r.Channels) == 0 {
		r.Channels = []string{defaultChannels[r.Type]}
	}
	if r.Type == "image" && len(r.AspectRatios)+len(r.Sizes) == 0 {
		r.AspectRatios = []string{AspectRatios[0].Name}
	}
	if len(r.Formats) == 0 {
		r.Formats = Formats[:1]
	}
	seed := r.Seed
	if seed == nil {
		var b [8]byte
		if _, err := io.ReadFull(s.Random, b[:]); err != nil {
			return nil, fmt.Errorf("choose a seed: %w", err)
		}
		n := int64(binary.BigEndian.Uint64(b[:]) & MaxSeed)
		seed = &n
	}
	c, err := s.newCreative(ctx, cause, r.Type, "generated", Spec{
		Name: nameFrom(plainSource(r.Prompt, r.Brief)), Channels: r.Channels, Content: emptyContent(), Tags: r.Tags, Metadata: r.Metadata,
	})
	if err != nil {
		return nil, err
	}
	c.Status = StatusGenerating
	c.Generation = &Generation{
		Prompt: r.Prompt, Brief: r.Brief, Understood: r.understood, NegativePrompt: r.NegativePrompt, Parameters: r.Parameters, Provider: *r.Provider, Seed: *seed,
		Dropped: []string{}, StartedAt: &c.CreatedAt,
	}
	return c, nil
}

// Regenerate repeats the generation of a failed creative. It returns as Generate
// does.
func (s *Service) Regenerate(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (d record.Doc, status Status, err error) {
	d, err = s.changeCreative(ctx, cause, id, match, func(c *Creative, save *Save) error {
		if c.Status != StatusFailed {
			return c.invalidState("retry", StatusFailed)
		}
		c.Status = StatusGenerating
		c.Generation.StartedAt, c.Generation.FinishedAt, c.Generation.Error = &save.At, nil, nil
		save.Events = []record.Event{{Type: "creative.updated", Previous: map[string]any{"status": StatusFailed}}}
		err := s.startGeneration(ctx, c, save)
		status = c.Status
		return err
	})
	return d, status, err
}

// Wait returns the creative when its generation has finished, or its current
// state after the timeout. It polls, because any instance may do the work. It
// stores a finished result under the caller's idempotency key.
func (s *Service) Wait(ctx context.Context, cause record.Cause, id ident.ID, timeout time.Duration) (record.Doc, Status, error) {
	until := time.NewTimer(timeout)
	defer until.Stop()
	again := time.NewTicker(pollInterval)
	defer again.Stop()
	for {
		c, err := s.Store.Load(ctx, cause.Workspace, id)
		if err != nil {
			return record.Doc{}, "", err
		}
		if c.Status != StatusGenerating {
			return c.Stored(), c.Status, s.Store.ReplaceResponse(ctx, cause, id, c.Stored())
		}
		select {
		case <-until.C:
			return c.Stored(), c.Status, nil
		case <-ctx.Done():
			return c.Stored(), c.Status, nil
		case <-again.C:
		}
	}
}

// Run runs the generation of a creative whose status is generating. Repeated
// calls are safe.
func (s *Service) Run(ctx context.Context, workspace, id ident.ID) error {
	c, err := s.Store.Load(ctx, workspace, id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil || c.Status != StatusGenerating {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.running.Store(id, &stop)
	defer s.running.CompareAndDelete(id, &stop)
	cause := record.Cause{Workspace: workspace, Actor: record.System}
	o, err := s.generateOnce(ctx, cause, c)
	if err == nil && o.failure != nil && errors.Is(ctx.Err(), context.Canceled) {
		// An interrupted generation has not failed.
		err = fmt.Errorf("generate %s: %w", id, ctx.Err())
	}
	if err != nil {
		return err
	}
	_, err = s.changeCreative(context.WithoutCancel(ctx), cause, id, record.Match{}, func(c *Creative, save *Save) error {
		// The creative was archived or finished elsewhere, so drop the result,
		// but record its cost.
		if c.Status == StatusGenerating {
			s.finishGeneration(c, o, save)
		} else {
			o.recordCost(save)
		}
		return nil
	})
	return err
}

// generateOnce tries once. An error is internal and can be retried until the
// maximum duration.
func (s *Service) generateOnce(ctx context.Context, cause record.Cause, c *Creative) (*outcome, error) {
	over := c.Generation.StartedAt.Add(MaxDuration) <= clock.At(s.Now())
	if over {
		return failedOutcome(Fail(FailTimeout, true, "The generation took longer than %d minutes. Try again.", int(MaxDuration.Minutes()))), nil
	}
	work, err := s.Providers.Open(ctx, c.WorkspaceID, c.Generation.Provider)
	var o *outcome
	if f, failed := errors.AsType[*FailureError](err); failed {
		o = failedOutcome(f)
	} else if err != nil {
		return nil, err
	} else if o, err = s.generateVariants(ctx, cause, c, work); err != nil {
		return nil, err
	}
	if o.failure == nil || ctx.Err() != nil {
		return o, nil
	}
	if why := c.replacement(work, partText, o.failure); why != nil {
		return s.composeInstead(ctx, cause, c, o, why)
	}
	return o, nil
}

// shapes returns the requested image sizes.
func (p *Parameters) shapes() []Shape {
	var list []Shape
	for _, table := range []struct {
		names []string
		known []Shape
	}{{p.AspectRatios, AspectRatios}, {p.Sizes, Sizes}} {
		for _, name := range table.names {
			i := slices.IndexFunc(table.known, func(s Shape) bool { return s.Name == name })
			if i >= 0 {
				list = append(list, table.known[i])
			}
		}
	}
	return list
}

// brief returns the input of the provider.
func (c *Creative) brief() *Brief {
	g := c.Generation
	p := g.Parameters
	b := &Brief{
		Prompt: sourceOf(g.Prompt, g.Brief), Facts: g.Understood, NegativePrompt: deref(g.NegativePrompt), Type: p.Type, Channels: p.Channels, Variants: p.Variants,
		Shapes: p.shapes(), Formats: p.Formats, Language: deref(p.Language), Tone: deref(p.Tone),
		CallToAction: deref(p.CallToAction), LandingURL: deref(p.LandingURL), Objective: deref(p.Objective), Seed: g.Seed,
	}
	if p.Brand != nil {
		b.Brand = *p.Brand
	}
	if g.Brief != nil {
		b.MustInclude, b.Avoid = g.Brief.MustInclude, g.Brief.Avoid
	}
	if b.Facts == nil {
		// Choice: a creative of an older release has none; they are found when it
		// is generated again.
		b.Facts = understand(g.Prompt, b.Language, g.Brief)
	}
	b.MustInclude = slices.Concat(b.MustInclude, b.Facts.MustInclude)
	b.Avoid = slices.Concat(b.Avoid, b.Facts.Avoid)
	return b
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// dollars formats millionths of a dollar.
func dollars(micros int64) string {
	text := strconv.FormatInt(micros, 10)
	if len(text) < 7 {
		text = strings.Repeat("0", 7-len(text)) + text
	}
	return text[:len(text)-6] + "." + text[len(text)-6:]
}
