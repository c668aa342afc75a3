package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"fanfare/internal/asset/s3"
	"fanfare/internal/config"
	"fanfare/internal/datadir"
	"fanfare/internal/movestore"
	"fanfare/internal/secret"
)

func (c *cli) migrateStoreCommand() *cobra.Command {
	var to config.Settings
	cmd := c.jsonFlag(&cobra.Command{
		Use: "migrate-store", Short: "Copy the installation into another database or data folder, and verify the copy", Args: noArgs,
		Long: `Copy records, metrics, images and the master key into another database or data
folder, in any direction between SQLite, DuckDB, PostgreSQL, ClickHouse, folders
and S3. The usual settings name the source, which must be stopped and stays as it
is; the flags with --to- name the destination, which must be empty.

If the command is interrupted, run it again: it goes on. Servers refuse the
destination until the copy is complete and its checksums are those of the source.`,
		Example: `  fanfare migrate-store --data ./fanfare-data --to-store postgres://fanfare:…@db/fanfare
  fanfare migrate-store --store postgres://fanfare:…@db/fanfare --to-data ./back`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.migrateStore(cmd, to) },
	})
	f := cmd.Flags()
	f.StringVar(&to.Store, "to-store", "", "postgres:// URL of the new database (default is SQLite in --to-data)")
	f.StringVar(&to.Data, "to-data", "", "new data folder (default is the folder of --data, for which --to-store is needed)")
	f.StringVar(&to.Metrics, "to-metrics", "", "new metrics database: duckdb, or a postgres:// or clickhouse+https:// URL (default is the database of --to-store, else duckdb)")
	f.StringVar(&to.Assets, "to-assets", "", "new folder or s3://bucket/prefix of images (default is assets in the new data folder)")
	f.StringVar(&to.MasterKey, "to-master-key", "", "new file of the master key; the key is copied if the file is missing (default is master.key in the new data folder)")
	return cmd
}

func (c *cli) migrateStore(cmd *cobra.Command, to config.Settings) error {
	if to.Store+to.Data == "" {
		return usageError{errors.New("name the destination: --to-store with a postgres:// URL, or --to-data with a new folder")}
	}
	if err := c.loadStore(cmd); err != nil {
		return err
	}
	if err := errors.Join(to.CheckStore(), to.CheckAssets()); err != nil {
		return configError{fmt.Errorf("destination: %w", err)}
	}
	if _, err := os.Stat(filepath.Join(c.settings.Data, databaseFile)); err != nil && c.settings.Store == "" {
		return configError{noDatabase(c.settings.Data)}
	}
	// The folder of the source is only created if its records are elsewhere.
	dir, err := openLocked(cmd, c.settings.Data)
	if err != nil {
		return err
	}
	defer dir.Unlock()
	if err := c.orphaned(dir); err != nil {
		return configError{err}
	}
	target := dir
	if to.Data = cmp.Or(to.Data, c.settings.Data); !sameFolder(dir, to.Data) {
		if target, err = openLocked(cmd, to.Data); err != nil {
			return err
		}
		defer target.Unlock()
	}
	if err := leftovers(target, to.Store); err != nil {
		return configError{err}
	}
	report := stepProgress(cmd.ErrOrStderr())
	out, err := movestore.Run(cmd.Context(), movestore.Config{
		From: place(&c.settings, dir), To: place(&to, target), Report: report.show, Now: now, Random: rand.Reader, Log: quietLog,
	})
	report.end()
	if _, refused := errors.AsType[*s3.RefusedError](err); refused {
		return configError{err}
	}
	if err != nil && !errors.Is(err, movestore.ErrDiffers) {
		return err
	}
	if err := c.printMoved(cmd.OutOrStdout(), out); err != nil {
		return err
	}
	if err != nil || c.asJSON {
		return err
	}
	return printNext(cmd.OutOrStdout(), out, &to, target)
}

// openLocked opens and locks a data folder.
func openLocked(cmd *cobra.Command, path string) (*datadir.Dir, error) {
	dir, err := datadir.Open(path)
	if err != nil {
		return nil, configError{err}
	}
	return dir, lockDir(cmd.Context(), dir, cmd.ErrOrStderr())
}

