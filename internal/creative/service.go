package creative

import (
	"context"
	"io"
	"maps"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/creative/claims"
	"fanfare/internal/creative/policy"
	"fanfare/internal/fairqueue"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Service implements the operations on creatives.
type Service struct {
	Deps
	// running has the generations of this process by id, so that Archive can
	// stop them.
	running sync.Map
	// pictures and texts limit the concurrent work of the built-in generator.
	pictures, texts *fairqueue.Queue
}

// Deps are the dependencies of a Service.
type Deps struct {
	Store     Store
	Kits      BrandKits
	Providers ProviderCatalog
	Painter   Painter
	Assets    Assets
	Fetch     Fetcher
	Records   Records
	// Metrics may be nil. Creatives then have no metrics.
	Metrics MetricsSource
	// Founder finds whose workspaces share turns, nil for each on its own.
	Founder fairqueue.FounderOf
	Now     func() time.Time
	Random  io.Reader
}

// New returns the service.
func New(d Deps) *Service {
	// One more than cores: generations are work in the background, which leaves
	// a place unused.
	pictures := fairqueue.Limits{Work: "pictures", Running: runtime.GOMAXPROCS(0) + 1}
	texts := fairqueue.Limits{Work: "texts of the built-in generator", Running: max(runtime.GOMAXPROCS(0), 2), PerWorkspace: 128}
	return &Service{Deps: d, pictures: fairqueue.New(pictures, d.Founder), texts: fairqueue.New(texts, d.Founder)}
}

// maxWait is how long a text waits for its turn.
const maxWait = 20 * time.Second

// Upload is a creative with the caller's own content.
type Upload struct {
	Type string
	Spec
}

// Get returns the stored document.
func (s *Service) Get(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return s.Store.Doc(ctx, workspace, id)
}

// List returns one page of creatives.
func (s *Service) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	return s.Store.List(ctx, workspace, q)
}

// Variants returns one page of the variants of a creative.
func (s *Service) Variants(ctx context.Context, workspace, id ident.ID, q page.Query) (page.Page, error) {
	if _, err := s.Store.Doc(ctx, workspace, id); err != nil {
		return page.Page{}, err
	}
	return s.Store.Variants(ctx, workspace, id, q)
}

// Create creates a creative from the caller's own content. It is ready at once.
func (s *Service) Create(ctx context.Context, cause record.Cause, sent *body.Value) (record.Doc, error) {
	f := body.NewReader(sent, false)
	u := readUpload(f)
	f.Done(readOnly...)
	missing, err := s.fillMedia(ctx, cause.Workspace, &u.Content)
	if err != nil {
		return record.Doc{}, err
	}
	if f.Problems.Add(missing...); f.Err() != nil {
		return record.Doc{}, f.Err()
	}
	c, err := s.newCreative(ctx, cause, u.Type, "uploaded", u.Spec)
	if err != nil {
		return record.Doc{}, err
	}
	c.Status = StatusReady
	c.Policy = c.reviewCopy(nil, policy.Review)
	v := s.newVariant(c, 1, "Original", c.Content, c.Policy)
	v.IsPrimary, v.IsControl, v.Weight = true, true, 100
	c.VariantCount, c.PrimaryVariantID = 1, &v.ID
	return s.Store.Save(ctx, c, Save{
		Save:     record.Save{Cause: cause, At: c.CreatedAt, Events: []record.Event{{Type: "creative.created"}, {Type: "creative.ready"}}},
		Variants: []Variant{v},
	})
}

