// Package movestore copies an installation into other stores: records, facts,
// files of assets and the master key. A copy that was interrupted goes on where
// it was. Until the copy is complete and equal to the source, a mark in the
// destination keeps servers from using it. The source is only read.
package movestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
	"fanfare/internal/store"
	"fanfare/internal/store/postgres"
	"fanfare/internal/store/sqlite"
)

// Place is where an installation has its data. Paths are absolute.
type Place struct {
	// Data is the data folder, which the caller has locked.
	Data string
	// Store is the postgres:// URL or the SQLite file of the records.
	Store string
	// Metrics is the URL of the facts, empty for the file in Data.
	Metrics string
	// Assets is the folder or the s3:// URL of the files of assets.
	Assets string
	// MasterKey is the file of the master key.
	MasterKey string
}

// Config says what to copy.
type Config struct {
	From, To Place
	Now      func() time.Time
	Random   io.Reader
	Log      *slog.Logger
	// Report receives the progress of a part. total is 0 if it is unknown.
	Report func(part string, done, total int64)
	// Step, if set, is called after every change of the destination, for tests.
	// The copy ends with its error.
	Step func(name string) error
}

// Check compares a part of the copy with the source.
type Check struct {
	// Part is records, metrics, files or secrets. Name is the table or the kind.
	Part string `json:"part"`
	Name string `json:"name"`
	// Rows and Sum are those of the source, CopyRows and CopySum those of the
	// copy. Files and secrets have no sum: each is checked by itself.
	Rows     int64  `json:"rows"`
	CopyRows int64  `json:"copy_rows"`
	Sum      string `json:"sum,omitzero"`
	CopySum  string `json:"copy_sum,omitzero"`
}

// Same reports whether the copy is equal to the source.
func (c Check) Same() bool { return c.Rows == c.CopyRows && c.Sum == c.CopySum }

// Result describes a copy.
type Result struct {
	// Resumed says that an earlier run had begun the copy.
	Resumed bool    `json:"resumed"`
	Checks  []Check `json:"checks"`
	// MasterKeys are the ids of the keys that encrypt stored secrets, MissingKeys
	// those of them that the source does not have either.
	MasterKeys  []string `json:"master_keys"`
	MissingKeys []string `json:"missing_master_keys,omitzero"`
	// MasterKeyFile is the file that servers of the copy need, empty if the
	// source has no master key.
	MasterKeyFile string `json:"master_key_file,omitzero"`
}

// ErrDiffers is returned if the copy is not equal to the source.
var ErrDiffers = errors.New("the copy differs from the source")

// mover copies one installation.
type mover struct {
	Config
	from, to side
	mark     store.CopyMark
	result   Result
	// sums are those of the source's records, assets and uploads the files that
	// they refer to.
	sums            map[string]store.RowSum
	assets, uploads []file
}

// side is the source or the destination.
type side struct {
	engine store.Engine
	db     *store.DB
}

// Run copies an installation, or goes on with a copy that was interrupted. It
// returns ErrDiffers with the result if the copy is not equal to the source.
func Run(ctx context.Context, c Config) (Result, error) {
	switch {
	case c.From.Store == c.To.Store:
		return Result{}, fault.New(fault.InvalidState, "The destination is the store that is copied. Choose another with --to-store or --to-data.")
	case c.From.Metrics+c.To.Metrics == "" && c.From.Data == c.To.Data:
		return Result{}, fault.New(fault.InvalidState, "The destination has its metrics in the file that is copied. Choose another folder with --to-data, or a database with --to-metrics.")
	}
	m := &mover{Config: c}
	err := m.run(ctx)
	for _, s := range []side{m.from, m.to} {
		if s.engine != nil {
			err = errors.Join(err, s.engine.Close())
		}
	}
	return m.result, err
}

