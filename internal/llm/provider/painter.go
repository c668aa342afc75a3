package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	// Formats of logos and photos.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"io/fs"

	_ "golang.org/x/image/webp" // another format of logos and photos

	"fanfare/internal/creative"
	"fanfare/internal/creative/picture"
)

// Painter draws pictures with the built-in renderer.
type Painter struct {
	// fonts are the operator's and the system's.
	fonts *picture.Fonts
	// slot lets one photo at a time be decoded, because a large one takes
	// hundreds of megabytes.
	slot chan struct{}
}

var _ creative.Painter = (*Painter)(nil)

// NewPainter returns a painter. The folders have fonts for scripts that the
// embedded fonts lack; the first are preferred.
func NewPainter(folders ...fs.FS) *Painter {
	return &Painter{fonts: picture.NewFonts(folders...), slot: make(chan struct{}, 1)}
}

// Paint draws one picture of a draft.
func (p *Painter) Paint(_ context.Context, b *creative.Brief, d *creative.Draft, s creative.Shape, format string) (*creative.Picture, error) {
	ad, err := adFromDraft(b, d, s)
	if err != nil {
		return nil, err
	}
	ad.Fonts = p.fonts
	scene, err := picture.Draw(ad)
	switch {
	case errors.Is(err, picture.ErrScript):
		return nil, creative.Fail(creative.FailScript, false, "The text of the picture cannot be drawn: %s. Write it without this character, ask for text only, or have the operator install a font that has it (--fonts).", err)
	case ad.Headline == "":
		return nil, creative.Fail(creative.FailScript, false, "There is no text for the picture but what no font draws, such as emoji. Ask for text only.")
	case err != nil:
		return nil, fmt.Errorf("draw %s: %w", s.Name, err)
	}
	out := &creative.Picture{Shape: s, AltText: altText(ad)}
	switch format {
	case "svg":
		out.MIMEType = "image/svg+xml"
		out.Bytes, err = scene.SVG()
	case "jpeg":
		out.MIMEType = "image/jpeg"
		out.Bytes, err = scene.JPEG()
	default:
		out.MIMEType = "image/png"
		out.Bytes, err = scene.PNG()
	}
	return out, err
}

const (
	// maxLogoPixels limits the size of a logo; more pixels are not visible.
	maxLogoPixels = 16_000_000
	// maxPhotoPixels is what the camera of a phone makes.
	maxPhotoPixels = 50_000_000
)

// ReadPhoto prepares a photo for the pictures of a generation.
func (p *Painter) ReadPhoto(ctx context.Context, b []byte) (creative.Photo, error) {
	select {
	case p.slot <- struct{}{}:
		defer func() { <-p.slot }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other photos: %w", ctx.Err())
	}
	img, err := decodeImage(b, maxPhotoPixels)
	if err != nil {
		return nil, creative.Fail(creative.FailPhoto, false, "The photo cannot be read. Use a PNG, JPEG, GIF or WebP of at most %d million pixels.", maxPhotoPixels/1_000_000).Because(err)
	}
	photo := picture.NewPhoto(img)
	if photo == nil {
		return nil, creative.Fail(creative.FailPhoto, false, "The photo has no visible pixel. Upload another one.")
	}
	return photo, nil
}

func readLogo(b []byte) (image.Image, error) {
	logo, err := decodeImage(b, maxLogoPixels)
	if err != nil {
		return nil, creative.Fail(creative.FailLogo, false, "The logo cannot be read. Use a PNG, JPEG, GIF or WebP of at most 16 million pixels as brand.logo_url.").Because(err)
	}
	return logo, nil
}

// decodeImage decodes an image of at most a number of pixels.
func decodeImage(b []byte, most int) (image.Image, error) {
	size, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if size.Width < 1 || size.Height < 1 || size.Width > most/size.Height {
		return nil, fmt.Errorf("decode: an image of %d by %d is too large", size.Width, size.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return img, nil
}
