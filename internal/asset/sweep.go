package asset

import (
	"context"
	"fmt"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

const (
	// IdleLife is how long an asset without references is kept.
	IdleLife = 7 * 24 * time.Hour
	// fileLife is how long a file without a record is kept: longer than an
	// upload takes from file to record, and longer than a backup takes from its
	// snapshot to the last file of the snapshot.
	fileLife = 24 * time.Hour
	// batch is the number of records per statement.
	batch = 100
)

// Sweep removes the records of unused assets, and files that have had no record
// for a day.
//
// It loses nothing, even with concurrent writes or a crash at any point. The
// statement that removes a record checks itself that the record is idle. So an
// earlier reference keeps the record, and a later one fails. A file is removed
// only if no record names it and it was not put or touched for a day. Every
// write of a record puts its file first, and Remove does not miss a Put. A file
// is touched before its record is removed, so it outlives the record by a day.
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
