package sqlite

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// reserve is a file that occupies space beside the database. On a full disk it
// is emptied, and only urgent writes may use the space until the file can be
// filled again. Only the writer uses it.
type reserve struct {
	path string
	size int64
	// spent reports that the file was emptied.
	spent bool
}

// openReserve fills the file unless it already has the size. An empty file was
// used up by an earlier process. If the disk lacks the space, there is no
// reserve; SQLite may still find space in the log.
func openReserve(path string, size int64) *reserve {
	r := &reserve{path: path, size: size}
	if size <= 0 {
		return r
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.Size() >= size:
	case err == nil && info.Size() == 0:
		r.spent = !r.refill()
	case r.fill() != nil:
		_ = os.Remove(path)
		r.size = 0
	}
	return r
}

// release frees the space. It returns false if none is left.
func (r *reserve) release() bool {
	if r.size <= 0 || r.spent || os.Truncate(r.path, 0) != nil {
		return false
	}
	r.spent = true
	return true
}

// restore fills a file that somebody removed.
func (r *reserve) restore() {
	if r.size <= 0 || r.spent {
		return
	}
	if _, err := os.Stat(r.path); errors.Is(err, fs.ErrNotExist) {
		r.refill()
	}
}

// refill occupies the space again if the disk has more free space than that, and
// reports whether it did.
func (r *reserve) refill() bool {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(r.path), &fs); err != nil || int64(fs.Bavail)*int64(fs.Bsize) < r.size+r.size/4 { //nolint:unconvert // shorter on other machines
		return false
	}
	if r.fill() != nil {
		_ = os.Truncate(r.path, 0)
		return false
	}
	r.spent = false
	return true
}

// fill writes the file. Its content cannot be compressed, so that it occupies its
// full size on every file system.
func (r *reserve) fill() error {
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, rand.NewChaCha8([32]byte{}), r.size)
	return errors.Join(err, f.Sync(), f.Close())
}
