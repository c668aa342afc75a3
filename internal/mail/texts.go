package mail

import (
	"context"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
)

// Invitation returns the message that invites a user to a workspace.
func Invitation(to, workspace, by, link string, until time.Time) Message {
	return newMessage(to, "You are invited to "+workspace+" on Fanfare", []string{
		by + " invites you to the workspace " + workspace + " on Fanfare.",
		"Open this link to accept:",
	}, link, "It works once, until "+formatTime(until)+". If you do not know what this is about, do nothing.")
}

// Reset returns the message with a link to set a new password.
func Reset(to, link string, until time.Time) Message {
	return newMessage(to, "Set a new password for Fanfare", []string{
		"Somebody, hopefully you, asked for a new password for your Fanfare account " + to + ".",
		"Open this link to set one:",
	}, link, "It works once, until "+formatTime(until)+". If it was not you, do nothing: your password stays as it is.")
}

func formatTime(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04") + " UTC" }

// newMessage returns a message as text and as HTML. Names come from users, so
// they must not add header lines or markup.
func newMessage(to, subject string, before []string, link, after string) Message {
	lines := slices.Concat(before, []string{link, after})
	var page strings.Builder
	for i, line := range lines {
		text := html.EscapeString(line)
		if i == len(before) {
			text = fmt.Sprintf(`<a href="%s">%s</a>`, text, text)
		}
		fmt.Fprintf(&page, "<p>%s</p>\n", text)
	}
	return Message{To: to, Subject: strings.Join(strings.Fields(subject), " "), Text: strings.Join(lines, "\n\n") + "\n", HTML: page.String()}
}

// Invite sends an invitation.
func (s *Sender) Invite(ctx context.Context, to, workspace, by, link string, until time.Time) error {
	return s.Send(ctx, Invitation(to, workspace, by, link, until))
}

// Reset sends a link to set a new password.
func (s *Sender) Reset(ctx context.Context, to, link string, until time.Time) error {
	return s.Send(ctx, Reset(to, link, until))
}
