package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// doc reads one record, from the cache if possible.
func (db *DB) doc(ctx context.Context, t *table, workspace, id ident.ID) (record.Doc, error) {
	if db.docs == nil {
		d, err := t.readDoc(ctx, db.engine, workspace, id)
		return d, toFault(err)
	}
	topic := t.topic(workspace, id)
	if d, ok := db.docs.Get(topic); ok {
		return d, nil
	}
	d, err := db.docs.Fill(topic, func() (record.Doc, error) { return t.readDoc(ctx, db.engine, workspace, id) })
	return d, toFault(err)
}

// changeLog is what every change of a record writes besides the record: its
// events, its audit entries, and the response stored under the idempotency key.
// The response is the record, unless the caller gets another one.
type changeLog struct {
	cause  record.Cause
	at     clock.Instant
	id     ident.ID
	answer record.Doc
	events []outboxRow
	audits []auditRow
}

// changeLog prepares the change log of a change.
func (db *DB) changeLog(cause record.Cause, at clock.Instant, id ident.ID, d record.Doc, events []record.Event) (changeLog, error) {
	t := changeLog{cause: cause, at: at, id: id, answer: d}
	ids := db.eventIDs(len(events))
	for i, ev := range events {
		entry, err := db.audit(cause, at, ev.Type, id, d.Version)
		if err != nil {
			return t, err
		}
		t.audits = append(t.audits, entry)
		if ev.AuditOnly {
			continue
		}
		row, err := db.outbox(ids[i], cause, at, id, d, ev)
		if err != nil {
			return t, err
		}
		t.events = append(t.events, row)
	}
	return t, nil
}

// writeChangeLog writes a change log.
func (db *DB) writeChangeLog(tx Tx, t *changeLog) error {
	for i := range t.events {
		if err := t.events[i].insert(tx); err != nil {
			return err
		}
	}
	for _, entry := range t.audits {
		if err := db.appendAudit(tx, entry); err != nil {
			return err
		}
	}
	return storeResponse(tx, t.cause, t.at, t.id, t.answer)
}

// recordWrite is a record to be written, with everything that its transaction
// writes.
type recordWrite struct {
	table *table
	row   row
	// common belongs to the record. A loaded record is updated if it is
	// unchanged since; others are inserted.
	common *record.Common
	// before and now are the record's references before and after.
	before, now []ref
	// had and words are the words by which the record is found, before and after.
	had, words []string
	save       record.Save
	// answer, if set, is stored under the idempotency key instead of the record.
	answer *answered
	// also, if set, writes to other tables before the record's row is written.
	also func(tx Tx) error
}

// answered is the response to a write.
type answered struct {
	id  ident.ID
	doc record.Doc
}

// save writes a record and its change log in one transaction.
func (db *DB) save(ctx context.Context, w recordWrite) (record.Doc, error) {
	d := record.Doc{Stamp: w.row.stamp, JSON: w.row.doc}
	log, err := db.changeLog(w.save.Cause, w.save.At, w.row.id, d, w.save.Events)
	if err != nil {
		return record.Doc{}, err
	}
	if w.answer != nil {
		log.id, log.answer = w.answer.id, w.answer.doc
	}
	return d, db.writeTx(Within(ctx, w.row.workspace), func(tx Tx) error { return db.saveIn(tx, &w, &log) })
}

// saveIn is save within a transaction.
func (db *DB) saveIn(tx Tx, w *recordWrite, t *changeLog) error {
	if w.also != nil {
		if err := w.also(tx); err != nil {
			return err
		}
	}
	if err := db.saveRow(tx, w); err != nil {
		return err
	}
	if err := moveRefs(tx, w.row.workspace, w.row.id, w.before, w.now); err != nil {
		return err
	}
	if err := moveWords(tx, w.row.workspace, w.row.id, w.had, w.words); err != nil {
		return err
	}
	if err := db.writeChangeLog(tx, t); err != nil {
		return err
	}
	return db.enqueue(tx, w.save.Jobs)
}

func (db *DB) saveRow(tx Tx, w *recordWrite) error {
	was := w.common.Stored()
	if was.JSON == nil {
		return w.table.add(tx, w.row)
	}
	ok, err := w.table.updateRecord(tx, w.row, was.Stamp)
	if err == nil && !ok {
		err = record.ErrRace
	}
	return err
}

// records reads the records of one table.
type records[T any, P interface {
	*T
	SetStored(workspace ident.ID, d record.Doc)
}] struct {
	db    *DB
	table *table
}

// Doc reads a record's document as the API returns it.
func (r records[T, P]) Doc(ctx context.Context, workspace, id ident.ID) (record.Doc, error) {
	return r.db.doc(ctx, r.table, workspace, id)
}

// List reads one page of records.
func (r records[T, P]) List(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
	p, err := r.table.list(ctx, r.db.engine, workspace, withPattern(q))
	return p, toFault(err)
}

