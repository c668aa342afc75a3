package account

import (
	"context"
	"strings"
	"unicode/utf8"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// AddService adds a service user, which cannot sign in, so that the keys of an
// integration do not depend on a person. Users are identified by email, so it
// gets an address that cannot exist.
func (s *Service) AddService(ctx context.Context, cause record.Cause, workspace ident.ID, name, role string) (Member, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > 100 {
		return Member{}, fault.Invalid([]fault.Detail{{Field: "name", Code: "invalid_value", Message: "name must have 1 to 100 characters and say what the integration is."}})
	}
	t := s.now()
	u := User{ID: ident.New(ident.User, t, s.random), Name: name, Service: true, CreatedAt: clock.At(t)}
	u.Email = string(u.ID) + "@service.invalid"
	return s.saveMember(ctx, cause, workspace, Member{User: u, Role: Role(role)}, "user.create")
}
