package movestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"fanfare/internal/assetfiles"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/secret"
	"fanfare/internal/store"
)

// file is a file that a record refers to.
type file struct {
	workspace ident.ID
	sum       string
}

// noteFiles notes the files that rows refer to.
func (m *mover) noteFiles(c store.Chunk) {
	list := map[string]*[]file{"asset": &m.assets, "import": &m.uploads}[c.Table]
	if list == nil {
		return
	}
	workspace, sum := slices.Index(c.Columns, "workspace_id"), slices.Index(c.Columns, "sha256")
	c.EachRow(func(values []any) {
		w, _ := values[workspace].(string)
		s, _ := values[sum].(string)
		*list = append(*list, file{ident.ID(w), s})
	})
}

// files are the files of assets and of uploads, of both sides.
type files struct {
	// same says that both sides use the same files.
	same                             bool
	from, to, fromUploads, toUploads assetfiles.Files
}

// openFiles opens the files of both sides.
func (m *mover) openFiles(ctx context.Context) (f files, err error) {
	f.same = m.From.Assets == m.To.Assets
	for _, setting := range []string{m.From.Assets, m.To.Assets} {
		if err := assetfiles.Check(ctx, setting, m.Now, m.Random); err != nil {
			return f, err
		}
	}
	for _, one := range []struct {
		files        *assetfiles.Files
		setting, sub string
	}{{&f.from, m.From.Assets, ""}, {&f.to, m.To.Assets, ""}, {&f.fromUploads, m.From.Assets, assetfiles.Imports}, {&f.toUploads, m.To.Assets, assetfiles.Imports}} {
		if *one.files, err = assetfiles.Open(one.setting, one.sub, m.Now, m.Random); err != nil {
			return f, errors.Join(err, f.close())
		}
	}
	return f, nil
}

func (f files) close() (err error) {
	for _, one := range []assetfiles.Files{f.from, f.to, f.fromUploads, f.toUploads} {
		if one != nil {
			err = errors.Join(err, one.Close())
		}
	}
	return err
}

// checkForeign returns an error if the destination has files that the source
// does not have: a server would delete them as unused.
func (m *mover) checkForeign(ctx context.Context, f files) error {
	if f.same {
		return nil
	}
	own := make(map[file]bool, len(m.assets))
	for _, one := range m.assets {
		own[one] = true
	}
	return f.to.Old(ctx, m.Now().Add(24*time.Hour), func(workspace ident.ID, sum string) error {
		if own[file{workspace, sum}] {
			return nil
		}
		return fault.New(fault.InvalidState, "The destination "+secret.RedactSetting(m.To.Assets)+" has files of assets that the source does not have, and a server would delete them. Name an empty folder or another prefix with --to-assets.")
	})
}

// copyFiles copies the files that the destination does not have.
func (m *mover) copyFiles(ctx context.Context, f files) error {
	for i, one := range m.assets {
		switch err := m.copyFile(ctx, f.from, f.to, one); {
		case errors.Is(err, fs.ErrNotExist), fault.Is(err, fault.Internal):
			return fmt.Errorf("the file %s of an asset of %s is missing or damaged in the source: put it back from a backup, or start the server and upload the picture again", one.sum, one.workspace)
		case err != nil:
			return fmt.Errorf("copy file of asset %s of %s: %w", one.sum, one.workspace, err)
		}
		m.Report("copy assets", int64(i+1), int64(len(m.assets)))
	}
	for _, one := range m.uploads {
		// Uploads are deleted after some time, and imports stay.
		if err := m.copyFile(ctx, f.fromUploads, f.toUploads, one); err != nil && !errors.Is(err, fs.ErrNotExist) && !fault.Is(err, fault.Internal) {
			return fmt.Errorf("copy file of import %s of %s: %w", one.sum, one.workspace, err)
		}
	}
	return nil
}

func (m *mover) copyFile(ctx context.Context, from, to assetfiles.Files, one file) error {
	if there, err := hasFile(ctx, to, one); there || err != nil {
		return err
	}
	in, _, err := from.Open(one.workspace, one.sum)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil {
		return err
	}
	if err := to.Put(one.workspace, one.sum, b); err != nil {
		return err
	}
	return m.step("file")
}

// hasFile reports whether a file is there and has the bytes of its hash.
func hasFile(ctx context.Context, files assetfiles.Files, one file) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	in, _, err := files.Open(one.workspace, one.sum)
	if err == nil {
		_, err = io.Copy(io.Discard, in)
		err = errors.Join(err, in.Close())
	}
	if errors.Is(err, fs.ErrNotExist) || fault.Is(err, fault.Internal) {
		return false, nil
	}
	return err == nil, err
}

// checkFiles compares the files of the copy with their hashes.
func (m *mover) checkFiles(ctx context.Context, f files) error {
	assets := Check{Part: "files", Name: "assets", Rows: int64(len(m.assets))}
	for i, one := range m.assets {
		there, err := hasFile(ctx, f.to, one)
		if err != nil {
			return err
		}
		if there {
			assets.CopyRows++
		}
		m.Report("verify assets", int64(i+1), assets.Rows)
	}
	uploads := Check{Part: "files", Name: "uploads"}
	for _, one := range m.uploads {
		for files, n := range map[assetfiles.Files]*int64{f.fromUploads: &uploads.Rows, f.toUploads: &uploads.CopyRows} {
			there, err := hasFile(ctx, files, one)
			if err != nil {
				return err
			}
			if there {
				*n++
			}
		}
	}
	m.result.Checks = append(m.result.Checks, assets, uploads)
	return nil
}
