package linkedin_test

import (
	"errors"
	"strings"
	"testing"

	"fanfare/internal/connection"
)

// TestScopesChanged checks that a consent to other scopes is not taken for an
// account without numbers, and that the message asks for a new one.
func TestScopesChanged(t *testing.T) {
	t.Parallel()
	w := newSandbox(t, 1)
	entities := w.entities(t)
	w.turnOn(t, "app_scopes_changed", "", "")
	_, listed := w.client.Accounts(t.Context(), w.access)
	_, _, reported := w.reportOf(t, connection.LevelCampaign, 2, entities)
	for name, err := range map[string]error{
		"accounts": listed, "report": reported, "change": w.client.SetStatus(t.Context(), w.access, w.account.ID, w.account.Campaigns[0].ID, false),
	} {
		if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Forbidden || !strings.Contains(e.Remedy, "grant access again") {
			t.Errorf("%s: got %v want forbidden, with the remedy", name, err)
		}
	}
}

// TestPassingErrors checks that errors which LinkedIn says to repeat are worth
// another try, for reports and for changes.
func TestPassingErrors(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"TIMEOUT", "CONFLICT", "UNDER_MAINTENANCE"} {
		w := newSandbox(t, 1)
		entities := w.entities(t)
		id := w.account.Campaigns[0].ID
		w.turnOn(t, "passing_error", code, "")
		_, _, reported := w.reportOf(t, connection.LevelCampaign, 2, entities)
		for name, err := range map[string]error{"report": reported, "change": w.client.SetStatus(t.Context(), w.access, w.account.ID, id, false)} {
			if e, ok := errors.AsType[*connection.Error](err); !ok || e.Class != connection.Transient || e.Code != code {
				t.Errorf("%s, %s: got %v want transient", code, name, err)
			}
		}
		if w.slept == 0 {
			t.Errorf("%s: got no further try of the report", code)
		}
		w.server.TurnAllOff()
		if err := w.client.SetStatus(t.Context(), w.access, w.account.ID, id, false); err != nil {
			t.Errorf("%s: got %v want it changed afterwards", code, err)
		}
	}
}
