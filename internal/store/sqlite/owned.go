package sqlite

import (
	"fmt"
	"math/rand/v2"

	"fanfare/internal/datadir"
)

// owned describes the writer's own writes to the log, to distinguish them from
// those of other programs.
type owned struct {
	// before is the log at the start of the transaction, nil if unknown.
	before *datadir.Written
	// commits is the number of commits that wrote to the log, frames its length
	// after the last one.
	commits, frames int
	// restarts reports that the next write may restart the log, because a
	// checkpoint ran.
	restarts bool
	// logLacksID reports that the log does not have the checkpoint id of the database
	// file yet.
	logLacksID bool
}

// beginTx begins a transaction. It returns an error if another program has
// written to the files. The first transaction after a checkpoint writes the
// checkpoint id of the database file into the log.
func (w *writer) beginTx() error {
	if err := w.engine.intact(); err != nil {
		return err
	}
	w.owned.before = w.engine.log.written.Swap(nil)
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil || !w.owned.logLacksID {
		return err
	}
	return w.conn.script(fmt.Sprintf("PRAGMA application_id = %d", w.engine.main.checkpointID()))
}

// noteLog records the log after a transaction. It returns store.ErrOverwritten
// if another program has written to it meanwhile. The bytes of earlier commits
// never change until the log restarts.
func (w *writer) noteLog() error {
	log, o := w.engine.log, &w.owned
	if log.written.Load() != nil {
		return nil
	}
	if o.before != nil && !o.restarts && !o.before.SameContent(log.file) {
		return w.engine.noteOverwritten(log)
	}
	o.before = nil
	if n := w.conn.walCommits(); n != o.commits {
		o.commits, o.frames, o.restarts, o.logLacksID = n, w.conn.walFrames(), false, false
	}
	parts := []datadir.Part{{Length: logHeaderBytes}}
	if n := int64(o.frames); n > 0 {
		parts = append(parts, datadir.Part{Offset: logHeaderBytes + (n-1)*(frameHeaderBytes+w.engine.pageSize), Length: frameHeaderBytes})
	}
	log.recordWritten(parts...)
	return nil
}

// checkpoint moves the pages that no reader needs from the log to the database
// file, which gets a new id. It writes nothing to a file that another
// program has written to.
func (w *writer) checkpoint() {
	main := w.engine.main
	if w.changeCheckpointID(); w.engine.intact() != nil {
		return
	}
	main.written.Store(nil)
	w.conn.checkpoint()
	main.recordWritten(datadir.Part{Length: headerBytes})
	w.owned.restarts, w.owned.logLacksID = true, true
}

// changeCheckpointID commits a new checkpoint id. Without it, as on a full disk,
// an earlier state of the database file may pass for the current one.
func (w *writer) changeCheckpointID() {
	if w.engine.damage.found() != nil {
		return
	}
	err := w.beginTx()
	if err == nil {
		err = w.conn.script(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", w.engine.main.checkpointID(), rand.Int32()))
	}
	if err != nil {
		w.rollback()
	}
	_ = w.noteLog() // the engine remembers the error
}

// emptyLog empties the log before the last connection closes. It does not
// change files that another program has written to.
func (w *writer) emptyLog() error {
	if info, err := w.engine.log.file.Stat(); err == nil && info.Size() > 0 {
		w.changeCheckpointID()
	}
	if err := w.engine.intact(); err != nil {
		w.conn.keepLog()
		return err
	}
	if err := w.conn.truncate(); err != nil {
		return fmt.Errorf("the log is kept for the next start: %w", err)
	}
	return nil
}
