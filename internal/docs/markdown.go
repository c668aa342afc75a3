package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Both drop raw HTML. Only whole pages get anchors, because a page with many
// rendered parts would have duplicates.
var (
	wholePage = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	piece     = goldmark.New(goldmark.WithExtensions(extension.GFM))
)

// inlineMarkdown renders a text of the contract.
func inlineMarkdown(source string) (template.HTML, error) {
	var b bytes.Buffer
	if err := piece.Convert([]byte(source), &b); err != nil {
		return "", fmt.Errorf("render Markdown: %w", err)
	}
	html := strings.TrimSpace(b.String())
	// A single paragraph is used without its tags, in a cell or after a word.
	if inner, ok := strings.CutPrefix(html, "<p>"); ok && strings.Count(html, "<p>") == 1 && strings.HasSuffix(inner, "</p>") {
		html = strings.TrimSuffix(inner, "</p>")
	}
	return template.HTML(html), nil //nolint:gosec // our own contract, and the renderer drops raw HTML
}

// markdownPage returns a page of a document. Its title is the first heading.
func (s *Site) markdownPage(source []byte) (*page, error) {
	body, contents, err := renderMarkdown(source)
	if err != nil {
		return nil, err
	}
	p := &page{Contents: contents, Body: body}
	p.Title, p.Summary = titleAndSummary(source)
	return p, nil
}

// renderMarkdown renders a document and returns its headings of the second and
// third level.
func renderMarkdown(source []byte) (template.HTML, []heading, error) {
	root := wholePage.Parser().Parse(text.NewReader(source))
	var contents []heading
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(servedLink(string(n.Destination)))
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			name, _ := id.([]byte)
			h := heading{ID: string(name), Text: plainText(n, source)}
			switch {
			case n.Level == 2:
				contents = append(contents, h)
			case n.Level == 3 && len(contents) > 0:
				last := &contents[len(contents)-1]
				last.Sub = append(last.Sub, h)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", nil, fmt.Errorf("read Markdown: %w", err)
	}
	var b bytes.Buffer
	if err := wholePage.Renderer().Render(&b, source, root); err != nil {
		return "", nil, fmt.Errorf("render Markdown: %w", err)
	}
	return template.HTML(b.String()), contents, nil //nolint:gosec // our own file, and the renderer drops raw HTML
}

// servedLink converts a link between files of the project to one between pages,
// so that guides work in both places.
func servedLink(link string) string {
	file, fragment, found := strings.Cut(link, "#")
	if found {
		fragment = "#" + fragment
	}
	switch {
	case strings.Contains(file, ":") || strings.HasPrefix(file, "/") || file == "":
		return link
	case path.Base(file) == "OPERATING.md":
		return "/docs/operating" + fragment
	case path.Base(file) == "openapi.yaml":
		return "/openapi/v1.yaml"
	case strings.HasSuffix(file, ".md"):
		return "/docs/guides/" + strings.TrimSuffix(path.Base(file), ".md") + fragment
	}
	return link
}

// plainText returns the text of a node without markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
			continue
		}
		b.WriteString(plainText(c, source))
	}
	return b.String()
}

// titleAndSummary returns the title of a document and its first paragraph.
func titleAndSummary(source []byte) (title, summary string) {
	root := piece.Parser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if title == "" {
				title = plainText(n, source)
				continue
			}
			return title, summary
		case *ast.Paragraph:
			return title, plainText(n, source)
		}
	}
	return title, summary
}
