package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"fanfare/internal/asset"
	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// brandKit returns a kit with a version and a name.
func brandKit(version int64, name string, logo *ident.ID) *creative.BrandKit {
	k := creative.EmptyBrandKit()
	k.Version, k.Name, k.LogoAssetID = version, &name, logo
	return k
}

func (w *Fixture) brandKitSteps() []Step {
	save := func(before, now *creative.BrandKit) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := w.DB.BrandKits().Save(ctx, before, now, w.Save("brand_kit.updated"))
			return err
		}
	}
	one, two := brandKit(1, "One", nil), brandKit(2, "Two", nil)
	return []Step{
		{"brand_kit.set", false, save(creative.EmptyBrandKit(), one)},
		{"brand_kit.set again", false, save(one, two)},
		{"brand_kit.read", false, func(ctx context.Context) error {
			k, err := w.DB.BrandKits().Load(ctx, w.Workspace)
			if err == nil && k.Version != 2 {
				err = fmt.Errorf("got version %d want 2", k.Version)
			}
			return err
		}},
	}
}

// recordsBrandKits checks versions, the workspaces of kits, and that a kit
// keeps its logo.
func recordsBrandKits(t *testing.T, w *Fixture) {
	s := w.DB.BrandKits()
	d, err := w.Assets.Store(t.Context(), w.Cause(), drawing("Logo"))
	w.must(err)
	logo := assetOf(t, d).ID
	empty, one := creative.EmptyBrandKit(), brandKit(1, "One", &logo)
	_, err = s.Save(t.Context(), empty, one, w.Save("brand_kit.updated"))
	w.must(err)
	if _, err := s.Save(t.Context(), empty, brandKit(1, "Other", nil), w.Save("brand_kit.updated")); !errors.Is(err, record.ErrRace) {
		t.Errorf("another first kit: got %v want ErrRace", err)
	}
	none := ident.ID("ast_none")
	if _, err := s.Save(t.Context(), one, brandKit(2, "Gone", &none), w.Save("brand_kit.updated")); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("a logo that is gone: got %v", err)
	}
	k, err := s.Load(t.Context(), w.Workspace)
	if err != nil || k.Version != 1 || *k.Name != "One" || *k.LogoAssetID != logo {
		t.Errorf("got %+v, %v", k, err)
	}
	other, _, _ := w.AddWorkspace("other@example.com")
	if k, err := s.Load(t.Context(), other); err != nil || k.Version != 0 {
		t.Errorf("kit of another workspace: got %+v, %v", k, err)
	}
	idle := func() bool {
		list, err := w.DB.Assets().Idle(t.Context(), w.Workspace, w.Now().Add(asset.IdleLife), 10)
		w.must(err)
		for _, i := range list {
			if i.ID == logo {
				return true
			}
		}
		return false
	}
	if idle() {
		t.Error("the logo of a kit is idle")
	}
	_, err = s.Save(t.Context(), one, brandKit(2, "Two", nil), w.Save("brand_kit.updated"))
	w.must(err)
	if !idle() {
		t.Error("a logo that no kit names is not idle")
	}
	if _, err := s.Save(t.Context(), one, brandKit(2, "Late", nil), w.Save("brand_kit.updated")); !errors.Is(err, record.ErrRace) {
		t.Errorf("a late change: got %v want ErrRace", err)
	}
	if got := w.EventTypes(string(creative.BrandKitID(w.Workspace))); len(got) != 2 {
		t.Errorf("got events %v want two", got)
	}
}
