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

// dist contains the build of web/. It is empty if web/ was not built.
//
//go:embed all:dist
var dist embed.FS

//go:embed placeholder.html
var placeholder []byte

// The two apps of a build: the console, and the small app for signed-out users.
const (
	index = "/index.html"
	entry = "/signin.html"
)

// pages maps the first segment of the console's paths to the app that shows
// them. The app handles the rest of the path.
var pages = map[string]string{
	"": index, "campaigns": index, "creative": index, "audiences": index, "analytics": index, "connections": index, "settings": index,
	"sign-in": entry, "setup": entry, "link": entry, "reset": entry,
}

// policy is the Content-Security-Policy of the console. The hashes are those of
// two style sheets that React Aria inserts at run time: touch behavior of
// pressable elements, and no scrolling behind a dialog.
var policy = strings.Join([]string{
	"default-src 'none'", "script-src 'self'",
	"style-src 'self' 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o=' 'sha256-gYiS/BvZvRcK27JIXTuwhZ3hs2+VJ1X+2gUlE+farlg='",
	"img-src 'self' data: blob:", "font-src 'self'", "connect-src 'self'",
	"manifest-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'",
}, "; ")

// features is the Permissions-Policy: it disables features that the console
// does not use and allows passkeys.
var features = strings.Join([]string{
	"accelerometer=()", "autoplay=()", "camera=()", "display-capture=()", "encrypted-media=()", "fullscreen=()", "geolocation=()", "gyroscope=()",
	"magnetometer=()", "microphone=()", "midi=()", "payment=()", "picture-in-picture=()", "screen-wake-lock=()", "usb=()", "web-share=()",
	"xr-spatial-tracking=()", "publickey-credentials-create=(self)", "publickey-credentials-get=(self)",
}, ", ")

// codings are the compressed encodings of files, best first, and their file
// name suffixes.
var codings = []struct{ name, suffix string }{{"zstd", ".zst"}, {"br", ".br"}, {"gzip", ".gz"}}

// file is one file of the build in all its encodings; the key of the
// uncompressed form is "".
type file struct {
	mediaType string
	// lasting is true for files with a hash in their name.
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

// mediaTypes are the media types of a build. The operating system's table is
// not used, because it differs between machines.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2", ".json": "application/json", ".webmanifest": "application/manifest+json",
	".txt": "text/plain; charset=utf-8", ".webp": "image/webp", ".wasm": "application/wasm",
}

// built returns the files of the embedded build. It reads them once, because
// they are large and never change.
var built = sync.OnceValues(func() (map[string]*file, error) {
	build, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, err
	}
	return readFiles(build)
})

// readFiles reads the files of a build.
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

// find returns the file of a path or the page of an app. It returns nil if the
// API should answer.
func (c *Console) find(r *http.Request, at string) *file {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.HasPrefix(at, "/") {
		return nil
	}
	first, _, more := strings.Cut(at[1:], "/")
	page, known := pages[first]
	switch {
	case known && (first != "" || !more):
		// Choice: a client that forgets /v1 gets an error in JSON; only
		// browsers name text/html.
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

// serveFile sends a file. Only responses with status 200 have an ETag.
func (c *Console) serveFile(w http.ResponseWriter, r *http.Request, f *file, status int) {
	h := w.Header()
	c.API.SetNodeHeaders(h, r)
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
		// An error means that the browser disconnected.
		_, _ = w.Write(sent.body)
	}
}

// accepts reports whether an Accept-Encoding header names a coding with a
// quality above 0.
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

// robots excludes search engines, because nothing here is public.
var robots = &file{mediaType: mediaTypes[".txt"], forms: map[string]form{"": newForm([]byte("User-agent: *\nDisallow: /\n"))}}

// noticeLife is the validity of security.txt.
const noticeLife = 90 * 24 * time.Hour

// securityNotice returns security.txt (RFC 9116), or nil for an IP address or
// localhost, which have no mailbox.
// Choice: the mailbox is security@, which RFC 2142 reserves for this purpose.
func (c *Console) securityNotice(host string) *file {
	name, _, _ := strings.Cut(host, ":")
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err == nil || strings.HasPrefix(name, "[") || !strings.Contains(name, ".") || strings.ContainsAny(name, " \r\n@/") {
		return nil
	}
	text := fmt.Sprintf("Contact: mailto:security@%s\nExpires: %s\nPreferred-Languages: en\n", name, c.Now().Add(noticeLife).UTC().Format(time.RFC3339))
	return &file{mediaType: mediaTypes[".txt"], forms: map[string]form{"": newForm([]byte(text))}}
}
