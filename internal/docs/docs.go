// Package docs renders the documentation that the server serves: guides, the
// reference of the contract, error codes and the changelog. The pages need no
// script, key or other host. The package knows files and the contract, never
// the service; the HTTP layer sets all other headers.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// Sources are the inputs of the pages.
type Sources struct {
	// Contract is the OpenAPI document as YAML.
	Contract []byte
	// Changelog and the files docs/guides/*.md and docs/OPERATING.md are
	// Markdown.
	Changelog []byte
	Files     fs.FS
	// Build is the version of the program, Start the time of its start.
	Build string
	Start time.Time
}

var (
	//go:embed templates/*.html
	templateFiles embed.FS
	//go:embed assets
	assetFiles embed.FS
	// all: embeds the folder also if the build has put no file into it.
	//go:embed all:dist
	distFiles embed.FS
)

// guideNames are the guides in their reading order.
var guideNames = []string{
	"getting-started", "authentication", "pagination-and-filtering", "errors-and-retries", "clients", "creative-generation",
	"audiences", "analytics-query", "importing-numbers", "connections-and-sync", "connect-google-ads", "connect-meta-ads", "connect-tiktok-ads", "connect-linkedin-ads", "connect-ga4", "connect-microsoft-ads", "events",
}

// Site is the documentation.
type Site struct {
	sources   Sources
	templates *template.Template
	guides    []guide
	documents map[string]document
	missing   document
	// contract parses the contract on first use, because most servers serve
	// only API calls.
	contract func() (*contract, error)
	// interactive says that the interactive reference was built.
	interactive bool
	// assets are the URLs of files by name. A URL contains the hash of its
	// file.
	assets map[string]string
}

// guide is one guide.
type guide struct {
	Name, Title, Summary string
	source               []byte
}

// New reads the guides and lists the pages. A page is rendered on first use.
func New(s Sources) (*Site, error) {
	t, err := template.New("").Funcs(template.FuncMap{"markdown": inlineMarkdown}).ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("read the templates of the documentation: %w", err)
	}
	site := &Site{sources: s, templates: t, documents: map[string]document{}, assets: map[string]string{}}
	site.contract = sync.OnceValues(func() (*contract, error) { return readContract(s.Contract) })
	for _, name := range guideNames {
		source, err := fs.ReadFile(s.Files, "docs/guides/"+name+".md")
		if err != nil {
			return nil, fmt.Errorf("read guide: %w", err)
		}
		g := guide{Name: name, source: source}
		g.Title, g.Summary = titleAndSummary(source)
		site.guides = append(site.guides, g)
	}
	if err := site.addAssets(); err != nil {
		return nil, err
	}
	site.addPages()
	return site, nil
}

// addPages adds all pages for readers.
func (s *Site) addPages() {
	s.documents["/docs"] = s.hostDocument("text/html; charset=utf-8", s.startPage)
	s.documents["/docs/reference"] = s.cachedPage("/docs/reference", s.referencePage)
	s.documents["/docs/errors"] = s.cachedPage("/docs/errors", s.errorsPage)
	s.documents["/docs/changelog"] = s.cachedPage("/docs/changelog", func() (*page, error) { return s.markdownPage(s.sources.Changelog) })
	s.documents["/docs/changelog.atom"] = s.hostDocument("application/atom+xml; charset=utf-8", s.changelogFeed)
	s.documents["/docs/operating"] = s.cachedPage("/docs/operating", func() (*page, error) {
		source, err := fs.ReadFile(s.sources.Files, "docs/OPERATING.md")
		if err != nil {
			return nil, fmt.Errorf("read the document for operators: %w", err)
		}
		return s.markdownPage(source)
	})
	for _, g := range s.guides {
		at := "/docs/guides/" + g.Name
		s.documents[at] = s.cachedPage(at, func() (*page, error) { return s.markdownPage(g.source) })
		s.documents[at+".md"] = staticDocument("text/markdown; charset=utf-8", g.source)
	}
	s.documents["/llms.txt"] = cachedDocument("text/plain; charset=utf-8", s.llmsIndex)
	s.documents["/docs/llms-full.txt"] = cachedDocument("text/plain; charset=utf-8", s.llmsFullText)
	s.missing = s.cachedPage("", func() (*page, error) { return &page{Title: "Page not found", name: "missing"}, nil })
	s.missing.status = http.StatusNotFound
	s.documents["/docs/api"] = document{redirect: "/docs/reference"}
	if s.interactive {
		d := cachedDocument("text/html; charset=utf-8", func() ([]byte, error) { return s.render("api", &page{Title: "Try the API"}) })
		d.policy = interactivePolicy
		s.documents["/docs/api"] = d
	}
}

// Serves reports whether a path exists.
func (s *Site) Serves(at string) bool {
	_, there := s.documents[at]
	return there
}

// Serve answers a GET or HEAD for an existing path. If it returns an error, it
// has written nothing.
func (s *Site) Serve(w http.ResponseWriter, r *http.Request) error {
	d := s.documents[r.URL.Path]
	return d.serve(w, r)
}

// ServeMissing answers a GET or HEAD for any other path with status 404. If it
// returns an error, it has written nothing.
func (s *Site) ServeMissing(w http.ResponseWriter, r *http.Request) error {
	return s.missing.serve(w, r)
}

// page is the input of a template.
type page struct {
	Title, Summary string
	// Path is the path of the page.
	Path     string
	Contents []heading
	// Body is the content, or Data the input of the content's template.
	Body template.HTML
	Data any
	name string
	site *Site
	Host string
}

