package asset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"fanfare/internal/fault"
)

// Picture is an image that is safe to show: it has no scripts, no external
// references and no location data.
type Picture struct {
	MIMEType string
	// Width and Height are 0 for an SVG without a size.
	Width, Height int
	Bytes         []byte
}

// Limits of an image.
const (
	MaxBytes = 25 << 20
	// MaxPixels is enough for a photo of 6000 by 4000.
	MaxPixels = 25_000_000
	// maxEncoded limits the result: a WebP photo grows several times as PNG.
	maxEncoded = 4 * MaxBytes
	// maxScans is more than any program writes. Each scan of a progressive JPEG
	// takes a few bytes and passes over all pixels.
	maxScans = 64
	// quality is the JPEG quality. At 90, the loss is not visible.
	quality = 90
)

// MIME types of stored images.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	SVG  = "image/svg+xml"
)

// RejectedImageError says why bytes are rejected as an image, with a detail of the
// API contract.
type RejectedImageError struct {
	Detail fault.Detail
	cause  error
}

func (e *RejectedImageError) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %v", e.Detail.Message, e.cause)
	}
	return e.Detail.Message
}

func (e *RejectedImageError) Unwrap() error { return e.cause }

func notAnImage(cause error) error {
	return &RejectedImageError{fault.Detail{In: "body", Code: "invalid_format", Message: "The bytes are not a PNG, JPEG, GIF, WebP or SVG picture."}, cause}
}

func tooLarge(message string, maximum, actual int64) error {
	return &RejectedImageError{fault.Detail{
		In: "body", Code: "too_large", Message: message, Meta: fault.Meta{"maximum": maximum, "actual": actual},
	}, nil}
}

func checkPixels(width, height int) error {
	if width <= 0 || height <= 0 {
		return notAnImage(fmt.Errorf("it is %d by %d", width, height))
	}
	if n := int64(width) * int64(height); n > MaxPixels {
		return tooLarge("The picture has more than 25,000,000 pixels.", MaxPixels, n)
	}
	return nil
}

// raster is a raster image format. The first bytes identify it, never a file
// name or a media type.
type raster struct {
	magic  func(b []byte) bool
	config func(io.Reader) (image.Config, error)
	decode func(ctx context.Context, b []byte) (image.Image, error)
	encode func(io.Writer, image.Image) error
	mime   string
}

var rasters = []raster{
	{hasMagic("\x89PNG\r\n\x1a\n"), png.DecodeConfig, fromReader(png.Decode), encodePNG, PNG},
	{hasMagic("\xff\xd8\xff"), jpeg.DecodeConfig, decodeJPEG, encodeJPEG, JPEG},
	{hasMagic("GIF8"), gif.DecodeConfig, decodeGIF, encodePNG, PNG},
	{isWebP, webp.DecodeConfig, fromReader(webp.Decode), encodePNG, PNG},
}

func hasMagic(magic string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }
}

func isWebP(b []byte) bool {
	return len(b) > 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP"
}

func fromReader(decode func(io.Reader) (image.Image, error)) func(context.Context, []byte) (image.Image, error) {
	return func(ctx context.Context, b []byte) (image.Image, error) { return decode(newReader(ctx, b)) }
}

// newReader returns a reader that ends with ctx, and with it the decoder.
func newReader(ctx context.Context, b []byte) io.Reader {
	return contextReader{ctx, bytes.NewReader(b)}
}

type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// rasterOf returns the format of the bytes, or nil.
func rasterOf(b []byte) *raster {
	for i := range rasters {
		if rasters[i].magic(b) {
			return &rasters[i]
		}
	}
	return nil
}

// pixels returns the number of pixels according to the header.
func pixels(b []byte) int64 {
	if r := rasterOf(b); r != nil {
		if c, err := r.config(bytes.NewReader(b)); err == nil {
			return int64(c.Width) * int64(c.Height)
		}
	}
	return 0
}

const (
	// largePixels and largeDrawing are the sizes from which an image takes so
	// much memory and time that only one is processed at a time.
	largePixels  = 8_000_000
	largeDrawing = 1 << 20
)

func isLarge(b []byte) bool {
	return pixels(b) > largePixels || rasterOf(b) == nil && len(b) > largeDrawing
}

