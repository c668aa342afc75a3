// Command fanfare is the whole service in one binary: the server, the demo and
// the operator's commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // for machines without time zone files

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fanfare/internal/datadir"
	"fanfare/internal/fault"
	"fanfare/internal/metrics/duckdb"
	"fanfare/internal/nearest"
	"fanfare/internal/store"
)

// The linker sets these variables: see the Makefile.
var (
	version   = "dev"
	buildDate = ""
)

// Exit codes.
const (
	exitFault    = 1
	exitUsage    = 2
	exitNotFound = 5
	exitConflict = 6
	exitRetry    = 75
	exitConfig   = 78
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// All files that the program writes contain secrets or lead to them.
	syscall.Umask(0o077)
	c := &cli{}
	if err := c.root().ExecuteContext(ctx); err != nil {
		if !c.running {
			err = usageError{err}
		}
		for line := range strings.SplitSeq(explain(err), "\n") {
			if strings.TrimSpace(line) != "" {
				fmt.Fprintln(os.Stderr, "fanfare: "+strings.TrimSpace(line))
			}
		}
		stop()
		os.Exit(exitCode(err)) //nolint:gocritic // stop was called
	}
}

// usageError is an error in the command line.
type usageError struct{ error }

// configError is an invalid configuration that must be fixed before a start.
type configError struct{ error }

func (e configError) Unwrap() error { return e.error }

// explain returns the message of an error, one line per fault.
func explain(err error) string {
	if fix := permissionFix(err); fix != "" {
		return err.Error() + "\n" + fix
	}
	if noSpace(err) && !strings.Contains(err.Error(), "is full") {
		return err.Error() + "\nthe disk is full: free some space, then try again"
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.ValidationFailed {
		return err.Error()
	}
	lines := make([]string, len(f.Details))
	for i, d := range f.Details {
		lines[i] = d.Message
	}
	return strings.Join(lines, "\n")
}

// permissionFix returns the fix for a file that this user may not use, empty for
// other errors.
func permissionFix(err error) string {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(path, fs.ErrPermission) {
		return ""
	}
	return fmt.Sprintf("user %d may not use %s: run `chown -R %d %s`, or `chmod u+rwX %s` if the user owns it", os.Getuid(), path.Path, os.Getuid(), path.Path, path.Path)
}

// noSpace reports whether an error says that a disk is full.
func noSpace(err error) bool { return errors.Is(err, syscall.ENOSPC) || duckdb.NoSpace(err) }

func exitCode(err error) int {
	var usage usageError
	var config configError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case noSpace(err):
		return exitRetry
	case errors.As(err, &config), errors.Is(err, store.ErrNewer), errors.Is(err, store.ErrOverwritten), errors.Is(err, store.ErrUnfinished):
		return exitConfig
	case fault.Is(err, fault.NotFound), errors.Is(err, fs.ErrNotExist):
		return exitNotFound
	case fault.Is(err, fault.InvalidState), fault.Is(err, fault.AlreadyExists),
		errors.Is(err, fs.ErrExist), errors.Is(err, store.ErrNotEmpty), errors.Is(err, store.ErrInUse), errors.Is(err, datadir.ErrLocked):
		return exitConflict
	case fault.Is(err, fault.ValidationFailed):
		return exitUsage
	case fault.Is(err, fault.Unavailable), errors.Is(err, store.ErrUnavailable):
		return exitRetry
	}
	return exitFault
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "fanfare",
		Short:         "A REST API for marketing campaigns, in one binary",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
		Args:          cobra.ArbitraryArgs,
		RunE:          chooseCommand,
	}
	c.settings.Bind(root.PersistentFlags())
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		c.serveCommand(), c.demoCommand(), c.workspaceCommand(), c.userCommand(), c.keyCommand(), c.providerCommand(), c.ratesCommand(), c.importCommand(),
		c.migrateCommand(), c.migrateStoreCommand(), c.backupCommand(), c.factsCommand(), c.masterKeyCommand(), c.auditCommand(), c.doctorCommand(), c.sandboxCommand(),
		c.openapiCommand(), c.trustCommand(), c.versionCommand(),
	)
	c.mark(root)
	return root
}

// mark wraps a command to record that it runs: an error before that is an error
// in the command line.
func (c *cli) mark(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			c.running = true
			return run(cmd, args)
		}
	}
	for _, child := range cmd.Commands() {
		c.mark(child)
	}
}

// flagError adds the most similar flag to the error of an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		collect := func(f *pflag.Flag) { names = append(names, f.Name) }
		cmd.Flags().VisitAll(collect)
		cmd.InheritedFlags().VisitAll(collect)
		if near := nearest.Word(unknown.GetSpecifiedName(), names); near != "" {
			return usageError{fmt.Errorf("%w: did you mean --%s?", err, near)}
		}
	}
	return usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
}

// group returns a command that only has subcommands.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: chooseCommand}
	cmd.AddCommand(children...)
	return cmd
}

// chooseCommand runs if the subcommand is missing or unknown. It prints the
// help or the most similar subcommand.
func chooseCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, child := range cmd.Commands() {
		names = append(names, child.Name())
	}
	hint := " (see " + cmd.CommandPath() + " --help)"
	if near := nearest.Word(args[0], names); near != "" {
		hint = ": did you mean " + near + "?"
	}
	return usageError{fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)}
}
