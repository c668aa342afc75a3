package page_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"testing"

	"fanfare/internal/page"
)

// TestPurpose checks that sealed bytes open only for their purpose and scope,
// and after the keys were refreshed.
func TestPurpose(t *testing.T) {
	t.Parallel()
	keys := [][]byte{bytes.Repeat([]byte{1}, page.KeySize)}
	k, err := page.NewKeyring(t.Context(), func(context.Context) ([][]byte, error) { return keys, nil }, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	grant, ticket := k.For("grant"), page.ForEach[string](k, "sign-in")
	granted, signed := grant.Seal([]byte("state")), ticket.Seal("passkey", []byte("user"))
	// The names of purposes in texts that browsers have must not change.
	if plain, ok := k.Sealer().OpenBytes("sign-in passkey", signed); !ok || string(plain) != "user" {
		t.Errorf("name of a scoped purpose: got %q, %v want it to open", plain, ok)
	}
	keys = append([][]byte{bytes.Repeat([]byte{2}, page.KeySize)}, keys...)
	if err := k.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if plain, ok := grant.Open(granted); !ok || string(plain) != "state" {
		t.Errorf("got %q, %v want state", plain, ok)
	}
	if plain, ok := ticket.Open("passkey", signed); !ok || string(plain) != "user" {
		t.Errorf("got %q, %v want user", plain, ok)
	}
	for name, open := range map[string]func() ([]byte, bool){
		"another purpose":       func() ([]byte, bool) { return k.For("link").Open(granted) },
		"a scope of a purpose":  func() ([]byte, bool) { return ticket.Open("passkey", granted) },
		"another scope":         func() ([]byte, bool) { return ticket.Open("code", signed) },
		"the purpose as such":   func() ([]byte, bool) { return k.For("sign-in").Open(signed) },
		"the scope of another":  func() ([]byte, bool) { return page.ForEach[string](k, "result").Open("passkey", signed) },
		"a text without a seal": func() ([]byte, bool) { return grant.Open("state") },
	} {
		if plain, ok := open(); ok {
			t.Errorf("%s: got %q want it refused", name, plain)
		}
	}
}
