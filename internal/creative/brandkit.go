package creative

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// BrandKit is how the ads of a workspace look and sound. Every generation uses
// what its request does not say itself. A workspace has one; before it is first
// set, all is empty and the version is 0.
type BrandKit struct {
	BrandKitSpec
	Version   int64          `json:"version"`
	UpdatedBy *record.Actor  `json:"updated_by"`
	UpdatedAt *clock.Instant `json:"updated_at"`
}

// BrandKitSpec has the fields that a caller can write.
type BrandKitSpec struct {
	Name  *string `json:"name"`
	Voice *string `json:"voice"`
	// Colors are #rrggbb, primary color first.
	Colors      []string   `json:"colors"`
	Typefaces   *Typefaces `json:"typefaces"`
	LogoAssetID *ident.ID  `json:"logo_asset_id"`
	BannedWords []string   `json:"banned_words"`
}

// EmptyBrandKit returns the kit of a workspace that has set none.
func EmptyBrandKit() *BrandKit {
	return &BrandKit{BrandKitSpec: BrandKitSpec{Colors: []string{}, BannedWords: []string{}}}
}

// Doc returns the kit as the API returns it.
func (k *BrandKit) Doc() (record.Doc, error) {
	b, err := json.Marshal(k, json.Deterministic(true))
	if err != nil {
		return record.Doc{}, fmt.Errorf("encode brand kit: %w", err)
	}
	return record.Doc{Stamp: record.Stamp{Version: k.Version}, JSON: b}, nil
}

// BrandKitID returns the id of a workspace's kit in events and the audit log.
func BrandKitID(workspace ident.ID) ident.ID {
	return ident.ID(ident.BrandKit + strings.TrimPrefix(string(workspace), ident.Workspace))
}

// BrandKits stores the kits. Save is atomic, as that of Store.
type BrandKits interface {
	// Load returns the kit of a workspace, an empty one if none is stored.
	Load(ctx context.Context, workspace ident.ID) (*BrandKit, error)
	// Save stores a kit in place of the version before it. A concurrent change
	// is record.ErrRace, a logo that is gone a validation fault.
	Save(ctx context.Context, before, now *BrandKit, save record.Save) (record.Doc, error)
}

// BrandKit returns the kit of a workspace.
func (s *Service) BrandKit(ctx context.Context, workspace ident.ID) (record.Doc, error) {
	k, err := s.Kits.Load(ctx, workspace)
	if err != nil {
		return record.Doc{}, err
	}
	return k.Doc()
}

// SetBrandKit replaces the kit of a workspace. The same kit again is no change.
func (s *Service) SetBrandKit(ctx context.Context, cause record.Cause, match record.Match, sent *body.Value) (record.Doc, error) {
	f := body.NewReader(sent, false)
	spec := readBrandKit(f)
	f.Done("version", "updated_by", "updated_at")
	if id := spec.LogoAssetID; id != nil {
		found, err := s.media(ctx, cause.Workspace, []ident.ID{*id})
		if err != nil {
			return record.Doc{}, err
		}
		if len(found) == 0 {
			f.Problems.Add(fault.MissingRef("logo_asset_id", *id))
		}
	}
	if err := f.Err(); err != nil {
		return record.Doc{}, err
	}
	return record.Retry(ctx, func() (record.Doc, error) {
		before, err := s.Kits.Load(ctx, cause.Workspace)
		if err != nil {
			return record.Doc{}, err
		}
		if err := match.Check(before.Version); err != nil {
			return record.Doc{}, err
		}
		old := record.Diff(&before.BrandKitSpec, &spec)
		if len(old) == 0 && before.Version > 0 {
			return before.Doc()
		}
		now := clock.At(s.Now())
		k := &BrandKit{BrandKitSpec: spec, Version: before.Version + 1, UpdatedBy: &cause.Actor, UpdatedAt: &now}
		return s.Kits.Save(ctx, before, k, record.Save{Cause: cause, At: now, Events: []record.Event{{Type: "brand_kit.updated", Previous: old}}})
	})
}

func readBrandKit(f *body.Reader) BrandKitSpec {
	return BrandKitSpec{
		Name: f.Text("name", body.Nullable, 1, MaxBrandName), Voice: f.Text("voice", body.Nullable, 1, MaxVoice),
		Colors: readColors(f), Typefaces: readTypefaces(f), LogoAssetID: f.ID("logo_asset_id", body.Nullable),
		BannedWords: readBannedWords(f),
	}
}

// useBrandKit fills what a request does not say about the brand from the kit of
// the workspace.
func (s *Service) useBrandKit(ctx context.Context, workspace ident.ID, r *Request) error {
	k, err := s.Kits.Load(ctx, workspace)
	if err != nil || k.Version == 0 {
		return err
	}
	b := Brand{Colors: []string{}, BannedWords: []string{}}
	if r.Brand != nil {
		b = *r.Brand
	}
	if b.Name == "" {
		b.Name = deref(k.Name)
	}
	if b.Voice == "" {
		b.Voice = deref(k.Voice)
	}
	if len(b.Colors) == 0 {
		b.Colors = k.Colors
	}
	if b.Typefaces == nil {
		b.Typefaces = k.Typefaces
	}
	if b.LogoURL == "" && k.LogoAssetID != nil {
		b.LogoURL = AssetPath + string(*k.LogoAssetID)
	}
	// Words that the brand never says hold for every request.
	for _, word := range k.BannedWords {
		if !slices.Contains(b.BannedWords, word) {
			b.BannedWords = append(slices.Clone(b.BannedWords), word)
		}
	}
	r.Brand = &b
	// Choice: the voice of the brand is also the tone of its ads, where it is as
	// short as a tone.
	if r.Tone == nil && b.Voice != "" && utf8.RuneCountInString(b.Voice) <= MaxTone {
		r.Tone = &b.Voice
	}
	return nil
}
