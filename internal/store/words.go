package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/search"
)

// wordTable has the words of records. It exists instead of a full-text index of
// the database: those of SQLite and PostgreSQL have different words and
// rankings, and a virtual table of SQLite is in no backup and under no lint of
// statements.
var wordTable = newTable(table{
	name: "word", key: []string{"workspace_id", "kind", "word", "record_id"},
	columns: names("workspace_id", "kind", "word", "record_id"),
})

// Index finds records by their words.
type Index struct{ db *DB }

var _ search.Index = (*Index)(nil)

// Index returns the index of words.
func (db *DB) Index() *Index { return &Index{db} }

// indexed is a table whose records have words.
type indexed struct {
	*table
	// words returns the words of a document, none if lists do not show it.
	words func(doc []byte) ([]string, error)
}

// searched are the tables whose records have words.
var searched = map[search.Type]indexed{
	search.Campaign:   {campaignTable, wordsOf(campaignWords)},
	search.Creative:   {creativeTable, wordsOf(creativeWords)},
	search.Audience:   {audienceTable, wordsOf(audienceWords)},
	search.Connection: {connectionTable, wordsOf(connectionWords)},
}

func wordsOf[T any](words func(*T) []string) func([]byte) ([]string, error) {
	return func(doc []byte) ([]string, error) {
		v := new(T)
		if err := decode(doc, v); err != nil {
			return nil, err
		}
		return words(v), nil
	}
}

func campaignWords(c *campaign.Campaign) []string {
	if c.Status == campaign.StatusArchived {
		return nil
	}
	return search.Text(c.Name, c.Tags, c.ExternalRefs)
}

func creativeWords(c *creative.Creative) []string {
	if c.Status == creative.StatusArchived {
		return nil
	}
	return search.Text(c.Name, c.Tags, nil)
}

func audienceWords(a *audience.Audience) []string {
	if a.Status == audience.StatusArchived {
		return nil
	}
	return search.Text(a.Name, a.Tags, a.ExternalRefs)
}

// connectionWords adds the platform and the ad accounts of the connection.
func connectionWords(c *connection.Connection) []string {
	if c.Status == connection.StatusDisconnected {
		return nil
	}
	texts := []string{c.Name, c.Platform}
	for _, a := range c.Accounts {
		texts = append(texts, a.Name, a.ExternalID)
	}
	return search.Words(texts...)
}

const deleteWord = `DELETE FROM word WHERE workspace_id = $1 AND kind = $2 AND word = $3 AND record_id = $4`

// moveWords replaces a record's words.
func moveWords(tx Tx, workspace, id ident.ID, before, now []string) error {
	kind, _, _ := strings.Cut(string(id), "_")
	for _, word := range before {
		if slices.Contains(now, word) {
			continue
		}
		if _, err := tx.Exec(deleteWord, string(workspace), kind, word, string(id)); err != nil {
			return fmt.Errorf("drop word from index: %w", err)
		}
	}
	return addWords(tx, workspace, id, slices.DeleteFunc(slices.Clone(now), func(word string) bool { return slices.Contains(before, word) }))
}

// addWords adds words to a record. It may have them already.
func addWords(tx Tx, workspace, id ident.ID, words []string) error {
	if len(words) == 0 {
		return nil
	}
	kind, _, _ := strings.Cut(string(id), "_")
	args := make([]any, 0, 4*len(words))
	for _, word := range words {
		args = append(args, string(workspace), kind, word, string(id))
	}
	if _, err := tx.Exec(wordTable.insertRows(len(words))+` ON CONFLICT (workspace_id, kind, word, record_id) DO NOTHING`, args...); err != nil {
		return fmt.Errorf("add words to index: %w", err)
	}
	return nil
}

const (
	// maxExamined is how many entries of a word a search examines, so that its
	// cost does not grow with the workspace. Choice: of a word that more records
	// have, the newest ones count.
	maxExamined = 10_000
	// maxCandidates is how many records of a search are ranked.
	maxCandidates = 400
	// maxNamed is how many records whose name begins with the text are ranked.
	maxNamed = 50
)

