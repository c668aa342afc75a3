package movestore

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"fanfare/internal/fault"
	"fanfare/internal/seal"
)

// copyMasterKey makes sure that the destination has the keys of all stored
// secrets. It copies the file of the master key if the destination has none, and
// returns the keys of the destination, nil if the source has none either.
func (m *mover) copyMasterKey(ctx context.Context) (*seal.Ring, error) {
	sealed, err := m.from.db.Sealed(ctx)
	if err != nil {
		return nil, err
	}
	m.result.MasterKeys = seal.KeyIDs(sealed)
	from, err := m.readKeys(m.From.MasterKey)
	if err != nil {
		return nil, err
	}
	to, err := m.readKeys(m.To.MasterKey)
	if err != nil {
		return nil, err
	}
	if to == nil && from != nil {
		if err := from.CopyTo(m.To.MasterKey); err != nil {
			return nil, err
		}
		if to, err = m.readKeys(m.To.MasterKey); err != nil {
			return nil, err
		}
	}
	for _, id := range m.result.MasterKeys {
		switch {
		case to != nil && to.Has(id):
		case from != nil && from.Has(id):
			return nil, fault.New(fault.InvalidState, "The master key in "+m.To.MasterKey+" is not that of the installation that is copied: it does not have the key "+id+". Name another file with --to-master-key, or move this one away and the right one is copied there.")
		default:
			m.result.MissingKeys = append(m.result.MissingKeys, id)
		}
	}
	if to != nil {
		m.result.MasterKeyFile = m.To.MasterKey
	}
	return to, nil
}

// readKeys reads a file of master keys. It returns nil if there is none.
func (m *mover) readKeys(path string) (*seal.Ring, error) {
	ring, err := seal.Read(path, m.Random)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return ring, err
}

// checkSecrets opens the data keys of the secrets of the copy with its master
// keys. Secrets whose key the source lacks too are not counted.
func (m *mover) checkSecrets(ctx context.Context, ring *seal.Ring) error {
	sealed, err := m.to.db.Sealed(ctx)
	if err != nil {
		return err
	}
	secrets := Check{Part: "secrets", Name: "credentials"}
	for _, text := range sealed {
		if slices.Contains(m.result.MissingKeys, seal.KeyID(text)) {
			continue
		}
		secrets.Rows++
		if ring != nil {
			if _, err := ring.Rewrap(text); err == nil {
				secrets.CopyRows++
			}
		}
	}
	m.result.Checks = append(m.result.Checks, secrets)
	return nil
}
