package asset

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

const (
	svgSpace   = "http://www.w3.org/2000/svg"
	linkSpace  = "http://www.w3.org/1999/xlink"
	maxDepth   = 100
	maxNodes   = 100_000
	maxDrawn   = 500_000
	styleName  = "style"
	maxIDBytes = 128
)

// elements are the allowed elements, and whether they contain text. All others
// are removed with their content: scripts, embedded pages and images,
// animations, metadata.
var elements = map[string]bool{
	"svg": false, "g": false, "defs": false, "symbol": false, "use": false,
	"path": false, "rect": false, "circle": false, "ellipse": false, "line": false, "polyline": false, "polygon": false,
	"linearGradient": false, "radialGradient": false, "stop": false, "clipPath": false, "mask": false,
	"text": true, "tspan": true, "title": true, "desc": true, styleName: true,
}

// renamedElements are elements that are kept under another name: the content of
// a link is still drawn.
var renamedElements = map[string]string{"a": "g"}

// attributes are the allowed attributes besides style properties. Their values
// are numbers, lists of numbers and words.
var attributes = wordSet(`class x y width height cx cy r rx ry x1 y1 x2 y2 dx dy fx fy fr d points pathLength transform viewBox
	preserveAspectRatio version offset gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits maskContentUnits
	rotate textLength lengthAdjust`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// node is an element of an SVG. Text is a node without a name.
type node struct {
	name       string
	attributes []attribute
	text       string
	children   []*node
	// refs are the ids of content that is drawn again by reference.
	refs []string
	// drawn is the number of drawn nodes, once computed. weighing marks nodes
	// whose computation is in progress.
	drawn    int
	weighing bool
}

type attribute struct{ name, value string }

func (n *node) get(name string) string {
	for _, a := range n.attributes {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// sanitizeSVG rebuilds an SVG from allowed elements.
func sanitizeSVG(b []byte) (Picture, error) {
	root, err := parseSVG(b)
	if err != nil {
		return Picture{}, notAnImage(err)
	}
	width, height := sizeOf(root)
	if width > 0 && height > 0 {
		if err := checkPixels(width, height); err != nil {
			return Picture{}, err
		}
	}
	var out bytes.Buffer
	root.write(&out, true)
	return Picture{MIMEType: SVG, Width: width, Height: height, Bytes: out.Bytes()}, nil
}

// parseSVG parses an SVG and drops everything that is not allowed. It drops the
// document type too, so the use of an entity that it defines is an error.
func parseSVG(b []byte) (*node, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if !bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("<")) {
		return nil, errors.New("it does not begin with an element")
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	t := &svgParser{ids: map[string]*node{}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			n, err := startNode(token, t.root == nil)
			if err == nil && n == nil {
				err = d.Skip()
			} else if err == nil {
				err = t.add(n)
			}
			if err != nil {
				return nil, err
			}
		case xml.EndElement:
			t.end()
		case xml.CharData:
			t.text(string(token))
		}
	}
	if t.root == nil {
		return nil, errors.New("it has no root")
	}
	drawn, err := t.root.countDrawn(t.ids)
	if err == nil && drawn > maxDrawn {
		err = fmt.Errorf("it draws more than %d elements", maxDrawn)
	}
	return t.root, err
}

// svgParser is the state of the parser.
type svgParser struct {
	root  *node
	open  []*node // from the root to the current node
	ids   map[string]*node
	nodes int
}

func (t *svgParser) add(n *node) error {
	if t.nodes++; t.nodes > maxNodes || len(t.open) == maxDepth {
		return fmt.Errorf("it has more than %d elements, or they are nested more than %d deep", maxNodes, maxDepth)
	}
	if id := n.get("id"); id != "" && t.ids[id] == nil {
		t.ids[id] = n
	}
	switch {
	case len(t.open) > 0:
		parent := t.open[len(t.open)-1]
		parent.children = append(parent.children, n)
	case t.root == nil:
		t.root = n
	default:
		return errors.New("it has two roots")
	}
	t.open = append(t.open, n)
	return nil
}

func (t *svgParser) end() {
	t.open[len(t.open)-1].finish()
	t.open = t.open[:len(t.open)-1]
}

func (t *svgParser) text(text string) {
	if len(t.open) == 0 {
		return
	}
	if top := t.open[len(t.open)-1]; elements[top.name] {
		top.children = append(top.children, &node{text: text})
	}
}

// startNode returns the node of an element, or nil if it is not allowed.
func startNode(t xml.StartElement, root bool) (*node, error) {
	name, ours := t.Name.Local, t.Name.Space == svgSpace || t.Name.Space == ""
	if root && (!ours || name != "svg") {
		return nil, fmt.Errorf("its root is %q, not svg", name)
	}
	if to := renamedElements[name]; to != "" {
		name = to
	}
	if _, known := elements[name]; !ours || !known {
		return nil, nil
	}
	n := &node{name: name}
	for _, a := range t.Attr {
		n.add(a)
	}
	return n, nil
}

// finish processes an element whose content is complete.
func (n *node) finish() {
	if n.name != styleName {
		return
	}
	var text strings.Builder
	for _, c := range n.children {
		text.WriteString(c.text)
	}
	n.attributes, n.children = nil, []*node{{text: cleanSheet(text.String())}}
}

// byteSet are the allowed bytes of values. Regular expressions are only for
// short values: they would take a minute for the largest ones.
type byteSet [256]bool

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func newByteSet(more string) (l byteSet) {
	for _, c := range []byte(alphanumeric + more) {
		l[c] = true
	}
	return l
}

// containsAll reports whether a text consists of these letters.
func (l *byteSet) containsAll(text string) bool {
	for i := range len(text) {
		if !l[text[i]] {
			return false
		}
	}
	return true
}

var (
	plainLetters = newByteSet(" .,%+()-")
	lines        = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")
	idValue      = regexp.MustCompile(`^[A-Za-z_][\w.-]*$`)
	localRef     = regexp.MustCompile(`^#([A-Za-z_][\w.-]*)$`)
)

// add adds an attribute with a cleaned value if it is allowed.
func (n *node) add(a xml.Attr) {
	name, value := a.Name.Local, strings.TrimSpace(lines.Replace(a.Value))
	if n.get(name) != "" || a.Name.Space != "" && (a.Name.Space != linkSpace || name != "href") {
		return
	}
	switch {
	case name == "id":
		if len(value) > maxIDBytes || !idValue.MatchString(value) {
			return
		}
	case name == "href":
		ref := localRef.FindStringSubmatch(value[:min(len(value), maxIDBytes+2)])
		if ref == nil || n.name != "use" && !strings.HasSuffix(n.name, "Gradient") {
			return
		}
		n.refs = append(n.refs, ref[1])
	case name == styleName:
		value = cleanDeclarations(value, true)
		n.refs = append(n.refs, refsIn(value)...)
	case properties[name]:
		if value = cleanValue(name, value, true); value != "" {
			n.refs = append(n.refs, refsIn(value)...)
		}
	case !attributes[name] || !plainLetters.containsAll(value):
		return
	}
	if value != "" {
		n.attributes = append(n.attributes, attribute{name, value})
	}
}

// countDrawn counts the drawn nodes, including those drawn by reference. A few
// elements that refer to each other could keep a renderer busy forever.
func (n *node) countDrawn(ids map[string]*node) (int, error) {
	if n.drawn > 0 {
		return n.drawn, nil
	}
	if n.weighing {
		return 0, errors.New("it refers to itself")
	}
	n.weighing = true
	sum := 1
	for _, c := range n.children {
		d, err := c.countDrawn(ids)
		if err != nil {
			return 0, err
		}
		sum = min(sum+d, maxDrawn+1)
	}
	for _, ref := range n.refs {
		to := ids[ref]
		if to == nil {
			continue
		}
		d, err := to.countDrawn(ids)
		if err != nil {
			return 0, err
		}
		sum = min(sum+d, maxDrawn+1)
	}
	n.weighing, n.drawn = false, sum
	return sum, nil
}

func (n *node) write(b *bytes.Buffer, root bool) {
	if n.name == "" {
		escape(b, n.text)
		return
	}
	b.WriteString("<" + n.name)
	if root {
		b.WriteString(` xmlns="` + svgSpace + `"`)
	}
	for _, a := range n.attributes {
		b.WriteString(" " + a.name + `="`)
		escape(b, a.value)
		b.WriteByte('"')
	}
	if len(n.children) == 0 {
		b.WriteString("/>")
		return
	}
	b.WriteByte('>')
	for _, c := range n.children {
		c.write(b, false)
	}
	b.WriteString("</" + n.name + ">")
}

func escape(b *bytes.Buffer, text string) {
	// A write to a buffer never fails.
	_ = xml.EscapeText(b, []byte(text))
}

// perPixel is the number of pixels per unit of length.
var perPixel = map[string]float64{"": 1, "px": 1, "pt": 4.0 / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4}

var length = regexp.MustCompile(`^([0-9]*\.?[0-9]+)([a-z]*)$`)

// sizeOf returns the size of an SVG, 0 if it has none.
func sizeOf(root *node) (width, height int) {
	width, height = pixelLength(root.get("width")), pixelLength(root.get("height"))
	if width > 0 && height > 0 {
		return width, height
	}
	box := strings.FieldsFunc(root.get("viewBox"), func(r rune) bool { return r == ' ' || r == ',' })
	if len(box) != 4 {
		return 0, 0
	}
	if width, height = pixelLength(box[2]), pixelLength(box[3]); width == 0 || height == 0 {
		return 0, 0
	}
	return width, height
}

func pixelLength(text string) int {
	m := length.FindStringSubmatch(text)
	if m == nil || perPixel[m[2]] == 0 {
		return 0
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	return int(math.Ceil(min(v*perPixel[m[2]], math.MaxInt32)))
}
