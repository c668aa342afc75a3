package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Options of a commit.
type Options struct {
	// SkipErrors writes the valid rows and omits the others.
	SkipErrors bool
}

// Commit writes the rows of an import as facts. It can be repeated, also while
// another call or node commits the import: the rows are written once.
func (s *Service) Commit(ctx context.Context, cause record.Cause, id ident.ID, match record.Match, o Options) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		i, err := s.load(ctx, cause.Workspace, id, match)
		if err != nil {
			return record.Doc{}, err
		}
		if err := i.requireStatus("commit", StatusReady, StatusCommitting); err != nil {
			return record.Doc{}, err
		}
		l, batch, err := s.prepareBatch(ctx, cause, i, o)
		if errors.Is(err, fs.ErrNotExist) {
			return record.Doc{}, s.fail(ctx, cause, i)
		}
		if err != nil {
			return record.Doc{}, err
		}
		bare := cause
		bare.Idempotency = nil
		if i.Status != StatusCommitting {
			// From here on facts may exist, so the mapping must not change any
			// more.
			i.Status, i.ConnectionID = StatusCommitting, &l.connection
			now := clock.At(s.now())
			i.Touch(now, 0)
			if _, err := s.imports.Save(ctx, i, record.Save{Cause: bare, At: now, Jobs: i.commitJobs(now)}); err != nil {
				return record.Doc{}, err
			}
		}
		if err := s.writeBatch(ctx, bare, l, batch, nil); err != nil {
			return record.Doc{}, err
		}
		return s.finish(ctx, cause, id, int64(len(batch.Rows)))
	})
}

// JobCommit is the job that finishes a commit whose request has ended.
const JobCommit = "import.commit"

// resumeAfter is how long after its start a commit is continued in the
// background if it has not finished: longer than a request can take. After a
// restart of the only node it is continued at once.
const resumeAfter = time.Minute

// commitJobs schedules JobCommit, or cancels it if no commit is under way.
func (i *Import) commitJobs(now clock.Instant) []record.Job {
	return []record.Job{{Kind: JobCommit, Workspace: i.WorkspaceID, ID: i.ID, At: now.Add(resumeAfter), Cancel: i.Status != StatusCommitting}}
}

// JobHandlers returns the handler of the background jobs of imports.
func (s *Service) JobHandlers() []record.JobHandler {
	return []record.JobHandler{
		{Kind: JobCommit, Limit: record.LongJob, NeedsFacts: true, Run: func(ctx context.Context, workspace, id ident.ID, _ int64) (*clock.Instant, error) {
			return nil, s.Resume(ctx, workspace, id)
		}},
	}
}

// Resume finishes a commit whose request ended before it, for example by a crash
// of the server. It does nothing if the import is not in the middle of a commit.
func (s *Service) Resume(ctx context.Context, workspace, id ident.ID) error {
	i, err := s.imports.Load(ctx, workspace, id)
	if fault.Is(err, fault.NotFound) || err == nil && i.Status != StatusCommitting {
		return nil
	}
	if err != nil {
		return err
	}
	// Choice: the first request has accepted the rows that are left out, or
	// there were none, and the mapping cannot have changed since.
	_, err = s.Commit(ctx, record.Cause{Workspace: workspace, Actor: record.System}, id, record.Match{}, Options{SkipErrors: true})
	if fault.Is(err, fault.InvalidState) {
		return nil // it was finished, undone or set to failed meanwhile
	}
	return err
}

// prepareBatch parses the file and finds the source of its rows.
func (s *Service) prepareBatch(ctx context.Context, cause record.Cause, i *Import, o Options) (*pendingWrite, *fact.Batch, error) {
	leave, err := s.takeFile(ctx, cause.Workspace, i.File.Bytes, i.File.Format == FormatParquet)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	b, err := s.bytesOf(i)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.readFile(ctx, i, b)
	if err != nil {
		return nil, nil, err
	}
	if err := i.checkCommit(r, o); err != nil {
		return nil, nil, err
	}
	source := connection.Source{Platform: PlatformCSV, Currency: i.Currency, Zone: i.Timezone, Default: connection.WorkspaceDefaults{Currency: i.Currency, Zone: i.Timezone}}
	setSource(&source, i.Source)
	l := &pendingWrite{rows: r.rowSet, mode: i.Mode, imported: i.ID}
	batch, err := s.openBatch(ctx, cause, source, l)
	return l, batch, err
}

