package console

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// dist is what the build of web/ leaves here; without one it is empty.
//
//go:embed all:dist
var dist embed.FS

//go:embed placeholder.html
var placeholder []byte

// The two programs that a build holds: the console, and the small one in front
// of it for people who are not signed in.
const (
	index = "/index.html"
	entry = "/signin.html"
)

// pages are the first segments of the paths that the console itself shows, and
// the program that does. What is there the program decides.
var pages = map[string]string{
	"": index, "campaigns": index, "creative": index, "audiences": index, "analytics": index, "connections": index, "settings": index,
	"sign-in": entry, "setup": entry, "link": entry, "reset": entry,
}

// policy is what a page of the console may load and do. The hashes are those of
// two style sheets that React Aria puts into the page while it runs: how touch
// scrolls on what can be pressed, and that nothing scrolls behind a dialog.
var policy = strings.Join([]string{
	"default-src 'none'", "script-src 'self'",
	"style-src 'self' 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o=' 'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg='",
	"img-src 'self' data: blob:", "font-src 'self'", "connect-src 'self'",
	"manifest-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'",
}, "; ")

// features are what no page of the console uses, and passkeys.
var features = strings.Join([]string{
	"accelerometer=()", "autoplay=()", "camera=()", "display-capture=()", "encrypted-media=()", "fullscreen=()", "geolocation=()", "gyroscope=()",
	"magnetometer=()", "microphone=()", "midi=()", "payment=()", "picture-in-picture=()", "screen-wake-lock=()", "usb=()", "web-share=()",
	"xr-spatial-tracking=()", "publickey-credentials-create=(self)", "publickey-credentials-get=(self)",
}, ", ")

// codings are how files may be packed, the best first, and how such a file's
// name ends.
var codings = []struct{ name, suffix string }{{"zstd", ".zst"}, {"br", ".br"}, {"gzip", ".gz"}}

// file is one file of the build in all its packings; the plain one is "".
type file struct {
	mediaType string
	// lasting files have a hash in their name.
	lasting bool
	forms   map[string]form
}

type form struct {
	body []byte
	etag string
}

func newForm(body []byte) form {
	sum := sha256.Sum256(body)
	return form{body, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// mediaTypes are those of a build. The machine's own table is not asked,
// because it differs from machine to machine.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2", ".json": "application/json", ".webmanifest": "application/manifest+json",
	".txt": "text/plain; charset=utf-8", ".webp": "image/webp", ".wasm": "application/wasm",
}

// built are the files of the build in this program, read once: they are large
// and never change.
var built = sync.OnceValues(func() (map[string]*file, error) {
	build, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, err
	}
	return readFiles(build)
})

// readFiles reads a build.
func readFiles(build fs.FS) (map[string]*file, error) {
	files := map[string]*file{}
	err := fs.WalkDir(build, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		body, err := fs.ReadFile(build, name)
		if err != nil {
			return fmt.Errorf("read console: %w", err)
		}
		coding := ""
		for _, c := range codings {
			if plain, packed := strings.CutSuffix(name, c.suffix); packed {
				name, coding = plain, c.name
			}
		}
		at := "/" + name
		if files[at] == nil {
			mediaType := mediaTypes[path.Ext(at)]
			if mediaType == "" {
				mediaType = "application/octet-stream"
			}
			files[at] = &file{mediaType: mediaType, lasting: strings.HasPrefix(at, "/assets/"), forms: map[string]form{}}
		}
		files[at].forms[coding] = newForm(body)
		return nil
	})
	for _, page := range []string{index, entry} {
		if files[page] == nil {
			files[page] = &file{mediaType: mediaTypes[".html"], forms: map[string]form{"": newForm(placeholder)}}
		}
	}
	for name, f := range files {
		if _, plain := f.forms[""]; !plain {
			err = errors.Join(err, fmt.Errorf("read console: %s is there only packed; build it again with make web", name))
		}
	}
	return files, err
}

// find returns the file that a request wants: the one of this path, or the page
// that shows all pages. Nil is for others to answer.
func (c *Console) find(r *http.Request, at string) *file {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.HasPrefix(at, "/") {
		return nil
	}
	first, _, more := strings.Cut(at[1:], "/")
	page, known := pages[first]
	switch {
	case known && (first != "" || !more):
		// Choice: programs that forget /v1 are told so in JSON; browsers ask
		// for a page by name.
		if first != "" && !strings.Contains(r.Header.Get("Accept"), "text/html") {
			return nil
		}
		return c.files[page]
	case at == "/robots.txt":
		return robots
	case at == "/.well-known/security.txt":
		return c.securityNotice(strings.TrimPrefix(c.API.Origin(r), "https://"))
	case at == index || at == entry:
		return nil
	}
	return c.files[at]
}

// serveFile answers with a file. Only status 200 can be answered from a cache.
func (c *Console) serveFile(w http.ResponseWriter, r *http.Request, f *file, status int) {
	h := w.Header()
	c.API.Greet(h, r)
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Permissions-Policy": features,
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Content-Type": f.mediaType, "Cache-Control": "no-cache",
	} {
		h.Set(name, value)
	}
	if f.lasting {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	sent := f.forms[""]
	if len(f.forms) > 1 {
		h.Set("Vary", "Accept-Encoding")
	}
	accepted := r.Header.Get("Accept-Encoding")
	for _, coding := range codings {
		if packed, there := f.forms[coding.name]; there && accepts(accepted, coding.name) {
			sent = packed
			h.Set("Content-Encoding", coding.name)
			break
		}
	}
	if status == http.StatusOK {
		h.Set("ETag", sent.etag)
		if slices.Contains(strings.Split(strings.ReplaceAll(r.Header.Get("If-None-Match"), " ", ""), ","), sent.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(sent.body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// An error here is a browser that went away.
		_, _ = w.Write(sent.body)
	}
}

// accepts reports whether an Accept-Encoding header names a coding and does
// not refuse it.
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			quality, found := strings.CutPrefix(strings.ReplaceAll(rest, " ", ""), "q=")
			return !found || strings.Trim(quality, "0.") != ""
		}
	}
	return false
}

// robots keeps search engines away: nothing here is for the public.
var robots = &file{mediaType: mediaTypes[".txt"], forms: map[string]form{"": newForm([]byte("User-agent: *\nDisallow: /\n"))}}

// noticeLife is how long a notice about where to report weaknesses may be kept.
const noticeLife = 90 * 24 * time.Hour

// securityNotice says where to report weaknesses, as RFC 9116 has it. An
// address and localhost have no mailbox.
// Choice: the mailbox is the one that RFC 2142 has every domain keep for this.
func (c *Console) securityNotice(host string) *file {
	name, _, _ := strings.Cut(host, ":")
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err == nil || strings.HasPrefix(name, "[") || !strings.Contains(name, ".") || strings.ContainsAny(name, " \r\n@/") {
		return nil
	}
	text := fmt.Sprintf("Contact: mailto:security@%s\nExpires: %s\nPreferred-Languages: en\n", name, c.Now().Add(noticeLife).UTC().Format(time.RFC3339))
	return &file{mediaType: mediaTypes[".txt"], forms: map[string]form{"": newForm([]byte(text))}}
}
