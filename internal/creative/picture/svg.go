package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image/jpeg"
	"image/png"
	"strconv"
)

// SVG encodes the scene as an SVG file. Letters are outlines, so that it looks
// the same without the fonts; title and description contain the texts. It
// refers to no other file.
func (s *Scene) SVG() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="t d">`+"\n", s.Width, s.Height, s.Width, s.Height)
	for _, e := range []struct{ name, id, text string }{{"title", "t", s.title}, {"desc", "d", s.desc}} {
		fmt.Fprintf(&out, `<%s id="%s">`, e.name, e.id)
		if err := xml.EscapeText(&out, []byte(e.text)); err != nil {
			return nil, fmt.Errorf("write svg: %w", err)
		}
		fmt.Fprintf(&out, "</%s>\n", e.name)
	}
	for i, f := range s.fills {
		if err := writeFill(&out, i, f); err != nil {
			return nil, err
		}
	}
	if err := s.writeLogo(&out); err != nil {
		return nil, err
	}
	for _, t := range s.texts {
		fmt.Fprintf(&out, `<path fill="%s" d="`, t.ink)
		for _, w := range t.words {
			for _, g := range w.glyphs {
				writePath(&out, g.outline, t.size, w.x+g.x*t.size, w.y+g.y*t.size)
			}
		}
		out.WriteString("\"/>\n")
		if t.strike == nil {
			continue
		}
		fmt.Fprintf(&out, `<path fill="%s" d="`, t.ink)
		writePath(&out, rectangle(*t.strike), 1, 0, 0)
		out.WriteString("\"/>\n")
	}
	out.WriteString("</svg>\n")
	return out.Bytes(), nil
}

func writeFill(out *bytes.Buffer, i int, f fill) error {
	if f.photo != nil {
		return writePhoto(out, i, f)
	}
	color, clip := f.from.String(), ""
	if f.veil != nil {
		color = writeVeil(out, i, f)
	} else if f.from != f.to {
		b := f.path.bounds()
		// The same line as in PNG: from corner to corner.
		fmt.Fprintf(out, `<linearGradient id="g%d" gradientUnits="userSpaceOnUse" x1="%s" y1="%s" x2="%s" y2="%s"><stop stop-color="%s"/><stop offset="1" stop-color="%s"/></linearGradient>`+"\n",
			i, formatCoordinate(b.x0), formatCoordinate(b.y0), formatCoordinate(b.x1), formatCoordinate(b.y1), f.from, f.to)
		color = fmt.Sprintf("url(#g%d)", i)
	}
	if b := f.path.bounds(); f.clip != (box{}) && b.intersect(f.clip) != b {
		fmt.Fprintf(out, `<clipPath id="c%d"><path d="`, i)
		writePath(out, rectangle(f.clip), 1, 0, 0)
		out.WriteString("\"/></clipPath>\n")
		clip = fmt.Sprintf(` clip-path="url(#c%d)"`, i)
	}
	fmt.Fprintf(out, `<path fill="%s"%s d="`, color, clip)
	writePath(out, f.path, 1, 0, 0)
	out.WriteString("\"/>\n")
	return nil
}

// writePhoto embeds a photo in its size: as JPEG, or as PNG if parts of it are
// transparent.
func writePhoto(out *bytes.Buffer, i int, f fill) error {
	b := f.photo.box
	pixels := f.photo.scaledTo(int(b.w()), int(b.h()))
	var data bytes.Buffer
	kind, err := "jpeg", error(nil)
	if f.photo.photo.cutOut {
		kind, err = "png", png.Encode(&data, pixels)
	} else {
		err = jpeg.Encode(&data, pixels, &jpeg.Options{Quality: jpegQuality})
	}
	if err != nil {
		return fmt.Errorf("encode photo: %w", err)
	}
	clip := ""
	if !f.path.isPixelRectangle() {
		fmt.Fprintf(out, `<clipPath id="c%d"><path d="`, i)
		writePath(out, f.path, 1, 0, 0)
		out.WriteString("\"/></clipPath>\n")
		clip = fmt.Sprintf(` clip-path="url(#c%d)"`, i)
	}
	fmt.Fprintf(out, `<image x="%s" y="%s" width="%s" height="%s"%s preserveAspectRatio="none" href="data:image/%s;base64,%s"/>`+"\n",
		formatCoordinate(b.x0), formatCoordinate(b.y0), formatCoordinate(b.w()), formatCoordinate(b.h()), clip, kind, base64.StdEncoding.EncodeToString(data.Bytes()))
	return nil
}

// writeLogo embeds the logo at twice its size, for high-resolution screens.
func (s *Scene) writeLogo(out *bytes.Buffer) error {
	if s.logo == nil {
		return nil
	}
	b := s.logo.box
	var data bytes.Buffer
	if err := png.Encode(&data, s.logo.image.scaledTo(int(b.w())*2, int(b.h())*2)); err != nil {
		return fmt.Errorf("encode logo: %w", err)
	}
	fmt.Fprintf(out, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`+"\n",
		formatCoordinate(b.x0), formatCoordinate(b.y0), formatCoordinate(b.w()), formatCoordinate(b.h()), base64.StdEncoding.EncodeToString(data.Bytes()))
	return nil
}

func writePath(out *bytes.Buffer, p path, size, dx, dy float64) {
	for i, s := range p {
		if s.op == moveTo && i > 0 {
			out.WriteByte('Z')
		}
		out.WriteByte("MLQC"[s.op])
		for j, a := range s.at[:s.op.points()] {
			if j > 0 {
				out.WriteByte(' ')
			}
			out.WriteString(formatCoordinate(a.x*size + dx))
			out.WriteByte(' ')
			out.WriteString(formatCoordinate(a.y*size + dy))
		}
	}
	if len(p) > 0 {
		out.WriteByte('Z')
	}
}

// formatCoordinate writes a coordinate with two decimals.
func formatCoordinate(v float64) string {
	b := strconv.AppendFloat(nil, v, 'f', 2, 64)
	b = bytes.TrimRight(bytes.TrimRight(b, "0"), ".")
	if len(b) == 0 || string(b) == "-0" || string(b) == "-" {
		return "0"
	}
	return string(b)
}