func (m *mover) run(ctx context.Context) (err error) {
	if m.from, err = m.open(ctx, m.From.Store, "--store"); err != nil {
		return err
	}
	if err := m.readSource(ctx); err != nil {
		return err
	}
	if m.to, err = m.open(ctx, m.To.Store, "--to-store"); err != nil {
		return err
	}
	if _, err := store.Migrate(ctx, m.to.engine, m.Now); err != nil {
		return err
	}
	files, err := m.openFiles(ctx)
	if err != nil {
		return err
	}
	facts := m.openFacts()
	err = m.copyParts(ctx, facts, files)
	return errors.Join(err, facts.close(), files.close())
}

// open opens the records of a place and lets no other process use them. It
// occupies no space for the reserve: the next server does. flag is the flag of the
// setting.
func (m *mover) open(ctx context.Context, setting, flag string) (s side, err error) {
	if postgres.IsURL(setting) {
		var e *postgres.Engine
		e, err = postgres.Open(ctx, setting, postgres.Options{Exclusive: true})
		s.engine = e
	} else {
		var e *sqlite.Engine
		e, err = sqlite.Open(setting, sqlite.Options{})
		s.engine = e
	}
	if errors.Is(err, store.ErrUnavailable) && postgres.IsURL(setting) {
		err = fmt.Errorf("%w: start the database, or correct %s", err, flag)
	}
	if err != nil {
		return side{}, err
	}
	s.db = store.New(s.engine, 0, m.Now, m.Random)
	return s, nil
}

// readSource checks the source and sums up its records.
func (m *mover) readSource(ctx context.Context) error {
	pending, err := store.FindPending(ctx, m.from.engine)
	if err != nil {
		return err
	}
	if len(pending.Start)+len(pending.Contract) > 0 {
		return fault.New(fault.InvalidState, "The database that is copied has the schema of an older version. Run `fanfare migrate --contract` for it first.")
	}
	if err := m.from.db.CheckComplete(ctx); err != nil {
		return err
	}
	if err := m.from.engine.Check(ctx, true); err != nil {
		return err
	}
	m.sums, err = m.sumRecords(ctx, m.from.engine, "read records", m.noteFiles)
	return err
}

