package connection

import (
	"context"
	"errors"

	"fanfare/internal/record"
)

// withAccess calls a platform with the credentials of a connection. It renews
// them once if they have expired, and notes on the connection that the platform
// has ended the access.
func (s *Access) withAccess(ctx context.Context, c *Connection, call func(PlatformCredentials) error) error {
	for renewed := false; ; renewed = true {
		opened, ring, err := s.freshCredentials(ctx, c, renewed)
		if opened != nil {
			c = opened
		}
		if err == nil {
			err = call(ring)
		}
		switch class := ClassOf(err); {
		case class == Expired && !renewed:
		case class == Expired || class == Revoked:
			return errors.Join(err, s.ended(ctx, c, err))
		default:
			return err
		}
	}
}

// ended notes that the platform has ended the access of a connection, unless
// access was granted anew since.
func (s *Access) ended(ctx context.Context, used *Connection, why error) error {
	_, err := s.change(ctx, system(used), used.ID, record.Match{}, func(c *Connection, ch *Change) error {
		if c.Status != StatusConnected && c.Status != StatusError || c.Private.SealVersion != used.Private.SealVersion {
			return errSame
		}
		reason := runError(why)
		ch.Events = append(ch.Events, record.Event{Type: "connection.reauth_required", Previous: map[string]any{"status": c.Status}})
		c.Status, c.Sync.LastError, c.Sync.NextRunAt = StatusReauthRequired, reason, nil
		c.StatusReason = &Reason{Code: reason.Code, Message: reason.Message, Since: ch.At, Remediation: reason.Remediation}
		url := s.PublicURL + "/connections/" + string(c.ID)
		c.ReauthURL = &url
		return s.stop(ctx, c, ch)
	})
	return err
}
