package asset

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"strings"
	"testing"
)

// sample draws four fields of different colors, so that a turn shows.
func sample(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{A: 255}
			if x < w/2 {
				c.R = 255
			}
			if y < h/2 {
				c.B = 255
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func encoded(t testing.TB, encode func(b *bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) })
}

func jpegOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, m, &jpeg.Options{Quality: 95}) })
}

func gifOf(t testing.TB, frames int) []byte {
	t.Helper()
	g := &gif.GIF{Config: image.Config{Width: 20, Height: 10}}
	for i := range frames {
		m := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.Transparent, color.White, color.Black})
		for j := range m.Pix {
			m.Pix[j] = uint8(i+j) % 3
		}
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 10)
	}
	return encoded(t, func(b *bytes.Buffer) error { return gif.EncodeAll(b, g) })
}

// webpOf is a lossless WebP of one color, which needs hardly any bits: no
// transform, no cache, no groups, and five codes of one symbol each.
func webpOf(w, h int) []byte {
	var bits uint64
	var n uint
	put := func(v uint64, count uint) { bits |= v << n; n += count }
	put(uint64(w-1), 14)
	put(uint64(h-1), 14)
	put(1, 1) // alpha
	put(0, 3) // version
	data := binary.LittleEndian.AppendUint32([]byte{0x2f}, uint32(bits))
	bits, n = 0, 0
	put(0, 1) // no transform
	put(0, 1) // no color cache
	put(0, 1) // no groups of codes
	for _, symbol := range []uint64{200, 100, 50, 255, 0} {
		put(1, 1) // a simple code
		put(0, 1) // of one symbol
		put(1, 1) // of eight bits
		put(symbol, 8)
	}
	data = binary.LittleEndian.AppendUint64(data, bits)
	return riff("VP8L", data)
}

