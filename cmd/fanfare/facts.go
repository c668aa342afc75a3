package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"fanfare/internal/backup"
	"fanfare/internal/factsfile"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/metrics"
	"fanfare/internal/metrics/duckdb"
)

func (c *cli) factsCommand() *cobra.Command {
	reset := &cobra.Command{
		Use: "reset", Short: "Start with empty metrics and sync them again from the ad platforms; your own data must be sent again", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.replaceFacts(cmd, "facts.reset", nothing{}) },
	}
	restore := &cobra.Command{
		Use: "restore FILE", Short: "Restore only the metrics, from a backup or an old facts file, then sync the days after it", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			return c.replaceFacts(cmd, "facts.restore", backupIn{path})
		},
	}
	return group("facts", "Restore or reset the stored metrics (facts) if they are lost or damaged", c.jsonFlag(reset), c.jsonFlag(restore))
}

func (c *cli) replaceFacts(cmd *cobra.Command, operation string, in any) error {
	var out factsfile.Replaced
	if err := c.call(cmd, operation, in, &out); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if c.asJSON {
		return printJSON(w, out)
	}
	fmt.Fprintf(w, "%d connections sync again from their platforms while the server runs.\n", out.Resyncing)
	const end = " with PATCH /v1/connections/{id}, or on the connection's page in the console. Until then, reports have the warning data_lost:"
	for _, part := range []struct {
		ids  []ident.ID
		text string
	}{
		{out.SendAgain, "Send the data of these connections again, unless the backup has all of it. Then set data_lost_at to null" + end},
		{out.Gone, "These connections are disconnected, so their metrics cannot be synced or sent again. To accept the loss, set data_lost_at to null" + end},
	} {
		if len(part.ids) > 0 {
			fmt.Fprintln(w, part.text)
		}
		for _, id := range part.ids {
			fmt.Fprintln(w, "  "+string(id))
		}
	}
	if out.Undone+out.Purged > 0 {
		fmt.Fprintf(w, "The restored facts had %d imports that were undone and %d connections that were purged or no longer exist; their facts were deleted again.\n", out.Undone, out.Purged)
	}
	if out.Kept != "" {
		fmt.Fprintf(w, "The previous facts are in %s. To return to them, run `fanfare facts restore` with this file. Delete it when you no longer need it.\n", out.Kept)
	}
	return nil
}

// restoreFacts fills empty facts from a backup or from a facts file that was
// kept under another name. workspaces are those of the installation, dir is a
// folder for temporary files.
func restoreFacts(ctx context.Context, e metrics.ReplaceableEngine, dir string, workspaces []ident.ID, path string, report func(done, total int64)) error {
	if !duckdb.IsFile(path) {
		_, err := backup.RestoreFacts(ctx, e, workspaces, path, report)
		return err
	}
	accept := func(has []ident.ID) error {
		if slices.ContainsFunc(has, func(id ident.ID) bool { return slices.Contains(workspaces, id) }) {
			return nil
		}
		return fault.New(fault.InvalidState, path+" belongs to another installation: it has none of the workspaces of this one. Choose a file or a backup of this installation.")
	}
	return duckdb.DumpFile(ctx, path, dir, duckdb.Options{Now: now, Log: quietLog}, accept, func(r io.Reader) error { return e.Fill(ctx, r) })
}
