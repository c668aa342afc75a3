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

// linkIssues adds what is wrong with connections and links.
func (c *Campaign) linkIssues(standings map[ident.ID]Standing, usable func([]ident.ID, string) int, add func(string, *ident.ID) *Issue) {
	connections := c.Connections()
	usable(connections, "")
	live, rest := c.linked(standings)
	switch {
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
		if standings[r.ConnectionID].Archived || !c.delivers(r) {
			continue
		}
		if live = true; r.Channel == nil {
			return true, nil
		}
		covered[*r.Channel] = true
	}
	return live, slices.DeleteFunc(slices.Clone(c.Channels), func(channel string) bool { return covered[channel] })
}

// delivers reports whether a platform campaign counts as a way to deliver. One
// that is not enabled counts while this campaign does not run: resuming is what
// enables it.
func (c *Campaign) delivers(r *record.ExternalRef) bool {
	return !c.Runs() || r.Enabled == nil || *r.Enabled || r.Push != nil && *r.Push == pending
}

// refersTo reports whether a platform campaign of a living connection is
// linked, enabled or not.
func (c *Campaign) refersTo(standings map[ident.ID]Standing) bool {
	return slices.ContainsFunc(c.ExternalRefs, func(r record.ExternalRef) bool { return !standings[r.ConnectionID].Archived })
}
