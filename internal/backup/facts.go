package backup

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Facts dumps and restores the facts. The dump format is the same for every
// engine.
type Facts interface {
	// Dump writes one snapshot of the facts.
	Dump(ctx context.Context, w io.Writer) error
	// Fill replaces all facts by those of a dump, all or nothing.
	Fill(ctx context.Context, r io.Reader) error
}

// factsName is the entry with the facts. No table has this name.
const factsName = "facts.dump"

// addFacts adds a dump of the facts. It writes the dump to a temporary file
// first, because a tar header needs the size of the entry.
func addFacts(ctx context.Context, archive *tar.Writer, facts Facts, dir string) (size int64, err error) {
	if facts == nil {
		return 0, nil
	}
	f, err := os.CreateTemp(dir, ".fanfare-facts-*")
	if err != nil {
		return 0, fmt.Errorf("write facts: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}()
	if err := facts.Dump(ctx, f); err != nil {
		return 0, fmt.Errorf("write facts: %w", err)
	}
	if size, err = f.Seek(0, io.SeekCurrent); err != nil {
		return 0, fmt.Errorf("write facts: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("write facts: %w", err)
	}
	if err := archive.WriteHeader(&tar.Header{Name: factsName, Mode: 0o600, Size: size}); err != nil {
		return 0, fmt.Errorf("write facts: %w", err)
	}
	if _, err := io.Copy(archive, f); err != nil {
		return 0, fmt.Errorf("write facts: %w", err)
	}
	return size, nil
}

func fillFacts(ctx context.Context, facts Facts, r io.Reader) error {
	if facts == nil {
		return errors.New("the backup holds facts and there is nowhere to put them")
	}
	if err := facts.Fill(ctx, r); err != nil {
		return fmt.Errorf("restore facts: %w", err)
	}
	return nil
}
