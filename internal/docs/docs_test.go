package docs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"

	"fanfare"
	"fanfare/api"
	"fanfare/internal/docs"
)

// otherPages are pages that other packages serve.
var otherPages = []string{"/openapi/v1.yaml", "/openapi/v1.json"}

// testSite is the documentation of the project, shared by all tests.
var testSite = sync.OnceValues(func() (*docs.Site, error) {
	return docs.New(docs.Sources{
		Contract: api.YAML, Changelog: fanfare.Changelog, Files: fanfare.Guides, Build: "test",
		Start: time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC),
	})
})

func newTestSite(t *testing.T) *docs.Site {
	t.Helper()
	s, err := testSite()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(t *testing.T, s *docs.Site, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	if !s.Serves(path) {
		t.Fatalf("got nothing at %s, want a page", path)
	}
	r := httptest.NewRequest(http.MethodGet, "https://fanfare.test"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	if err := s.Serve(w, r); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return w
}

// crawlPages returns every page that is reachable from the start page, and
// fails the test for a broken link.
func crawlPages(t *testing.T, s *docs.Site) map[string]*html.Node {
	t.Helper()
	found, fragments := map[string]*html.Node{}, map[string]string{}
	for queue := []string{"/docs"}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if found[at] != nil || slices.Contains(otherPages, at) {
			continue
		}
		if !s.Serves(at) {
			t.Errorf("got a link to %s, where nothing is", at)
			continue
		}
		w := get(t, s, at)
		if w.Code == http.StatusFound {
			queue = append(queue, w.Header().Get("Location"))
			continue
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		root, err := html.Parse(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		found[at] = root
		for n := range root.Descendants() {
			to := attribute(n, "href")
			path, fragment, _ := strings.Cut(to, "#")
			switch {
			case to == "" || strings.Contains(path, ":"):
				continue
			case path == "":
				path = at
			}
			queue = append(queue, path)
			if fragment != "" {
				fragments[path+"#"+fragment] = at
			}
		}
	}
	for to, from := range fragments {
		path, fragment, _ := strings.Cut(to, "#")
		if root := found[path]; root != nil && !slices.Contains(elementIDs(root), fragment) {
			t.Errorf("%s: got a link to %s, where nothing has that name", from, to)
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func elementIDs(root *html.Node) []string {
	var list []string
	for n := range root.Descendants() {
		if id := attribute(n, "id"); id != "" {
			list = append(list, id)
		}
	}
	return list
}

// contractNames returns the operations and codes that the pages must contain.
func contractNames(t *testing.T) (operations, errors, details []string) {
	t.Helper()
	var c struct {
		Paths   map[string]map[string]yaml.Node
		Errors  []struct{ Code string } `yaml:"x-error-codes"`
		Details []struct{ Code string } `yaml:"x-detail-codes"`
	}
	if err := yaml.Unmarshal(api.YAML, &c); err != nil {
		t.Fatal(err)
	}
	for _, item := range c.Paths {
		for method, node := range item {
			var o struct {
				ID string `yaml:"operationId"`
			}
			if method == "parameters" {
				continue
			}
			if err := node.Decode(&o); err != nil {
				t.Fatal(err)
			}
			operations = append(operations, o.ID)
		}
	}
	for _, e := range c.Errors {
		errors = append(errors, e.Code)
	}
	for _, d := range c.Details {
		details = append(details, "detail-"+d.Code)
	}
	return operations, errors, details
}

func TestLinks(t *testing.T) {
	t.Parallel()
	found := crawlPages(t, newTestSite(t))
	if len(found) < 15 {
		t.Errorf("got %d pages from the start page, want at least 15", len(found))
	}
	for at, root := range found {
		list := elementIDs(root)
		slices.Sort(list)
		if n := len(list); len(slices.Compact(list)) != n {
			t.Errorf("%s: got a name twice on one page", at)
		}
	}
}

func TestEveryOperationAndCodeIsDocumented(t *testing.T) {
	t.Parallel()
	found := crawlPages(t, newTestSite(t))
	operations, codes, details := contractNames(t)
	for at, want := range map[string][]string{"/docs/reference": operations, "/docs/errors": slices.Concat(codes, details)} {
		there := elementIDs(found[at])
		for _, id := range want {
			if !slices.Contains(there, id) {
				t.Errorf("%s: got no place for %s, want one", at, id)
			}
		}
	}
	if len(operations) < 60 || len(codes) < 30 {
		t.Errorf("got %d operations and %d codes, want the whole contract", len(operations), len(codes))
	}
	files, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".md")
		if found["/docs/guides/"+name] == nil {
			t.Errorf("got no page for %s, want it among the guides", f)
		}
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if raw := get(t, newTestSite(t), "/docs/guides/"+name+".md").Body.Bytes(); !bytes.Equal(raw, source) {
			t.Errorf("%s: got other bytes than those of the file", f)
		}
	}
}

// TestPagesHaveNoScript checks that every page but the interactive one is plain
// HTML, and that no page loads from another host.
func TestPagesHaveNoScript(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	for at, root := range crawlPages(t, s) {
		w := get(t, s, at)
		policy := w.Header().Get("Content-Security-Policy")
		if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: got X-Content-Type-Options %q want nosniff", at, got)
		}
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") != (at == "/docs/api") {
			t.Errorf("%s: got policy %q", at, policy)
		}
		for n := range root.Descendants() {
			inline := n.Data == "style" || attribute(n, "style") != "" || attribute(n, "onclick") != ""
			outside := strings.Contains(attribute(n, "src"), "//") || n.Data == "link" && strings.Contains(attribute(n, "href"), "//")
			if n.Type == html.ElementNode && (n.Data == "script" && at != "/docs/api" || inline || outside) {
				t.Errorf("%s: got <%s>, want a page that needs neither script nor another host", at, n.Data)
			}
		}
	}
}

func TestReferenceShowsAnOperation(t *testing.T) {
	t.Parallel()
	body := get(t, newTestSite(t), "/docs/reference").Body.String()
	_, operation, _ := strings.Cut(body, `<h3 id="createCampaign">`)
	operation, _, _ = strings.Cut(operation, "</section>")
	for _, want := range []string{
		"POST", "/v1/campaigns", "Idempotency-Key", "<code>budget.amount</code>", "required", "<code>daily</code>",
		"at most 200 characters", `href="/docs/errors#validation_failed"`, `href="#object-Campaign"`, "curl -s", "$FANFARE_URL/v1/campaigns",
	} {
		if !strings.Contains(operation, want) {
			t.Errorf("got createCampaign without %q", want)
		}
	}
}

func TestStartPageNamesItsHost(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	r := httptest.NewRequest(http.MethodGet, "https://x/docs", nil)
	r.Host = `ads.example"><b>`
	w := httptest.NewRecorder()
	if err := s.Serve(w, r); err != nil {
		t.Fatal(err)
	}
	if got := w.Body.String(); !strings.Contains(got, "FANFARE_URL=https://ads.example&#34;&gt;&lt;b&gt;") {
		t.Errorf("got a start page that does not name its host safely: %.600s", got)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	plain := get(t, s, "/docs/errors").Body.Bytes()
	for accept, want := range map[string]string{"gzip": "gzip", "br, gzip": "gzip", "gzip;q=0": "", "identity": "", "GZIP; q=0.5": "gzip"} {
		w := get(t, s, "/docs/errors", "Accept-Encoding", accept)
		if got := w.Header().Get("Content-Encoding"); got != want {
			t.Errorf("%s: got encoding %q want %q", accept, got, want)
		}
		body := io.Reader(w.Body)
		if want == "gzip" {
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: got another page (%v)", accept, err)
		}
	}
}

var styleSheet = regexp.MustCompile(`href="(/docs/assets/docs-[0-9a-f]{12}\.css)"`)

func TestAssetsAreCacheable(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	m := styleSheet.FindStringSubmatch(get(t, s, "/docs").Body.String())
	if m == nil {
		t.Fatal("got a page without its style sheet")
	}
	h := get(t, s, m[1]).Header()
	if h.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(h.Get("Cache-Control"), "immutable") || h.Get("Etag") == "" {
		t.Errorf("got %v want a style sheet that is kept for good", h)
	}
}

func TestFeed(t *testing.T) {
	t.Parallel()
	s, err := docs.New(docs.Sources{
		Contract: api.YAML, Files: fanfare.Guides, Start: time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC),
		Changelog: []byte("# Changelog\n\nWords.\n\n## Unreleased\n\n- New <b>\n\n## v1.1.0 (2026-10-02)\n\n- `old`\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string   `xml:"id"`
		Updated string   `xml:"updated"`
		Entries []struct {
			ID      string `xml:"id"`
			Title   string `xml:"title"`
			Updated string `xml:"updated"`
			Content string `xml:"content"`
		} `xml:"entry"`
	}
	w := get(t, s, "/docs/changelog.atom")
	if err := xml.Unmarshal(w.Body.Bytes(), &feed); err != nil {
		t.Fatal(err)
	}
	if feed.ID != "https://fanfare.test/docs/changelog" || feed.Updated != "2026-11-15T12:00:00Z" || len(feed.Entries) != 2 {
		t.Fatalf("got feed %+v want two entries, dated at the start", feed)
	}
	e := feed.Entries[1]
	if e.Title != "v1.1.0 (2026-10-02)" || e.Updated != "2026-10-02T00:00:00Z" || !strings.Contains(e.Content, "<code>old</code>") || strings.Contains(e.Content, "New") {
		t.Errorf("got entry %+v want that of v1.1.0", e)
	}
	if want := "https://fanfare.test/docs/changelog#v110-2026-10-02"; e.ID != want {
		t.Errorf("got id %s want %s", e.ID, want)
	}
}

func TestLLMTexts(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	link := regexp.MustCompile(`\]\((/[^)]*)\)`)
	list := link.FindAllStringSubmatch(get(t, s, "/llms.txt").Body.String(), -1)
	if len(list) < 15 {
		t.Errorf("got %d links in /llms.txt, want at least 15", len(list))
	}
	for _, m := range list {
		if !s.Serves(m[1]) && !slices.Contains(otherPages, m[1]) {
			t.Errorf("got a link to %s in /llms.txt, where nothing is", m[1])
		}
	}
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	full := get(t, s, "/docs/llms-full.txt").Body.String()
	if got, want := strings.Count(full, "\n---\n"), len(guides)-1; got != want || !strings.Contains(full, "# Getting started") {
		t.Errorf("got %d marks between guides, want %d", got, want)
	}
}

// TestInteractiveReference checks that the interactive page is linked only if
// it was built.
func TestInteractiveReference(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	_, err := os.Stat("dist/reference.js")
	built := err == nil
	w := get(t, s, "/docs/api")
	if got := w.Code == http.StatusOK; got != built {
		t.Errorf("got page %v want %v", got, built)
	}
	if got := strings.Contains(get(t, s, "/docs").Body.String(), `href="/docs/api"`); got != built {
		t.Errorf("got link %v want %v", got, built)
	}
	if !built {
		if got := w.Header().Get("Location"); got != "/docs/reference" {
			t.Errorf("got redirect to %q want /docs/reference", got)
		}
		return
	}
	policy := map[string]string{}
	for rule := range strings.SplitSeq(w.Header().Get("Content-Security-Policy"), "; ") {
		name, value, _ := strings.Cut(rule, " ")
		policy[name] = value
	}
	want := map[string]string{
		"default-src": "'none'", "script-src": "'self'", "style-src": "'self' 'unsafe-inline'", "connect-src": "'self'",
		"img-src": "'self' data: blob:", "font-src": "'self' data:", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
	}
	if !maps.Equal(policy, want) {
		t.Errorf("got policy %v want %v", policy, want)
	}
}
