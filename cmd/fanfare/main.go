// Command fanfare is the whole service in one binary: the server, its demo,
// and the operator's commands.
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
	_ "time/tzdata" // so that time zones work on machines without the files

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fanfare/internal/datadir"
	"fanfare/internal/fault"
	"fanfare/internal/nearest"
	"fanfare/internal/store"
)

// Set by the linker: see the Makefile.
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
	// Whatever is written holds secrets or leads to them.
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

// usageError is a mistake in how a command was written.
type usageError struct{ error }

// configError is a set-up that must be mended before a start.
type configError struct{ error }

// explain says what is wrong, one line for each fault.
func explain(err error) string {
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

func exitCode(err error) int {
	var usage usageError
	var config configError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &config), errors.Is(err, store.ErrNewer):
		return exitConfig
	case fault.Is(err, fault.NotFound), errors.Is(err, fs.ErrNotExist):
		return exitNotFound
	case fault.Is(err, fault.InvalidState), fault.Is(err, fault.AlreadyExists),
		errors.Is(err, fs.ErrExist), errors.Is(err, store.ErrNotEmpty), errors.Is(err, datadir.ErrLocked):
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
		Short:         "Marketing campaigns by program: a REST API in one binary",
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
		c.migrateCommand(), c.backupCommand(), c.factsCommand(), c.masterKeyCommand(), c.auditCommand(), c.doctorCommand(), c.sandboxCommand(),
		c.openapiCommand(), c.trustCommand(), c.versionCommand(),
	)
	c.mark(root)
	return root
}

// mark notes when a command begins to run: what goes wrong before is a mistake
// in how it was written.
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

// flagError names the flag that was probably meant.
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

// group is a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: chooseCommand}
	cmd.AddCommand(children...)
	return cmd
}

// chooseCommand runs where a command was to follow: it shows which there are,
// or which was probably meant.
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
