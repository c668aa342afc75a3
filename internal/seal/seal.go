// Package seal encrypts stored secrets. Every secret has its own data key, and
// a master key of the keyring file wraps only that key. So a new master key
// needs one short rewrite per secret and leaves the ciphertext unchanged, and
// deleting the wrapped key destroys the secret.
package seal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"

	"fanfare/internal/secret"
)

// Context identifies the record and field of a secret. It is not stored with
// the secret but required to open it, so that a sealed text cannot be copied to
// another workspace, record or field, or restored after a change.
type Context struct {
	Workspace string
	Record    string
	Field     string
	// Version is the number of values that the field has had.
	Version int64
}

// ErrDamaged is returned if a sealed text was changed or belongs to another
// context; the two cannot be distinguished.
var ErrDamaged = errors.New("the sealed secret was changed or belongs to another record: enter the secret again")

// ErrUnknownKey is returned if the keyring does not have the key of a secret.
var ErrUnknownKey = errors.New("the keyring does not have the key")

const (
	// formatVersion starts every sealed text and identifies its format:
	// version.keyID.wrappedDataKey.ciphertext, the last two in base64url with
	// their nonces in front.
	formatVersion = "fs1"
	keySize       = chacha20poly1305.KeySize
	// maxSecret is far longer than any platform's token.
	maxSecret = 64 << 10
)

func (c Context) authenticatedData() ([]byte, error) {
	for _, part := range []string{c.Workspace, c.Record, c.Field} {
		// A separator inside a part would make two contexts equal.
		if part == "" || strings.Contains(part, "|") {
			return nil, fmt.Errorf("a secret's place %q must be named, without a bar", part)
		}
	}
	return []byte(formatVersion + "|" + c.Workspace + "|" + c.Record + "|" + c.Field + "|" + strconv.FormatInt(c.Version, 10)), nil
}

// Seal encrypts a secret for its context with the active key. It never returns
// the same text twice.
func (r *Ring) Seal(where Context, plain secret.Text) (string, error) {
	place, err := where.authenticatedData()
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	text := plain.Reveal()
	if len(text) > maxSecret {
		return "", fmt.Errorf("seal: the secret has %d bytes, more than %d", len(text), maxSecret)
	}
	data := make([]byte, keySize)
	if _, err := io.ReadFull(r.random, data); err != nil {
		return "", fmt.Errorf("seal: no randomness: %w", err)
	}
	body, err := encrypt(r.random, data, []byte(text), place)
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	return r.wrapKey(data, encode(body))
}

// Open returns the secret that was sealed for this context. ErrUnknownKey names
// the missing key; all other errors are ErrDamaged.
func (r *Ring) Open(where Context, sealed string) (secret.Text, error) {
	place, err := where.authenticatedData()
	if err != nil {
		return secret.Text{}, fmt.Errorf("open secret: %w", err)
	}
	data, body, err := r.unwrapKey(sealed)
	if err != nil {
		return secret.Text{}, fmt.Errorf("open secret: %w", err)
	}
	text, err := decode(body)
	if err == nil {
		text, err = decrypt(data, text, place)
	}
	if err != nil {
		return secret.Text{}, fmt.Errorf("open secret: %w", err)
	}
	return secret.New(string(text)), nil
}

// Rewrap wraps the data key of a sealed text with the active key, without
// decrypting the secret. It returns a text of the active key unchanged.
func (r *Ring) Rewrap(sealed string) (string, error) {
	data, body, err := r.unwrapKey(sealed)
	if err != nil {
		return "", fmt.Errorf("rewrap secret: %w", err)
	}
	if KeyID(sealed) == r.Active() {
		return sealed, nil
	}
	return r.wrapKey(data, body)
}

// KeyID returns the id of the key that wraps a sealed text, empty for any other
// text.
func KeyID(sealed string) string {
	parts := strings.Split(sealed, ".")
	if len(parts) != 4 || parts[0] != formatVersion {
		return ""
	}
	return parts[1]
}

// wrapKey returns the sealed text of a ciphertext and its data key.
func (r *Ring) wrapKey(data []byte, body string) (string, error) {
	id, key := r.active()
	wrapped, err := encrypt(r.random, key, data, wrapData(id))
	if err != nil {
		return "", fmt.Errorf("wrap data key: %w", err)
	}
	return strings.Join([]string{formatVersion, id, encode(wrapped), body}, "."), nil
}

// unwrapKey returns the decrypted data key and the ciphertext of a sealed text.
func (r *Ring) unwrapKey(sealed string) (data []byte, body string, err error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 4 || parts[0] != formatVersion || !keyID.MatchString(parts[1]) {
		return nil, "", ErrDamaged
	}
	key, ok := r.key(parts[1])
	if !ok {
		return nil, "", fmt.Errorf("%w %s: put back the keyring file that has it", ErrUnknownKey, parts[1])
	}
	wrapped, err := decode(parts[2])
	if err != nil {
		return nil, "", err
	}
	data, err = decrypt(key, wrapped, wrapData(parts[1]))
	if err != nil {
		return nil, "", err
	}
	return data, parts[3], nil
}

func wrapData(id string) []byte { return []byte(formatVersion + "|data key|" + id) }

// encrypt returns a random nonce and the ciphertext.
func encrypt(random io.Reader, key, text, place []byte) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(text)+aead.Overhead())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, fmt.Errorf("no randomness: %w", err)
	}
	return aead.Seal(nonce, nonce, text, place), nil
}

func decrypt(key, sealed, place []byte) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil || len(sealed) < aead.NonceSize() {
		return nil, ErrDamaged
	}
	text, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], place)
	if err != nil {
		return nil, ErrDamaged
	}
	return text, nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decode rejects other base64 spellings of the same bytes (line ends, stray
// bits), so that a sealed text has exactly one form.
func decode(s string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || encode(b) != s {
		return nil, ErrDamaged
	}
	return b, nil
}
