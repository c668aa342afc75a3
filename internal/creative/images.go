package creative

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// backgroundFormat is the format of backgrounds, which are photos or like them.
const backgroundFormat = "jpeg"

// images draws the images of the variants of a creative.
type images struct {
	service *Service
	cause   record.Cause
	of      *Creative
	brief   *Brief
	work    OpenProvider
	out     *outcome
	// drawn are the backgrounds of the variant that a model has drawn.
	drawn map[string]Photo
}

func (s *Service) newImages(cause record.Cause, c *Creative, b *Brief, work OpenProvider, o *outcome) *images {
	return &images{s, cause, c, b, work, o, map[string]Photo{}}
}

// add draws and stores the images of a variant.
func (m *images) add(ctx context.Context, d *Draft, v *Variant) error {
	for _, shape := range m.brief.Shapes {
		if slices.ContainsFunc(AspectRatios, func(s Shape) bool { return s.Name == shape.Name }) && v.AspectRatio == nil {
			v.AspectRatio = &shape.Name
		}
		for _, format := range m.brief.Formats {
			p, err := m.draw(ctx, d, v, shape, format)
			if err != nil {
				return err
			}
			media, err := m.store(ctx, p)
			if err != nil {
				return err
			}
			v.Content.Media = append(v.Content.Media, media)
		}
	}
	return nil
}

// draw draws one image: the texts of the draft, on the brief's photo or on a
// background that the model has drawn.
func (m *images) draw(ctx context.Context, d *Draft, v *Variant, shape Shape, format string) (*Picture, error) {
	b := *m.brief
	if b.Photo == nil {
		photo, err := m.background(ctx, d, v, shape.background())
		if err != nil {
			return nil, err
		}
		b.Photo = photo
	}
	return m.service.paint(ctx, m.of.WorkspaceID, &b, d, shape, format)
}

// background returns the model's background for images of a shape, nil if there
// is none. A model is asked once for each; if it could not draw one, it is not
// asked again.
func (m *images) background(ctx context.Context, d *Draft, v *Variant, shape Shape) (Photo, error) {
	if photo, done := m.drawn[shape.Name]; done || m.out.replaced != nil {
		return photo, nil
	}
	photo, err := m.drawBackground(ctx, d, v, shape)
	switch {
	case err == nil || errors.Is(err, ErrNoPictures):
		m.drawn[shape.Name] = photo
		return photo, nil
	case ctx.Err() == nil:
		m.out.replaced = m.of.replacement(m.work, partPictures, err)
	}
	if m.out.replaced != nil {
		return nil, nil
	}
	return nil, err
}

// drawBackground has the model draw a background, and stores it.
func (m *images) drawBackground(ctx context.Context, d *Draft, v *Variant, shape Shape) (Photo, error) {
	p, usage, err := m.work.Paint(ctx, m.brief, d, shape, backgroundFormat)
	m.out.usage.Add(usage)
	if err != nil {
		return nil, err
	}
	photo, err := m.service.Painter.ReadPhoto(ctx, p.Bytes)
	if f, failed := errors.AsType[*FailureError](err); failed {
		return nil, Fail(FailAnswer, true, "the model's picture cannot be read").Because(f)
	}
	if err != nil {
		return nil, err
	}
	media, err := m.store(ctx, p)
	if err != nil {
		return nil, err
	}
	v.Generation.Parameters[backgroundParameter(shape)] = string(media.AssetID)
	return photo, nil
}

// backgroundParameter is the parameter of a variant with the asset of a
// background, so that edited texts can be drawn on it again.
func backgroundParameter(s Shape) string { return "background_" + s.Name }

// Assets returns the assets that the variant needs: its media and the
// backgrounds of its images.
func (v *Variant) Assets() (list []ident.ID) {
	for _, m := range v.Content.Media {
		list = append(list, m.AssetID)
	}
	if v.Generation == nil {
		return list
	}
	for _, s := range Backgrounds {
		if id := v.Generation.Parameters[backgroundParameter(s)]; id != "" {
			list = append(list, ident.ID(id))
		}
	}
	return list
}

// Photos returns the assets that the creative needs to be drawn again.
func (c *Creative) Photos() []ident.ID {
	if c.Generation == nil || c.Generation.Parameters.PhotoAssetID == nil {
		return nil
	}
	return []ident.ID{*c.Generation.Parameters.PhotoAssetID}
}

// reuseBackgrounds reads the backgrounds of a variant.
func (m *images) reuseBackgrounds(ctx context.Context, v *Variant) error {
	for _, s := range Backgrounds {
		if v.Generation == nil || v.Generation.Parameters[backgroundParameter(s)] == "" {
			continue
		}
		photo, err := m.service.readPhoto(ctx, m.of.WorkspaceID, ident.ID(v.Generation.Parameters[backgroundParameter(s)]))
		if err != nil {
			return err
		}
		m.drawn[s.Name] = photo
	}
	return nil
}

// store stores an image.
func (m *images) store(ctx context.Context, p *Picture) (Media, error) {
	media, err := m.service.storeImage(ctx, m.cause, p)
	if full, ok := errors.AsType[*fault.Error](err); ok && full.Code == fault.ValidationFailed {
		return media, Fail(FailStorage, true, "%s", full.Message).Because(err)
	}
	if err != nil {
		return media, fmt.Errorf("store image: %w", err)
	}
	if p.AltText != "" {
		media.AltText = &p.AltText
	}
	return media, nil
}

// paint draws an image when its turn has come. Each image is a turn, so that a
// generation with many does not delay others.
func (s *Service) paint(ctx context.Context, workspace ident.ID, b *Brief, d *Draft, shape Shape, format string) (*Picture, error) {
	leave, err := s.pictures.Take(ctx, workspace, 0)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.Painter.Paint(ctx, b, d, shape, format)
}

// readPhoto reads an asset as a photo.
func (s *Service) readPhoto(ctx context.Context, workspace, id ident.ID) (Photo, error) {
	b, err := s.Assets.Bytes(ctx, workspace, id)
	if err != nil {
		return nil, Fail(FailPhoto, true, "The photo cannot be read. Upload it again with POST /v1/assets and give its id as photo_asset_id.").Because(err)
	}
	return s.Painter.ReadPhoto(ctx, b)
}

// addLogo fetches the logo of the brand.
func (s *Service) addLogo(ctx context.Context, workspace ident.ID, b *Brief) error {
	if b.Brand.LogoURL == "" {
		return nil
	}
	var err error
	if id, own := logoAsset(&b.Brand); own {
		b.Brand.Logo, err = s.Assets.Bytes(ctx, workspace, id)
	} else {
		b.Brand.Logo, err = s.Fetch(ctx, b.Brand.LogoURL)
	}
	if err != nil {
		return Fail(FailLogo, true, "The logo cannot be fetched. Upload it with POST /v1/assets and give its path as brand.logo_url.").Because(err)
	}
	return nil
}

// isScriptFailure reports whether an image failed because no font has a
// character of its text.
func isScriptFailure(err error) bool {
	f, failed := errors.AsType[*FailureError](err)
	return failed && f.Code == FailScript
}

// scriptReason returns the message of a failure.
func scriptReason(err error) string {
	f, _ := errors.AsType[*FailureError](err)
	return f.Message
}