// sameFolder reports whether a path leads to a data folder.
func sameFolder(dir *datadir.Dir, path string) bool {
	a, errA := os.Stat(dir.Path())
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// leftovers returns an error if a folder that gets a database has files of
// another one.
func leftovers(dir *datadir.Dir, store string) error {
	if store != "" {
		return nil
	}
	if err := interrupted(dir); err != nil {
		return err
	}
	if there, err := hasDatabase(dir); there || err != nil {
		return err
	}
	for _, name := range besideDatabase {
		if _, err := os.Stat(dir.Path(name)); err == nil {
			return fmt.Errorf("%s belongs to another database: move it away, or choose another folder with --to-data", dir.Path(name))
		}
	}
	return nil
}

// place returns where an installation with these settings has its data.
func place(s *config.Settings, dir *datadir.Dir) movestore.Place {
	p := movestore.Place{
		Data: dir.Path(), Store: cmp.Or(s.Store, dir.Path(databaseFile)), Metrics: s.MetricsURL(),
		Assets: cmp.Or(s.Assets, dir.Path("assets")), MasterKey: cmp.Or(s.MasterKey, dir.Path("master.key")),
	}
	for _, path := range []*string{&p.Assets, &p.MasterKey} {
		if abs, err := filepath.Abs(*path); err == nil && !s3.IsLocation(*path) {
			*path = abs
		}
	}
	return p
}

// stepReport shows the progress of several parts, one after the other.
type stepReport struct {
	w    io.Writer
	part string
	bar  func(done, total int64)
	// spinner is the bar of a part whose size is unknown, on a terminal.
	spinner *progressbar.ProgressBar
}

func stepProgress(w io.Writer) *stepReport { return &stepReport{w: w} }

func (r *stepReport) show(part string, done, total int64) {
	if part != r.part {
		r.end()
		r.part, r.bar = part, bar(r.w, part)
		if total == 0 && isTerminal(r.w) {
			r.spinner = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(r.w), progressbar.OptionSetDescription(part), progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish())
		}
	}
	switch {
	case total > 0:
		r.bar(done, total)
	case r.spinner != nil:
		_ = r.spinner.Set64(done)
	default:
		fmt.Fprintf(r.w, "%s: %d rows\n", part, done)
	}
}

// end removes the bar of a part whose size is unknown.
func (r *stepReport) end() {
	if r.spinner != nil {
		_ = r.spinner.Finish()
		r.spinner = nil
	}
}

// printMoved prints the comparison of the copy with the source.
func (c *cli) printMoved(w io.Writer, out movestore.Result) error {
	if c.asJSON {
		return printJSON(w, out)
	}
	var rows [][]string
	for _, check := range out.Checks {
		result := "same"
		if !check.Same() {
			result = fmt.Sprintf("DIFFERS: the copy has %d, checksum %.16s", check.CopyRows, check.CopySum)
		}
		rows = append(rows, []string{check.Part, check.Name, strconv.FormatInt(check.Rows, 10), fmt.Sprintf("%.16s", check.Sum), result})
	}
	return table(w, "PART\tNAME\tROWS\tCHECKSUM\tCOPY", rows)
}

// printNext prints what the operator does next.
func printNext(w io.Writer, out movestore.Result, to *config.Settings, dir *datadir.Dir) error {
	flags := []string{"--data " + dir.Path()}
	for _, flag := range []struct{ name, value string }{{"store", to.Store}, {"metrics", to.Metrics}, {"assets", to.Assets}, {"master-key", to.MasterKey}} {
		if flag.value == "" {
			continue
		}
		flags = append(flags, "--"+flag.name+" "+secret.RedactSetting(flag.value))
	}
	fmt.Fprintf(w, "\nThe copy is complete and equal to the source, which is unchanged. Start servers with:\n  fanfare serve %s\n", strings.Join(flags, " "))
	if out.MasterKeyFile != "" {
		fmt.Fprintf(w, "Servers need the master key in %s to open stored secrets. Give every node this file, or a copy that only its user can read, and keep a copy apart from the data.\n", out.MasterKeyFile)
	}
	for _, id := range out.MissingKeys {
		fmt.Fprintf(w, "The source does not have the master key %s: enter the secrets that it encrypts again, or put the key back and copy again.\n", id)
	}
	return nil
}
