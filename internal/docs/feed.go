package docs

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// The elements of RFC 4287 that the feed of changes uses.
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Links   []atomLink  `xml:"link"`
		Author  string      `xml:"author>name"`
		Entries []atomEntry `xml:"entry"`
	}
	atomLink struct {
		Rel  string `xml:"rel,attr,omitempty"`
		Href string `xml:"href,attr"`
	}
	atomEntry struct {
		ID      string      `xml:"id"`
		Title   string      `xml:"title"`
		Updated string      `xml:"updated"`
		Link    atomLink    `xml:"link"`
		Content atomContent `xml:"content"`
	}
	atomContent struct {
		Type string `xml:"type,attr"`
		HTML string `xml:",chardata"`
	}
)

var (
	section = regexp.MustCompile(`(?m)^## (.+)$`)
	day     = regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)
)

// changelogFeed returns the changelog with an entry for each version.
func (s *Site) changelogFeed(host string) ([]byte, error) {
	source := s.sources.Changelog
	_, contents, err := renderMarkdown(source)
	if err != nil {
		return nil, err
	}
	at := "https://" + host + "/docs/changelog"
	f := atomFeed{ID: at, Title: "Fanfare changelog", Author: "Fanfare", Links: []atomLink{{Href: at}, {Rel: "self", Href: at + ".atom"}}}
	for i, place := range section.FindAllSubmatchIndex(source, -1) {
		end := len(source)
		if next := section.FindIndex(source[place[1]:]); next != nil {
			end = place[1] + next[0]
		}
		body, _, err := renderMarkdown(source[place[1]:end])
		if err != nil {
			return nil, err
		}
		title := strings.TrimSpace(string(source[place[2]:place[3]]))
		link := at + "#" + contents[i].ID
		f.Entries = append(f.Entries, atomEntry{
			ID: link, Title: title, Updated: s.releaseDate(title), Link: atomLink{Href: link}, Content: atomContent{Type: "html", HTML: string(body)},
		})
		f.Updated = max(f.Updated, s.releaseDate(title))
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(f); err != nil {
		return nil, fmt.Errorf("write the feed of changes: %w", err)
	}
	return b.Bytes(), nil
}

// releaseDate returns the day in a version's title.
//
// Choice: unreleased changes have the time of the server's start, because a
// feed requires a time and the changes are as new as the program.
func (s *Site) releaseDate(title string) string {
	if d := day.FindString(title); d != "" {
		return d + "T00:00:00Z"
	}
	return s.sources.Start.UTC().Format(time.RFC3339)
}
