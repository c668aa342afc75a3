// Package backup writes the whole store and the files that it refers to into
// one file, and restores them. The file is the same for every engine, so that a
// backup can also move an installation from SQLite to PostgreSQL. The file ends
// with a hash of everything before it, so that any changed byte is detected.
package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/store"
)

// Manifest is the first entry of a backup.
type Manifest struct {
	Format    int           `json:"format"`
	CreatedAt clock.Instant `json:"created_at"`
	Build     string        `json:"build"`
	// MasterKeys are the ids of the master keys that encrypt the secrets in the
	// backup. A backup never contains the keys themselves.
	MasterKeys []string `json:"master_keys,omitzero"`
}

// Summary describes the content of a backup.
type Summary struct {
	Path      string           `json:"path"`
	CreatedAt clock.Instant    `json:"created_at"`
	Build     string           `json:"build"`
	Bytes     int64            `json:"bytes"`
	Rows      map[string]int64 `json:"rows"`
	// Assets is the number of asset files, Facts the size of the facts in
	// bytes.
	Assets int64 `json:"assets"`
	Facts  int64 `json:"facts_bytes"`
	// MasterKeys are the ids of the master keys that a restored server needs to
	// decrypt its secrets.
	MasterKeys []string `json:"master_keys"`
	// DataLost lists the connections whose data was incomplete when the backup
	// was created. Only the command that creates a backup sets it.
	DataLost []ident.ID `json:"data_lost,omitzero"`
}

// Parts are the parts of an installation that a backup contains. Facts may be
// nil.
type Parts struct {
	Store store.Engine
	Files Files
	Facts Facts
}

const (
	// Format 2 added the asset files, format 3 the facts.
	format       = 3
	oldestFormat = 1
	manifestName = "manifest.json"
	endName      = "end.json"
	magic        = "fanfare-backup-1"
)

// ErrDamaged is returned if the file differs from what was written.
var ErrDamaged = errors.New("the backup is damaged")

// Create writes a backup of one snapshot of the store while the service runs.
// It includes the files that the snapshot refers to, which stay for a day after
// their rows are deleted. The facts in it are never older than the rows. The
// file gets its name only when it is complete and on disk. Create fails if the
// database is damaged or a document does not match its checksum.
func Create(ctx context.Context, parts Parts, path string, m Manifest, report func(done, total int64)) (s Summary, err error) {
	if _, err := os.Stat(path); err == nil {
		return s, fault.New(fault.AlreadyExists, path+" is there already; choose another name.")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".fanfare-backup-*")
	if err != nil {
		return s, fmt.Errorf("create backup: %w", err)
	}
	defer func() {
		_ = f.Close()
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	// Parts that the dump does not read, such as indexes, must be intact too.
	if err := parts.Store.Check(ctx, true); err != nil {
		return s, fmt.Errorf("%w: no backup was written; keep the last good one", err)
	}
	s = Summary{Path: path, CreatedAt: m.CreatedAt, Build: m.Build, Rows: map[string]int64{}, MasterKeys: slices.Concat([]string{}, m.MasterKeys)}
	if err := writeArchive(ctx, parts, f, m, &s, report); err != nil {
		return s, err
	}
	if err := f.Sync(); err != nil {
		return s, fmt.Errorf("write backup: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return s, fmt.Errorf("write backup: %w", err)
	}
	s.Bytes = info.Size()
	if err := os.Rename(f.Name(), path); err != nil {
		return s, fmt.Errorf("name backup: %w", err)
	}
	return s, syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}

func writeArchive(ctx context.Context, parts Parts, f *os.File, m Manifest, s *Summary, report func(done, total int64)) error {
	sum := sha256.New()
	zip, err := gzip.NewWriterLevel(io.MultiWriter(f, sum), gzip.BestSpeed)
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	archive := tar.NewWriter(zip)
	m.Format = format
	if err := addJSON(archive, manifestName, m); err != nil {
		return err
	}
	var done int64
	named := &sums{}
	n := 0
	err = store.Dump(ctx, parts.Store, func(c store.Chunk, total int64) error {
		n++
		s.Rows[c.Table] += int64(c.Rows)
		done += int64(c.Rows)
		report(done, total)
		if err := named.collect(c); err != nil {
			return err
		}
		head, err := json.Marshal(c.Columns)
		if err != nil {
			return fmt.Errorf("write backup: %w", err)
		}
		body := append(append(head, '\n'), c.Data...)
		return add(archive, fmt.Sprintf("%s/%08d", c.Table, n), body)
	})
	if err != nil {
		return err
	}
	s.Assets = int64(len(named.list))
	for i, sum := range named.list {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("write backup: %w", err)
		}
		if err := addFile(archive, parts.Files, sum); err != nil {
			return err
		}
		report(done+int64(i)+1, done+s.Assets)
	}
	if s.Facts, err = addFacts(ctx, archive, parts.Facts, filepath.Dir(f.Name())); err != nil {
		return err
	}
	if err := addJSON(archive, endName, s.Rows); err != nil {
		return err
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if _, err := f.Write(append(sum.Sum(nil), magic...)); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

func addJSON(archive *tar.Writer, name string, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return add(archive, name, b)
}

func add(archive *tar.Writer, name string, body []byte) error {
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body))}); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if _, err := archive.Write(body); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

