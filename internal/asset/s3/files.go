// Package s3 stores the files of assets in a bucket of an S3-compatible service.
package s3

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/asset"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// objects are the calls that Files needs of a bucket. A missing object is
// fs.ErrNotExist for get and copy, and no error for remove.
type objects interface {
	put(key string, b []byte) error
	get(key string) (io.ReadCloser, int64, error)
	copy(from, to string) error
	remove(key string) error
	// list calls each for the keys with a prefix, in their order.
	list(ctx context.Context, prefix string, each func(key string) error) error
}

// Files stores files in a bucket as
// <prefix><workspace>/<first two digits>/<sha256>/<time>-<random>.
//
// Object stores have neither a rename nor a delete that checks the time of an
// object. So an object is never written twice: its key is unique and says when
// it was put or touched, by the nodes' clocks. A file is all objects of its
// hash, and the newest of them says when the file was last put or touched.
//
// Remove deletes the objects that it has listed, each by its key, and only if
// all of them are older than its time. Put and Touch create an object with a
// key of their own and a time of now, which no such list contains. So it does
// not matter when Remove runs: before, after or between the steps of a Put,
// the object of the Put stays. The Put deletes the objects that it has listed
// before it wrote its own, which is newer, so the file stays at least as long
// as with them. This needs a service that lists an object as soon as its Put
// has succeeded, as Amazon S3 does.
type Files struct {
	objects objects
	prefix  string
	now     func() time.Time
	random  io.Reader
	close   func()
}

var _ asset.Files = (*Files)(nil)

// Close closes idle connections.
func (f *Files) Close() error {
	f.close()
	return nil
}

const (
	// timeDigits is the length of the time in a key: microseconds since 1970 in
	// hexadecimal, so that keys sort by time.
	timeDigits   = 16
	randomBytes  = 8
	uniqueDigits = timeDigits + 1 + 2*randomBytes
	// tries is how often a call lists a file again whose objects were replaced
	// while it read them.
	tries = 10
)

// errBusy is the cause of giving up after that many tries.
var errBusy = errors.New("the file was replaced again and again while it was read")

// version is one object of a file.
type version struct {
	key string
	at  time.Time
}

// parseVersion reads the time of a key. Keys that are not ours are ignored.
func parseVersion(key string) (version, bool) {
	unique := key[strings.LastIndexByte(key, '/')+1:]
	if len(unique) != uniqueDigits || unique[timeDigits] != '-' {
		return version{}, false
	}
	at, err := strconv.ParseInt(unique[:timeDigits], 16, 64)
	return version{key, time.UnixMicro(at)}, err == nil
}

// folder returns the prefix of the objects of a file.
func (f *Files) folder(workspace ident.ID, sum string) (string, error) {
	path, err := asset.FilePath(workspace, sum)
	return f.prefix + path + "/", err
}

