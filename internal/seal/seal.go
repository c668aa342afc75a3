// Package seal keeps secrets unreadable at rest. Every secret has a data key of
// its own, and only that key is wrapped by a key of the keyring file: so a new
// keyring key costs one short rewrite per secret and never touches ciphertext,
// and forgetting the wrapped key destroys the secret.
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

// Context is where a secret belongs. It is not stored with the secret but must
// be given to open it, so that a sealed text copied to another workspace,
// record or field, or put back after a change, opens nothing.
type Context struct {
	Workspace string
	Record    string
	Field     string
	// Version counts the values that the field has had.
	Version int64
}

// ErrDamaged says that a sealed text was changed or belongs elsewhere; which of
// both cannot be told.
var ErrDamaged = errors.New("the sealed secret was changed or belongs to another record: enter the secret again")

// ErrUnknownKey says that the key that wrapped a secret is not in the keyring.
var ErrUnknownKey = errors.New("the keyring does not have the key")

const (
	// formatVersion starts every sealed text and names how the rest is made:
	// form.keyID.wrappedDataKey.ciphertext, the last two in base64url with
	// their nonces in front.
	formatVersion = "fs1"
	keySize       = chacha20poly1305.KeySize
	// maxSecret is far above every token that a platform hands out.
	maxSecret = 64 << 10
)

func (c Context) authenticatedData() ([]byte, error) {
	for _, part := range []string{c.Workspace, c.Record, c.Field} {
		// A bar inside a part would let two places read alike.
		if part == "" || strings.Contains(part, "|") {
			return nil, fmt.Errorf("a secret's place %q must be named, without a bar", part)
		}
	}
	return []byte(formatVersion + "|" + c.Workspace + "|" + c.Record + "|" + c.Field + "|" + strconv.FormatInt(c.Version, 10)), nil
}

// Seal encrypts a secret for its place under the active key. The same secret
// never gives the same text twice.
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

// Open returns the secret that was sealed for this place. ErrUnknownKey names
// the key that is missing; everything else that is wrong is ErrDamaged.
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

// Rewrap moves a sealed text under the active key without opening the secret.
// A text that is there already comes back as it is.
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

// KeyID names the key that wraps a sealed text, empty for any other text.
func KeyID(sealed string) string {
	parts := strings.Split(sealed, ".")
	if len(parts) != 4 || parts[0] != formatVersion {
		return ""
	}
	return parts[1]
}

// wrapKey makes the sealed text of an encrypted body and its data key.
func (r *Ring) wrapKey(data []byte, body string) (string, error) {
	id, key := r.active()
	wrapped, err := encrypt(r.random, key, data, wrapData(id))
	if err != nil {
		return "", fmt.Errorf("wrap data key: %w", err)
	}
	return strings.Join([]string{formatVersion, id, encode(wrapped), body}, "."), nil
}

// unwrapKey takes a sealed text apart, with its data key in the clear.
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

// decode refuses the other spellings that base64 has for the same bytes (line
// ends, stray bits), so that a sealed text has exactly one form.
func decode(s string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || encode(b) != s {
		return nil, ErrDamaged
	}
	return b, nil
}
