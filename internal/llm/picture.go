package llm

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // models answer either
	"image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // some only this
)

// maxPixels is the most that is decoded; no model draws more.
const maxPixels = 50_000_000

// fitPicture cuts the middle of a picture to a shape and scales it to the size.
func fitPicture(b []byte, width, height int) ([]byte, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if config.Width < 1 || config.Height < 1 || config.Width > maxPixels/config.Height {
		return nil, fmt.Errorf("decode: a picture of %d by %d is too large", config.Width, config.Height)
	}
	from, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(to, to.Bounds(), from, middle(from.Bounds(), width, height), draw.Src, nil)
	var out bytes.Buffer
	if err := png.Encode(&out, to); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return out.Bytes(), nil
}

// middle is the largest part of r, in its centre, with the shape of a size.
func middle(r image.Rectangle, width, height int) image.Rectangle {
	w, h := r.Dx(), r.Dy()
	if w*height > h*width {
		w = max(1, h*width/height)
	} else {
		h = max(1, w*height/width)
	}
	at := r.Min.Add(image.Pt((r.Dx()-w)/2, (r.Dy()-h)/2))
	return image.Rectangle{at, at.Add(image.Pt(w, h))}
}
