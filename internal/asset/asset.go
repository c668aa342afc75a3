// Package asset stores images: it sanitizes uploaded bytes, stores them under
// their hash, returns them, and removes unused ones. It uses no HTTP and no
// SQL; Files stores bytes, Store stores records.
package asset

import (
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Asset is an uploaded or generated file. It is immutable.
type Asset struct {
	WorkspaceID ident.ID `json:"-"`

	ID       ident.ID `json:"id"`
	URL      string   `json:"url"`
	MIMEType string   `json:"mime_type"`
	Bytes    int64    `json:"bytes"`
	SHA256   string   `json:"sha256"`
	// Width and Height are null for an SVG without a size.
	Width     *int          `json:"width"`
	Height    *int          `json:"height"`
	CreatedBy record.Actor  `json:"created_by"`
	CreatedAt clock.Instant `json:"created_at"`
}

// Path returns the URL path of an asset's bytes, which needs an API key.
func Path(id ident.ID) string { return "/v1/assets/" + string(id) }

// ETag returns the strong entity tag of the bytes.
func (a *Asset) ETag() string { return `"` + a.SHA256 + `"` }

// SignedURL is a URL that works without an API key until it expires.
type SignedURL struct {
	URL       string        `json:"url"`
	ExpiresAt clock.Instant `json:"expires_at"`
}
