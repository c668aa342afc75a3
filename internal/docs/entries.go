package docs

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Entry is a page, or a section of one, that a search can find. Text has further
// words by which it is found.
type Entry struct {
	Path, Title, Section, Text string
}

// Entries returns what a search finds: guides and the document for operators
// with their sections, operations and error codes.
func (s *Site) Entries() ([]Entry, error) {
	var list []Entry
	for _, g := range s.guides {
		list = append(list, sections("/docs/guides/"+g.Name, g.source)...)
	}
	operating, err := fs.ReadFile(s.sources.Files, "docs/OPERATING.md")
	if err != nil {
		return nil, fmt.Errorf("read the document for operators: %w", err)
	}
	list = append(list, sections("/docs/operating", operating)...)
	c, err := s.contract()
	if err != nil {
		return nil, err
	}
	for _, path := range c.Paths {
		for _, o := range path.Value.operations() {
			list = append(list, Entry{
				Path: "/docs/reference#" + o.Value.ID, Title: o.Value.Summary, Section: o.Name + " " + path.Name,
				Text: o.Value.ID + " " + strings.Join(o.Value.Tags, " "),
			})
		}
	}
	for _, e := range c.Errors {
		list = append(list, Entry{Path: "/docs/errors#" + e.Code, Title: e.Code, Section: fmt.Sprintf("Error %d", e.Status), Text: e.Meaning + " " + e.Fix})
	}
	list = append(list, Entry{Path: "/docs/changelog", Title: "Changelog", Section: "What has changed"})
	return list, nil
}

// sections returns a document and its sections of the second and third level,
// each with its text.
func sections(path string, source []byte) []Entry {
	title, summary := titleAndSummary(source)
	list := []Entry{{Path: path, Title: title, Section: summary}}
	root := wholePage.Parser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, is := n.(*ast.Heading)
		if !is {
			last := &list[len(list)-1]
			last.Text += " " + plainText(n, source)
			continue
		}
		if h.Level > 1 {
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			list = append(list, Entry{Path: path + "#" + string(name), Title: plainText(h, source), Section: title})
		}
	}
	return list
}
