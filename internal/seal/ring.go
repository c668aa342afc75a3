package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Ring has the master keys, which wrap data keys. It is safe for concurrent
// use.
type Ring struct {
	path   string
	random io.Reader

	mu   sync.RWMutex
	file keyring
	// read is the file as it was last read or written.
	read fs.FileInfo
}

// keyring is the content of the file. Keys are base64.
type keyring struct {
	Active string            `json:"active"`
	Keys   map[string][]byte `json:"keys"`
}

// keyID matches a key id.
var keyID = regexp.MustCompile(`^[0-9a-f]{16}$`)

const (
	maxFile = 64 << 10
	// minDistinctBytes is how many different bytes a key must have. A random
	// key with fewer than 12 of 32 is less likely than 1 in 10^20.
	minDistinctBytes = 12
)

// keyIDOf returns the id of a key.
//
// Choice: the id is a digest of the key and not a free name, so that an edited
// or damaged keyring is detected when it is read and not when a secret is
// needed.
func keyIDOf(key []byte) string {
	sum := sha256.Sum256(append([]byte("fanfare keyring key "), key...))
	return hex.EncodeToString(sum[:8])
}

// Read reads the keyring file. It refuses a file that other users can read, a
// damaged one, and one with a key that is not random.
func Read(path string, random io.Reader) (*Ring, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open keyring: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open keyring: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("keyring %s is not a file: name the file that has the keys", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("keyring %s can be read by others (mode %04o): run chmod 600 %s, and replace its keys if anybody may have read them", path, mode, path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read keyring: %w", err)
	}
	r := &Ring{path: path, random: random}
	// The errors never quote the file.
	if len(text) > maxFile || json.Unmarshal(text, &r.file, json.RejectUnknownMembers(true)) != nil {
		return nil, fmt.Errorf("keyring %s is malformed: put back a copy of it", path)
	}
	if err := r.file.check(); err != nil {
		return nil, fmt.Errorf("keyring %s: %w: put back a copy of it", path, err)
	}
	return r, nil
}

// OpenOrCreate reads the keyring file, or creates it with one new key. If
// created is true, the caller must warn the operator: without the file every
// sealed secret is lost. If two processes start at once, one creates the file
// and both use it.
func OpenOrCreate(path string, random io.Reader) (ring *Ring, created bool, err error) {
	ring, err = Read(path, random)
	if !errors.Is(err, fs.ErrNotExist) {
		return ring, false, err
	}
	ring = &Ring{path: path, random: random}
	if ring.file, err = (keyring{}).withNewKey(random); err != nil {
		return nil, false, fmt.Errorf("create keyring: %w", err)
	}
	err = ring.file.writeFile(path, os.Link)
	if errors.Is(err, fs.ErrExist) {
		ring, err = Read(path, random)
		return ring, false, err
	}
	if err != nil {
		return nil, false, fmt.Errorf("create keyring: %w", err)
	}
	return ring, true, nil
}

// Active returns the id of the key that wraps new secrets.
func (r *Ring) Active() string {
	id, _ := r.active()
	return id
}

// IDs returns the ids of all keys.
func (r *Ring) IDs() []string {
	r.refresh()
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.file.Keys))
}

// Has reports whether the ring has a key.
func (r *Ring) Has(id string) bool {
	_, ok := r.key(id)
	return ok
}

// Add creates a new active key. The file has it before it is used. Older keys
// stay until they are dropped.
func (r *Ring) Add() (id string, err error) {
	r.refresh()
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := r.file.withNewKey(r.random)
	if err == nil {
		err = next.writeFile(r.path, os.Rename)
	}
	if err != nil {
		return "", fmt.Errorf("add key to keyring: %w", err)
	}
	r.file = next
	return next.Active, nil
}

// Drop removes a key. The caller must know that it wraps no secret any more.
// The active key cannot be dropped.
func (r *Ring) Drop(id string) error {
	r.refresh()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file.Keys[id] == nil {
		return fmt.Errorf("drop key: %w %s", ErrUnknownKey, id)
	}
	if id == r.file.Active {
		return fmt.Errorf("drop key: %s is the active one: add another first", id)
	}
	next := keyring{r.file.Active, maps.Clone(r.file.Keys)}
	delete(next.Keys, id)
	if err := next.writeFile(r.path, os.Rename); err != nil {
		return fmt.Errorf("drop key: %w", err)
	}
	r.file = next
	return nil
}

// CopyTo writes all keys to another file. It never replaces a file.
func (r *Ring) CopyTo(path string) error {
	r.refresh()
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.file.writeFile(path, os.Link)
}

func (r *Ring) active() (id string, key []byte) {
	r.refresh()
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.file.Active, r.file.Keys[r.file.Active]
}

func (r *Ring) key(id string) ([]byte, bool) {
	r.refresh()
	r.mu.RLock()
	defer r.mu.RUnlock()
	key, ok := r.file.Keys[id]
	return key, ok
}

// refresh reads the file again if another node that shares it has replaced the
// keys. A file that cannot be read changes nothing: the keys in memory still work.
func (r *Ring) refresh() {
	info, err := os.Stat(r.path)
	if err != nil {
		return
	}
	r.mu.RLock()
	same := r.read != nil && os.SameFile(info, r.read) && info.ModTime().Equal(r.read.ModTime()) && info.Size() == r.read.Size()
	r.mu.RUnlock()
	if same {
		return
	}
	next, err := Read(r.path, r.random)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file, r.read = next.file, info
}

func (k keyring) check() error {
	for id, key := range k.Keys {
		if len(key) != keySize {
			return fmt.Errorf("key %q has %d bytes, not %d", id, len(key), keySize)
		}
		if isWeak(key) {
			return fmt.Errorf("key %q is not random", id)
		}
		if keyIDOf(key) != id {
			return fmt.Errorf("key %q is not the one that its id stands for", id)
		}
	}
	if k.Keys[k.Active] == nil {
		return fmt.Errorf("the active key %q is missing", k.Active)
	}
	return nil
}

// isWeak reports whether a key repeats one byte or a pattern.
func isWeak(key []byte) bool {
	seen := map[byte]bool{}
	for _, b := range key {
		seen[b] = true
	}
	return len(seen) < minDistinctBytes || bytes.Equal(key[:len(key)/2], key[len(key)/2:])
}

// withNewKey returns the keyring with a new active key.
func (k keyring) withNewKey(random io.Reader) (keyring, error) {
	key := make([]byte, keySize)
	if _, err := io.ReadFull(random, key); err != nil {
		return keyring{}, fmt.Errorf("no randomness: %w", err)
	}
	id := keyIDOf(key)
	next := keyring{id, map[string][]byte{id: key}}
	maps.Copy(next.Keys, k.Keys)
	return next, next.check()
}

// writeFile writes the file under another name and then moves it with place:
// os.Link never replaces a file, os.Rename does. After a crash the old file or
// the new one exists.
func (k keyring) writeFile(path string, place func(from, to string) error) (err error) {
	text, err := json.Marshal(k, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	folder := filepath.Dir(path)
	// os.CreateTemp uses mode 0600.
	f, err := os.CreateTemp(folder, filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	if err := place(f.Name(), path); err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	d, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("write keyring: %w", err)
	}
	return nil
}
