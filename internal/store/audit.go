package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// auditEntry is one line of the audit log: who did what to which record and
// when. It does not contain the record.
type auditEntry struct {
	ID        ident.ID     `json:"id"`
	Action    string       `json:"action"`
	Target    ident.ID     `json:"target"`
	Version   int64        `json:"version,omitzero"`
	Actor     record.Actor `json:"actor"`
	RequestID ident.ID     `json:"request_id,omitzero"`
	Address   string       `json:"ip,omitzero"`
}

var (
	auditTable = newTable(table{
		name: "audit", key: []string{"workspace_id", "seq"}, columns: names("workspace_id", "seq", "at", "entry", "hash"),
	})
	auditHeadTable = newTable(table{
		name: "audit_head", key: []string{"workspace_id"}, columns: names("workspace_id", "seq", "hash"),
	})
)

const (
	selectHead = `SELECT seq, hash FROM audit_head WHERE workspace_id = $1 `
	updateHead = `UPDATE audit_head SET seq = $1, hash = $2 WHERE workspace_id = $3`
)

// auditRow is an entry to be appended.
type auditRow struct {
	workspace string
	at        int64
	entry     []byte
}

// audit prepares an entry. Call it before the transaction if possible.
func (db *DB) audit(cause record.Cause, at clock.Instant, action string, target ident.ID, version int64) (auditRow, error) {
	entry, err := encode(auditEntry{
		ID: ident.New(ident.AuditEntry, db.now(), db.random), Action: action, Target: target, Version: version,
		Actor: cause.Actor, RequestID: cause.RequestID, Address: cause.Address,
	})
	return auditRow{string(cause.Workspace), int64(at), entry}, err
}

// appendAudit appends an entry to its workspace's chain.
func (db *DB) appendAudit(tx Tx, r auditRow) error {
	end, err := db.lockChain(tx, r.workspace)
	if err != nil {
		return err
	}
	return end.extend(tx, r)
}

// chainEnd is the last entry of a workspace's chain.
type chainEnd struct {
	seq  int64
	hash string
}

// lockChain returns the end of a workspace's chain and locks it until the
// commit, so that on a shared engine writers of one workspace wait for each
// other.
func (db *DB) lockChain(tx Tx, workspace string) (chainEnd, error) {
	lockHead := selectHead + db.engine.Traits().RowLock
	head, err := tx.Query(lockHead, workspace)
	if err != nil {
		return chainEnd{}, fmt.Errorf("take audit chain: %w", err)
	}
	if !head.Next() {
		if _, err := tx.Exec(auditHeadTable.insert+` ON CONFLICT (workspace_id) DO NOTHING`, workspace, 0, ""); err != nil {
			return chainEnd{}, fmt.Errorf("start audit chain: %w", err)
		}
		if head, err = tx.Query(lockHead, workspace); err != nil {
			return chainEnd{}, fmt.Errorf("take audit chain: %w", err)
		}
		head.Next()
	}
	return chainEnd{head.Int(), head.Text()}, nil
}

// extend appends an entry to a chain that lockChain locked.
func (end chainEnd) extend(tx Tx, r auditRow) error {
	seq := end.seq + 1
	hash := link(end.hash, r.workspace, seq, r.at, r.entry)
	if _, err := tx.Exec(auditTable.insert, r.workspace, seq, r.at, r.entry, hash); err != nil {
		return fmt.Errorf("write audit entry: %w", err)
	}
	if _, err := tx.Exec(updateHead, seq, hash, r.workspace); err != nil {
		return fmt.Errorf("write audit chain: %w", err)
	}
	if w, ok := tx.(*countingTx); ok {
		w.entries++
	}
	return nil
}

// link returns the hash of an entry and of the chain before it.
func link(before, workspace string, seq, at int64, entry []byte) string {
	h := sha256.New()
	b := make([]byte, 0, 256+len(entry))
	for _, part := range []string{before, workspace, strconv.FormatInt(seq, 10), strconv.FormatInt(at, 10)} {
		b = append(append(b, part...), '\n')
	}
	h.Write(append(b, entry...))
	return hex.EncodeToString(h.Sum(nil))
}

const selectEntries = `SELECT seq, at, entry FROM audit WHERE workspace_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`