func riff(chunks ...any) []byte {
	body := []byte("WEBP")
	for i := 0; i < len(chunks); i += 2 {
		data := chunks[i+1].([]byte)
		body = append(body, chunks[i].(string)...)
		body = binary.LittleEndian.AppendUint32(body, uint32(len(data)))
		body = append(body, data...)
		if len(data)%2 == 1 {
			body = append(body, 0)
		}
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// extended is the header of a WebP with flags.
func extended(flags byte, w, h int) []byte {
	b := []byte{flags, 0, 0, 0}
	for _, v := range []int{w - 1, h - 1} {
		b = append(b, byte(v), byte(v>>8), byte(v>>16))
	}
	return b
}

// chunkOf is a chunk of a PNG.
func chunkOf(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// header returns the start of a PNG with the given dimensions.
func header(w, h uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, w)
	b = binary.BigEndian.AppendUint32(b, h)
	return append([]byte("\x89PNG\r\n\x1a\n"), chunkOf("IHDR", append(b, 8, 6, 0, 0, 0))...)
}

// withChunk puts a chunk behind the header of a PNG.
func withChunk(file []byte, kind string, data []byte) []byte {
	const headerEnd = 8 + 25
	return append(append(bytes.Clone(file[:headerEnd]), chunkOf(kind, data)...), file[headerEnd:]...)
}

// withSegment puts a segment behind the start of a JPEG.
func withSegment(file []byte, marker byte, data []byte) []byte {
	segment := append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
	return append(append(bytes.Clone(file[:2]), segment...), file[2:]...)
}

const secretPlace = "50 deg 5' 30.12\" N"

// exif is metadata with an orientation, a place and a thumbnail's worth of
// text.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	b := []byte("Exif\x00\x00II")
	if order == binary.BigEndian {
		b = []byte("Exif\x00\x00MM")
	}
	b = order.AppendUint16(b, 42)
	b = order.AppendUint32(b, 8)
	entry := func(tag, kind uint16, count uint32, value []byte) {
		b = order.AppendUint16(b, tag)
		b = order.AppendUint16(b, kind)
		b = append(order.AppendUint32(b, count), value...)
	}
	b = order.AppendUint16(b, 3)
	entry(0x010f, 2, 4, []byte("Cam\x00"))
	entry(0x0112, 3, 1, order.AppendUint16(order.AppendUint16(nil, orientation), 0))
	entry(0x8825, 4, 1, order.AppendUint32(nil, 60))
	return append(order.AppendUint32(b, 0), "GPS "+secretPlace...)
}

func TestSanitizeTypes(t *testing.T) {
	t.Parallel()
	m := sample(20, 10)
	gray := image.NewGray16(m.Rect)
	for i := range gray.Pix {
		gray.Pix[i] = uint8(i)
	}
	shifted := &gif.GIF{
		Image: []*image.Paletted{image.NewPaletted(image.Rect(5, 5, 9, 9), color.Palette{color.Black})},
		Delay: []int{0}, Config: image.Config{Width: 20, Height: 10},
	}
	for _, tt := range []struct {
		name  string
		bytes []byte
		mime  string
	}{
		{"PNG", pngOf(t, m), PNG},
		{"PNG of 16 bits", pngOf(t, gray), PNG},
		{"PNG with colors to choose from", pngOf(t, image.NewPaletted(m.Rect, color.Palette{color.Black, color.Transparent})), PNG},
		{"JPEG", jpegOf(t, m), JPEG},
		{"gray JPEG", jpegOf(t, image.NewGray(m.Rect)), JPEG},
		{"GIF", gifOf(t, 1), PNG},
		{"animated GIF", gifOf(t, 5), PNG},
		{"GIF with a small first frame", encoded(t, func(b *bytes.Buffer) error { return gif.EncodeAll(b, shifted) }), PNG},
		{"WebP", webpOf(20, 10), PNG},
		{"extended WebP with metadata", riff("VP8X", extended(0x1c, 20, 10), "ICCP", []byte(secretPlace), "VP8L", webpOf(20, 10)[20:], "EXIF", exif(binary.LittleEndian, 6)), PNG},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>`), SVG},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := Sanitize(t.Context(), tt.bytes)
			if err != nil {
				t.Fatal(err)
			}
			if p.MIMEType != tt.mime || p.Width != 20 || p.Height != 10 {
				t.Errorf("got %s of %d by %d want %s of 20 by 10", p.MIMEType, p.Width, p.Height, tt.mime)
			}
			if bytes.Contains(p.Bytes, []byte(secretPlace)) {
				t.Error("the metadata are still there")
			}
			again, err := Sanitize(t.Context(), p.Bytes)
			if err != nil || again.MIMEType != p.MIMEType || again.Width != p.Width || again.Height != p.Height {
				t.Errorf("got %s of %d by %d, %v the second time", again.MIMEType, again.Width, again.Height, err)
			}
			if p.MIMEType != JPEG && !bytes.Equal(again.Bytes, p.Bytes) {
				t.Error("got other bytes the second time, want the same")
			}
		})
	}
}

// TestSanitizeKeepsPixels wants the same colors afterwards, exactly where the
// format can do it.
func TestSanitizeKeepsPixels(t *testing.T) {
	t.Parallel()
	half := image.NewNRGBA(image.Rect(0, 0, 20, 10))
	for i := range half.Pix {
		half.Pix[i] = uint8(i * 7)
	}
	for name, m := range map[string]image.Image{"opaque": sample(20, 10), "half transparent": half} {
		p, err := Sanitize(t.Context(), pngOf(t, m))
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, name, m, p, 0)
	}
	p, err := Sanitize(t.Context(), webpOf(3, 2))
	if err != nil {
		t.Fatal(err)
	}
	one := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		copy(one.Pix[i*4:], []byte{100, 200, 50, 255})
	}
	wantSame(t, "WebP", one, p, 0)
}

func wantSame(t *testing.T, name string, want image.Image, p Picture, tolerance float64) {
	t.Helper()
	got, _, err := image.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	if got.Bounds().Size() != want.Bounds().Size() {
		t.Fatalf("%s: got size %v want %v", name, got.Bounds().Size(), want.Bounds().Size())
	}
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			g, w := color.NRGBAModel.Convert(got.At(x, y)).(color.NRGBA), color.NRGBAModel.Convert(want.At(x, y)).(color.NRGBA)
			off := math.Abs(float64(g.R)-float64(w.R)) + math.Abs(float64(g.G)-float64(w.G)) + math.Abs(float64(g.B)-float64(w.B)) + math.Abs(float64(g.A)-float64(w.A))
			if off > tolerance {
				t.Fatalf("%s: got %v at %d,%d want %v", name, g, x, y, w)
			}
		}
	}
}

// TestOrientation checks that a photo is rotated as its EXIF orientation says,
// in both byte orders, and that its location is dropped.
func TestOrientation(t *testing.T) {
	t.Parallel()
	// upright is a picture whose corners differ. Held turned it is stored
	// turned back, which this does pixel by pixel.
	upright := sample(32, 16)
	stored := map[uint16]func(x, y int) (int, int){
		1: func(x, y int) (int, int) { return x, y },
		2: func(x, y int) (int, int) { return 31 - x, y },
		3: func(x, y int) (int, int) { return 31 - x, 15 - y },
		4: func(x, y int) (int, int) { return x, 15 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, 31 - x },
		7: func(x, y int) (int, int) { return 15 - y, 31 - x },
		8: func(x, y int) (int, int) { return 15 - y, x },
	}
	for tag, place := range stored {
		w, h := 32, 16
		if tag >= 5 {
			w, h = h, w
		}
		held := image.NewRGBA(image.Rect(0, 0, w, h))
		for y := range 16 {
			for x := range 32 {
				sx, sy := place(x, y)
				held.SetRGBA(sx, sy, upright.RGBAAt(x, y))
			}
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			file := withSegment(withSegment(jpegOf(t, held), 0xe1, exif(order, tag)), 0xfe, []byte("taken at "+secretPlace))
			p, err := Sanitize(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, "orientation", upright, p, 60)
			if bytes.Contains(p.Bytes, []byte("GPS")) || bytes.Contains(p.Bytes, []byte("Exif")) || bytes.Contains(p.Bytes, []byte(secretPlace)) {
				t.Errorf("orientation %d: the metadata are still there", tag)
			}
		}
	}
}

func TestOrientationOfNonsense(t *testing.T) {
	t.Parallel()
	whole := withSegment(jpegOf(t, sample(8, 8)), 0xe1, exif(binary.LittleEndian, 6))
	for n := range len(whole) {
		if got := orientation(whole[:n]); got != 1 && got != 6 {
			t.Errorf("cut to %d bytes: got %d", n, got)
		}
	}
	for name, tiff := range map[string]string{
		"far directory": "II*\x00\xff\xff\xff\xff", "negative": "MM\x00*\x80\x00\x00\x00", "no entries": "II*\x00\x08\x00\x00\x00\x00\x00",
		"many entries": "II*\x00\x08\x00\x00\x00\xff\xff", "value 9": string(exif(binary.LittleEndian, 9)[6:]), "value 0": string(exif(binary.BigEndian, 0)[6:]), "empty": "",
	} {
		if got := tiffOrientation([]byte(tiff)); got != 1 {
			t.Errorf("%s: got %d want 1", name, got)
		}
	}
}

func TestSanitizeErrors(t *testing.T) {
	t.Parallel()
	small := pngOf(t, sample(20, 10))
	var bomb bytes.Buffer
	z := zlib.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	hugeJPEG := jpegOf(t, sample(8, 8))
	sof := bytes.Index(hugeJPEG, []byte{0xff, 0xc0})
	copy(hugeJPEG[sof+5:], []byte{0xff, 0xff, 0xff, 0xff})
	hugeGIF := bytes.Clone(gifOf(t, 1))
	copy(hugeGIF[6:], []byte{0xff, 0xff, 0xff, 0xff})
	for _, tt := range []struct {
		name  string
		bytes []byte
		code  string
	}{
		{"nothing", nil, "invalid_format"},
		{"text", []byte("hello"), "invalid_format"},
		{"HTML", []byte("<!doctype html><html><script>alert(1)</script></html>"), "invalid_format"},
		{"HTML that mentions svg", []byte("<html><svg xmlns='http://www.w3.org/2000/svg'/></html>"), "invalid_format"},
		{"PDF", []byte("%PDF-1.7\n"), "invalid_format"},
		{"BMP", []byte("BM\x00\x00\x00\x00"), "invalid_format"},
		{"only the magic of PNG", []byte("\x89PNG\r\n\x1a\n"), "invalid_format"},
		{"only the magic of JPEG", []byte("\xff\xd8\xff"), "invalid_format"},
		{"only the magic of GIF", []byte("GIF89a"), "invalid_format"},
		{"only the magic of WebP", riff(), "invalid_format"},
		{"truncated PNG", small[:len(small)-20], "invalid_format"},
		{"truncated JPEG", jpegOf(t, sample(64, 64))[:500], "invalid_format"},
		{"truncated GIF", gifOf(t, 1)[:40], "invalid_format"},
		{"truncated WebP", webpOf(64, 64)[:24], "invalid_format"},
		{"PNG with a wrong sum", append(bytes.Clone(small[:40]), append([]byte{^small[40]}, small[41:]...)...), "invalid_format"},
		{"PNG of no width", header(0, 10), "invalid_format"},
		{"PNG that claims 2^32 pixels", header(1<<16, 1<<16), "too_large"},
		{"PNG that claims 2^62 pixels", header(1<<31-1, 1<<31-1), "invalid_format"},
		{"PNG of one row too many", header(25_000_001, 1), "too_large"},
		{"PNG that unpacks to more than its pixels", append(append(header(10, 10), chunkOf("IDAT", bomb.Bytes())...), chunkOf("IEND", nil)...), "invalid_format"},
		{"JPEG that claims 2^32 pixels", hugeJPEG, "too_large"},
		{"GIF that claims 2^32 pixels", hugeGIF, "too_large"},
		{"WebP that claims 2^28 pixels", webpOf(1<<14, 1<<14), "too_large"},
		{"extended WebP that claims 2^30 pixels", riff("VP8X", extended(0, 1<<15, 1<<15)), "too_large"},
		{"WebP that hides its size", riff("VP8X", extended(0, 2, 2), "VP8L", webpOf(1<<14, 1<<14)[20:]), "invalid_format"},
		{"JPEG of 65 scans", progressive(65), "too_large"},
		{"animated WebP", riff("VP8X", extended(2, 20, 10), "ANIM", make([]byte, 6), "ANMF", make([]byte, 24)), "invalid_format"},
		{"more than 25 MiB", make([]byte, MaxBytes+1), "too_large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Sanitize(t.Context(), tt.bytes)
			var refused *RejectedImageError
			if !errors.As(err, &refused) || refused.Detail.Code != tt.code || refused.Detail.In != "body" {
				t.Fatalf("got %v want %s", err, tt.code)
			}
			if _, named := refused.Detail.Meta["maximum"]; named != (tt.code == "too_large") {
				t.Errorf("got %v", refused.Detail.Meta)
			}
		})
	}
}

// TestSanitizeDropsHiddenData hides data in valid pictures. Of a file that is
// also valid in another format, only the picture is kept.
func TestSanitizeDropsHiddenData(t *testing.T) {
	t.Parallel()
	const hidden = "<script>alert('hidden')</script>"
	small := pngOf(t, sample(20, 10))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for range 32 {
		_, _ = z.Write(bytes.Repeat([]byte("x"), 1<<20))
	}
	_ = z.Close()
	for name, file := range map[string][]byte{
		"behind a PNG":            append(bytes.Clone(small), hidden...),
		"in a PNG's text":         withChunk(small, "tEXt", []byte("Comment\x00"+hidden)),
		"in a PNG's profile":      withChunk(small, "iCCP", []byte("icc\x00\x00"+hidden)),
		"in a PNG's metadata":     withChunk(small, "eXIf", exif(binary.BigEndian, 1)[6:]),
		"a packed bomb":           withChunk(small, "zTXt", append([]byte("Comment\x00\x00"), packed.Bytes()...)),
		"a large chunk":           withChunk(small, "prVt", bytes.Repeat([]byte(hidden), 100_000)),
		"behind a JPEG":           append(jpegOf(t, sample(20, 10)), hidden...),
		"in a JPEG's comment":     withSegment(jpegOf(t, sample(20, 10)), 0xfe, []byte(hidden)),
		"behind a GIF":            append(gifOf(t, 1), hidden...),
		"a GIF that is a program": append([]byte("GIF89a"), append(gifOf(t, 1)[6:], "/*"+hidden+"*/"...)...),
		"behind a WebP":           append(webpOf(20, 10), hidden...),
	} {
		p, err := Sanitize(t.Context(), file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if bytes.Contains(p.Bytes, []byte("hidden")) || len(p.Bytes) > 2000 {
			t.Errorf("%s: got %d bytes, in which it is still there", name, len(p.Bytes))
		}
	}
}

// TestDecompressionLimit stops a picture that becomes far larger without its
// compression.
func TestDecompressionLimit(t *testing.T) {
	t.Parallel()
	b := &limitedBuffer{ctx: t.Context(), most: 10}
	if _, err := b.Write([]byte("0123456789")); err != nil {
		t.Error(err)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v want %v", err, errTooLarge)
	}
	if got := b.String(); strings.Contains(got, "x") {
		t.Errorf("got %q", got)
	}
}
