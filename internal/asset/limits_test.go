package asset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

// progressive returns a gray progressive JPEG of 16 by 16 pixels with empty scans.
func progressive(scans int) []byte {
	const size = 16
	be := binary.BigEndian
	b := append([]byte("\xff\xd8\xff\xdb\x00\x43\x00"), bytes.Repeat([]byte{1}, 64)...)
	b = be.AppendUint16(be.AppendUint16(append(b, "\xff\xc2\x00\x0b\x08"...), size), size)
	b = append(b, "\x01\x01\x11\x00"...)
	// One code for DC: no difference. One for AC: nothing more in 2^14 blocks
	// and as many as the next 14 bits say.
	b = append(b, "\xff\xc4\x00\x14\x00\x01"+strings.Repeat("\x00", 16)+"\xff\xc4\x00\x14\x10\x01"+strings.Repeat("\x00", 15)+"\xe0"...)
	b = append(append(b, "\xff\xda\x00\x08\x01\x01\x00\x00\x00\x00"...), 0)
	const runs = "\x7f\xff\x00"
	for range scans - 1 {
		b = append(append(b, "\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x00"...), runs...)
	}
	return append(b, "\xff\xd9"...)
}

// TestSanitizeScans accepts a progressive JPEG, also with a video behind it that
// has the bytes of scan markers.
func TestSanitizeScans(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"64 scans": progressive(64), "with a video": append(progressive(10), bytes.Repeat([]byte("\xff\xda\x00\x02"), 1000)...),
	} {
		if p, err := Sanitize(t.Context(), b); err != nil || p.Width != 16 {
			t.Errorf("%s: got %d pixels, %v", name, p.Width, err)
		}
	}
}

// TestSanitizeEnds checks that an image of a caller who has left is decoded and
// encoded no further.
func TestSanitizeEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, b := range map[string][]byte{"PNG": pngOf(t, sample(20, 10)), "JPEG": progressive(10), "GIF": gifOf(t, 1), "WebP": webpOf(20, 10)} {
		if _, err := Sanitize(ctx, b); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v want the context's error", name, err)
		}
	}
	if err := encodePNG(&limitedBuffer{ctx: ctx, most: maxEncoded}, sample(20, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("encode: got %v want the context's error", err)
	}
}

// TestSanitizeDeepColors checks that colors of 16 bits become those of 8 bits.
func TestSanitizeDeepColors(t *testing.T) {
	t.Parallel()
	deep, transparent, gray := image.NewRGBA64(image.Rect(0, 0, 20, 10)), image.NewNRGBA64(image.Rect(0, 0, 20, 10)), image.NewGray16(image.Rect(0, 0, 20, 10))
	for _, pix := range [][]byte{deep.Pix, transparent.Pix, gray.Pix} {
		for i := range pix {
			pix[i] = uint8(i * 7)
		}
	}
	for i := 6; i < len(deep.Pix); i += 8 {
		deep.Pix[i], deep.Pix[i+1] = 0xff, 0xff
	}
	for name, m := range map[string]image.Image{"opaque": deep, "half transparent": transparent, "gray": gray} {
		p, err := Sanitize(t.Context(), pngOf(t, m))
		if err != nil {
			t.Fatal(err)
		}
		got, err := png.Decode(bytes.NewReader(p.Bytes))
		if err != nil {
			t.Fatal(err)
		}
		for y := range 10 {
			for x := range 20 {
				want := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
				have := color.NRGBAModel.Convert(got.At(x, y)).(color.NRGBA)
				if have != (color.NRGBA{R: uint8(want.R >> 8), G: uint8(want.G >> 8), B: uint8(want.B >> 8), A: uint8(want.A >> 8)}) {
					t.Fatalf("%s: got %v at %d, %d want %v", name, have, x, y, want)
				}
			}
		}
	}
}
