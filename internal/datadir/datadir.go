// Package datadir manages the data folder of a server: it is created on first
// use, private, and locked so that two servers never share it.
package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Dir is a data folder.
type Dir struct {
	path string
	lock *os.File
}

// ErrLocked is returned if another process has locked the folder.
var ErrLocked = errors.New("data folder is in use")

// LockedError is ErrLocked with the process that has the lock.
type LockedError struct{ Path, Process string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("%v: %s is held by process %s; stop it first, or choose another folder with --data", ErrLocked, e.Path, e.Process)
}

func (e *LockedError) Unwrap() error { return ErrLocked }

// networkFileSystems are file systems on which SQLite's write-ahead log is not
// safe.
var networkFileSystems = map[int64]string{0x6969: "NFS", 0xff534d42: "CIFS", 0x517b: "SMB", 0xfe534d42: "SMB2", 0x00c36400: "Ceph", 0x5346414f: "AFS", 0x01021997: "9P"}

// Open creates the folder if it is missing and checks that it is safe: other
// users cannot write to it, and it is on a local disk. It returns all faults at
// once, each with its fix.
func Open(path string) (*Dir, error) {
	if path == "" {
		return nil, errors.New("the data folder has no name: give one with --data")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil && !errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("data folder %s cannot be made: %w: make it yourself, or choose another with --data", abs, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", abs, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("data folder %s is a file: remove it, or choose another folder with --data", abs)
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(abs, &fs); err != nil {
		fs.Type = 0
	}
	kind := int64(fs.Type) //nolint:unconvert // the field is shorter on other machines
	return &Dir{path: abs}, errors.Join(unsafeReasons(abs, info.Mode().Perm(), kind)...)
}

// unsafeReasons returns why a folder with this mode on a file system of this
// type is unsafe.
func unsafeReasons(path string, mode os.FileMode, kind int64) []error {
	var faults []error
	if mode&0o022 != 0 {
		faults = append(faults, fmt.Errorf("data folder %s can be written by others (mode %04o): run chmod go-w %s", path, mode, path))
	}
	if name, remote := networkFileSystems[kind&0xffffffff]; remote {
		faults = append(faults, fmt.Errorf("data folder %s is on %s, where the database is not safe: choose a local disk with --data, or use --store postgres://…", path, name))
	}
	return faults
}

// Path returns a path inside the folder.
func (d *Dir) Path(parts ...string) string {
	return filepath.Join(append([]string{d.path}, parts...)...)
}

// Lock locks the folder for this process until Unlock or exit. A LockedError
// names the process that has the lock.
func (d *Dir) Lock() error {
	f, err := os.OpenFile(d.Path("lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(f.Name())
		_ = f.Close()
		return &LockedError{d.path, strings.TrimSpace(string(holder))}
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		if err != nil {
			_ = f.Close()
			return fmt.Errorf("lock data folder: %w", err)
		}
	}
	d.lock = f
	return nil
}

// Unlock releases the lock.
func (d *Dir) Unlock() {
	if d.lock != nil {
		_ = d.lock.Close()
		d.lock = nil
	}
}

// Free returns the free bytes and their share of the disk.
func (d *Dir) Free() (bytes uint64, share float64, err error) { return free(d.path) }

func free(path string) (bytes uint64, share float64, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, 0, fmt.Errorf("read free space: %w", err)
	}
	return fs.Bavail * uint64(fs.Bsize), float64(fs.Bavail) / float64(max(fs.Blocks, 1)), nil
}

// needed is the free space with which a start never fails for lack of space:
// four times the reserve.
const needed = 64 << 20

// FullDisk returns the fix for an error that a full disk can cause, empty if the
// disk of a folder has enough space.
func FullDisk(folder string) string {
	if bytes, _, err := free(folder); err != nil || bytes >= needed {
		return ""
	}
	return fmt.Sprintf("the disk of %s is full: make %d MB free there, then start again", folder, needed>>20)
}
