package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fanfare/api"
	"fanfare/internal/backup"
	"fanfare/internal/control"
	"fanfare/internal/datadir"
	"fanfare/internal/factsdb"
	"fanfare/internal/factsfile"
	"fanfare/internal/listen"
	"fanfare/internal/seal"
	"fanfare/internal/store"
)

// alone locks the data folder for a command that needs exclusive use.
func (c *cli) alone(cmd *cobra.Command) (*datadir.Dir, error) {
	if err := c.loadStore(cmd); err != nil {
		return nil, err
	}
	dir, err := datadir.Open(c.settings.Data)
	if err != nil {
		return nil, configError{err}
	}
	return dir, lockDir(cmd.Context(), dir, cmd.ErrOrStderr())
}

func (c *cli) migrateCommand() *cobra.Command {
	contract := false
	cmd := &cobra.Command{
		Use: "migrate", Short: "Migrate the database schema (a server does this when it starts)", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.loadStore(cmd); err != nil {
				return err
			}
			out, err := c.migrate(cmd.Context(), cmd.ErrOrStderr(), contract)
			if err != nil {
				return err
			}
			steps := out.Applied
			if len(out.Waiting) > 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+contractHint(out.Waiting))
			} else if len(steps) == 0 {
				steps = []string{"the schema is up to date"}
			}
			for _, line := range steps {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&contract, "contract", false, "also apply the steps after which nodes of an older release cannot work")
	return cmd
}

type migrateIn struct {
	Contract bool `json:"contract"`
}

// migrated has the steps that were applied, and those that wait for --contract.
type migrated struct {
	Applied []string `json:"applied"`
	Waiting []string `json:"waiting"`
}

// contractHint says how to apply steps that wait.
func contractHint(waiting []string) string {
	return strings.Join(waiting, ", ") + " not applied yet: run `fanfare migrate --contract` when every node runs this release"
}

// migrate applies pending migrations, inside the server that uses the folder or
// directly on the store.
func (c *cli) migrate(ctx context.Context, w io.Writer, contract bool) (out migrated, err error) {
	dir, err := datadir.Open(c.settings.Data)
	if err != nil {
		return out, configError{err}
	}
	server, err := dialOrLock(ctx, dir, w)
	if err != nil {
		return out, err
	}
	if server != nil {
		err := server.Call(ctx, "migrate", migrateIn{contract}, &out, func(control.Progress) {})
		return out, err
	}
	defer dir.Unlock()
	if err := c.orphaned(dir); err != nil {
		return out, configError{err}
	}
	e, err := c.openEngine(ctx, dir)
	if err != nil {
		return out, err
	}
	out, err = migrateStore(ctx, e, contract)
	return out, errors.Join(err, e.Close())
}

// migrateStore applies pending migrations of an open store.
func migrateStore(ctx context.Context, e store.Engine, contract bool) (out migrated, err error) {
	run := store.Migrate
	if contract {
		run = store.Contract
	}
	if out.Applied, err = run(ctx, e, now); err != nil {
		return out, err
	}
	left, err := store.FindPending(ctx, e)
	out.Waiting = left.Contract
	return out, err
}

func (c *cli) backupCommand() *cobra.Command {
	create := &cobra.Command{
		Use: "create FILE", Short: "Create a backup, also while the server runs", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			var out backup.Summary
			if err := c.call(cmd, "backup.create", backupIn{path}, &out); err != nil {
				return err
			}
			if len(out.DataLost) > 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning: the backup is complete, but "+lostText(out.DataLost)+".")
			}
			return printJSON(cmd.OutOrStdout(), out)
		},
	}
	verify := &cobra.Command{
		Use: "verify FILE", Short: "Verify the checksums of a backup", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := backup.Verify(args[0], bar(cmd.ErrOrStderr(), "backup.verify"))
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), s)
		},
	}
	restore := &cobra.Command{
		Use: "restore FILE", Short: "Restore a backup into an empty data folder or database", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := c.alone(cmd)
			if err != nil {
				return err
			}
			defer dir.Unlock()
			s, err := c.restore(cmd, dir, args[0])
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), s)
		},
	}
	return group("backup", "Create, verify and restore backups", create, verify, restore)
}