// lastRune is above every character of a word.
const lastRune = "\U0010ffff"

// Candidates implements search.Index. It examines the records with the rarest of
// the words and takes those that have the other words too.
func (s *Index) Candidates(ctx context.Context, workspace ident.ID, kind search.Type, text string, words []string) ([]search.Candidate, error) {
	if damage := s.db.engine.Traits().Damage; damage != nil {
		return nil, toFault(damage)
	}
	words, err := s.rarestFirst(ctx, workspace, kind, words)
	if err != nil {
		return nil, err
	}
	t := searched[kind].table
	ids, err := s.named(ctx, workspace, t, text)
	if err != nil {
		return nil, err
	}
	for _, whole := range []bool{true, false} {
		if len(ids) >= maxCandidates {
			break
		}
		more, err := s.having(ctx, workspace, kind, words, whole)
		if err != nil {
			return nil, err
		}
		ids = append(ids, more...)
	}
	slices.Sort(ids)
	return s.candidates(ctx, workspace, t, slices.Compact(ids))
}

// rarestFirst orders words by the number of records that have them, as far as a
// search examines them. Of equally frequent words, the longest is first.
func (s *Index) rarestFirst(ctx context.Context, workspace ident.ID, kind search.Type, words []string) ([]string, error) {
	if len(words) == 1 {
		return words, nil
	}
	counts := map[string]int64{}
	for _, word := range words {
		rows, err := s.db.engine.Query(Within(ctx, workspace), `SELECT count(*) FROM (SELECT 1 FROM word WHERE workspace_id = $1 AND kind = $2 AND word >= $3 AND word < $4 LIMIT $5) w`,
			string(workspace), kind.Prefix(), word, word+lastRune, maxExamined)
		if err != nil {
			return nil, toFault(fmt.Errorf("count records of a word: %w", err))
		}
		rows.Next()
		counts[word] = rows.Int()
	}
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b string) int {
		if counts[a] != counts[b] {
			return int(counts[a] - counts[b])
		}
		return len(b) - len(a)
	})
	return words, nil
}

// named returns the records whose name begins with a text.
func (s *Index) named(ctx context.Context, workspace ident.ID, t *table, text string) ([]string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	return t.ids(ctx, s.db.engine, workspace, page.Query{}, func(b *builder) {
		b.and(`name >=`, text)
		b.and(`name <`, text+lastRune)
		b.add(` ORDER BY name, id LIMIT `)
		b.value(maxNamed)
	})
}

// having returns records with the first word, whole or as the beginning of a
// longer one, and with the other words.
func (s *Index) having(ctx context.Context, workspace ident.ID, kind search.Type, words []string, whole bool) ([]string, error) {
	b := newStatement(`SELECT w.record_id FROM (SELECT record_id FROM word WHERE workspace_id = `, workspace)
	b.and(`kind =`, kind.Prefix())
	if whole {
		b.and(`word =`, words[0])
		b.add(` ORDER BY record_id DESC LIMIT `)
	} else {
		b.and(`word >`, words[0])
		b.and(`word <`, words[0]+lastRune)
		b.add(` ORDER BY word, record_id LIMIT `)
	}
	b.value(maxExamined)
	b.add(`) w WHERE 1 = 1`)
	for _, word := range words[1:] {
		b.add(` AND EXISTS (SELECT 1 FROM word o WHERE o.workspace_id = `)
		b.value(string(workspace))
		b.and(`o.kind =`, kind.Prefix())
		b.add(` AND o.record_id = w.record_id`)
		b.and(`o.word >=`, word)
		b.and(`o.word <`, word+lastRune)
		b.add(`)`)
	}
	b.add(` LIMIT `)
	b.value(maxCandidates)
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("find records by words: %w", err))
	}
	var ids []string
	for rows.Next() {
		ids = append(ids, rows.Text())
	}
	return ids, nil
}