// Sanitize converts untrusted bytes to a safe image: it decodes and encodes
// raster images again and rebuilds SVGs from allowed elements. A JPEG stays a
// JPEG; every other raster format becomes PNG. It returns a RejectedError for
// bytes that are not an image or exceed the limits. It decodes nothing before
// it knows the size, and stops when ctx ends.
func Sanitize(ctx context.Context, b []byte) (Picture, error) {
	if len(b) > MaxBytes {
		return Picture{}, tooLarge("The picture is larger than 25 MiB.", MaxBytes, int64(len(b)))
	}
	r := rasterOf(b)
	if r == nil {
		return sanitizeSVG(b)
	}
	c, err := r.config(bytes.NewReader(b))
	if err != nil {
		return Picture{}, notAnImage(err)
	}
	if err := checkPixels(c.Width, c.Height); err != nil {
		return Picture{}, err
	}
	if isWebP(b) && isAnimated(b) {
		return Picture{}, &RejectedImageError{fault.Detail{In: "body", Code: "invalid_format", Message: "An animated WebP cannot be kept. Send one picture of it."}, nil}
	}
	if n := countScans(b); n > maxScans {
		return Picture{}, tooLarge("The JPEG has more than 64 scans. Save it again, as a baseline JPEG.", maxScans, int64(n))
	}
	m, err := r.decode(ctx, b)
	if ctx.Err() != nil {
		return Picture{}, ctx.Err()
	}
	if err != nil {
		return Picture{}, notAnImage(err)
	}
	out := &limitedBuffer{ctx: ctx, most: maxEncoded}
	if err := r.encode(out, m); err != nil {
		if errors.Is(err, errTooLarge) {
			return Picture{}, tooLarge("The picture takes more than 100 MiB without its compression. Send a smaller one, or a JPEG.", maxEncoded, maxEncoded+1)
		}
		return Picture{}, fmt.Errorf("encode picture: %w", err)
	}
	return Picture{MIMEType: r.mime, Width: m.Bounds().Dx(), Height: m.Bounds().Dy(), Bytes: out.Bytes()}, nil
}

// limitedBuffer is a buffer with a maximum size. It takes nothing after ctx ends.
type limitedBuffer struct {
	bytes.Buffer
	ctx  context.Context
	most int
}

