package llm

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // models return JPEG or PNG

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // some models return only WebP
)

// maxPixels is the largest picture that is decoded: a square of 4K, the largest
// that a model draws. With 16 bits per channel, scaling it to 1080 by 1920
// takes 272 MiB.
const maxPixels = 4096 * 4096

// quality of backgrounds. Texts are drawn on them, and the result is encoded
// again.
const quality = 92

// scalingSlot limits scaling to one picture at a time, because up to 64 jobs
// run at once and their pictures must fit in memory.
var scalingSlot = make(chan struct{}, 1)

// fitPicture crops a picture to the center of the requested shape and scales
// it. It handles one picture at a time and waits until ctx ends.
func fitPicture(ctx context.Context, b []byte, width, height int) ([]byte, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if config.Width < 1 || config.Height < 1 || config.Width > maxPixels/config.Height {
		return nil, fmt.Errorf("decode: a picture of %d by %d is too large", config.Width, config.Height)
	}
	select {
	case scalingSlot <- struct{}{}:
		defer func() { <-scalingSlot }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other pictures: %w", ctx.Err())
	}
	from, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(to, to.Bounds(), from, centerCrop(from.Bounds(), width, height), draw.Src, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, to, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return out.Bytes(), nil
}

// centerCrop returns the largest centered part of r with the aspect ratio of a
// size.
func centerCrop(r image.Rectangle, width, height int) image.Rectangle {
	w, h := r.Dx(), r.Dy()
	if w*height > h*width {
		w = max(1, h*width/height)
	} else {
		h = max(1, w*height/width)
	}
	at := r.Min.Add(image.Pt((r.Dx()-w)/2, (r.Dy()-h)/2))
	return image.Rectangle{at, at.Add(image.Pt(w, h))}
}