// fillMedia fills in the data of the assets in a content, and lists assets that
// do not exist.
func (s *Service) fillMedia(ctx context.Context, workspace ident.ID, c *Content) ([]fault.Detail, error) {
	ids := make([]ident.ID, len(c.Media))
	for i, m := range c.Media {
		ids[i] = m.AssetID
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.media(ctx, workspace, ids)
	if err != nil {
		return nil, err
	}
	var details []fault.Detail
	for i, m := range c.Media {
		is, there := found[m.AssetID]
		if !there {
			details = append(details, fault.MissingRef(itemPath("content.media", i)+".asset_id", m.AssetID))
			continue
		}
		is.AltText = m.AltText
		c.Media[i] = is
	}
	return details, nil
}

// newCreative returns a new record that is not stored yet.
func (s *Service) newCreative(ctx context.Context, cause record.Cause, kind, source string, spec Spec) (*Creative, error) {
	rules, err := s.Records.Workspace(ctx, cause.Workspace)
	if err != nil {
		return nil, err
	}
	t := s.Now()
	now := clock.At(t)
	spec.Approval = Approval{Status: ApprovalNotRequired}
	if rules.RequireApproval {
		spec.Approval.Status = ApprovalPending
	}
	return &Creative{
		ID: ident.New(ident.Creative, t, s.Random), Type: kind, Source: source, Spec: spec,
		Policy: policy.Result{Status: policy.Pass, Findings: []policy.Finding{}},
		Common: record.Common{WorkspaceID: cause.Workspace, Version: 1, CreatedBy: cause.Actor, CreatedAt: now, UpdatedAt: now},
	}, nil
}

// newVariant returns a new variant of a creative.
func (s *Service) newVariant(c *Creative, position int, name string, content Content, p policy.Result) Variant {
	t := s.Now()
	now := clock.At(t)
	return Variant{
		ID: ident.New(ident.Variant, t, s.Random), CreativeID: c.ID, Position: position, Name: name, Status: StatusReady,
		Content: content, Policy: p, Differences: []string{}, Language: content.Language,
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
}

// Update applies a merge patch. A patch that changes nothing returns the record
// without an event.
func (s *Service) Update(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error) {
	return s.changeCreative(ctx, cause, id, match, func(c *Creative, save *Save) error {
		f, err := body.Merge(c.Stored().JSON, *patch, readOnly)
		if err != nil {
			return err
		}
		spec := readSpec(f)
		f.Done()
		if err := f.Err(); err != nil {
			return err
		}
		spec.Content.Media = c.Content.Media
		if c.Status == StatusArchived {
			return c.invalidState("update", notArchived...)
		}
		if err := s.applyApproval(ctx, cause, c, &spec, save.At); err != nil {
			return err
		}
		old := record.Diff(&c.Spec, &spec)
		if len(old) == 0 {
			return nil
		}
		if old["content"] != nil {
			if err := s.updatePrimary(ctx, c, &spec, save); err != nil {
				return err
			}
		}
		c.Spec = spec
		save.Events = []record.Event{{Type: "creative.updated", Previous: old}}
		return nil
	})
}

// applyApproval records who approved or rejected the creative, and when.
func (s *Service) applyApproval(ctx context.Context, cause record.Cause, c *Creative, spec *Spec, now clock.Instant) error {
	is, was := &spec.Approval, c.Approval
	is.By, is.At = was.By, was.At
	if is.Status == was.Status && reflect.DeepEqual(is.Note, was.Note) {
		return nil
	}
	is.By, is.At = &cause.Actor, &now
	if is.Status != ApprovalNotRequired {
		return nil
	}
	rules, err := s.Records.Workspace(ctx, cause.Workspace)
	if err == nil && rules.RequireApproval {
		allowed := []string{ApprovalPending, ApprovalApproved, ApprovalRejected}
		err = fault.Invalid([]fault.Detail{{
			Field: "approval.status", Code: "invalid_value", Message: "approval.status must be one of " + strings.Join(allowed, ", ") + ": the workspace requires approval.",
			Meta: fault.Meta{"allowed": allowed},
		}})
	}
	return err
}

// updatePrimary copies the changed text to the primary variant and checks it
// again.
func (s *Service) updatePrimary(ctx context.Context, c *Creative, spec *Spec, save *Save) error {
	if c.Status == StatusGenerating {
		const message = "content can be changed once the creative is ready."
		required := []Status{StatusReady, StatusFailed}
		return fault.New(fault.InvalidState, message, fault.Detail{
			Field: "content", In: "body", Code: "immutable", Message: message, Meta: fault.Meta{"current_status": c.Status, "required_status": required},
		})
	}
	b, review := c.reviewOfEdits()
	c.Policy = spec.reviewCopy(b, review)
	if c.PrimaryVariantID == nil {
		return nil
	}
	v, err := s.Store.Variant(ctx, c.WorkspaceID, *c.PrimaryVariantID)
	if err != nil {
		return err
	}
	v.Content, v.Policy, v.Language = spec.Content, c.Policy, spec.Content.Language
	v.Version, v.UpdatedAt = v.Version+1, save.At
	save.Changed = []*Variant{v}
	return nil
}

// Archive archives a creative from any status and stops its generation.
// Archiving again changes nothing.
func (s *Service) Archive(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error) {
	d, err := s.changeCreative(ctx, cause, id, match, func(c *Creative, save *Save) error {
		if c.Status == StatusArchived {
			return nil
		}
		save.Events = []record.Event{{Type: "creative.archived", Previous: map[string]any{"status": c.Status}}}
		c.Status, c.ArchivedAt = StatusArchived, &save.At
		return nil
	})
	if stop, running := s.running.Load(id); running && err == nil {
		(*stop.(*context.CancelFunc))()
	}
	return d, err
}

// Restore restores an archived creative to its former status.
func (s *Service) Restore(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error) {
	return s.changeCreative(ctx, cause, id, match, func(c *Creative, save *Save) error {
		if c.Status != StatusArchived {
			return c.invalidState("restore", StatusArchived)
		}
		c.Status, c.ArchivedAt = c.restoredStatus(), nil
		if c.Status == StatusGenerating {
			c.Generation.StartedAt = &save.At
		}
		save.Events = []record.Event{{Type: "creative.restored", Previous: map[string]any{"status": StatusArchived}}}
		return nil
	})
}

// changeCreative is the only way to modify a stored creative: load, check,
// apply, save. It retries after a concurrent change.
func (s *Service) changeCreative(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, apply func(*Creative, *Save) error) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		c, err := s.Store.Load(ctx, cause.Workspace, id)
		if err != nil {
			return record.Doc{}, err
		}
		if err := match.Check(c.Version); err != nil {
			return record.Doc{}, err
		}
		save := Save{Save: record.Save{Cause: cause, At: clock.At(s.Now())}}
		status, usability := c.Status, c.Usability()
		if err := apply(c, &save); err != nil {
			return record.Doc{}, err
		}
		save.Jobs = append(c.generateJobs(status, save.At), record.RefreshJobs(usability, c.Usability(), c.WorkspaceID, c.ID, save.At)...)
		switch {
		case len(save.Events) > 0 || save.Spend > 0:
			c.Touch(save.At, len(save.Events))
		case cause.Idempotency == nil:
			return c.Stored(), nil
		}
		return s.Store.Save(ctx, c, save)
	})
}

