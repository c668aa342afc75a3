package asset

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

const (
	// IdleLife is how long an asset stays that no record refers to.
	IdleLife = 7 * 24 * time.Hour
	// fileLife is how long a file stays that no record names: longer than any
	// upload takes from its file to its record, and longer than a backup takes
	// from its snapshot to the last file that the snapshot names.
	fileLife = 24 * time.Hour
	// batch is how much is looked at in one statement.
	batch = 100
)

// Sweep removes the records of assets that nobody uses, and files that have
// had no record for a day.
//
// Why nothing is lost, whoever else works or dies at any point: a record is
// removed by a statement that sees for itself that it is idle, so a reference
// made before keeps it and one made after finds nothing to refer to. A file is
// removed only when no record names it and it was not put or touched for a
// day. Whoever writes a record puts its file right before, and Remove does not
// miss a Put; a file whose record is about to go is touched first, so that it
// outlives the record by a day.
func (s *Service) Sweep(ctx context.Context) error {
	workspaces, err := s.store.Workspaces(ctx)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		if err := s.sweepRecords(ctx, w); err != nil {
			return fmt.Errorf("sweep assets of %s: %w", w, err)
		}
	}
	return s.sweepFiles(ctx)
}

func (s *Service) sweepRecords(ctx context.Context, workspace ident.ID) error {
	before := clock.At(s.now().Add(-IdleLife))
	for {
		idle, err := s.store.Idle(ctx, workspace, before, batch)
		if err != nil || len(idle) == 0 {
			return err
		}
		for _, i := range idle {
			if err := s.files.Touch(workspace, i.SHA256); err != nil {
				return err
			}
		}
		if err := s.store.Drop(ctx, workspace, before, idle); err != nil {
			return err
		}
	}
}

func (s *Service) sweepFiles(ctx context.Context) error {
	before := s.now().Add(-fileLife)
	var of ident.ID
	var sums []string
	flush := func() error {
		if len(sums) == 0 {
			return nil
		}
		named, err := s.store.Named(ctx, of, sums)
		if err != nil {
			return err
		}
		for _, sum := range sums {
			if named[sum] {
				continue
			}
			if err := s.files.Remove(of, sum, before); err != nil {
				return fmt.Errorf("remove file of %s: %w", of, err)
			}
		}
		sums = sums[:0]
		return nil
	}
	err := s.files.Old(ctx, before, func(workspace ident.ID, sum string) error {
		if workspace != of || len(sums) == batch {
			if err := flush(); err != nil {
				return err
			}
		}
		of, sums = workspace, append(sums, sum)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}
