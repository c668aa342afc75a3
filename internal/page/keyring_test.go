package page_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"fanfare/internal/page"
)

// TestKeyring checks that new keys take effect, and that the previous ones stay
// if the new ones cannot be loaded.
func TestKeyring(t *testing.T) {
	t.Parallel()
	first, second := bytes.Repeat([]byte{1}, page.KeySize), bytes.Repeat([]byte{2}, page.KeySize)
	keys, failure := [][]byte{first}, error(nil)
	k, err := page.NewKeyring(t.Context(), func(context.Context) ([][]byte, error) { return keys, failure }, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := k.Sealer().SealBytes("test", []byte("plain"))
	opens := func() bool {
		plain, ok := k.Sealer().OpenBytes("test", text)
		return ok && string(plain) == "plain"
	}

	keys = [][]byte{second, first}
	if err := k.Refresh(t.Context()); err != nil || !opens() {
		t.Errorf("with a newer key: got %v, want the text opened", err)
	}
	keys, failure = [][]byte{second}, errors.New("database unavailable")
	if err := k.Refresh(t.Context()); !errors.Is(err, failure) || !opens() {
		t.Errorf("keys not loaded: got %v, want the previous keys", err)
	}
	failure = nil
	if err := k.Refresh(t.Context()); err != nil || opens() {
		t.Errorf("without the old key: got %v, want the text not opened", err)
	}
	keys = nil
	if err := k.Refresh(t.Context()); err == nil || k.Sealer() == nil {
		t.Errorf("no keys: got %v want an error and the previous keys", err)
	}
}
