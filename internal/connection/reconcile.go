package connection

import (
	"context"
	"fmt"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// RestoredFacts are facts from a backup, which may be older than the records.
type RestoredFacts interface {
	Facts
	// Sources returns the connections that have facts.
	Sources(ctx context.Context, workspace ident.ID) ([]ident.ID, error)
}

// Reconcile brings restored facts of a workspace in line with its connections:
// facts of connections that were purged or do not exist are erased, and the
// others count for the records that they are linked to now. It returns how many
// connections had facts that it erased.
//
// Choice: connections that were purged by a version that did not note it keep
// their facts, because those whose loss was accepted look the same.
func (s *Recovery) Reconcile(ctx context.Context, facts RestoredFacts, workspace ident.ID) (erased int, err error) {
	sources, err := facts.Sources(ctx, workspace)
	if err != nil {
		return 0, err
	}
	for _, id := range sources {
		c, err := s.store.Load(ctx, workspace, id)
		switch {
		case fault.Is(err, fault.NotFound), err == nil && c.Private.Purged:
			erased++
			err = facts.Erase(ctx, workspace, id)
		case err == nil:
			err = s.linkAgain(ctx, facts, c)
		}
		if err != nil {
			return erased, fmt.Errorf("reconcile connection %s: %w", id, err)
		}
	}
	return erased, nil
}

// linkAgain has restored facts count for what they are linked to now. Links that
// were removed since are removed; later syncs would leave them.
func (s *Linker) linkAgain(ctx context.Context, facts Facts, c *Connection) error {
	var all []Link
	for _, kind := range Kinds {
		links, err := s.Links.OfConnection(ctx, c.WorkspaceID, c.ID, kind, nil)
		if err != nil {
			return err
		}
		all = append(all, links...)
	}
	if len(all) == 0 {
		return nil
	}
	return facts.Write(ctx, linkFacts(c, all))
}
