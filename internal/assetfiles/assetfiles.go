// Package assetfiles opens the files that an assets setting names, in a folder or
// in a bucket.
package assetfiles

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"fanfare/internal/asset"
	"fanfare/internal/asset/s3"
)

// Files stores the bytes of assets, or of uploads.
type Files interface {
	asset.Files
	io.Closer
}

// Imports is the folder of uploads below that of assets.
const Imports = "imports"

// Open opens the files of an assets setting, a folder or an s3:// URL. sub
// is a folder below it, or empty. A bucket is not called; Check does that.
func Open(setting, sub string, now func() time.Time, random io.Reader) (Files, error) {
	if s3.IsLocation(setting) {
		at, err := s3.ParseLocation(setting)
		if err != nil {
			return nil, err
		}
		f, err := s3.Open(at, sub, now, random)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	f, err := asset.OpenFolder(filepath.Join(setting, sub), now, random)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Check returns an error with the fix if the bucket of an assets setting
// cannot be used. A folder is checked when it is opened.
func Check(ctx context.Context, setting string, now func() time.Time, random io.Reader) error {
	if !s3.IsLocation(setting) {
		return nil
	}
	at, err := s3.ParseLocation(setting)
	if err == nil {
		err = s3.Check(ctx, at, now, random)
	}
	if err != nil {
		return fmt.Errorf("assets: %w", err)
	}
	return nil
}
