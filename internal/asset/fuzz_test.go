package asset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzSanitize checks that every input is refused, or becomes a picture within
// the limits that does not change when it is sanitized again.
func FuzzSanitize(f *testing.F) {
	photo := jpegOf(f, sample(20, 10))
	for _, seed := range [][]byte{
		pngOf(f, sample(20, 10)), photo, withSegment(photo, 0xe1, exif(binary.BigEndian, 6)), gifOf(f, 2), webpOf(20, 10),
		riff("VP8X", extended(0x10, 2, 2), "VP8L", webpOf(2, 2)[20:]), header(1<<16, 1<<16),
		drawn(`<defs><linearGradient id="a"/></defs><g style="fill:url(#a)"><text>x</text></g><use href="#a"/><style>.a{fill:red}</style>`),
		drawn(`<script>alert(1)</script><a href="javascript:x"><rect onload="x"/></a>`),
		[]byte(`<!DOCTYPE svg [<!ENTITY a "b">]><svg><text>&a;</text></svg>`),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if pixels(b) > 1<<20 {
			t.Skip("a picture this large would only take time")
		}
		p, err := Sanitize(t.Context(), b)
		if err != nil {
			var refused *RejectedImageError
			if !errors.As(err, &refused) || refused.Detail.Message == "" {
				t.Fatalf("got %v, want a refusal", err)
			}
			return
		}
		if int64(p.Width)*int64(p.Height) > MaxPixels || len(p.Bytes) > maxEncoded || len(p.Bytes) == 0 {
			t.Fatalf("got %d by %d in %d bytes", p.Width, p.Height, len(p.Bytes))
		}
		again, err := Sanitize(t.Context(), p.Bytes)
		if err != nil || again.MIMEType != p.MIMEType || again.Width != p.Width || again.Height != p.Height {
			t.Fatalf("got %s of %d by %d, %v, the second time; want %s of %d by %d", again.MIMEType, again.Width, again.Height, err, p.MIMEType, p.Width, p.Height)
		}
		if p.MIMEType == SVG {
			checkHarmless(t, p.Bytes)
			if !bytes.Equal(p.Bytes, again.Bytes) {
				t.Fatalf("got %s the second time, want %s", again.Bytes, p.Bytes)
			}
		}
	})
}
