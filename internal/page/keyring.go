package page

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// RefreshEvery is how often a node loads cursor keys that another node created.
const RefreshEvery = time.Hour

// Keyring has the Sealer with the current keys.
type Keyring struct {
	keys   func(context.Context) ([][]byte, error)
	random io.Reader
	sealer atomic.Pointer[Sealer]
}

// NewKeyring loads the keys. keys returns those that open, the first one seals;
// it creates a new key if one is due.
func NewKeyring(ctx context.Context, keys func(context.Context) ([][]byte, error), random io.Reader) (*Keyring, error) {
	k := &Keyring{keys: keys, random: random}
	return k, k.Refresh(ctx)
}

// Refresh loads the keys again. After an error the previous keys stay.
func (k *Keyring) Refresh(ctx context.Context) error {
	keys, err := k.keys(ctx)
	if err != nil {
		return fmt.Errorf("cursor keys: %w", err)
	}
	sealer, err := NewSealer(keys, k.random)
	if err != nil {
		return err
	}
	k.sealer.Store(sealer)
	return nil
}

// Sealer returns the Sealer with the current keys.
func (k *Keyring) Sealer() *Sealer { return k.sealer.Load() }
