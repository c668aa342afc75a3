// Package asset keeps pictures: it makes the bytes that somebody sends safe,
// keeps them under their hash, gives them back, and lets go of what nobody
// uses. It knows neither HTTP nor SQL; bytes go to Files, records to Store.
package asset

import (
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Asset is a file that was uploaded or made here. It never changes.
type Asset struct {
	WorkspaceID ident.ID `json:"-"`

	ID       ident.ID `json:"id"`
	URL      string   `json:"url"`
	MIMEType string   `json:"mime_type"`
	Bytes    int64    `json:"bytes"`
	SHA256   string   `json:"sha256"`
	// Width and Height are null for a drawing that does not say them.
	Width     *int          `json:"width"`
	Height    *int          `json:"height"`
	CreatedBy record.Actor  `json:"created_by"`
	CreatedAt clock.Instant `json:"created_at"`
}

// Path is where the bytes of an asset are got with a key.
func Path(id ident.ID) string { return "/v1/assets/" + string(id) }

// ETag is the strong entity tag of the bytes.
func (a *Asset) ETag() string { return `"` + a.SHA256 + `"` }

// Link is a URL that works without a key until it expires.
type Link struct {
	URL       string        `json:"url"`
	ExpiresAt clock.Instant `json:"expires_at"`
}
