package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Links stores the entities of ad platforms and the records that they are
// linked to.
type Links struct{ db *DB }

var _ connection.Links = (*Links)(nil)

// Links returns the store of links.
func (db *DB) Links() *Links { return &Links{db} }

var linkTable = newTable(table{
	name: "link", key: linkKey, doc: "doc", copies: []string{"record_id"},
	columns: names("workspace_id", "connection_id", "kind", "external_id", "account_id", "record_id", "name", "runs", "wanted", "doc", "checksum"),
})

var (
	linkKey    = []string{"workspace_id", "connection_id", "kind", "external_id"}
	upsertLink = linkTable.upsert(linkKey...)
)

const (
	linkColumns = `connection_id, external_id, record_id, runs, wanted, doc, checksum`
	deleteLink  = `DELETE FROM link WHERE workspace_id = $1 AND connection_id = $2 AND kind = $3 AND external_id = $4`
)

func wantedOf(l *connection.Link) string {
	switch {
	case l.Wanted == nil:
		return ""
	case *l.Wanted:
		return "run"
	}
	return "pause"
}

// linkDoc is a stored link: the public part and the private part.
type linkDoc struct {
	connection.Link
	Private connection.LinkPrivate `json:"private,omitzero"`
}

func putLink(tx Tx, workspace ident.ID, l *connection.Link) error {
	doc, err := encode(&linkDoc{*l, l.Private})
	if err != nil {
		return err
	}
	record, running := "", 0
	if l.RecordID != nil {
		record = string(*l.RecordID)
	}
	if l.Runs {
		running = 1
	}
	_, err = tx.Exec(upsertLink, string(workspace), string(l.Connection), l.Kind, l.ExternalID, l.AccountID, record, strings.ToLower(l.Name), running, wantedOf(l), doc, checksum(doc))
	if err != nil {
		return fmt.Errorf("write link: %w", err)
	}
	return nil
}

// linkSum returns the checksum of a link with its columns.
func linkSum(doc []byte, recordID, wanted string) int64 {
	return int64(crc32.Update(crc32.Update(crc32.Checksum(doc, castagnoli), castagnoli, []byte(recordID)), castagnoli, []byte(" "+wanted)))
}

// readLinks returns the links that a statement selects.
func (s *Links) readLinks(ctx context.Context, b *builder) ([]connection.Link, error) {
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("read links: %w", err))
	}
	return scanLinks(rows)
}

func scanLinks(rows *Rows) ([]connection.Link, error) {
	list := []connection.Link{}
	for rows.Next() {
		in, external, id, running, wanted := ident.ID(rows.Text()), rows.Bytes(), ident.ID(rows.Text()), rows.Int() == 1, rows.Text()
		doc, err := readDocument(rows, linkTable, external)
		if err != nil {
			return nil, err
		}
		var stored linkDoc
		if err := decode(doc, &stored); err != nil {
			return nil, err
		}
		l := stored.Link
		l.Private = stored.Private
		l.Sum = linkSum(doc, string(id), wanted)
		l.Connection, l.Runs, l.RecordID = in, running, nil
		if id != "" {
			l.RecordID = &id
		}
		if wanted != "" {
			run := wanted == "run"
			l.Wanted = &run
		}
		list = append(list, l)
	}
	return list, nil
}

func (s *Links) from(workspace ident.ID) *builder {
	return newStatement(`SELECT `+linkColumns+` FROM link WHERE workspace_id = `, workspace)
}

