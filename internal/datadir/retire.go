package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Retired is a file that Retire has renamed.
type Retired struct{ From, To string }

// Retire renames files of a folder that no process has open. All of them get
// the same suffix, .old, .old.2 and so on, so that they stay together and
// replace no file. It ignores files that do not exist.
func Retire(folder string, names ...string) ([]Retired, error) {
	suffix := ".old"
	for n := 2; ; n++ {
		taken, err := exists(folder, names, suffix)
		if err != nil {
			return nil, fmt.Errorf("keep old files: %w", err)
		}
		if !taken {
			break
		}
		suffix = fmt.Sprintf(".old.%d", n)
	}
	var list []Retired
	for _, name := range names {
		r := Retired{From: filepath.Join(folder, name), To: filepath.Join(folder, name+suffix)}
		err := os.Rename(r.From, r.To)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return list, fmt.Errorf("keep old files: %w", err)
		}
		list = append(list, r)
	}
	return list, nil
}

// exists reports whether one of the names with a suffix is taken.
func exists(folder string, names []string, suffix string) (bool, error) {
	for _, name := range names {
		_, err := os.Lstat(filepath.Join(folder, name+suffix))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}
