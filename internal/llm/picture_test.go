package llm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"fanfare/internal/llm"
)

// pngWithSize returns a PNG header with a size and no pixels.
func pngWithSize(t *testing.T, width, height uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	p := b.Bytes()
	const kind, size, sum = 12, 16, 29
	binary.BigEndian.PutUint32(p[size:], width)
	binary.BigEndian.PutUint32(p[size+4:], height)
	binary.BigEndian.PutUint32(p[sum:], crc32.ChecksumIEEE(p[kind:sum]))
	return p
}

// TestPictureMemoryLimits checks that a picture that is too large is refused
// before it is decoded, and that pictures are scaled one at a time.
func TestPictureMemoryLimits(t *testing.T) {
	const side = 4096
	if side*side != llm.MaxPixels {
		t.Fatalf("got %d pixels at most, want a square of %d", llm.MaxPixels, side)
	}
	_, err := llm.FitPicture(t.Context(), pngWithSize(t, side, side+1), 10, 10)
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v, want a picture of %d by %d to be too large", err, side, side+1)
	}
	if _, err := llm.FitPicture(t.Context(), pngWithSize(t, side, side), 10, 10); err == nil || strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v, want a picture of %d by %d to have the right size and no pixels", err, side, side)
	}

	release := llm.OccupyScalingSlot()
	small := pngWithSize(t, 1, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := llm.FitPicture(ctx, small, 10, 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v while another picture is scaled, want it to wait", err)
	}
	release()
	if _, err := llm.FitPicture(t.Context(), small, 10, 10); err != nil {
		t.Errorf("got %v afterwards", err)
	}
}
