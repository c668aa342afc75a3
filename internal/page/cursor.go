package page

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"fanfare/internal/ident"
)

// Cursor is the state that a client sends from page to page: the query of the
// list and the position to continue at. It grants no access.
type Cursor struct {
	// Params are the canonical query parameters, url-encoded, without limit.
	Params string
	After  Position
}

// Sealer encrypts and decrypts cursors with AES-256-GCM, so that clients cannot
// read or change them. It is safe for concurrent use.
type Sealer struct {
	// aeads has one cipher per key. The first one encrypts, all decrypt.
	aeads  []cipher.AEAD
	random io.Reader
}

// KeySize is the size of a sealing key in bytes.
const KeySize = 32

// NewSealer returns a sealer that encrypts with the first key and decrypts with
// all.
func NewSealer(keys [][]byte, random io.Reader) (*Sealer, error) {
	s := &Sealer{random: random}
	for _, key := range keys {
		if len(key) != KeySize {
			return nil, fmt.Errorf("cursor key has %d bytes, want %d", len(key), KeySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("cursor key: %w", err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("cursor key: %w", err)
		}
		s.aeads = append(s.aeads, aead)
	}
	if len(s.aeads) == 0 {
		return nil, errors.New("no cursor key")
	}
	return s, nil
}

const (
	cursorVersion = 1
	flagNull      = 1
	flagText      = 2
)

var encoding = base64.RawURLEncoding.Strict()

// Seal encrypts a cursor. It can be opened only for the same workspace and
// operation.
func (s *Sealer) Seal(workspace ident.ID, operation string, c Cursor) string {
	plain := make([]byte, 0, 64+len(c.Params)+len(c.After.Text))
	flags := byte(0)
	switch {
	case c.After.Null:
		flags = flagNull
	case c.After.Text != "":
		flags = flagText
	}
	plain = append(plain, cursorVersion, flags)
	switch flags {
	case 0:
		plain = binary.AppendVarint(plain, c.After.Int)
	case flagText:
		plain = appendString(plain, c.After.Text)
	}
	plain = appendString(plain, c.After.ID)
	plain = append(plain, c.Params...)
	return s.SealBytes(cursorPurpose(workspace, operation), plain)
}

// Open decrypts a cursor. It does not distinguish damaged, foreign and forged
// text.
func (s *Sealer) Open(workspace ident.ID, operation, text string) (c Cursor, ok bool) {
	plain, ok := s.OpenBytes(cursorPurpose(workspace, operation), text)
	if !ok {
		return c, false
	}
	return parseCursor(plain)
}

// cursorPurpose returns the purpose of a cursor. Other purposes have no zero
// byte.
func cursorPurpose(workspace ident.ID, operation string) string {
	return string(workspace) + "\x00" + operation
}

// SealBytes encrypts other data. It can be opened only for the same purpose.
func (s *Sealer) SealBytes(purpose string, plain []byte) string {
	aead := s.aeads[0]
	sealed := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	if _, err := io.ReadFull(s.random, sealed); err != nil {
		panic("page: no randomness: " + err.Error())
	}
	return encoding.EncodeToString(aead.Seal(sealed, sealed, plain, []byte(purpose)))
}

// OpenBytes decrypts the output of SealBytes for the same purpose. It does not
// distinguish reasons of failure.
func (s *Sealer) OpenBytes(purpose, text string) (plain []byte, ok bool) {
	sealed, err := encoding.DecodeString(text)
	// The decoder skips line breaks, which sealed text never has.
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	for _, aead := range s.aeads {
		n := aead.NonceSize()
		if len(sealed) < n {
			return nil, false
		}
		if plain, err := aead.Open(nil, sealed[:n], sealed[n:], []byte(purpose)); err == nil {
			return plain, true
		}
	}
	return nil, false
}

func parseCursor(b []byte) (c Cursor, ok bool) {
	if len(b) < 2 || b[0] != cursorVersion {
		return c, false
	}
	flags, b := b[1], b[2:]
	switch flags {
	case flagNull:
		c.After.Null = true
	case flagText:
		if c.After.Text, b, ok = cutString(b); !ok {
			return c, false
		}
	default:
		v, n := binary.Varint(b)
		if n <= 0 {
			return c, false
		}
		c.After.Int, b = v, b[n:]
	}
	if c.After.ID, b, ok = cutString(b); !ok {
		return c, false
	}
	c.Params = string(b)
	return c, true
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func cutString(b []byte) (s string, rest []byte, ok bool) {
	n, used := binary.Uvarint(b)
	if used <= 0 || uint64(len(b)-used) < n {
		return "", nil, false
	}
	return string(b[used : used+int(n)]), b[used+int(n):], true
}