// candidates reads what the ranking needs of records. The version is read only
// so that no index has all columns: SQLite would read such an index whole
// instead of finding each id, 16 times slower with 100,000 campaigns
// (BenchmarkSearch).
func (s *Index) candidates(ctx context.Context, workspace ident.ID, t *table, ids []string) ([]search.Candidate, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	b := newStatement(`SELECT id, name, status, version FROM `+t.name+` WHERE workspace_id = `, workspace)
	in(b, `id`, ids)
	rows, err := b.query(ctx, s.db.engine)
	if err != nil {
		return nil, toFault(fmt.Errorf("read candidates of %s: %w", t.name, err))
	}
	var list []search.Candidate
	for rows.Next() {
		list = append(list, search.Candidate{ID: ident.ID(rows.Text()), Name: rows.Text(), Status: rows.Text()})
		rows.Int()
	}
	return list, nil
}

// Docs implements search.Index.
func (s *Index) Docs(ctx context.Context, workspace ident.ID, kind search.Type, ids []ident.ID) ([]record.Doc, error) {
	places := make([]page.Position, len(ids))
	for i, id := range ids {
		places[i].ID = string(id)
	}
	docs, err := searched[kind].docsAt(ctx, s.db.engine, workspace, places)
	if err != nil {
		return nil, toFault(err)
	}
	var list []record.Doc
	for _, id := range ids {
		if d, there := docs[string(id)]; there {
			list = append(list, d)
		}
	}
	return list, nil
}

// wordSetting is the setting with the progress of IndexWords in a table: the key
// of the last record that has its words, or wordsDone.
func wordSetting(t *table) string { return "words:" + t.name }

const wordsDone = "done"

// IndexWords adds the words of records that were written by a program without
// this index, a part of them per call. It reports whether all have theirs.
func (db *DB) IndexWords(ctx context.Context) (done bool, err error) {
	done = true
	for _, name := range search.Types {
		t, is := searched[search.Type(name)]
		if !is {
			continue
		}
		for step := 0; ; step++ {
			if step == reshapeSteps {
				done = false
				break
			}
			more, err := db.indexWordsStep(ctx, t)
			if err != nil {
				return false, err
			}
			if !more {
				break
			}
		}
	}
	return done, nil
}

// indexWordsStep adds the words of the next records of a table. It reads the
// records in its transaction, so that no change of them is lost: a change that
// follows knows the words that the record has.
func (db *DB) indexWordsStep(ctx context.Context, t indexed) (more bool, err error) {
	rows, err := db.engine.Query(ctx, `SELECT value FROM setting WHERE name = $1`, wordSetting(t.table))
	if err != nil {
		return false, toFault(fmt.Errorf("read progress of words: %w", err))
	}
	after := []string{"", ""}
	if rows.Next() {
		if after = strings.Fields(rows.Text()); len(after) != 2 {
			return false, nil
		}
	}
	find := `SELECT workspace_id, id, doc FROM ` + t.name + ` WHERE (workspace_id, id) > ($1, $2) ORDER BY workspace_id, id LIMIT $3 ` + db.engine.Traits().RowLock
	err = db.writeTx(Across(ctx), func(tx Tx) error {
		rows, err := tx.Query(find, after[0], after[1], reshapeRows)
		if err != nil {
			return fmt.Errorf("find records without words: %w", err)
		}
		n, progress := 0, wordsDone
		for ; rows.Next(); n++ {
			workspace, id, doc := ident.ID(rows.Text()), ident.ID(rows.Text()), rows.Bytes()
			progress = string(workspace + " " + id)
			words, err := t.words(doc)
			if err != nil {
				// A damaged document stays as it is; reading it returns an error.
				continue
			}
			if err := addWords(tx, workspace, id, words); err != nil {
				return err
			}
		}
		more = n == reshapeRows
		if !more {
			progress = wordsDone
		}
		_, err = tx.Exec(upsertSetting, wordSetting(t.table), progress, int64(clock.At(db.now())))
		return err
	})
	return more, err
}
