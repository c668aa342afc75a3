package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
)

// Digests returns the keyed digests of a text, one for each master key, that of
// the active key first. Equal texts have equal digests for a purpose, and
// without the keyring a digest does not show whether it is that of a guessed
// text. Store the first one and look for all: after a new key was added, stored
// digests may be those of an older one.
func (r *Ring) Digests(purpose, text string) []string {
	r.refresh()
	r.mu.RLock()
	defer r.mu.RUnlock()
	ids := slices.Sorted(maps.Keys(r.file.Keys))
	slices.SortStableFunc(ids, func(a, b string) int {
		switch r.file.Active {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	list := make([]string, len(ids))
	for i, id := range ids {
		// The master key itself is used for nothing but wrapping.
		own := mac(r.file.Keys[id], "fanfare digest "+purpose)
		list[i] = base64.RawURLEncoding.EncodeToString(mac(own, text))
	}
	return list
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	_, _ = m.Write([]byte(text))
	return m.Sum(nil)
}