// AuditEntries returns up to most entries of a workspace, the latest first.
// Their number is below before, 0 for no limit, and their action starts with a
// prefix. SQL does not read entries, so that a rare action requires a scan of
// the log.
func (db *DB) AuditEntries(ctx context.Context, workspace ident.ID, before int64, action string, most int) ([]record.AuditEntry, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	step := most
	if action != "" {
		step = 1000
	}
	var list []record.AuditEntry
	for {
		rows, err := db.engine.Query(Within(ctx, workspace), selectEntries, string(workspace), before, step)
		if err != nil {
			return nil, toFault(fmt.Errorf("read audit entries: %w", err))
		}
		n := 0
		for ; rows.Next(); n++ {
			shown := record.AuditEntry{Seq: rows.Int(), At: clock.Instant(rows.Int())}
			var e auditEntry
			if err := decode(rows.Bytes(), &e); err != nil {
				return nil, err
			}
			before = shown.Seq
			if !strings.HasPrefix(e.Action, action) {
				continue
			}
			shown.Action, shown.Target, shown.Actor, shown.RequestID, shown.Address = e.Action, e.Target, e.Actor, e.RequestID, e.Address
			if list = append(list, shown); len(list) == most {
				return list, nil
			}
		}
		if n == 0 {
			return list, nil
		}
	}
}

// AuditReport is the result of checking every chain.
type AuditReport struct {
	Chains  int          `json:"chains"`
	Entries int64        `json:"entries"`
	Faults  []AuditFault `json:"faults"`
}

// AuditFault is a position where a chain is broken.
type AuditFault struct {
	WorkspaceID ident.ID `json:"workspace_id"`
	Seq         int64    `json:"seq"`
	Problem     string   `json:"problem"`
}

const selectAudit = `SELECT seq, at, entry, hash FROM audit WHERE workspace_id = $1 AND seq >= $2 ORDER BY seq LIMIT 1000`

// VerifyAudit reads every chain from its start and finds entries that were
// changed, removed, added or moved.
func (db *DB) VerifyAudit(ctx context.Context, progress func(entries int64)) (AuditReport, error) {
	report := AuditReport{Faults: []AuditFault{}}
	err := db.engine.Snapshot(Across(ctx), func(tx Tx) error {
		report = AuditReport{Faults: []AuditFault{}}
		rows, err := tx.Query(`SELECT workspace_id FROM audit_head UNION SELECT workspace_id FROM audit UNION SELECT id FROM workspace ORDER BY workspace_id`)
		if err != nil {
			return fmt.Errorf("read audit chains: %w", err)
		}
		for rows.Next() {
			report.Chains++
			if err := report.walk(tx, rows.Text(), progress); err != nil {
				return err
			}
		}
		return nil
	})
	return report, toFault(err)
}

func (r *AuditReport) walk(tx Tx, workspace string, progress func(int64)) error {
	hash, next, broken := "", int64(1), false
	fault := func(seq int64, problem string) {
		r.Faults = append(r.Faults, AuditFault{ident.ID(workspace), seq, problem})
		broken = true
	}
	for from := int64(math.MinInt64); ; {
		rows, err := tx.Query(selectAudit, workspace, from)
		if err != nil {
			return fmt.Errorf("read audit entries: %w", err)
		}
		n := 0
		for ; rows.Next(); n++ {
			seq, at, entry, stored := rows.Int(), rows.Int(), rows.Bytes(), rows.Text()
			if seq != next {
				fault(seq, fmt.Sprintf("entry %d is missing", next))
			} else if link(hash, workspace, seq, at, entry) != stored {
				fault(seq, "entry or its place was changed")
			}
			hash, from, next = stored, seq+1, seq+1
			r.Entries++
		}
		progress(r.Entries)
		// After the largest number, from overflows to the smallest.
		if n == 0 || from == math.MinInt64 {
			break
		}
	}
	head, err := tx.Query(selectHead, workspace)
	if err != nil {
		return fmt.Errorf("read audit chain end: %w", err)
	}
	if !head.Next() {
		fault(next-1, "the end of the chain is missing")
	} else if seq, end := head.Int(), head.Text(); !broken && (seq != next-1 || end != hash) {
		fault(next-1, fmt.Sprintf("the chain ends at %d, it should at %d", next-1, seq))
	}
	return nil
}
