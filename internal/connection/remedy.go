package connection

import (
	"cmp"
	"errors"
)

// classRemedies are what a person can do about any error of a class. Classes that
// are not here go away by themselves.
var classRemedies = map[Class]string{
	Expired:   grantAgain,
	Revoked:   grantAgain,
	Forbidden: "Ask an administrator of the account on the platform to give the connected user access to it, or turn the account off.",
	Gone:      "Check on the platform whether it still exists. If an account was deleted, turn it off; its past metrics stay.",
	TooLarge:  "The platform does not return this report even for the smallest part. Report the message to Fanfare's developers.",
	Refused:   "The platform refuses the request. Update the server, or report the message to its developers.",
	Sunset:    "The platform has ended the version of its API that this server calls. Update the server.",
}

const grantAgain = "Grant access again: select Reconnect, or POST /v1/connections/{id}/reconnect."

// Remediation returns what a person can do about an error: what the client of the
// platform knows, otherwise what all errors of the class have in common. It is
// nil if the error goes away by itself.
func Remediation(err error) *string {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return nil
	}
	if text := cmp.Or(e.Remedy, classRemedies[e.Class]); text != "" {
		return &text
	}
	return nil
}

// remedyOr returns what a person can do about the error of a run, or another text
// if it goes away by itself.
func (e *RunError) remedyOr(otherwise string) string {
	if e.Remediation != nil {
		return *e.Remediation
	}
	return otherwise
}

// GrantExplainer is a Grantor that knows why its platform did not grant access.
type GrantExplainer interface {
	// GrantError returns the error for a code that a person came back with, nil
	// for an unknown code.
	GrantError(code string) *Error
}

// notGranted returns the fault for a person who comes back without a code.
func (s *Access) notGranted(platform, code string) error {
	message := "Access was not granted."
	client, _ := s.Registry.Client(platform, false)
	if explainer, ok := client.(GrantExplainer); ok {
		if e := explainer.GrantError(code); e != nil && e.Remedy != "" {
			message += " " + e.Remedy
		}
	}
	return grantFault(message)
}
