package asset

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawn is an SVG document around some elements.
func drawn(inside string) []byte {
	return []byte(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10 10">` + inside + `</svg>`)
}

const (
	opening = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">`
	closing = `</svg>`
)

func TestSVG(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"shapes", `<g transform="rotate(45) translate(1,2)"><path d="M0 0 L1-1z"/><circle cx="1" cy="2" r="3"/></g>`, `<g transform="rotate(45) translate(1,2)"><path d="M0 0 L1-1z"/><circle cx="1" cy="2" r="3"/></g>`},
		{"text", `<text x="1" font-size="2">Ü &amp; <tspan>&lt;b></tspan></text>`, `<text x="1" font-size="2">Ü &amp; <tspan>&lt;b&gt;</tspan></text>`},
		{"text where none is drawn", `<g>loose</g>`, `<g/>`},
		{"gradient", `<defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/></linearGradient></defs><rect fill="url(#a)"/>`, `<defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/></linearGradient></defs><rect fill="url(#a)"/>`},
		{"gradient from a gradient", `<linearGradient id="b" xlink:href="#a"/>`, `<linearGradient id="b" href="#a"/>`},
		{"use", `<use xlink:href="#a" x="1"/>`, `<use href="#a" x="1"/>`},
		{"use twice the same attribute", `<use href="#a" xlink:href="https://evil.example/#b"/>`, `<use href="#a"/>`},
		{"mask and clip", `<clipPath id="c"><rect/></clipPath><g clip-path="url(#c)" mask="url('#m')"/>`, `<clipPath id="c"><rect/></clipPath><g clip-path="url(#c)" mask="url(#m)"/>`},
		{"style", `<rect style="fill: Red; stroke:#000 ; cursor:pointer;STROKE-WIDTH:2"/>`, `<rect style="fill:Red;stroke:#000;stroke-width:2"/>`},
		{"style that fetches", `<rect style="fill:url(https://evil.example/a);background:url(x);behavior:url(x)"/>`, `<rect/>`},
		{"style that hides it", `<rect style="fill:u\72l(https://evil.example)"/>`, `<rect/>`},
		{"style that fetches behind a name", `<rect fill="url(#a) url(https://evil.example)"/>`, `<rect/>`},
		{"color with a fallback", `<rect fill="url(#a) none"/>`, `<rect fill="url(#a) none"/>`},
		{"other functions", `<rect fill="image-set(x)" stroke="var(--x)" color="rgb(1,2,3)"/>`, `<rect color="rgb(1,2,3)"/>`},
		{"font", `<text font-family="'Open Sans', sans-serif">x</text>`, `<text font-family="Open Sans, sans-serif">x</text>`},
		{"sheet", `<style>/* x */ .a, .b &gt; .c, #d { fill: red; cursor: x } @import url(https://evil.example); .e{mask:url(#m);stroke:url(#g)} @media print { .f { fill: blue } }</style>`, `<style>.a,#d{fill:red}.e{stroke:url(#g)}</style>`},
		{"sheet that ends early", `<style>.a{fill:red}&lt;/style>&lt;script>alert(1)&lt;/script></style>`, `<style>.a{fill:red}</style>`},
		{"sheet in CDATA", `<style type="text/css"><![CDATA[.st0{fill:#FFF;}]]></style>`, `<style>.st0{fill:#FFF}</style>`},
		{"class", `<rect class="a b"/>`, `<rect class="a b"/>`},
		{"script", `<script>alert(1)</script><rect/>`, `<rect/>`},
		{"script by another prefix", `<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script><rect/>`, `<rect/>`},
		{"script of HTML", `<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script><rect/>`, `<rect/>`},
		{"handler", `<rect onload="alert(1)" onclick="alert(1)" ONLOAD="x" x="1"/>`, `<rect x="1"/>`},
		{"page", `<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://evil.example"/></foreignObject>`, ``},
		{"picture from elsewhere", `<image href="https://evil.example/a.png"/><image xlink:href="data:image/png;base64,AA=="/>`, ``},
		{"use from elsewhere", `<use href="https://evil.example/a.svg#b"/><use href="data:image/svg+xml,x"/><use href="javascript:alert(1)"/>`, `<use/><use/><use/>`},
		{"link", `<a xlink:href="javascript:alert(1)" target="_top"><rect/></a>`, `<g><rect/></g>`},
		{"animation", `<a><rect/><animate attributeName="href" values="javascript:alert(1)"/><set attributeName="onload" to="x"/></a>`, `<g><rect/></g>`},
		{"filter and pattern", `<filter id="f"><feImage href="https://evil.example"/></filter><pattern id="p"/><rect filter="url(#f)" fill="url(#p)"/>`, `<rect fill="url(#p)"/>`},
		{"editor's own", `<sodipodi:namedview xmlns:sodipodi="http://sodipodi"/><rect inkscape:label="x"/><metadata>where</metadata>`, `<rect/>`},
		{"comment and instruction", `<!-- <script> --><?xml-stylesheet href="https://evil.example"?><rect/>`, `<rect/>`},
		{"id with anything", `<rect id="a b"/><rect id="&quot;&gt;&lt;script&gt;"/>`, `<rect/><rect/>`},
		{"base", `<rect xml:base="https://evil.example/" xml:space="preserve"/>`, `<rect/>`},
		{"quotes", `<rect d='"/&gt;&lt;script&gt;'/>`, `<rect/>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := Sanitize(t.Context(), drawn(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			want := opening + tt.want + closing
			if tt.want == "" {
				want = strings.TrimSuffix(opening, ">") + "/>"
			}
			if diff := cmp.Diff(want, string(p.Bytes)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			checkHarmless(t, p.Bytes)
		})
	}
}

// checkHarmless reads a drawing as a strict reader does and wants nothing in it
// that runs or leads elsewhere.
func checkHarmless(t testing.TB, b []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(b)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("got %v in %s", err, b)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := strings.ToLower(token.Name.Local)
			for _, bad := range []string{"script", "foreignobject", "image", "iframe", "animate", "set", "handler", "a", "audio", "video", "filter", "object"} {
				if name == bad {
					t.Fatalf("got <%s> in %s", name, b)
				}
			}
			for _, a := range token.Attr {
				value := strings.ToLower(a.Value)
				plain := a.Name.Local == "xmlns" && a.Value == svgSpace
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || !plain && (strings.Contains(value, "://") || strings.Contains(value, "script:") || strings.Contains(value, "data:")) {
					t.Fatalf("got %s=%q in %s", a.Name.Local, a.Value, b)
				}
				if a.Name.Local == "href" && !strings.HasPrefix(value, "#") {
					t.Fatalf("got href=%q in %s", a.Value, b)
				}
				if rest := strings.ReplaceAll(value, "url(#", ""); strings.Contains(rest, "url") && strings.Contains(rest, "(") && (a.Name.Local == "style" || properties[a.Name.Local]) {
					t.Fatalf("got %s=%q in %s", a.Name.Local, a.Value, b)
				}
			}
		case xml.Directive, xml.ProcInst, xml.Comment:
			t.Fatalf("got %T in %s", token, b)
		}
	}
}

func TestSVGRefuses(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	laughs.WriteString(`<g id="l0"><rect/></g>`)
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&laughs, `<g id="l%d"><use href="#l%d"/><use href="#l%d"/></g>`, i, i-1, i-1)
	}
	for name, file := range map[string][]byte{
		"entity bomb":          []byte(`<!DOCTYPE svg [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]><svg xmlns="http://www.w3.org/2000/svg"><text>&b;</text></svg>`),
		"entity from a file":   []byte(`<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>`),
		"laughing references":  drawn(laughs.String()),
		"reference to itself":  drawn(`<g id="a"><use href="#a"/></g>`),
		"circle of references": drawn(`<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>`),
		"mask of itself":       drawn(`<mask id="m"><rect style="mask:url(#m)"/></mask>`),
		"too deep":             drawn(strings.Repeat("<g>", 200) + strings.Repeat("</g>", 200)),
		"too many":             drawn(strings.Repeat("<g/>", maxNodes+1)),
		"not closed":           []byte(`<svg xmlns="http://www.w3.org/2000/svg"><g></svg>`),
		"cut":                  []byte(`<svg xmlns="http://www.w3.org/2000/svg"><g>`),
		"two roots":            []byte(`<svg xmlns="http://www.w3.org/2000/svg"/><svg xmlns="http://www.w3.org/2000/svg"/>`),
		"another language":     []byte(`<svg xmlns="http://www.w3.org/1999/xhtml"/>`),
		"another alphabet":     []byte(`<?xml version="1.0" encoding="UTF-16"?><svg xmlns="http://www.w3.org/2000/svg"/>`),
		"broken letters":       drawn("<text>\xff</text>"),
		"too large":            []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="100000" height="100000"/>`),
	} {
		var refused *RejectedImageError
		if p, err := Sanitize(t.Context(), file); !errors.As(err, &refused) {
			t.Errorf("%s: got %.200s, %v, want it refused", name, p.Bytes, err)
		}
	}
}

func TestSVGSize(t *testing.T) {
	t.Parallel()
	for attributes, want := range map[string][2]int{
		`width="20" height="10"`:                        {20, 10},
		`width="20px" height="10.2px"`:                  {20, 11},
		`width="1in" height="72pt"`:                     {96, 96},
		`width="10mm" height="1cm"`:                     {38, 38},
		`width="100%" height="100%" viewBox="0 0 30 4"`: {30, 4},
		`viewBox="-5,-5,30,40"`:                         {30, 40},
		`width="20"`:                                    {0, 0},
		`width="20em" height="10em"`:                    {0, 0},
		`viewBox="0 0 0 10"`:                            {0, 0},
		``:                                              {0, 0},
	} {
		p, err := Sanitize(t.Context(), []byte(`<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg xmlns="http://www.w3.org/2000/svg" `+attributes+`/>`))
		if err != nil || p.Width != want[0] || p.Height != want[1] {
			t.Errorf("%s: got %d by %d, %v want %v", attributes, p.Width, p.Height, err, want)
		}
	}
}