// Verify reads a whole backup and checks every byte.
func Verify(path string, report func(done, total int64)) (Summary, error) {
	return scan(path, report, visitor{
		chunk: func(store.Chunk) error { return nil }, file: func(sum, []byte) error { return nil }, facts: discard,
	})
}

// visitor has the functions that scan calls for the parts of a backup.
type visitor struct {
	chunk func(store.Chunk) error
	file  func(sum, []byte) error
	facts func(io.Reader) error
}

// Restore verifies a backup and fills an empty store from it, all or nothing.
// It writes files and facts before the rows that refer to them become visible.
// After a failed restore, unused files are swept later; the facts must be
// removed before the next restore.
func Restore(ctx context.Context, parts Parts, path string, report func(done, total int64)) (Summary, error) {
	s, err := Verify(path, func(int64, int64) {})
	if err != nil {
		return s, err
	}
	if err := store.Empty(ctx, parts.Store); err != nil {
		return s, err
	}
	pass := visitor{
		chunk: func(store.Chunk) error { return nil }, file: func(sum, []byte) error { return nil },
		facts: func(r io.Reader) error { return fillFacts(ctx, parts.Facts, r) },
	}
	if _, err := scan(path, report, pass); err != nil {
		return s, err
	}
	err = store.Restore(ctx, parts.Store, func(put func(store.Chunk) error) error {
		_, err := scan(path, report, visitor{
			chunk: put, file: func(s sum, b []byte) error { return parts.Files.Put(s.workspace, s.sha256, b) },
			facts: func(io.Reader) error { return nil },
		})
		return err
	})
	return s, err
}

// RestoreFacts verifies a backup and fills empty facts from it. It ignores the
// rest of the backup. workspaces are those of the installation that the facts
// are for: a backup of another installation is refused. Ids of workspaces are
// random, so that one that both have shows that the backup is of this
// installation, now or before.
func RestoreFacts(ctx context.Context, facts Facts, workspaces []ident.ID, path string, report func(done, total int64)) (Summary, error) {
	own := false
	s, err := scan(path, func(int64, int64) {}, visitor{
		chunk: func(c store.Chunk) error {
			own = own || slices.ContainsFunc(workspacesIn(c), func(id ident.ID) bool { return slices.Contains(workspaces, id) })
			return nil
		},
		file: func(sum, []byte) error { return nil }, facts: discard,
	})
	if err != nil {
		return s, err
	}
	if s.Facts == 0 {
		return s, fault.New(fault.InvalidState, path+" holds no facts; choose another backup, or begin anew with `fanfare facts reset`.")
	}
	if !own {
		return s, fault.New(fault.InvalidState, path+" is a backup of another installation: it has none of the workspaces of this one. Choose a backup of this installation, or begin anew with `fanfare facts reset`.")
	}
	_, err = scan(path, report, visitor{
		chunk: func(store.Chunk) error { return nil }, file: func(sum, []byte) error { return nil },
		facts: func(r io.Reader) error { return fillFacts(ctx, facts, r) },
	})
	return s, err
}