// OfConnection reads the links of a connection: those with the given external
// ids, or all if external is nil.
func (s *Links) OfConnection(ctx context.Context, workspace, id ident.ID, kind string, external []string) (list []connection.Link, err error) {
	if external == nil {
		b := s.from(workspace)
		b.and(`connection_id =`, string(id))
		b.and(`kind =`, kind)
		b.add(` ORDER BY external_id`)
		return s.readLinks(ctx, b)
	}
	for some := range slices.Chunk(external, batchSize) {
		b := s.from(workspace)
		b.and(`connection_id =`, string(id))
		b.and(`kind =`, kind)
		in(b, `external_id`, some)
		more, err := s.readLinks(ctx, b)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// OfRecord reads the links to a record, ordered by connection.
func (s *Links) OfRecord(ctx context.Context, workspace, id ident.ID) ([]connection.Link, error) {
	b := s.from(workspace)
	b.and(`record_id =`, string(id))
	b.add(` AND record_id <> '' ORDER BY connection_id, external_id`)
	return s.readLinks(ctx, b)
}

// Found stores the entities of a kind that an account has now. It updates links
// that exist and deletes those of missing entities, unless they are linked to a
// record.
func (s *Links) Found(ctx context.Context, workspace, id ident.ID, account, kind string, list []connection.Link) error {
	return s.db.writeTx(Within(ctx, workspace), func(tx Tx) error {
		rows, err := tx.Query(`SELECT `+linkColumns+` FROM link WHERE workspace_id = $1 AND connection_id = $2 AND kind = $3 ORDER BY external_id `+s.db.engine.Traits().RowLock, string(workspace), string(id), kind)
		if err != nil {
			return fmt.Errorf("read links: %w", err)
		}
		there, err := scanLinks(rows)
		if err != nil {
			return err
		}
		known := map[string]*connection.Link{}
		for i := range there {
			known[there[i].ExternalID] = &there[i]
		}
		seen := map[string]bool{}
		for i := range list {
			l := list[i]
			seen[l.ExternalID] = true
			if was := known[l.ExternalID]; was != nil {
				l.Follow(was)
			}
			if err := putLink(tx, workspace, &l); err != nil {
				return err
			}
		}
		for _, l := range there {
			if l.AccountID != account || seen[l.ExternalID] || l.RecordID != nil {
				continue
			}
			if _, err := tx.Exec(deleteLink, string(workspace), string(id), kind, l.ExternalID); err != nil {
				return fmt.Errorf("forget link: %w", err)
			}
		}
		return nil
	})
}

// lockLink reads a link that the transaction changes, nil if there is none.
func (s *Links) lockLink(tx Tx, workspace ident.ID, l *connection.Link) (*connection.Link, error) {
	rows, err := tx.Query(`SELECT `+linkColumns+` FROM link WHERE workspace_id = $1 AND connection_id = $2 AND kind = $3 AND external_id = $4 `+s.db.engine.Traits().RowLock,
		string(workspace), string(l.Connection), l.Kind, l.ExternalID)
	if err != nil {
		return nil, fmt.Errorf("read link: %w", err)
	}
	there, err := scanLinks(rows)
	if err != nil || len(there) == 0 {
		return nil, err
	}
	return &there[0], nil
}

// Put writes links and jobs, and stores the response under the idempotency key.
// It returns record.ErrRace if a link has changed since it was read.
func (s *Links) Put(ctx context.Context, id ident.ID, list []connection.Link, answer []byte, save record.Save) error {
	return s.db.writeTx(Within(ctx, save.Cause.Workspace), func(tx Tx) error {
		// All writers lock links in this order, so that none waits for ever.
		slices.SortFunc(list, func(a, b connection.Link) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ExternalID, b.ExternalID))
		})
		for i := range list {
			l := &list[i]
			was, err := s.lockLink(tx, save.Cause.Workspace, l)
			if err != nil {
				return err
			}
			if l.Sum != 0 && (was == nil || was.Sum != l.Sum) {
				return record.ErrRace
			}
			if err := putLink(tx, save.Cause.Workspace, l); err != nil {
				return err
			}
		}
		if err := s.db.enqueue(tx, save.Jobs); err != nil {
			return err
		}
		return storeResponse(tx, save.Cause, save.At, id, record.Doc{JSON: bytes.Clone(answer)})
	})
}

// Sending stores the private part of a link.
func (s *Links) Sending(ctx context.Context, workspace ident.ID, l *connection.Link) (bool, error) {
	return s.requested(ctx, workspace, l, func(now *connection.Link) { now.Private = l.Private })
}

// Pushed stores the result of a push.
func (s *Links) Pushed(ctx context.Context, workspace ident.ID, l *connection.Link, push *string, why *record.PushError) (bool, error) {
	return s.requested(ctx, workspace, l, func(now *connection.Link) {
		now.Push, now.PushError, now.Private = push, why, l.Private
		if push != nil && *push == record.PushApplied {
			now.Status, now.Runs, now.SyncedAt = l.Status, l.Runs, l.SyncedAt
		}
	})
}