// Load reads a record in order to change it.
func (r records[T, P]) Load(ctx context.Context, workspace, id ident.ID) (*T, error) {
	d, err := r.Doc(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := decode(d.JSON, v); err != nil {
		return nil, err
	}
	P(v).SetStored(workspace, d)
	return v, nil
}

// stored returns a record as it was when it was loaded, the zero value for a
// new one.
func stored[T any](c *record.Common) (v T, err error) {
	if d := c.Stored(); d.JSON != nil {
		err = decode(d.JSON, &v)
	}
	return v, err
}

// refsOf returns the references of a record to values of a kind.
func refsOf[T ~string](kind string, values []T) []ref {
	list := make([]ref, len(values))
	for i, v := range values {
		list[i] = ref{kind, string(v)}
	}
	return list
}

// withPattern turns the filter q into a LIKE pattern. Names are stored in lower
// case.
func withPattern(q page.Query) page.Query {
	q.Filters = slices.Clone(q.Filters)
	for i, f := range q.Filters {
		if f.Name == "q" {
			q.Filters[i].Values = []string{"%" + likeEscape.Replace(strings.ToLower(f.Values[0])) + "%"}
		}
	}
	return q
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// responseTable has the responses that are stored under idempotency keys.
var responseTable = newTable(table{
	name: "once", key: []string{"workspace_id", "key"}, doc: "doc",
	columns: names("workspace_id", "key", "fingerprint", "status", "resource_id", "version", "rev", "doc", "checksum", "created_at"),
})

// An idempotency key can be used again after its response has expired.
var upsertResponse = responseTable.upsert("workspace_id", "key") + ` WHERE once.created_at <= $11`

func storeResponse(tx Tx, cause record.Cause, at clock.Instant, id ident.ID, d record.Doc) error {
	once := cause.Idempotency
	if once == nil {
		return nil
	}
	n, err := tx.Exec(upsertResponse, string(cause.Workspace), once.Key, once.Fingerprint, once.Status, string(id), d.Version, d.Rev, d.JSON, checksum(d.JSON), int64(at), int64(at)-IdempotencyTTL)
	if err == nil && n == 0 {
		return record.ErrKeyUsed
	}
	return err
}

const selectOnce = `SELECT fingerprint, status, resource_id, version, rev, doc, checksum FROM once WHERE workspace_id = $1 AND key = $2 AND created_at > $3`

// IdempotencyTTL is how long responses are stored under idempotency keys, in
// microseconds.
const IdempotencyTTL = 24 * 60 * 60 * 1_000_000

// StoredResponse returns the response stored under an idempotency key, nil if
// none is.
func (db *DB) StoredResponse(ctx context.Context, workspace ident.ID, key string) (*record.StoredResponse, error) {
	oldest := int64(clock.At(db.now())) - IdempotencyTTL
	rows, err := db.engine.Query(Within(ctx, workspace), selectOnce, string(workspace), key, oldest)
	if err != nil {
		return nil, toFault(fmt.Errorf("read stored response: %w", err))
	}
	if !rows.Next() {
		return nil, nil
	}
	a := &record.StoredResponse{
		Fingerprint: rows.Text(), Status: int(rows.Int()), Resource: ident.ID(rows.Text()),
		Doc: record.Doc{Stamp: record.Stamp{Version: rows.Int(), Rev: rows.Int()}},
	}
	a.Doc.JSON, err = readDocument(rows, responseTable, key)
	return a, err
}

// ref is one entry of the table ref, the index for filters on sets.
type ref struct{ kind, value string }

func refFilter(kind string) string {
	return ` AND id IN (SELECT record_id FROM ref WHERE workspace_id = %w AND kind = '` + kind + `' AND value IN (%s))`
}

var refTable = newTable(table{
	name: "ref", key: []string{"workspace_id", "kind", "value", "record_id"},
	columns: names("workspace_id", "kind", "value", "record_id"),
})

const deleteRef = `DELETE FROM ref WHERE workspace_id = $1 AND kind = $2 AND value = $3 AND record_id = $4`

// moveRefs replaces a record's references in the table ref.
func moveRefs(tx Tx, workspace, id ident.ID, before, now []ref) error {
	for _, r := range before {
		if slices.Contains(now, r) {
			continue
		}
		if _, err := tx.Exec(deleteRef, string(workspace), r.kind, r.value, string(id)); err != nil {
			return fmt.Errorf("drop %s from index: %w", r.kind, err)
		}
	}
	for _, r := range now {
		if slices.Contains(before, r) {
			continue
		}
		if _, err := tx.Exec(refTable.insert, string(workspace), r.kind, r.value, string(id)); err != nil {
			return fmt.Errorf("index %s: %w", r.kind, err)
		}
	}
	return nil
}

// shapeSetting is the setting with the progress of Reshape in a table: the
// target shape and, until all documents have it, the key of the last document
// that was read.
func shapeSetting(t *table) string { return "shape:" + t.name }

// settled is the value of shapeSetting after every document of the table has
// the current shape and a checksum.
func (t *table) settled() string { return fmt.Sprintf("%d+checksum", t.shape) }

const (
	// One statement reads reshapeRows rows and one call runs reshapeSteps
	// statements per table, so that no call takes long.
	reshapeRows  = 1000
	reshapeSteps = 100
)

// Reshape rewrites documents of an older shape with their index columns and adds
// missing checksums, a part of each table per call. It reports whether all
// tables are done. Each call continues where the previous one ended and skips
// finished tables. Readers never wait for it: they convert old documents when they read them.
func (db *DB) Reshape(ctx context.Context) (done bool, err error) {
	done = true
	for _, t := range tables {
		if t.shape == 0 {
			continue
		}
		rows, err := db.engine.Query(ctx, `SELECT value FROM setting WHERE name = $1`, shapeSetting(t))
		if err != nil {
			return false, toFault(fmt.Errorf("read shape of %s: %w", t.name, err))
		}
		shape := t.settled()
		at := []string{shape, "", ""}
		if rows.Next() {
			kept := strings.Split(rows.Text(), " ")
			if len(kept) == 1 && kept[0] == shape {
				continue
			}
			if len(kept) == 3 && kept[0] == shape {
				at = kept
			}
		}
		for step := 0; len(at) == 3; step++ {
			if step == reshapeSteps {
				done = false
				break
			}
			if at, err = db.reshapeStep(ctx, t, at[1], at[2]); err != nil {
				return false, err
			}
		}
	}
	return done, nil
}

// reshapeStep rewrites the outdated documents among the rows after a key, and
// returns the progress to store. It leaves a damaged document as it is; reading
// it returns an error.
func (db *DB) reshapeStep(ctx context.Context, t *table, workspace, id string) ([]string, error) {
	old, last, err := db.findOldDocs(ctx, t, workspace, id)
	if err != nil {
		return nil, err
	}
	progress := append([]string{t.settled()}, last...)
	// Every other write sets the checksum. So a missing checksum means that the
	// document is still the one that was read.
	complete := `UPDATE ` + t.name + ` SET checksum = $1 WHERE workspace_id = $2 AND id = $3 AND checksum IS NULL`
	return progress, db.writeTx(Across(ctx), func(tx Tx) error {
		for _, o := range old {
			tx.Touch(t.topic(ident.ID(o.workspace), ident.ID(o.id)))
			sum := checksum(o.doc.JSON)
			var err error
			if o.indexes != nil {
				args := append([]any{t.shape}, o.indexes...)
				_, err = tx.Exec(t.rewrite, append(args, o.doc.JSON, sum, o.workspace, o.id, o.doc.Version, o.doc.Rev, t.shape)...)
			} else {
				_, err = tx.Exec(complete, sum, o.workspace, o.id)
			}
			if err != nil {
				return fmt.Errorf("rewrite %s: %w", t.name, err)
			}
		}
		_, err := tx.Exec(upsertSetting, shapeSetting(t), strings.Join(progress, " "), int64(clock.At(db.now())))
		return err
	})
}

// oldDoc is a document whose shape is outdated or whose checksum is missing.
type oldDoc struct {
	workspace, id string
	doc           record.Doc
	// indexes are the index columns of an outdated document, nil if only the
	// checksum is missing.
	indexes []any
}

// findOldDocs reads the rows after a key and returns the old documents among
// them and the last key that it read, nil if there are no more rows.
func (db *DB) findOldDocs(ctx context.Context, t *table, workspace, id string) (old []oldDoc, last []string, err error) {
	shapeColumn := "shape"
	if t.log {
		shapeColumn = fmt.Sprint(t.shape)
	}
	find := `SELECT workspace_id, ` + shapeColumn + `, checksum, ` + t.selected() + ` FROM ` + t.name + ` WHERE (workspace_id, id) > ($1, $2) ORDER BY workspace_id, id LIMIT $3`
	rows, err := db.engine.Query(Across(ctx), find, workspace, id, reshapeRows)
	if err != nil {
		return nil, nil, toFault(fmt.Errorf("find old shapes of %s: %w", t.name, err))
	}
	n := 0
	for ; rows.Next(); n++ {
		workspace = rows.Text()
		shape := rows.Int()
		_, known := rows.IntOrNull()
		key, d, err := t.readRecord(rows)
		id = string(key)
		if errors.Is(err, ErrChecksum) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if shape == t.shape && known {
			continue
		}
		o := oldDoc{workspace: workspace, id: id, doc: d}
		if shape < t.shape {
			if o.indexes, err = t.indexValues(d.JSON); err != nil {
				return nil, nil, err
			}
		}
		old = append(old, o)
	}
	if n < reshapeRows {
		return old, nil, nil
	}
	return old, []string{workspace, id}, nil
}