// workspacesIn returns the ids of the workspaces in a chunk.
func workspacesIn(c store.Chunk) (ids []ident.ID) {
	column := slices.Index(c.Columns, "id")
	if c.Table != "workspace" || column < 0 {
		return nil
	}
	for rows := store.NewRows(c.Data, len(c.Columns)); rows.Next(); {
		for i := range c.Columns {
			if v, ok := rows.Value().(string); ok && i == column {
				ids = append(ids, ident.ID(v))
			}
		}
	}
	return ids
}

func discard(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// scan reads a backup once and calls the functions of v.
func scan(path string, report func(done, total int64), v visitor) (s Summary, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, fmt.Errorf("open backup: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return s, fmt.Errorf("open backup: %w", err)
	}
	s = Summary{Path: path, Bytes: info.Size(), Rows: map[string]int64{}}
	tail := int64(sha256.Size + len(magic))
	if s.Bytes < tail {
		return s, fmt.Errorf("%w: it is too short", ErrDamaged)
	}
	body := &hashing{r: io.LimitReader(f, s.Bytes-tail), sum: sha256.New(), report: func(n int64) { report(n, s.Bytes) }}
	if err := s.readArchive(body, v); err != nil {
		return s, err
	}
	end := make([]byte, tail)
	if _, err := f.ReadAt(end, s.Bytes-tail); err != nil {
		return s, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if string(end[sha256.Size:]) != magic || !bytes.Equal(end[:sha256.Size], body.sum.Sum(nil)) {
		return s, fmt.Errorf("%w: its hash is wrong", ErrDamaged)
	}
	return s, nil
}

// hashing is a reader that hashes what it reads.
type hashing struct {
	r      io.Reader
	sum    hash.Hash
	n      int64
	report func(int64)
}

func (h *hashing) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.sum.Write(p[:n])
	h.n += int64(n)
	h.report(h.n)
	return n, err
}

func (s *Summary) readArchive(body io.Reader, v visitor) error {
	zip, err := gzip.NewReader(body)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	archive := tar.NewReader(zip)
	counted, ended, named := map[string]int64{}, false, &sums{}
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if head.Name == factsName {
			s.Facts = head.Size
			if err := v.facts(archive); err != nil {
				return err
			}
			continue
		}
		b, err := io.ReadAll(archive)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		switch asset, isFile := strings.CutPrefix(head.Name, filePrefix); {
		case isFile:
			err = named.found(asset, b, v.file)
		case head.Name == manifestName:
			err = s.manifest(b)
		case head.Name == endName:
			ended = true
			if err = json.Unmarshal(b, &s.Rows); err != nil {
				err = fmt.Errorf("%w: %w", ErrDamaged, err)
			}
		default:
			err = chunk(head.Name, b, counted, func(c store.Chunk) error {
				if err := named.collect(c); err != nil {
					return err
				}
				return v.chunk(c)
			})
		}
		if err != nil {
			return err
		}
	}
	// The hash also covers what the tar reader left unread.
	if _, err := io.Copy(io.Discard, zip); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if !ended || !sameCounts(counted, s.Rows) {
		return fmt.Errorf("%w: rows are missing", ErrDamaged)
	}
	if named.missing > 0 {
		return fmt.Errorf("%w: %d files of assets are missing", ErrDamaged, named.missing)
	}
	s.Assets = int64(len(named.list))
	return nil
}

func (s *Summary) manifest(b []byte) error {
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if m.Format < oldestFormat || m.Format > format {
		return fmt.Errorf("the backup has format %d and this program reads %d to %d; use the version that made it", m.Format, oldestFormat, format)
	}
	s.CreatedAt, s.Build, s.MasterKeys = m.CreatedAt, m.Build, slices.Concat([]string{}, m.MasterKeys)
	return nil
}

func chunk(name string, b []byte, counted map[string]int64, each func(store.Chunk) error) error {
	table, _, _ := strings.Cut(name, "/")
	head, data, _ := bytes.Cut(b, []byte("\n"))
	c := store.Chunk{Table: table, Data: data}
	if err := json.Unmarshal(head, &c.Columns); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	n, ok := store.CountRows(data, len(c.Columns))
	if !ok {
		return fmt.Errorf("%w: rows of %s cannot be read", ErrDamaged, table)
	}
	c.Rows = n
	counted[table] += int64(n)
	return each(c)
}

func sameCounts(a, b map[string]int64) bool {
	if len(a) != len(b) {
		return false
	}
	for k, n := range a {
		if b[k] != n {
			return false
		}
	}
	return true
}