// factsConfig returns the configuration for commands that open the facts
// directly.
func factsConfig(dir *datadir.Dir, e store.Engine, db *store.DB) factsfile.Config {
	return factsfile.Config{Dir: dir.Path(), DB: db, Alone: e.Traits().Exclusive, Now: now, Random: rand.Reader, Log: quietLog}
}

// sharedFacts returns the configuration for commands that replace or examine facts
// that nodes share.
func (c *cli) sharedFacts(url string, dir *datadir.Dir, db *store.DB) factsdb.Config {
	return factsdb.Config{URL: url, Postgres: c.settings.Store, DB: db, Dir: dir.Path(), Replacing: true, Now: now, Random: rand.Reader, Log: quietLog}
}

func bar(w io.Writer, name string) func(done, total int64) {
	report := progress(w, name)
	return func(done, total int64) { report(control.Progress{Done: done, Total: total}) }
}

func (c *cli) auditCommand() *cobra.Command {
	verify := c.jsonFlag(&cobra.Command{
		Use: "verify", Short: "Verify that no audit log entry was changed, removed or moved", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out store.AuditReport
			if err := c.call(cmd, "audit.verify", nothing{}, &out); err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if c.asJSON {
				if err := printJSON(w, out); err != nil {
					return err
				}
			} else {
				fmt.Fprintf(w, "%d entries in %d chains\n", out.Entries, out.Chains)
				for _, f := range out.Faults {
					fmt.Fprintf(w, "%s entry %d: %s\n", f.WorkspaceID, f.Seq, f.Problem)
				}
			}
			if len(out.Faults) > 0 {
				return fmt.Errorf("%d entries of the audit log were changed, removed or moved", len(out.Faults))
			}
			return nil
		},
	})
	return group("audit", "Verify the audit log", verify)
}

func (c *cli) openapiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "openapi", Short: "Print the OpenAPI document", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(api.YAML)
			return err
		},
	}
}

func (c *cli) trustCommand() *cobra.Command {
	return &cobra.Command{
		Use: "trust", Short: "Install the local certificate authority on this machine", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.load(cmd); err != nil {
				return err
			}
			dir, err := datadir.Open(c.settings.Data)
			if err != nil {
				return configError{err}
			}
			file := authorityFile(dir)
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("there is no local certificate authority in %s yet: start `fanfare serve` once, or set --data to its folder", dir.Path())
			}
			err = listen.Trust(file, func(name string, args ...string) error {
				run := exec.CommandContext(cmd.Context(), name, args...)
				run.Stdout, run.Stderr = cmd.ErrOrStderr(), cmd.ErrOrStderr()
				return run.Run()
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "trusted "+file)
			return err
		},
	}
}

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.TrimSpace("fanfare "+version+" "+buildDate))
			return err
		},
	}
}

// quietLog discards log lines, for commands that report only their result.
var quietLog = slog.New(slog.DiscardHandler)

// dialTime is the timeout of doctor's network calls.
const dialTime = 2 * time.Second

func (c *cli) masterKeyCommand() *cobra.Command {
	rotate := &cobra.Command{
		Use: "rotate", Short: "Create a new master key, re-encrypt all secrets with it and delete the old one", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out seal.Rotated
			if err := c.call(cmd, "master_key.rotate", nothing{}, &out); err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), out)
		},
	}
	accept := &cobra.Command{
		Use: "accept", Short: "Use this node's master key for all nodes if theirs is lost; secrets must be entered again", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out acceptedKey
			if err := c.call(cmd, "master_key.accept", nothing{}, &out); err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), out)
		},
	}
	return group("master-key", "Manage the master key, which encrypts stored secrets", rotate, accept)
}

// acceptedKey is the result of `fanfare master-key accept`.
type acceptedKey struct {
	ID string `json:"id"`
}
