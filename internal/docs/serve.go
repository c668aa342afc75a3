package docs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// pagePolicy allows no script and no other host.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// interactivePolicy is for the one page with a script. Scalar writes its styles
// into the page, so they are allowed; connect-src allows no other host.
const interactivePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
	"img-src 'self' data: blob:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// cacheForever is for assets: their URL contains the hash of the content.
const cacheForever = "public, max-age=31536000, immutable"

// document is the answer of one path.
type document struct {
	mediaType string
	// redirect is the target of a redirect.
	redirect string
	policy   string
	// status is 200 if it is 0.
	status int
	// etag is set for cacheable documents.
	etag   string
	render func(host string) (encodings, error)
}

// encodings has one content by Content-Encoding. It always has "" or "gzip".
type encodings map[string][]byte

// cachedDocument returns a document that is the same for all hosts and rendered
// on first use.
func cachedDocument(mediaType string, read func() ([]byte, error)) document {
	made := sync.OnceValues(func() (encodings, error) {
		b, err := read()
		if err != nil {
			return nil, err
		}
		return encodings{"": b, "gzip": compress(b)}, nil
	})
	return document{mediaType: mediaType, policy: pagePolicy, render: func(string) (encodings, error) { return made() }}
}

func staticDocument(mediaType string, b []byte) document {
	return cachedDocument(mediaType, func() ([]byte, error) { return b, nil })
}

// hostDocument returns a document that contains the host of the request.
func (s *Site) hostDocument(mediaType string, render func(host string) ([]byte, error)) document {
	return document{mediaType: mediaType, policy: pagePolicy, render: func(host string) (encodings, error) {
		b, err := render(host)
		return encodings{"": b}, err
	}}
}

func compress(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	// Writing to a buffer cannot fail.
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// readAsset reads a file in its available encodings and returns the hash of its
// content.
func readAsset(files fs.FS, name string) (document, string, error) {
	forms := encodings{}
	sum := sha256.New()
	for _, form := range []struct{ encoding, ending string }{{"", ""}, {"gzip", ".gz"}, {"br", ".br"}} {
		b, err := fs.ReadFile(files, name+form.ending)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return document{}, "", fmt.Errorf("read %s: %w", name, err)
		}
		forms[form.encoding] = b
		sum.Write(b)
	}
	if forms[""] == nil && forms["gzip"] == nil {
		return document{}, "", fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	hash := hex.EncodeToString(sum.Sum(nil))[:12]
	return document{
		mediaType: mime.TypeByExtension(path.Ext(name)), policy: pagePolicy, etag: `"` + hash + `"`,
		render: func(string) (encodings, error) { return forms, nil },
	}, hash, nil
}

func (d *document) serve(w http.ResponseWriter, r *http.Request) error {
	if d.redirect != "" {
		http.Redirect(w, r, d.redirect, http.StatusFound)
		return nil
	}
	forms, err := d.render(r.Host)
	if err != nil {
		return err
	}
	encoding, body, err := forms.bestFor(r.Header.Get("Accept-Encoding"))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	h.Set("Content-Security-Policy", d.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Add("Vary", "Accept-Encoding")
	if d.etag != "" {
		h.Set("Cache-Control", cacheForever)
		h.Set("Etag", d.etag)
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(cmp.Or(d.status, http.StatusOK))
	// For HEAD the server sends no body. A client that has disconnected gets no
	// answer.
	_, _ = w.Write(body)
	return nil
}

// bestFor returns the smallest encoding that a client accepts.
func (e encodings) bestFor(accepted string) (encoding string, body []byte, err error) {
	for _, name := range []string{"br", "gzip"} {
		if b := e[name]; b != nil && acceptsEncoding(accepted, name) {
			return name, b, nil
		}
	}
	if b := e[""]; b != nil || e["gzip"] == nil {
		return "", b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(e["gzip"]))
	if err != nil {
		return "", nil, fmt.Errorf("unpack a file of the documentation: %w", err)
	}
	if body, err = io.ReadAll(z); err != nil {
		return "", nil, fmt.Errorf("unpack a file of the documentation: %w", err)
	}
	return "", body, nil
}

// acceptsEncoding reports whether an encoding is listed and not excluded.
func acceptsEncoding(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			weight, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(q), "q="), 64)
			return err != nil || weight > 0
		}
	}
	return false
}