var errTooLarge = errors.New("the decompressed image is too large")

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.Len()+len(p) > b.most {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// isAnimated reads the animation flag of an extended WebP.
func isAnimated(b []byte) bool {
	const flags, animation = 20, 1 << 1
	return len(b) > flags && string(b[12:16]) == "VP8X" && b[flags]&animation != 0
}

// encodePNG converts decoded WebP to a format that PNG supports, because the
// encoder would convert each pixel separately.
//
// Choice: colors of 16 bits become 8 bits. No ad platform shows more, and they
// take three times the CPU. Large images are compressed less, for the same
// reason.
func encodePNG(w io.Writer, m image.Image) error {
	encoder := png.Encoder{}
	if size := m.Bounds().Size(); size.X*size.Y > largePixels {
		encoder.CompressionLevel = png.BestSpeed
	}
	switch from := m.(type) {
	case *image.NRGBA64:
		to := image.NewNRGBA(from.Bounds())
		copyHighBytes(to.Pix, from.Pix)
		m = to
	case *image.RGBA64:
		to := image.NewRGBA(from.Bounds())
		copyHighBytes(to.Pix, from.Pix)
		m = to
	case *image.Gray16:
		to := image.NewGray(from.Bounds())
		copyHighBytes(to.Pix, from.Pix)
		m = to
	case *image.YCbCr:
		m = toRGBA(from)
	case *image.NYCbCrA:
		to := image.NewNRGBA(from.Bounds())
		for y := to.Rect.Min.Y; y < to.Rect.Max.Y; y++ {
			for x := to.Rect.Min.X; x < to.Rect.Max.X; x++ {
				c := from.YCbCrAt(x, y)
				red, green, blue := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
				to.SetNRGBA(x, y, color.NRGBA{R: red, G: green, B: blue, A: from.A[from.AOffset(x, y)]})
			}
		}
		m = to
	}
	return encoder.Encode(w, m)
}

// copyHighBytes copies the first byte of every two.
func copyHighBytes(to, from []byte) {
	for i := range to {
		to[i] = from[2*i]
	}
}

func toRGBA(m image.Image) *image.RGBA {
	if rgba, ok := m.(*image.RGBA); ok {
		return rgba
	}
	to := image.NewRGBA(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(to, to.Rect, m, m.Bounds().Min, draw.Src)
	return to
}

func encodeJPEG(w io.Writer, m image.Image) error {
	if cmyk, ok := m.(*image.CMYK); ok {
		m = toRGBA(cmyk)
	}
	return jpeg.Encode(w, m, &jpeg.Options{Quality: quality})
}

// decodeGIF returns the first frame on a canvas of the full size.
func decodeGIF(ctx context.Context, b []byte) (image.Image, error) {
	c, err := gif.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	m, err := gif.Decode(newReader(ctx, b))
	if err != nil || m.Bounds() == image.Rect(0, 0, c.Width, c.Height) {
		return m, err
	}
	canvas := image.NewNRGBA(image.Rect(0, 0, c.Width, c.Height))
	draw.Draw(canvas, m.Bounds(), m, m.Bounds().Min, draw.Src)
	return canvas, nil
}

// decodeJPEG applies the orientation of the metadata, because the metadata is
// removed.
func decodeJPEG(ctx context.Context, b []byte) (image.Image, error) {
	m, err := jpeg.Decode(newReader(ctx, b))
	if err != nil {
		return nil, err
	}
	return rotate(m, orientation(b)), nil
}

// countScans returns how many scans a JPEG has, 0 for other formats. It reads
// markers as the decoder does, so that none is hidden from it. What follows the
// image, such as the video of a motion photo, has none.
func countScans(b []byte) (n int) {
	const fill, endOfImage, startOfScan = 0xff, 0xd9, 0xda
	if !hasMagic("\xff\xd8\xff")(b) {
		return 0
	}
	for at := 2; at+4 <= len(b); {
		marker := b[at+1]
		switch {
		case b[at] != 0xff, marker == fill:
			at++
		case marker == endOfImage:
			return n
		case marker == 0, marker >= 0xd0 && marker <= 0xd7: // part of a scan
			at += 2
		default:
			if marker == startOfScan {
				n++
			}
			at += 2 + int(binary.BigEndian.Uint16(b[at+2:]))
		}
	}
	return n
}

// orientation returns the EXIF orientation of a JPEG, 1 to 8. The default is 1.
func orientation(b []byte) int {
	const upright = 1
	for at := 2; at+4 <= len(b) && b[at] == 0xff; {
		marker, size := b[at+1], int(binary.BigEndian.Uint16(b[at+2:]))
		if marker == 0xff {
			at++ // a fill byte
			continue
		}
		// Metadata comes before the start of scan.
		if marker == 0xda || size < 2 || at+2+size > len(b) {
			return upright
		}
		if text, exif := bytes.CutPrefix(b[at+4:at+2+size], []byte("Exif\x00\x00")); marker == 0xe1 && exif {
			return tiffOrientation(text)
		}
		at += 2 + size
	}
	return upright
}

// tiffOrientation reads the tag from the first directory.
func tiffOrientation(b []byte) int {
	const upright, tag, short, entry = 1, 0x0112, 3, 12
	if len(b) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(b[:2]) == "MM" {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(b[4:]))
	if order.Uint16(b[2:]) != 42 || at+2 > int64(len(b)) {
		return upright
	}
	count := int(order.Uint16(b[at:]))
	for b = b[at+2:]; count > 0 && len(b) >= entry; b, count = b[entry:], count-1 {
		if order.Uint16(b) == tag && order.Uint16(b[2:]) == short {
			if v := int(order.Uint16(b[8:])); v >= 1 && v <= 8 {
				return v
			}
		}
	}
	return upright
}

// rotate applies an orientation.
func rotate(m image.Image, orientation int) image.Image {
	if orientation == 1 {
		return m
	}
	from := toRGBA(m)
	w, h := from.Rect.Dx(), from.Rect.Dy()
	// The source offset of the pixel at row 0, column 0, and the source steps
	// per column and row, in bytes.
	const size = 4
	right, down := size, from.Stride
	last, bottom := (w-1)*size, (h-1)*from.Stride
	way := map[int]struct{ start, column, row int }{
		2: {last, -right, down}, 3: {last + bottom, -right, -down}, 4: {bottom, right, -down},
		5: {0, down, right}, 6: {bottom, -down, right}, 7: {last + bottom, -down, -right}, 8: {last, down, -right},
	}[orientation]
	if orientation >= 5 {
		w, h = h, w
	}
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		at, line := way.start+y*way.row, to.Pix[y*to.Stride:]
		for x := range w {
			copy(line[x*size:x*size+size], from.Pix[at:at+size])
			at += way.column
		}
	}
	return to
}
