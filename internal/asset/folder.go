package asset

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"fanfare/internal/ident"
)

// Folder stores files in a folder as <workspace>/<first two digits>/<sha256>.
// The modification time of a file is when it was last put or touched, by the
// nodes' clocks. Several nodes can share a folder on a POSIX file system.
type Folder struct {
	root   *os.Root
	now    func() time.Time
	random io.Reader
	// pause, if set, is called between the steps of Put and Remove, for tests.
	pause func(step string)
}

var _ Files = (*Folder)(nil)

// OpenFolder opens a folder and creates it if it is missing. Access never
// leaves the folder, whatever links it contains.
func OpenFolder(dir string, now func() time.Time, random io.Reader) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for assets: %w: make it yourself, or choose another with --assets", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder for assets: %w: correct its mode, or choose another with --assets", err)
	}
	return &Folder{root: root, now: now, random: random}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

const (
	// putMark and awayMark mark the names of files that are being written or
	// removed. A unique suffix follows them.
	putMark  = ".put-"
	awayMark = ".away-"
)

func (f *Folder) step(name string) {
	if f.pause != nil {
		f.pause(name)
	}
}

// FilePath returns the path of a file below the root of its storage:
// <workspace>/<first two digits>/<sha256>. It refuses anything that is not a
// workspace and a hash.
func FilePath(workspace ident.ID, sum string) (string, error) {
	if !ident.Valid(ident.Workspace, string(workspace)) || !isSum(sum) {
		return "", fmt.Errorf("no name of an asset's file: %q, %q", workspace, sum)
	}
	return path.Join(string(workspace), sum[:2], sum), nil
}

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32 && s == strings.ToLower(s)
}

func (f *Folder) tempName(name, mark string) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(f.random, b[:]); err != nil {
		return "", fmt.Errorf("name file: %w", err)
	}
	return name + mark + hex.EncodeToString(b[:]), nil
}

// Put implements Files.
func (f *Folder) Put(workspace ident.ID, sum string, b []byte) error {
	name, err := FilePath(workspace, sum)
	if err != nil {
		return err
	}
	// Replace a file that is damaged on disk.
	if there, err := f.root.ReadFile(name); err == nil && bytes.Equal(there, b) {
		f.step("found")
		now := f.now()
		err := f.root.Chtimes(name, now, now)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return f.write(name, b)
}

// write creates a file atomically and durably.
func (f *Folder) write(name string, b []byte) (err error) {
	if err := f.makeDirs(path.Dir(name)); err != nil {
		return err
	}
	temporary, err := f.tempName(name, putMark)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.root.Remove(temporary)
		}
	}()
	w, err := f.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	if err = errors.Join(err, w.Sync(), w.Close()); err != nil {
		return err
	}
	now := f.now()
	if err := f.root.Chtimes(temporary, now, now); err != nil {
		return err
	}
	f.step("written")
	if err := f.root.Rename(temporary, name); err != nil {
		return err
	}
	return f.syncDir(path.Dir(name))
}

// makeDirs creates the two folders of a file durably.
func (f *Folder) makeDirs(dir string) error {
	for _, d := range []string{path.Dir(dir), dir} {
		err := f.root.Mkdir(d, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f.syncDir(path.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) syncDir(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open implements Files. It also finds a file that Remove has moved away, so
// that a file that is put back or left there is never missed. A damaged file is
// an internal_error fault, of Open or before the last bytes are read.
func (f *Folder) Open(workspace ident.ID, sum string) (io.ReadCloser, int64, error) {
	name, err := FilePath(workspace, sum)
	if err != nil {
		return nil, 0, err
	}
	file, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if file, err = f.openMoved(name); errors.Is(err, fs.ErrNotExist) {
			file, err = f.root.Open(name)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	r, err := Verified(file, name, sum, info.Size())
	return r, info.Size(), err
}

func (f *Folder) openMoved(name string) (*os.File, error) {
	entries, err := fs.ReadDir(f.root.FS(), path.Dir(name))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), path.Base(name)+awayMark) {
			return f.root.Open(path.Join(path.Dir(name), e.Name()))
		}
	}
	return nil, fs.ErrNotExist
}

// Touch implements Files.
func (f *Folder) Touch(workspace ident.ID, sum string) error {
	name, err := FilePath(workspace, sum)
	if err != nil {
		return err
	}
	now := f.now()
	if err := f.root.Chtimes(name, now, now); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remove implements Files. It moves the file away before it checks when the
// file was last touched. So it sees a Put before the move, and a Put after the
// move finds no file and writes one.
func (f *Folder) Remove(workspace ident.ID, sum string, before time.Time) error {
	name, err := FilePath(workspace, sum)
	if err != nil {
		return err
	}
	away, err := f.tempName(name, awayMark)
	if err != nil {
		return err
	}
	f.step("remove")
	if err := f.root.Rename(name, away); err != nil {
		return ignoreMissing(err)
	}
	f.step("moved away")
	touched, err := f.lastTouch(away)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // another sweep has put it back
	case err != nil:
		return err
	case !touched.Before(before):
		return f.moveBack(away, name)
	}
	f.step("found old")
	return ignoreMissing(f.root.Remove(away))
}

// lastTouch opens the file to read its time, because a network file system may
// otherwise return a cached value.
func (f *Folder) lastTouch(name string) (time.Time, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return time.Time{}, err
	}
	info, err := file.Stat()
	if err = errors.Join(err, file.Close()); err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// moveBack restores the name of a file, unless a newer file has it.
func (f *Folder) moveBack(away, name string) error {
	if err := f.root.Link(away, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return ignoreMissing(err)
	}
	f.step("put back")
	return ignoreMissing(f.root.Remove(away))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Old implements Files. It also cleans up after crashes: it removes partly
// written files and restores files that were moved away.
func (f *Folder) Old(ctx context.Context, before time.Time, each func(workspace ident.ID, sum string) error) error {
	return fs.WalkDir(f.root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		base, _, away := strings.Cut(path.Base(at), awayMark)
		whole := path.Join(path.Dir(at), base)
		old := info.ModTime().Before(before)
		switch sum := base; {
		case away:
			return f.moveBack(at, whole)
		case old && strings.Contains(base, putMark):
			return ignoreMissing(f.root.Remove(at))
		case old && isSum(sum):
			workspace, _, _ := strings.Cut(at, "/")
			if want, err := FilePath(ident.ID(workspace), sum); err == nil && want == at {
				return each(ident.ID(workspace), sum)
			}
		}
		return nil
	})
}
