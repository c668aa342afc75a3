package campaign

import (
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// notLinked is the code of the issue that nothing delivers the campaign, or
// one of its channels.
const notLinked = "not_linked"

// Codes of the issues that a platform has not confirmed a requested state yet,
// or that it cannot be written without help.
const (
	pushPendingIssue = "push_pending"
	pushFailedIssue  = "push_failed"
)

// linkIssues adds what is wrong with connections and links.
func (c *Campaign) linkIssues(standings map[ident.ID]Standing, usable func([]ident.ID, string) int, add func(string, *ident.ID) *Issue) {
	connections := c.Connections()
	usable(connections, "")
	live, rest := c.linked(standings)
	waits := c.pushIssues(standings, !live, add)
	switch {
	case !live && waits:
	case !live && len(connections) == 0:
		add("no_connection", nil)
		add(notLinked, nil)
	case !live && c.refersTo(standings):
		issue := add(notLinked, nil)
		issue.Message = "No linked campaign is enabled on its ad platform, so nothing delivers this campaign."
		*issue.Remediation = "Enable a linked campaign on the ad platform. Or set write_enabled on its connection, then pause and resume this campaign."
	case !live:
		add(notLinked, nil)
	case len(rest) > 0:
		issue := add(notLinked, nil)
		issue.blocking = false
		issue.Message = fmt.Sprintf("No enabled campaign on an ad platform is linked for the channels %s, so nothing delivers there.", strings.Join(rest, ", "))
	}
}

// linked reports whether anything delivers the campaign: an enabled campaign on
// a platform, or the caller by other means. rest are the channels of the
// campaign that nothing delivers.
//
// Choice: numbers of the caller's own that name the campaign count as delivery
// by other means, as does a connection for such numbers, and both count for
// every channel.
func (c *Campaign) linked(standings map[ident.ID]Standing) (live bool, rest []string) {
	if len(c.ExternalRefs) == 0 && c.Spends() {
		return true, nil
	}
	for _, id := range c.ConnectionIDs {
		if s := standings[id]; s.Own && !s.Archived {
			return true, nil
		}
	}
	covered := map[string]bool{}
	for i := range c.ExternalRefs {
		r := &c.ExternalRefs[i]
		on := c.delivers(r)
		if standings[r.ConnectionID].Archived || !on && !unconfirmed(r) {
			continue
		}
		if live = live || on; on && r.Channel == nil {
			return true, nil
		}
		if r.Channel != nil {
			covered[*r.Channel] = true
		}
	}
	return live, slices.DeleteFunc(slices.Clone(c.Channels), func(channel string) bool { return covered[channel] })
}

// delivers reports whether a platform campaign counts as a way to deliver. One
// that is not enabled counts while this campaign does not run: resuming is what
// enables it.
func (c *Campaign) delivers(r *record.ExternalRef) bool {
	return !c.Runs() || r.Enabled == nil || *r.Enabled
}

// refersTo reports whether a platform campaign of a living connection is
// linked, enabled or not.
func (c *Campaign) refersTo(standings map[ident.ID]Standing) bool {
	return slices.ContainsFunc(c.ExternalRefs, func(r record.ExternalRef) bool { return !standings[r.ConnectionID].Archived })
}

// pushIssues adds one issue for each connection through which a requested state
// was not confirmed, and reports whether there is one for a campaign that runs.
func (c *Campaign) pushIssues(standings map[ident.ID]Standing, blocking bool, add func(string, *ident.ID) *Issue) (waits bool) {
	type group struct {
		code       string
		connection ident.ID
	}
	var order []group
	wrong := map[group][]string{}
	for i := range c.ExternalRefs {
		r := &c.ExternalRefs[i]
		code, why := c.pushIssue(r)
		if code == "" {
			continue
		}
		g := group{code, r.ConnectionID}
		if wrong[g] == nil {
			order = append(order, g)
		}
		wrong[g] = append(wrong[g], fmt.Sprintf("%s %s (%s)", r.Platform, r.ExternalID, why))
	}
	word := map[bool]string{true: "enabled", false: "paused"}[c.Runs()]
	for _, g := range order {
		issue := add(g.code, &g.connection)
		issue.Message = fmt.Sprintf("Not confirmed as %s on the ad platform: %s.", word, strings.Join(wrong[g], "; "))
		issue.blocking = blocking && c.Runs()
		waits = waits || c.Runs()
		if standings[g.connection].Issue == "connection_reauth_required" {
			*issue.Remediation = "Grant access anew with POST /v1/connections/{id}/reconnect; the state is then written. Until then change it on the ad platform."
		}
	}
	return waits
}

// pushIssue is what is wrong with a platform campaign, empty for nothing. One
// that still delivers although the campaign has stopped, because its connection
// writes no states, counts as failed.
func (c *Campaign) pushIssue(r *record.ExternalRef) (code, why string) {
	switch {
	case r.Push == nil && c.LaunchedAt != nil && !c.Runs() && r.Enabled != nil && *r.Enabled:
		return pushFailedIssue, "still enabled there, and no state was written"
	case !unconfirmed(r):
		return "", ""
	case r.PushError != nil:
		why = strings.TrimSuffix(r.PushError.Message, ".")
	default:
		why = "on its way"
	}
	if *r.Push == pushFailed {
		return pushFailedIssue, why
	}
	return pushPendingIssue, why
}
