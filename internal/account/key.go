package account

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"io"
	"net/netip"
	"strings"
	"sync/atomic"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// KeyPrefix is the prefix of every API key, so that secret scanners find leaked
// keys.
const KeyPrefix = "fanf_"

const (
	keyRandom   = 30
	keyChecksum = 6
	// KeyLength is the length of an API key.
	KeyLength = len(KeyPrefix) + keyRandom + keyChecksum
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewSecret returns a new API key: the prefix, 30 random base 62 characters
// (178 bits), and a checksum over both that detects mistyped keys without a
// lookup.
func NewSecret(random io.Reader) string {
	b := make([]byte, 0, KeyLength)
	b = append(b, KeyPrefix...)
	var chunk [32]byte
	for len(b) < len(KeyPrefix)+keyRandom {
		if _, err := io.ReadFull(random, chunk[:]); err != nil {
			panic("account: no randomness: " + err.Error())
		}
		for _, c := range chunk {
			// Skip bytes from 248 on, because they would favor some characters.
			if c < 62*4 && len(b) < len(KeyPrefix)+keyRandom {
				b = append(b, base62[c%62])
			}
		}
	}
	return string(appendChecksum(b))
}

func appendChecksum(b []byte) []byte {
	sum := crc32.ChecksumIEEE(b)
	var digits [keyChecksum]byte
	for i := keyChecksum - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return append(b, digits[:]...)
}

// WellFormed reports whether s has the format and checksum of an API key. It
// rejects guesses without a lookup.
func WellFormed(s string) bool {
	if len(s) != KeyLength || s[:len(KeyPrefix)] != KeyPrefix {
		return false
	}
	for _, c := range []byte(s[len(KeyPrefix):]) {
		if !alphanumeric(c) {
			return false
		}
	}
	var b [KeyLength]byte
	return string(appendChecksum(append(b[:0], s[:KeyLength-keyChecksum]...))) == s
}

// Find returns the well-formed API keys in a text.
func Find(text string) []string {
	var found []string
	eachShape(text, func(start, end int) {
		if WellFormed(text[start:end]) {
			found = append(found, text[start:end])
		}
	})
	return found
}

// Mask replaces everything that looks like an API key, including mistyped keys,
// so that the text can be logged, stored or sent.
func Mask(text string) string {
	var b strings.Builder
	done := 0
	eachShape(text, func(start, end int) {
		// Two matches can overlap: the second can start with the last four
		// characters of the first.
		b.WriteString(text[done:start] + KeyPrefix + "…")
		done = end - 4
	})
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// eachShape calls f with the position of each substring that has the prefix,
// characters and length of a key.
func eachShape(text string, f func(start, end int)) {
	for at := 0; ; {
		i := strings.Index(text[at:], KeyPrefix)
		if i < 0 {
			return
		}
		start := at + i
		at = start + len(KeyPrefix)
		end := at
		for end < len(text) && end < start+KeyLength && alphanumeric(text[end]) {
			end++
		}
		if end == start+KeyLength {
			f(start, end)
		}
	}
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// HashSecret returns the hash by which a key is stored and looked up. A slow
// password hash is unnecessary, because the key is random; it would only make
// denial of service easier.
func HashSecret(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// Hash is the SHA-256 of an API key.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Key is an API key without its secret.
type Key struct {
	ID          ident.ID       `json:"id"`
	WorkspaceID ident.ID       `json:"workspace_id"`
	UserID      ident.ID       `json:"user_id"`
	Name        string         `json:"name"`
	Last4       string         `json:"last4"`
	Scopes      Scopes         `json:"scopes"`
	Addresses   []netip.Prefix `json:"ip_allow_list"`
	CreatedAt   clock.Instant  `json:"created_at"`
	ExpiresAt   *clock.Instant `json:"expires_at"`
	RevokedAt   *clock.Instant `json:"revoked_at"`
	Reason      string         `json:"revoke_reason"`
	LastUsedAt  *clock.Instant `json:"last_used_at"`
	LastAddress string         `json:"last_ip"`
	LastAgent   string         `json:"last_user_agent"`
	Requests30d int64          `json:"requests_30d"`
	// ExposedAt is when the key was first sent in a URL or over plain HTTP
	// without being revoked. Such a key should be rotated.
	ExposedAt *clock.Instant `json:"exposed_at"`
	// Notified is the smallest number of days before expiry that was announced,
	// 0 for none.
	Notified int64 `json:"-"`
}

// Active reports whether the key is neither revoked nor expired.
func (k *Key) Active(now clock.Instant) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || *k.ExpiresAt > now)
}

// Caller is a key with its creator and workspace. For a signed-in user, Key is
// empty.
type Caller struct {
	Workspace Workspace
	User      User
	Role      Role
	// InactiveAt is when the user left the workspace, nil for an active member.
	InactiveAt *clock.Instant
	Key        Key

	tally atomic.Pointer[tally]
}

// Check returns a fault if the key is revoked or expired, or if its creator is
// inactive.
func (c *Caller) Check(now clock.Instant) error {
	switch {
	case c.Key.RevokedAt != nil:
		return fault.New(fault.APIKeyRevoked, "This API key was revoked. Create a new one under Settings > API > Keys.")
	case c.Key.ExpiresAt != nil && *c.Key.ExpiresAt <= now:
		return fault.New(fault.APIKeyExpired, "This API key has expired. Create a new one under Settings > API > Keys.",
			fault.Detail{Field: "Authorization", In: "header", Code: string(fault.APIKeyExpired), Message: "The key expired.", Meta: fault.Meta{"expired_at": c.Key.ExpiresAt.String()}})
	case c.InactiveAt != nil:
		return fault.New(fault.APIKeyOwnerInactive, "The user who created this API key is no longer active in the workspace. Ask an admin to restore the user, or use another key.")
	}
	return nil
}

// Authorize returns a fault if the caller may not call an operation from an address.
func (c *Caller) Authorize(operation string, from netip.Addr) error {
	if c.Workspace.Suspended {
		return fault.New(fault.WorkspaceSuspended, "This workspace is suspended. Its owner can have it reopened.")
	}
	p, known := PermissionFor(operation)
	if !known || !c.Role.AtLeast(p.Least) {
		message := "Your role in this workspace does not allow this operation; it needs " + string(p.Least) + " or higher."
		return fault.New(fault.InsufficientPermissions, message, fault.Detail{
			Code: string(fault.InsufficientPermissions), Message: message,
			Meta: fault.Meta{"required_permission": p.String(), "required_role": p.Least, "role": c.Role},
		})
	}
	if !c.Key.Scopes.Allow(p.Group, p.Access) {
		message := "This API key was narrowed when it was created and does not include this operation. Use a key with the scope " + p.String() + "."
		return fault.New(fault.InsufficientScope, message, fault.Detail{
			Code: string(fault.InsufficientScope), Message: message, Meta: fault.Meta{"required_scope": p.String()},
		})
	}
	// Choice: a call from an address outside the key's list is
	// insufficient_scope, because the closed list of codes has no better match.
	if !c.allowsAddress(from) {
		const message = "This API key may not be used from this address. Add the address to the key's list, or call from a listed one."
		return fault.New(fault.InsufficientScope, message, fault.Detail{
			Code: "ip_not_allowed", Message: message, Meta: fault.Meta{"ip": from.String()},
		})
	}
	return nil
}

// allowsAddress reports whether the key may be used from an address.
func (c *Caller) allowsAddress(addr netip.Addr) bool {
	if len(c.Key.Addresses) == 0 {
		return true
	}
	for _, p := range c.Key.Addresses {
		if p.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}
