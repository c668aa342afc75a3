package console

import (
	"context"

	"fanfare/internal/account"
)

// route is one operation of the private API.
type route struct {
	method string
	// path is the path after /console/api/.
	path string
	// least is the required role. A route with neither least nor open is denied
	// to all.
	least account.Role
	// open routes need no session.
	open bool
	// proof requires a recent authentication.
	proof bool
	// anywhere skips the check that the tab shows the session's workspace.
	anywhere bool
	// always runs the operation also over the request limit.
	always bool
	// mirror is true for an operation of the contract, which counts the request
	// itself.
	mirror bool
	handle func(ctx context.Context, v *consoleRequest) (any, error)
}

// table returns the operations of the private API. It is not part of the
// contract and can change with the console.
func (c *Console) table() []route {
	const viewer, admin, owner = account.Viewer, account.Admin, account.Owner
	return []route{
		{method: "GET", path: "session", open: true, handle: c.getSession},
		{method: "POST", path: "session", open: true, handle: c.signIn},
		{method: "DELETE", path: "session", open: true, handle: c.signOut},
		{method: "POST", path: "session/totp", open: true, handle: c.secondStep},
		{method: "POST", path: "session/passkey/begin", open: true, handle: c.beginPasskey},
		{method: "POST", path: "session/passkey", open: true, handle: c.finishPasskey},
		{method: "POST", path: "session/link", open: true, handle: c.signInByLink},
		{method: "POST", path: "setup", open: true, handle: c.setUp},
		{method: "POST", path: "link/look", open: true, handle: c.lookLink},
		{method: "POST", path: "link", open: true, handle: c.followLink},
		{method: "POST", path: "reset", open: true, handle: c.askReset},
		{method: "GET", path: "oidc/start", open: true, handle: c.startOIDC},
		{method: "GET", path: "oidc/callback", open: true, handle: c.finishOIDC},

		{method: "POST", path: "session/prove", least: viewer, anywhere: true, handle: c.prove},
		{method: "POST", path: "session/prove/passkey/begin", least: viewer, anywhere: true, handle: c.beginProve},
		{method: "POST", path: "session/prove/passkey", least: viewer, anywhere: true, handle: c.finishProve},
		{method: "POST", path: "session/workspace", least: viewer, anywhere: true, handle: c.switchWorkspace},
		{method: "GET", path: "sessions", least: viewer, handle: c.listSessions},
		{method: "DELETE", path: "sessions/{id}", least: viewer, always: true, handle: c.endSession},

		{method: "PATCH", path: "user", least: viewer, handle: c.renameUser},
		{method: "POST", path: "password", least: viewer, proof: true, handle: c.setPassword},
		{method: "GET", path: "passkeys", least: viewer, handle: c.listPasskeys},
		{method: "POST", path: "passkeys/begin", least: viewer, proof: true, handle: c.beginRegister},
		{method: "POST", path: "passkeys", least: viewer, proof: true, handle: c.finishRegister},
		{method: "DELETE", path: "passkeys/{id}", least: viewer, proof: true, handle: c.removePasskey},
		{method: "POST", path: "totp/begin", least: viewer, proof: true, handle: c.beginTOTP},
		{method: "POST", path: "totp", least: viewer, proof: true, handle: c.confirmTOTP},
		{method: "DELETE", path: "totp", least: viewer, proof: true, handle: c.removeTOTP},

		{method: "GET", path: "keys", least: viewer, handle: c.listKeys},
		{method: "POST", path: "keys", least: viewer, proof: true, handle: c.createKey},
		{method: "POST", path: "keys/{id}/rotate", least: viewer, proof: true, handle: c.rotateKey},
		{method: "DELETE", path: "keys/{id}", least: viewer, always: true, handle: c.revokeKey},

		{method: "GET", path: "members", least: admin, handle: c.listMembers},
		{method: "POST", path: "members", least: admin, handle: c.invite},
		{method: "POST", path: "members/service", least: admin, handle: c.addService},
		{method: "PATCH", path: "members/{id}", least: admin, handle: c.setRole},
		{method: "DELETE", path: "members/{id}", least: admin, handle: c.removeMember},
		{method: "POST", path: "members/{id}/reset", least: admin, proof: true, handle: c.resetMember},
		{method: "DELETE", path: "invitations/{id}", least: admin, handle: c.withdraw},

		{method: "GET", path: "workspace", least: viewer, handle: c.getWorkspace},
		{method: "PATCH", path: "workspace", least: admin, handle: c.updateWorkspace},
		{method: "POST", path: "workspaces", least: owner, handle: c.addWorkspace},
		{method: "GET", path: "usage", least: viewer, handle: c.getUsage},
		{method: "GET", path: "requests", least: viewer, handle: c.listRequests},
		{method: "GET", path: "audit", least: admin, handle: c.listAudit},
		{method: "GET", path: "audit.ndjson", least: admin, handle: c.exportAudit},

		{method: "GET", path: "providers", least: admin, handle: c.listProviders},
		{method: "PUT", path: "providers/{id}", least: admin, handle: c.setProvider},
		{method: "DELETE", path: "providers/{id}", least: admin, handle: c.removeProvider},
	}
}