// reviewer checks copy against its source.
type reviewer func(src *policy.BriefSource, channels []string, byChannel map[string]policy.Copy) policy.Result

// reviewEdited checks the copy of a language model after a person has edited it.
func reviewEdited(src *policy.BriefSource, channels []string, byChannel map[string]policy.Copy) policy.Result {
	return claims.Review(src, channels, byChannel, policy.Warn)
}

// reviewOfEdits returns the brief of a generated creative, nil for another one, and
// the reviewer of what people write into it.
func (c *Creative) reviewOfEdits() (*Brief, reviewer) {
	switch {
	case c.Generation == nil:
		return nil, policy.Review
	case c.Generation.Provider == BuiltIn:
		return c.brief(), policy.Review
	default:
		return c.brief(), reviewEdited
	}
}

// reviewCopy checks the text of a creative. A channel without its own copy
// shows the general headline, body and description.
func (s *Spec) reviewCopy(b *Brief, review reviewer) policy.Result {
	channels := s.Channels
	if len(channels) == 0 {
		channels = []string{"other"}
	}
	general := policy.Copy{PrimaryText: s.Content.Body}
	if s.Content.Headline != nil {
		general.Headlines = []string{*s.Content.Headline}
	}
	if s.Content.Description != nil {
		general.Descriptions = []string{*s.Content.Description}
	}
	all := maps.Clone(s.Content.ByChannel)
	for _, channel := range channels {
		if _, own := all[channel]; !own {
			all[channel] = general
		}
	}
	return review(b.Source(), channels, all)
}

// nameFrom returns a name from the first words of a prompt.
func nameFrom(prompt string) string {
	const most = 60
	runes := []rune(policy.Clean(prompt, false))
	if len(runes) <= most {
		if name := string(runes); strings.TrimFunc(name, unicode.IsSpace) != "" {
			return name
		}
		return "Creative"
	}
	name := string(runes[:most])
	if cut := strings.LastIndexFunc(name, unicode.IsSpace); cut > most/2 {
		name = name[:cut]
	}
	return strings.TrimRightFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) + "…"
}