// versions lists the objects of a file, the oldest first.
func (f *Files) versions(folder string) (list []version, err error) {
	err = f.objects.list(context.Background(), folder, func(key string) error {
		if v, ok := parseVersion(key); ok {
			list = append(list, v)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b version) int { return strings.Compare(a.key, b.key) })
	return list, err
}

// newKey returns the key of a new object that is newer than those of a list.
// Clocks of nodes differ, and what was put last has to be read.
func (f *Files) newKey(folder string, list []version) (string, error) {
	at := f.now()
	if n := len(list); n > 0 && !list[n-1].at.Before(at.Truncate(time.Microsecond)) {
		at = list[n-1].at.Add(time.Microsecond)
	}
	var b [randomBytes]byte
	if _, err := io.ReadFull(f.random, b[:]); err != nil {
		return "", fmt.Errorf("name object: %w", err)
	}
	return fmt.Sprintf("%s%0*x-%s", folder, timeDigits, at.UnixMicro(), hex.EncodeToString(b[:])), nil
}

// Put implements asset.Files. It writes the bytes even if they exist, which
// repairs a damaged file and costs one request, as a copy does.
func (f *Files) Put(workspace ident.ID, sum string, b []byte) error {
	folder, err := f.folder(workspace, sum)
	if err != nil {
		return err
	}
	older, err := f.versions(folder)
	if err != nil {
		return err
	}
	key, err := f.newKey(folder, older)
	if err != nil {
		return err
	}
	if err := f.objects.put(key, b); err != nil {
		return err
	}
	for _, v := range older {
		if f.objects.remove(v.key) != nil {
			return nil //nolint:nilerr // the bytes are stored; an object that stays goes with the next Put, or with the file
		}
	}
	return nil
}

// Open implements asset.Files. It reads the newest object, and an older one if
// that is damaged. Large objects are checked while they are read, so for them
// it is the newest.
func (f *Files) Open(workspace ident.ID, sum string) (io.ReadCloser, int64, error) {
	folder, err := f.folder(workspace, sum)
	if err != nil {
		return nil, 0, err
	}
	for range tries {
		list, err := f.versions(folder)
		if err != nil {
			return nil, 0, err
		}
		if len(list) == 0 {
			return nil, 0, &fs.PathError{Op: "open", Path: folder, Err: fs.ErrNotExist}
		}
		replaced := false
		var damaged error
		for _, v := range slices.Backward(list) {
			r, size, err := f.read(v.key, sum)
			switch {
			case err == nil:
				return r, size, nil
			case errors.Is(err, fs.ErrNotExist):
				replaced = true
			case fault.Is(err, fault.Internal):
				damaged = err
			default:
				return nil, 0, err
			}
		}
		if !replaced {
			return nil, 0, damaged
		}
	}
	return nil, 0, unavailable(errBusy)
}

// read opens an object.
func (f *Files) read(key, sum string) (io.ReadCloser, int64, error) {
	r, size, err := f.objects.get(key)
	if err != nil {
		return nil, 0, err
	}
	v, err := asset.Verified(r, key, sum, size)
	return v, size, err
}

// Touch implements asset.Files. It copies the newest object inside the service.
// The older ones stay, because the newest may be damaged.
func (f *Files) Touch(workspace ident.ID, sum string) error {
	folder, err := f.folder(workspace, sum)
	if err != nil {
		return err
	}
	for range tries {
		list, err := f.versions(folder)
		if err != nil || len(list) == 0 {
			return err
		}
		key, err := f.newKey(folder, list)
		if err != nil {
			return err
		}
		if err = f.objects.copy(list[len(list)-1].key, key); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return unavailable(errBusy)
}

// Remove implements asset.Files.
func (f *Files) Remove(workspace ident.ID, sum string, before time.Time) error {
	folder, err := f.folder(workspace, sum)
	if err != nil {
		return err
	}
	list, err := f.versions(folder)
	if err != nil || len(list) == 0 || !list[len(list)-1].at.Before(before) {
		return err
	}
	// The newest goes last, so that a failure never makes a file older.
	for _, v := range list {
		if err := f.objects.remove(v.key); err != nil {
			return err
		}
	}
	return nil
}

// Old implements asset.Files. It lists all workspaces, and nothing else that
// has the same prefix.
func (f *Files) Old(ctx context.Context, before time.Time, each func(workspace ident.ID, sum string) error) error {
	var file string
	var newest time.Time
	finish := func() error {
		workspace, rest, _ := strings.Cut(file, "/")
		_, sum, _ := strings.Cut(rest, "/")
		path, err := asset.FilePath(ident.ID(workspace), sum)
		if err != nil || path != file || !newest.Before(before) {
			return nil //nolint:nilerr // no file of ours, or not old
		}
		return each(ident.ID(workspace), sum)
	}
	err := f.objects.list(ctx, f.prefix+ident.Workspace+"_", func(key string) error {
		v, ok := parseVersion(key)
		if !ok {
			return nil
		}
		of := strings.TrimPrefix(key[:strings.LastIndexByte(key, '/')], f.prefix)
		if of != file {
			if err := finish(); err != nil {
				return err
			}
			file, newest = of, v.at
		}
		if v.at.After(newest) {
			newest = v.at
		}
		return nil
	})
	if err != nil {
		return err
	}
	return finish()
}
