package asset

import (
	"encoding/binary"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

// Limits of the lifetime of a link.
const (
	MinLinkSeconds     = 60
	MaxLinkSeconds     = 24 * 60 * 60
	DefaultLinkSeconds = 15 * 60
)

// readLinkLife reads how long a link works.
func readLinkLife(f *body.Reader) time.Duration {
	seconds := int64(DefaultLinkSeconds)
	body.Set(&seconds, f.Integer("expires_in", body.Optional, MinLinkSeconds, MaxLinkSeconds))
	f.Done()
	return time.Duration(seconds) * time.Second
}

// linkPurpose separates links from other data that the same keys encrypt.
const linkPurpose = "asset link 1"

// tokenSize is the length of the plain token: two ids and a time.
const tokenSize = 16 + 16 + 8

// sealToken returns the encrypted token of a link: workspace, asset and expiry.
func (s *Service) sealToken(workspace, id ident.ID, expires clock.Instant) string {
	w, _ := ident.Parse(ident.Workspace, string(workspace))
	a, _ := ident.Parse(ident.Asset, string(id))
	plain := append(append(make([]byte, 0, tokenSize), w[:]...), a[:]...)
	return s.sealer().SealBytes(linkPurpose, binary.BigEndian.AppendUint64(plain, uint64(expires)))
}

func (s *Service) openToken(token string) (workspace, id ident.ID, expires clock.Instant, ok bool) {
	plain, ok := s.sealer().OpenBytes(linkPurpose, token)
	if !ok || len(plain) != tokenSize {
		return "", "", 0, false
	}
	return ident.Encode(ident.Workspace, [16]byte(plain[:16])), ident.Encode(ident.Asset, [16]byte(plain[16:32])),
		clock.Instant(binary.BigEndian.Uint64(plain[32:])), true
}
