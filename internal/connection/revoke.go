package connection

import (
	"context"
	"slices"

	"fanfare/internal/clock"
)

// Codes of the status reason of a disconnected connection whose access was not
// revoked at the platform.
const (
	accessInUse = "access_in_use"
	accessKept  = "access_kept"
)

// grantHashes returns the hashes that are stored for credentials, never nil.
func (s *Access) grantHashes(ring PlatformCredentials) []string {
	list := []string{}
	for _, k := range ring {
		if k.Grant != "" {
			list = append(list, s.Vault.GrantHashes(k.Grant)[0])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// lockGrant waits until no other worker, on any node, takes a grant into use or
// revokes it.
func (s *Access) lockGrant(ctx context.Context, grant string) (held context.Context, unlock func(), err error) {
	if grant == "" {
		return ctx, func() {}, nil
	}
	return s.Lock(ctx, "grant "+s.Vault.GrantHashes(grant)[0])
}

// inUse reports whether another connection uses a grant.
func (s *Access) inUse(ctx context.Context, c *Connection, grant string) (bool, error) {
	n, err := s.store.GrantUsers(ctx, s.Vault.GrantHashes(grant), c.ID)
	return n > 0, err
}

// keptAccess returns why access at the platform stays when a connection ends,
// nil if it is revoked.
func (s *Access) keptAccess(ctx context.Context, c *Connection, ring PlatformCredentials, at clock.Instant) (*Reason, error) {
	var why *Reason
	for _, k := range ring {
		if k.Grant == "" {
			remedy := "If nothing else needs the access, end it on the platform."
			return &Reason{
				Code: accessKept, Since: at, Remediation: &remedy,
				Message: "The credentials are deleted here and were not revoked at the platform: they were brought by a caller, or it is not known what else uses them.",
			}, nil
		}
		used, err := s.inUse(ctx, c, k.Grant)
		if err != nil {
			return nil, err
		}
		if used {
			why = &Reason{
				Code: accessInUse, Since: at,
				Message: "The credentials are deleted here. Access at the platform stays, because other connections use the grant of the same person.",
			}
		}
	}
	return why, nil
}

// revoke revokes the grants of a connection that has ended, unless another one
// uses them. Brought credentials are never revoked.
func (s *Access) revoke(ctx context.Context, c *Connection, ring PlatformCredentials) {
	done := map[string]bool{}
	for _, platform := range Played {
		k, there := ring[platform]
		if !there || k.Grant == "" || done[k.Grant] {
			continue
		}
		done[k.Grant] = true
		if err := s.revokeGrant(ctx, c, platform, k); err != nil {
			s.Log.Warn("platform access revocation failed", "connection", c.ID, "platform", platform, "error", err)
		}
	}
}

func (s *Access) revokeGrant(ctx context.Context, c *Connection, platform string, k Credentials) error {
	client, _ := s.Registry.Client(platform, c.Platform == PlatformSandbox)
	grantor, can := client.(Grantor)
	if !can {
		return nil
	}
	ctx, unlock, err := s.lockGrant(ctx, k.Grant)
	if err != nil {
		return err
	}
	defer unlock()
	// The connection itself is no user any more: that was stored before.
	used, err := s.inUse(ctx, c, k.Grant)
	if err != nil {
		return err
	}
	if used {
		s.Log.Info("platform access kept for other connections", "connection", c.ID, "platform", platform)
		return nil
	}
	if err := grantor.Revoke(ctx, s.app(c, platform, k), k); err != nil {
		return err
	}
	s.Log.Info("platform access revoked", "connection", c.ID, "platform", platform)
	return nil
}