// requested changes a link, unless another state was requested in the meantime
// or the link belongs to another record. It reports whether it did.
func (s *Links) requested(ctx context.Context, workspace ident.ID, l *connection.Link, change func(*connection.Link)) (stored bool, err error) {
	err = s.db.writeTx(Within(ctx, workspace), func(tx Tx) error {
		stored = false
		now, err := s.lockLink(tx, workspace, l)
		if err != nil || now == nil {
			return err
		}
		if wantedOf(now) != wantedOf(l) || now.RecordID == nil || *now.RecordID != *l.RecordID {
			return nil
		}
		stored = true
		change(now)
		return putLink(tx, workspace, now)
	})
	return stored, err
}

// request stores the requested state of a campaign's links in the transaction
// that changes the campaign. Only links whose refs have a push are written to
// the platform.
func (db *DB) request(tx Tx, workspace, campaign ident.ID, run bool, refs []record.ExternalRef) error {
	rows, err := tx.Query(`SELECT `+linkColumns+` FROM link WHERE workspace_id = $1 AND record_id = $2 AND record_id <> '' ORDER BY connection_id, kind, external_id `+db.engine.Traits().RowLock,
		string(workspace), string(campaign))
	if err != nil {
		return fmt.Errorf("read links: %w", err)
	}
	links, err := scanLinks(rows)
	if err != nil {
		return err
	}
	for i := range links {
		l := &links[i]
		at := slices.IndexFunc(refs, func(r record.ExternalRef) bool { return r.ConnectionID == l.Connection && r.ExternalID == l.ExternalID })
		if l.Kind != fact.KindCampaign || at < 0 {
			continue
		}
		l.Wanted, l.Push, l.PushError = nil, refs[at].Push, refs[at].PushError
		if l.Push != nil {
			l.Wanted = &run
		}
		if err := putLink(tx, workspace, l); err != nil {
			return err
		}
	}
	return nil
}

// enqueuePushes enqueues the pushes of requested states that a connection has
// not confirmed.
func (db *DB) enqueuePushes(tx Tx, workspace, id ident.ID, at clock.Instant) error {
	rows, err := tx.Query(`SELECT `+linkColumns+` FROM link WHERE workspace_id = $1 AND connection_id = $2 AND kind = $3 AND wanted <> ''`,
		string(workspace), string(id), fact.KindCampaign)
	if err != nil {
		return fmt.Errorf("read links: %w", err)
	}
	links, err := scanLinks(rows)
	if err != nil {
		return err
	}
	return db.enqueue(tx, connection.PushJobs(workspace, links, at))
}

// Page reads links of a connection, ordered by kind and external id.
func (s *Links) Page(ctx context.Context, workspace, id ident.ID, kinds []string, linked *bool, after string, limit int) ([]connection.Link, error) {
	b := s.from(workspace)
	b.and(`connection_id =`, string(id))
	if len(kinds) > 0 {
		in(b, `kind`, kinds)
	}
	if linked != nil {
		b.add(map[bool]string{true: ` AND record_id <> ''`, false: ` AND record_id = ''`}[*linked])
	}
	if kind, external, ok := strings.Cut(after, " "); ok {
		b.add(` AND (kind, external_id) > (`)
		values(b, []string{kind, external})
		b.add(`)`)
	}
	b.add(` ORDER BY kind, external_id LIMIT `)
	b.value(limit)
	return s.readLinks(ctx, b)
}

// Names finds records of a kind by name, except archived ones.
func (s *Links) Names(ctx context.Context, workspace ident.ID, kind string, names []string) (map[string][]ident.ID, error) {
	name := map[string]string{fact.KindCampaign: campaignTable.name, fact.KindCreative: creativeTable.name, fact.KindAudience: audienceTable.name}[kind]
	found := map[string][]ident.ID{}
	for some := range slices.Chunk(names, batchSize) {
		b := newStatement(`SELECT name, id FROM `+name+` WHERE workspace_id = `, workspace)
		b.add(` AND status <> 'archived'`)
		in(b, `name`, some)
		b.add(` ORDER BY id`)
		rows, err := b.query(ctx, s.db.engine)
		if err != nil {
			return nil, toFault(fmt.Errorf("find records by name: %w", err))
		}
		for rows.Next() {
			name := rows.Text()
			found[name] = append(found[name], ident.ID(rows.Text()))
		}
	}
	return found, nil
}
