package backup

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/store"
)

// Files stores the asset files.
type Files interface {
	// Open opens a file. A damaged one is an internal_error fault, of Open or
	// before its last bytes are read.
	Open(workspace ident.ID, sum string) (f io.ReadCloser, size int64, err error)
	Put(workspace ident.ID, sum string, b []byte) error
}

// filePrefix is the prefix of files in a backup:
// asset-files/<workspace>/<sha256>. No table has this name.
const filePrefix = "asset-files/"

// sum identifies a file.
type sum struct {
	workspace ident.ID
	sha256    string
}

// sums are the files that the rows of a backup refer to.
type sums struct {
	list []sum
	// wanted are the files that have not been found yet; missing is their
	// number.
	wanted  map[sum]bool
	missing int
}

// collect adds the files that the rows of a chunk refer to.
func (s *sums) collect(c store.Chunk) error {
	if c.Table != "asset" {
		return nil
	}
	workspace, hash := slices.Index(c.Columns, "workspace_id"), slices.Index(c.Columns, "sha256")
	if workspace < 0 || hash < 0 {
		return fmt.Errorf("%w: assets have no hash", ErrDamaged)
	}
	if s.wanted == nil {
		s.wanted = map[sum]bool{}
	}
	rows := store.NewRows(c.Data, len(c.Columns))
	for rows.Next() {
		var values [2]string
		for i := range c.Columns {
			v, _ := rows.Value().(string)
			switch i {
			case workspace:
				values[0] = v
			case hash:
				values[1] = v
			}
		}
		one := sum{ident.ID(values[0]), values[1]}
		s.list = append(s.list, one)
		s.wanted[one] = true
		s.missing++
	}
	return nil
}

// found checks a file of a backup and passes it to file.
func (s *sums) found(name string, b []byte, file func(sum, []byte) error) error {
	workspace, hash, _ := strings.Cut(name, "/")
	one := sum{ident.ID(workspace), hash}
	if !s.wanted[one] {
		return fmt.Errorf("%w: no row names the file %s, or it is there twice", ErrDamaged, name)
	}
	s.wanted[one] = false
	s.missing--
	if got := sha256.Sum256(b); hex.EncodeToString(got[:]) != hash {
		return fmt.Errorf("%w: the file %s is not what it was", ErrDamaged, name)
	}
	if err := file(one, b); err != nil {
		return fmt.Errorf("write file of asset %s: %w", name, err)
	}
	return nil
}

// addFile copies a file into a backup. It fails if the file is missing or
// damaged, because the backup could not be restored and the file can be
// repaired now.
func addFile(archive *tar.Writer, files Files, s sum) error {
	f, size, err := files.Open(s.workspace, s.sha256)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("an asset of %s has lost its file %s: upload the picture again, or put the file back into the folder for assets", s.workspace, s.sha256)
	}
	if fault.Is(err, fault.Internal) {
		return s.damaged()
	}
	if err != nil {
		return fmt.Errorf("read file of asset: %w", err)
	}
	defer func() { _ = f.Close() }()
	name := filePrefix + string(s.workspace) + "/" + s.sha256
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size}); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if _, err := io.Copy(archive, f); fault.Is(err, fault.Internal) {
		return s.damaged()
	} else if err != nil {
		return fmt.Errorf("copy file of asset %s: %w", s.sha256, err)
	}
	return nil
}

func (s sum) damaged() error {
	return fmt.Errorf("the file %s of an asset of %s is damaged: upload the picture again, or put the file back from another backup", s.sha256, s.workspace)
}
