package seal

import (
	"fanfare/internal/ident"
	"fanfare/internal/secret"
)

// UserSecrets encrypts secrets of users. Each is bound to its user and field.
type UserSecrets struct{ Ring *Ring }

// userScope replaces the workspace in the encryption context, because users
// belong to no workspace. Stored secrets contain it, so it cannot change.
const userScope = "people"

func userContext(user ident.ID, field string) Context {
	return Context{Workspace: userScope, Record: string(user), Field: field}
}

// Seal encrypts a secret.
func (s UserSecrets) Seal(user ident.ID, field string, plain secret.Text) (string, error) {
	return s.Ring.Seal(userContext(user, field), plain)
}

// Open decrypts what Seal returned for the same user and field.
func (s UserSecrets) Open(user ident.ID, field, sealed string) (secret.Text, error) {
	return s.Ring.Open(userContext(user, field), sealed)
}
