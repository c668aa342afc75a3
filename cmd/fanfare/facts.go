package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"fanfare/internal/app"
	"fanfare/internal/ident"
)

func (c *cli) factsCommand() *cobra.Command {
	reset := &cobra.Command{
		Use: "reset", Short: "Begin the facts anew and read them again from the platforms; own data has to be sent again", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.replaceFacts(cmd, "facts.reset", nothing{}) },
	}
	restore := &cobra.Command{
		Use: "restore FILE", Short: "Take the facts, and nothing else, from a backup and read again what came after it", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			return c.replaceFacts(cmd, "facts.restore", backupIn{path})
		},
	}
	return group("facts", "The stored metrics, when they are lost or damaged", c.jsonFlag(reset), c.jsonFlag(restore))
}

func (c *cli) replaceFacts(cmd *cobra.Command, operation string, in any) error {
	var out app.FactsReplaced
	if err := c.call(cmd, operation, in, &out); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if c.asJSON {
		return printJSON(w, out)
	}
	fmt.Fprintf(w, "%d connections are read again from their platforms while the server runs.\n", out.Resyncing)
	const end = " with PATCH /v1/connections/{id}, or on the connection's page in the console. Until then, reports carry the warning data_lost:"
	for _, part := range []struct {
		ids  []ident.ID
		text string
	}{
		{out.SendAgain, "The own data of these connections has to be sent again, unless the backup has all of it. Then set data_lost_at to null" + end},
		{out.Gone, "These connections are disconnected, so their metrics cannot be read or sent again. To accept the loss, set data_lost_at to null" + end},
	} {
		if len(part.ids) > 0 {
			fmt.Fprintln(w, part.text)
		}
		for _, id := range part.ids {
			fmt.Fprintln(w, "  "+string(id))
		}
	}
	if out.Kept != "" {
		fmt.Fprintln(w, "The facts as they were are kept in "+out.Kept+"; delete it when it is of no use any more.")
	}
	return nil
}
