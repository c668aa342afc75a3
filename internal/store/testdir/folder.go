package testdir

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// New creates a folder that is in use until release or the end of this process. It
// removes folders with the same prefix whose process was killed.
func New(prefix string) (dir string, release func(), err error) {
	root := Root()
	sweep(root, prefix)
	if dir, err = os.MkdirTemp(root, prefix); err != nil {
		return "", nil, err
	}
	release, err = occupy(dir)
	return dir, release, err
}

// occupy marks the folder as in use until this process ends.
func occupy(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// sweep removes folders of servers whose process was killed.
func sweep(root, prefix string) {
	found, _ := filepath.Glob(filepath.Join(root, prefix+"*"))
	for _, dir := range found {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < time.Minute {
			continue // perhaps just being made
		}
		if unlock, err := occupy(dir); err == nil {
			_ = os.RemoveAll(dir)
			unlock()
		}
	}
}
