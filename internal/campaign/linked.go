package campaign

import (
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// notLinked is the code of the issue that no platform delivers the campaign or
// one of its channels.
const notLinked = "not_linked"

// Codes of push issues. push_pending: the platform has not confirmed the
// requested state. push_failed: the state cannot be written without the user's
// action. drifted: a platform campaign has a state that was not requested here.
const (
	pushPendingIssue = "push_pending"
	pushFailedIssue  = "push_failed"
	driftedIssue     = "drifted"
)

// Codes of push errors that have their own remediation.
const (
	writeDisabled = "write_disabled"
	disconnected  = "connection_disconnected"
)

// linkIssues adds the issues of connections and links.
func (c *Campaign) linkIssues(usability map[ident.ID]record.Usability, usable func([]ident.ID, string) int, add func(string, *ident.ID) *Issue) {
	connections := c.Connections()
	usable(connections, "")
	live, uncovered := c.linkedChannels(usability)
	waits := c.pushIssues(usability, !live, add)
	switch {
	case !live && waits:
	case !live && len(connections) == 0:
		add("no_connection", nil)
		add(notLinked, nil)
	case !live && c.hasConnectedRef(usability):
		issue := add(notLinked, nil)
		issue.Message = "No linked campaign is enabled on its ad platform, so nothing delivers this campaign."
		*issue.Remediation = "Enable a linked campaign on the ad platform. Or set write_enabled on its connection, then pause and resume this campaign."
	case !live:
		add(notLinked, nil)
	case len(uncovered) > 0:
		issue := add(notLinked, nil)
		issue.blocking = false
		issue.Message = fmt.Sprintf("No enabled campaign on an ad platform is linked for the channels %s, so nothing delivers there.", strings.Join(uncovered, ", "))
	}
}

// linkedChannels reports whether the campaign can be delivered: by an enabled
// platform campaign, or by the caller through other means. uncovered lists the
// campaign's channels without delivery.
//
// Choice: own data that names the campaign counts as delivery through other
// means. So does a connection for own data. Both count for every channel.
func (c *Campaign) linkedChannels(usability map[ident.ID]record.Usability) (live bool, uncovered []string) {
	if len(c.ExternalRefs) == 0 && c.HasSpend() {
		return true, nil
	}
	for _, id := range c.ConnectionIDs {
		if s := usability[id]; s.OwnData && !s.Archived {
			return true, nil
		}
	}
	covered := map[string]bool{}
	for i := range c.ExternalRefs {
		r := &c.ExternalRefs[i]
		on := c.countsForDelivery(r)
		if usability[r.ConnectionID].Archived || !on && !pushUnconfirmed(r) {
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

// countsForDelivery reports whether a platform campaign counts for delivery. A
// disabled one counts while this campaign does not run, because a resume
// enables it.
func (c *Campaign) countsForDelivery(r *record.ExternalRef) bool {
	return !c.Runs() || r.Enabled == nil || *r.Enabled
}

// hasConnectedRef reports whether a platform campaign is linked through a
// connection that is not archived. The platform campaign need not be enabled.
func (c *Campaign) hasConnectedRef(usability map[ident.ID]record.Usability) bool {
	return slices.ContainsFunc(c.ExternalRefs, func(r record.ExternalRef) bool { return !usability[r.ConnectionID].Archived })
}

// pushIssues adds one issue per code and connection for platform campaigns
// whose state is unconfirmed or has drifted. It reports whether a running
// campaign waits for a confirmation.
func (c *Campaign) pushIssues(usability map[ident.ID]record.Usability, blocking bool, add func(string, *ident.ID) *Issue) (waits bool) {
	type group struct {
		code       string
		connection ident.ID
	}
	var order []group
	wrong, codes, remedies := map[group][]string{}, map[group]string{}, map[group]string{}
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
		if r.PushError != nil {
			codes[g] = r.PushError.Code
			if r.PushError.Remediation != nil {
				remedies[g] = *r.PushError.Remediation
			}
		}
	}
	word := map[bool]string{true: "enabled", false: "paused"}[c.Runs()]
	for _, g := range order {
		issue := add(g.code, &g.connection)
		if g.code == driftedIssue {
			issue.Message = fmt.Sprintf("Not %s on the ad platform: %s.", word, strings.Join(wrong[g], "; "))
			*issue.Remediation = c.driftRemedy()
			continue
		}
		issue.Message = fmt.Sprintf("Not confirmed as %s on the ad platform: %s.", word, strings.Join(wrong[g], "; "))
		issue.blocking = blocking && c.Runs()
		waits = waits || c.Runs()
		switch {
		case codes[g] == disconnected:
			*issue.Remediation = "Change it on the ad platform. The connection is disconnected for good: connect the platform again and link the campaign to write states again."
		case codes[g] == writeDisabled:
			*issue.Remediation = "Set write_enabled on the connection; the state is then written. Or change it on the ad platform; the next sync finds that."
		case usability[g.connection].Issue == "connection_reauth_required":
			*issue.Remediation = "Grant access anew with POST /v1/connections/{id}/reconnect; the state is then written. Until then change it on the ad platform."
		case g.code == pushFailedIssue && remedies[g] != "":
			*issue.Remediation = remedies[g] + " It is tried again after every sync, and when access is granted anew."
		}
	}
	return waits
}

// driftRemedy returns the remediation for a drifted platform campaign.
func (c *Campaign) driftRemedy() string {
	switch {
	case c.Runs():
		return "Enable it on the ad platform. Or pause and resume this campaign, which writes the state."
	case c.Status == StatusArchived || c.Status == StatusCompleted:
		return "Pause it on the ad platform. Or archive this campaign with DELETE /v1/campaigns/{id}, which writes the state, also if it is archived."
	}
	return "Pause it on the ad platform. Or pause this campaign with POST /v1/campaigns/{id}/pause, which writes the state, also if it is paused."
}

// pushIssue returns the issue code of a platform campaign and the reason, both
// empty if it has no issue. A platform campaign that is enabled while the
// campaign does not run, and has no pause request, counts as drifted.
func (c *Campaign) pushIssue(r *record.ExternalRef) (code, why string) {
	switch {
	case r.Push != nil && *r.Push == record.PushDrifted && c.LaunchedAt != nil && c.Runs() != isEnabled(r),
		r.Push == nil && c.LaunchedAt != nil && !c.Runs() && isEnabled(r):
		if why = "unknown state"; r.ExternalStatus != nil {
			why = *r.ExternalStatus
		}
		return driftedIssue, why
	case !pushUnconfirmed(r):
		return "", ""
	case r.PushError != nil:
		why = strings.TrimSuffix(r.PushError.Message, ".")
	default:
		why = "on its way"
	}
	if *r.Push == record.PushFailed {
		return pushFailedIssue, why
	}
	return pushPendingIssue, why
}

// confirmPushes marks requests to enable platform campaigns as confirmed,
// except those that have failed before.
func confirmPushes(refs []record.ExternalRef) {
	for i := range refs {
		if r := &refs[i]; pushUnconfirmed(r) && r.PushError == nil {
			enabled := true
			r.Enabled, r.Push, r.PushError = &enabled, nil, nil
		}
	}
}
