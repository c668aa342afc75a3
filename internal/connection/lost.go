package connection

import (
	"context"

	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// DataLost is the code of the status reason of a connection whose facts were
// lost and are not all there again.
const DataLost = "data_lost"

// Lost notes that all facts of a connection are gone, or are those of an older
// backup, and has them read again from the platform as after the first
// connect: a run that is at work has written to the facts that are gone. It
// reports whether there was anything to lose and whether it will be read again;
// own data has to be sent again, and answers that are remembered for it under an
// idempotency key are forgotten. A connection that is disconnected, or that never
// had data of its own, stays as it is. Calling it again is right.
func (s *Service) Lost(ctx context.Context, cause record.Cause, id ident.ID) (lost, resyncs bool, err error) {
	_, err = s.change(ctx, cause, id, record.Match{}, func(c *Connection, ch *Change) error {
		resyncs = c.syncs() == nil
		if c.Status == StatusDisconnected || c.Status == StatusPending || c.Sync.LastSuccessAt == nil && !c.lost() && !resyncs {
			lost, resyncs = false, false
			return errSame
		}
		lost, ch.Forget = true, !resyncs
		remedy := "Send the data again."
		if resyncs {
			remedy = "None is needed: the metrics are read again from the platform."
		}
		c.StatusReason = &Reason{Code: DataLost, Message: "Metrics of this connection were lost on the server and are incomplete.", Since: ch.At, Remediation: &remedy}
		c.Sync.LastSuccessAt, c.Sync.DataThrough, c.Sync.BackfilledSince, c.Health.LagSeconds = nil, nil, nil, nil
		c.Private.Whole, c.Private.Deep = 0, 0
		if !resyncs {
			return nil
		}
		if err := s.stop(ctx, c, ch); err != nil {
			return err
		}
		if c.ready() == nil {
			s.enqueue(c, s.newRun(c, ch.Cause, Request{Mode: ModeFull}, TriggerInitial, ch.At), ch)
		}
		return nil
	})
	return lost, resyncs, err
}

// lost reports whether facts of the connection are missing.
func (c *Connection) lost() bool { return c.StatusReason != nil && c.StatusReason.Code == DataLost }

// keepLost puts the reason back that facts are missing, until the run that reads
// the last of them has succeeded.
func (c *Connection) keepLost(reason *Reason, run *Run, historyDays int) {
	if reason == nil || reason.Code != DataLost || c.Status != StatusConnected {
		return
	}
	last := run.Trigger == TriggerBackfill || run.Mode == ModeFull && historyDays <= fullDays
	if run.Status != RunSucceeded || !last {
		c.StatusReason = reason
	}
}
