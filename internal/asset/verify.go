package asset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// VerifyAtOnce is the largest size of a file that is hashed before its first
// byte is used, so that a damaged one is an error response. That takes up to
// 25 ms on a slow machine (BenchmarkOpen). A larger file is hashed while it is
// read.
const VerifyAtOnce = 4 << 20

// errDamaged returns the fault for a file whose bytes do not match its hash.
func errDamaged(name string) error {
	return fault.New(fault.Internal, "The stored file is damaged: its bytes are not those that were uploaded. Upload the file again. The operator lists damaged files with `fanfare doctor`.").
		Because(fmt.Errorf("file %s does not match its SHA-256", name))
}

// errMissing returns the fault for a file that a record refers to and that is
// not there.
func errMissing(cause error) error {
	return fault.New(fault.Internal, "The stored file is missing. Upload the file again. The operator lists missing files with `fanfare doctor`.").Because(cause)
}

// Verified returns a reader of a file that never returns the last byte of a
// damaged file. It closes the file if it returns an error. Up to VerifyAtOnce
// bytes of a file that cannot be read twice are copied into memory.
func Verified(f io.ReadCloser, name, sum string, size int64) (io.ReadCloser, error) {
	v := &verifying{f: f, name: name, sum: sum, size: size, hash: sha256.New()}
	if size > VerifyAtOnce {
		return v, nil
	}
	seeker, ok := f.(io.Seeker)
	if !ok {
		b, err := io.ReadAll(v)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	_, err := io.Copy(io.Discard, v)
	if err == nil {
		_, err = seeker.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// verifying is a reader that checks the hash before it returns the last bytes.
type verifying struct {
	f         io.ReadCloser
	name, sum string
	size      int64
	read      int64
	hash      hash.Hash
}

func (v *verifying) Read(p []byte) (int, error) {
	n, err := v.f.Read(p)
	v.hash.Write(p[:n])
	v.read += int64(n)
	if v.read >= v.size || errors.Is(err, io.EOF) {
		if err := v.check(); err != nil {
			return 0, err
		}
	}
	return n, err
}

func (v *verifying) check() error {
	if v.read != v.size || hex.EncodeToString(v.hash.Sum(nil)) != v.sum {
		return errDamaged(v.name)
	}
	return nil
}

// Close closes the file.
func (v *verifying) Close() error { return v.f.Close() }

// Report is the result of Verify.
type Report struct {
	Files int64
	// Missing and Damaged count the files; Named has the first of them, as
	// <workspace>/<sha256>.
	Missing, Damaged int64
	Named            []string
}

// maxNamed is how many files a Report names.
const maxNamed = 5

// Sums lists the hashes of all assets.
type Sums interface {
	Workspaces(ctx context.Context) ([]ident.ID, error)
	// Sums returns up to most hashes of a workspace's assets that are greater
	// than after, sorted.
	Sums(ctx context.Context, workspace ident.ID, after string, most int) ([]string, error)
}

// Opener is the part of Files that Verify needs.
type Opener interface {
	Open(workspace ident.ID, sum string) (f io.ReadCloser, size int64, err error)
}

// Verify reads the files of all assets and compares them with their hashes.
func Verify(ctx context.Context, assets Sums, files Opener) (r Report, err error) {
	workspaces, err := assets.Workspaces(ctx)
	if err != nil {
		return r, err
	}
	for _, w := range workspaces {
		for after := ""; ; {
			sums, err := assets.Sums(ctx, w, after, batch)
			if err != nil {
				return r, err
			}
			for _, sum := range sums {
				if err := r.add(ctx, files, w, sum); err != nil {
					return r, err
				}
				after = sum
			}
			if len(sums) < batch {
				break
			}
		}
	}
	return r, nil
}

func (r *Report) add(ctx context.Context, files Opener, workspace ident.ID, sum string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.Files++
	f, _, err := files.Open(workspace, sum)
	if err == nil {
		_, err = io.Copy(io.Discard, f)
		err = errors.Join(err, f.Close())
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		r.Missing++
	case fault.Is(err, fault.Internal):
		r.Damaged++
	default:
		return fmt.Errorf("read file of asset %s of %s: %w", sum, workspace, err)
	}
	if len(r.Named) < maxNamed {
		r.Named = append(r.Named, string(workspace)+"/"+sum)
	}
	return nil
}