// checkCommit returns a fault if rows would be omitted and the caller does not
// want that.
func (i *Import) checkCommit(r *fileReader, o Options) error {
	var message string
	switch {
	case len(r.rowSet.rows) == 0:
		message = "The file has no row that could be written. Correct the mapping or the file."
	case r.rejected > 0 && !o.SkipErrors:
		message = fmt.Sprintf("%d of %d rows are wrong: see preview.errors. Correct the mapping or the file, or commit with skip_errors to leave them out.", r.rejected, r.rows)
	default:
		return nil
	}
	return fault.New(fault.InvalidState, message, fault.Detail{
		Code: string(fault.InvalidState), Message: message,
		Meta: fault.Meta{"current_status": i.Status, "row_count": r.rows, "error_count": r.rejected},
	})
}

// fail sets the import to failed.
func (s *Service) fail(ctx context.Context, cause record.Cause, i *Import) error {
	fault := i.fileExpired()
	cause.Idempotency = nil
	i.Status, i.Error = StatusFailed, &Problem{Field: "file", Code: "not_found", Message: "The file is not kept any more. Upload it again."}
	now := clock.At(s.now())
	i.Touch(now, 1)
	if _, err := s.imports.Save(ctx, i, record.Save{Cause: cause, At: now, Events: []record.Event{{Type: "import.failed"}}, Jobs: i.commitJobs(now)}); err != nil {
		return err
	}
	return fault
}

// finish sets the import to committed. If it was undone in the meantime, finish
// removes the facts again.
func (s *Service) finish(ctx context.Context, cause record.Cause, id ident.ID, rows int64) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		i, err := s.imports.Load(ctx, cause.Workspace, id)
		if err != nil {
			return record.Doc{}, err
		}
		now := clock.At(s.now())
		save := record.Save{Cause: cause, At: now}
		switch i.Status {
		case StatusCommitting:
			until := now.Add(UndoTime)
			i.Status, i.CommittedAt, i.UndoUntil, i.RowsWritten = StatusCommitted, &now, &until, &rows
			i.Touch(now, 1)
			save.Events, save.Jobs = []record.Event{{Type: "import.committed"}}, i.commitJobs(now)
		case StatusCommitted:
			// Another call has already finished.
			if cause.Idempotency == nil {
				return i.Stored(), nil
			}
		default:
			if _, err := s.facts.Undo(ctx, cause.Workspace, id); err != nil {
				return record.Doc{}, fmt.Errorf("undo import %s: %w", id, err)
			}
			return record.Doc{}, i.invalidState("commit", StatusReady)
		}
		return s.imports.Save(ctx, i, save)
	})
}

// Undo removes the facts of an import and restores those that they replaced, up
// to UndoTime after the commit. It can be repeated until it succeeds.
func (s *Service) Undo(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error) {
	return record.Retry(ctx, func() (record.Doc, error) {
		i, err := s.load(ctx, cause.Workspace, id, match)
		if err != nil {
			return record.Doc{}, err
		}
		now := clock.At(s.now())
		if err := i.checkUndo(now); err != nil {
			return record.Doc{}, err
		}
		if err := s.removeFacts(ctx, cause, i); err != nil {
			return record.Doc{}, err
		}
		i.Status, i.UndoneAt = StatusUndone, &now
		i.Touch(now, 1)
		return s.imports.Save(ctx, i, record.Save{Cause: cause, At: now, Events: []record.Event{{Type: "import.undone"}}, Jobs: i.commitJobs(now)})
	})
}

// UndoAgain removes undone imports from facts of an earlier time, such as those
// of a backup, and returns how many of them had facts there.
func (s *Service) UndoAgain(ctx context.Context, facts Facts, workspace ident.ID) (count int, err error) {
	q := page.Query{Sort: "created_at", Status: []string{string(StatusUndone)}, Limit: page.MaxLimit}
	for {
		p, err := s.imports.List(ctx, workspace, q)
		if err != nil {
			return count, err
		}
		for _, d := range p.Docs {
			rows, err := facts.Undo(ctx, workspace, d.ID())
			if err != nil {
				return count, fmt.Errorf("undo import %s: %w", d.ID(), err)
			}
			if rows > 0 {
				count++
			}
		}
		if p.Next == nil {
			return count, nil
		}
		q.After = p.Next
	}
}

func (s *Service) removeFacts(ctx context.Context, cause record.Cause, i *Import) error {
	cause.Idempotency = nil
	if err := s.sources.Begin(ctx, cause.Workspace, *i.ConnectionID); err != nil {
		return fmt.Errorf("begin to undo: %w", err)
	}
	if _, err := s.facts.Undo(ctx, cause.Workspace, i.ID); err != nil {
		return fmt.Errorf("undo import %s: %w", i.ID, err)
	}
	if err := s.sources.RecordFeed(ctx, cause, *i.ConnectionID, connection.FeedResult{}); err != nil {
		return fmt.Errorf("note what was undone: %w", err)
	}
	return nil
}