// source identifies the content of the source and where it goes. A server that
// was used in between changes it.
func (m *mover) source(ctx context.Context) (string, error) {
	facts, err := m.from.db.FactsMark(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(m.sums)) {
		fmt.Fprintln(h, name, m.sums[name].Rows, m.sums[name])
	}
	fmt.Fprintln(h, facts.Generation)
	fmt.Fprintf(h, "%q %q\n", cmp.Or(m.To.Metrics, m.To.Data), m.To.Assets)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// copyParts copies what is not copied yet, compares everything with the source
// and lets servers use the destination.
func (m *mover) copyParts(ctx context.Context, facts facts, files files) error {
	source, err := m.source(ctx)
	if err != nil {
		return err
	}
	if err := m.start(ctx, source, facts, files); err != nil {
		return err
	}
	ring, err := m.copyMasterKey(ctx)
	if err != nil {
		return err
	}
	if err := m.copyRecords(ctx); err != nil {
		return err
	}
	if err := m.copyFacts(ctx, facts); err != nil {
		return err
	}
	if err := m.copyFiles(ctx, files); err != nil {
		return err
	}
	if err := m.compare(ctx, facts, files, ring); err != nil {
		return err
	}
	if ring != nil && !m.to.engine.Traits().Exclusive {
		if _, err := m.to.db.NoteMasterKey(ctx, ring.Active()); err != nil {
			return err
		}
	}
	if err := m.step("verified"); err != nil {
		return err
	}
	return m.to.db.EndCopy(ctx)
}

func (m *mover) step(name string) error {
	if m.Step != nil {
		return m.Step(name)
	}
	return nil
}

// start marks an empty destination, or reads the mark of an interrupted copy.
func (m *mover) start(ctx context.Context, source string, facts facts, files files) (err error) {
	if err = m.to.db.CheckComplete(ctx); err == nil {
		if err = store.Empty(ctx, m.to.engine); err == nil {
			err = facts.checkEmpty(ctx)
		}
	} else if errors.Is(err, store.ErrUnfinished) {
		err = nil
	}
	if err == nil {
		err = m.checkForeign(ctx, files)
	}
	if err == nil {
		m.mark, m.result.Resumed, err = m.to.db.StartCopy(ctx, source)
	}
	switch {
	case errors.Is(err, store.ErrNotEmpty):
		return fault.New(fault.InvalidState, "The destination "+secret.RedactSetting(m.To.Store)+" is not empty. "+m.emptyFix())
	case errors.Is(err, store.ErrOtherCopy):
		return fault.New(fault.InvalidState, "The destination "+secret.RedactSetting(m.To.Store)+" has an unfinished copy of another installation, of this one before it was used again, or with other settings. "+m.emptyFix())
	case err != nil:
		return err
	}
	return m.step("marked")
}

// emptyFix says how to get an empty destination.
func (m *mover) emptyFix() string {
	if postgres.IsURL(m.To.Store) {
		return "Create another database with `CREATE DATABASE … OWNER …` and name it with --to-store, or drop this one and create it again."
	}
	return "Choose another folder with --to-data, or move this one away."
}

// copyRecords copies the records after the last one that was copied.
func (m *mover) copyRecords(ctx context.Context) error {
	return m.dump(ctx, m.from.engine, m.mark.At, "copy records", func(c store.Chunk) (int64, error) {
		next := m.mark
		next.At, next.Rows = c.Last, m.mark.Rows+int64(c.Rows)
		if err := m.to.db.CopyChunk(ctx, c, next); err != nil {
			return 0, err
		}
		m.mark = next
		return next.Rows, m.step("records " + c.Table)
	})
}

// dump calls each for all chunks after a position, and reports how many rows each
// says are done.
func (m *mover) dump(ctx context.Context, e store.Engine, after store.Position, part string, each func(store.Chunk) (done int64, err error)) error {
	var all int64
	err := store.DumpAll(ctx, e, after, func(c store.Chunk, total int64) error {
		done, err := each(c)
		all = total
		m.Report(part, done, total)
		return errors.Join(err, ctx.Err())
	})
	if err == nil && all > 0 {
		// The total includes rows that are not copied.
		m.Report(part, all, all)
	}
	return err
}

// compare compares the copy with the source.
func (m *mover) compare(ctx context.Context, facts facts, files files, ring *seal.Ring) error {
	records, err := m.sumRecords(ctx, m.to.engine, "verify records", func(store.Chunk) {})
	if err != nil {
		return err
	}
	m.addSums("records", m.sums, records)
	metrics, err := m.sumFacts(ctx, "verify metrics", facts.Dump)
	if err != nil {
		return err
	}
	m.addSums("metrics", m.mark.Facts, metrics)
	if err := m.checkFiles(ctx, files); err != nil {
		return err
	}
	if err := m.checkSecrets(ctx, ring); err != nil {
		return err
	}
	var different []string
	for _, c := range m.result.Checks {
		if !c.Same() {
			different = append(different, c.Part+" "+c.Name)
		}
	}
	if different == nil {
		return nil
	}
	return fmt.Errorf("%w in %s: another program has changed one of the two meanwhile. %s Then run the command again", ErrDiffers, strings.Join(different, ", "), m.emptyFix())
}

// addSums adds the checks of all tables of a part.
func (m *mover) addSums(part string, from, to map[string]store.RowSum) {
	names := slices.Sorted(maps.Keys(from))
	for name := range to {
		if _, both := from[name]; !both {
			names = append(names, name)
		}
	}
	for _, name := range names {
		a, b := from[name], to[name]
		m.result.Checks = append(m.result.Checks, Check{Part: part, Name: name, Rows: a.Rows, CopyRows: b.Rows, Sum: a.String(), CopySum: b.String()})
	}
}

// sumRecords sums up the records of a store by table.
func (m *mover) sumRecords(ctx context.Context, e store.Engine, part string, each func(store.Chunk)) (map[string]store.RowSum, error) {
	sums, done := map[string]store.RowSum{}, int64(0)
	err := m.dump(ctx, e, store.Position{}, part, func(c store.Chunk) (int64, error) {
		sum := sums[c.Table]
		c.AddTo(&sum)
		sums[c.Table] = sum
		each(c)
		done += int64(c.Rows)
		return done, nil
	})
	return sums, err
}