// heading is an entry in the contents of a page.
type heading struct {
	ID, Text string
	Sub      []heading
}

// Guides returns all guides, for the navigation.
func (p *page) Guides() []guide { return p.site.guides }

// Interactive reports whether the interactive reference exists.
func (p *page) Interactive() bool { return p.site.interactive }

// NavItem returns an entry of the navigation.
func (p *page) NavItem(at, text string) map[string]string {
	return map[string]string{"At": at, "Text": text, "Path": p.Path}
}

// Build returns the version of the program.
func (p *page) Build() string { return p.site.sources.Build }

// Asset returns the URL of a file.
func (p *page) Asset(name string) string { return p.site.assets[name] }

// Content returns the rendered content.
func (p *page) Content() (template.HTML, error) {
	if p.name == "" {
		return p.Body, nil
	}
	var b bytes.Buffer
	if err := p.site.templates.ExecuteTemplate(&b, p.name, p); err != nil {
		return "", fmt.Errorf("render %s: %w", p.name, err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // a template has escaped it
}

// render renders a page with the template of the whole document.
func (s *Site) render(layout string, p *page) ([]byte, error) {
	p.site = s
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, layout, p); err != nil {
		return nil, fmt.Errorf("render %s: %w", p.Path, err)
	}
	return b.Bytes(), nil
}

// cachedPage returns a page that is the same for all hosts.
func (s *Site) cachedPage(at string, read func() (*page, error)) document {
	return cachedDocument("text/html; charset=utf-8", func() ([]byte, error) {
		p, err := read()
		if err != nil {
			return nil, err
		}
		p.Path = at
		return s.render("layout", p)
	})
}

func (s *Site) startPage(host string) ([]byte, error) {
	return s.render("layout", &page{
		Title: "Documentation", Summary: "Guides and reference of the Fanfare API: campaigns, creatives, audiences and analytics by program.",
		Path: "/docs", name: "start", Host: host,
		Contents: []heading{{ID: "first-call", Text: "First call"}, {ID: "guides", Text: "Guides"}, {ID: "reference", Text: "Reference"}, {ID: "plain-text", Text: "What is not JSON"}},
	})
}

func (s *Site) errorsPage() (*page, error) {
	c, err := s.contract()
	if err != nil {
		return nil, err
	}
	p := &page{Title: "Errors", Summary: "Every error code, what it means and what to do about it.", name: "errors", Data: c}
	for _, e := range c.Errors {
		p.Contents = append(p.Contents, heading{ID: e.Code, Text: e.Code})
	}
	p.Contents = append(p.Contents, heading{ID: "details", Text: "Codes in details"})
	return p, nil
}

// llmsIndex returns the index of the documentation for language models: see
// llmstxt.org.
func (s *Site) llmsIndex() ([]byte, error) {
	var b strings.Builder
	b.WriteString("# Fanfare\n\n> Marketing campaigns by program: a REST API for campaigns, creatives, audiences, ad platforms and analytics.\n\n" +
		"Every request under `/v1` carries `Authorization: Bearer <API_KEY>` over HTTPS.\n\n## Guides\n\n")
	for _, g := range s.guides {
		fmt.Fprintf(&b, "- [%s](/docs/guides/%s.md): %s\n", g.Title, g.Name, g.Summary)
	}
	b.WriteString("\n## Reference\n\n" +
		"- [Contract, YAML](/openapi/v1.yaml): every operation, field, limit and example (OpenAPI 3.1)\n" +
		"- [Contract, JSON](/openapi/v1.json): the same\n" +
		"- [Reference](/docs/reference): the contract as one page\n" +
		"- [Errors](/docs/errors): every error code and its remedy\n\n## Optional\n\n" +
		"- [All guides in one file](/docs/llms-full.txt)\n" +
		"- [Changelog](/docs/changelog): what has changed\n" +
		"- [Operating](/docs/operating): how to run a server\n")
	return []byte(b.String()), nil
}

// llmsFullText returns all guides in one text.
func (s *Site) llmsFullText() ([]byte, error) {
	var b bytes.Buffer
	for i, g := range s.guides {
		if i > 0 {
			b.WriteString("\n---\n\n")
		}
		b.Write(g.source)
	}
	return b.Bytes(), nil
}

// addAssets adds the style sheet and, if it was built, the interactive
// reference.
func (s *Site) addAssets() error {
	files, err := embeddedAssets()
	if err != nil {
		return err
	}
	for name, f := range files {
		s.documents[f.at], s.assets[name] = f.document, f.at
	}
	_, s.interactive = files["reference.js"]
	return nil
}

// assetFile is a file that pages load, and its URL.
type assetFile struct {
	document
	at string
}

// embeddedAssets returns the embedded files by name. It reads them once,
// because they are large and never change.
var embeddedAssets = sync.OnceValues(func() (map[string]assetFile, error) {
	list := map[string]fs.FS{"assets/docs.css": assetFiles, "assets/mark.svg": assetFiles}
	if _, err := fs.Stat(distFiles, "dist/reference.js"); err == nil {
		list["dist/reference.js"], list["dist/scalar.js"] = distFiles, distFiles
	}
	found := map[string]assetFile{}
	for name, files := range list {
		d, hash, err := readAsset(files, name)
		if err != nil {
			return nil, fmt.Errorf("read a file of the documentation (make web builds them): %w", err)
		}
		base, extension := path.Base(name), path.Ext(name)
		found[base] = assetFile{d, "/docs/assets/" + strings.TrimSuffix(base, extension) + "-" + hash + extension}
	}
	return found, nil
})
