package connection

// remedies are what a person can do about a class of errors.
var remedies = map[string]string{
	"auth":       "Grant access again: POST /v1/connections/{id}/reconnect.",
	"permission": "Ask an administrator of the account on the platform to give the connected user access to it, or turn the account off.",
	"validation": "The platform refuses the request. Update the server, or report the message to its developers.",
}

// remedyFor returns what a person can do about an error, nil if it goes away by
// itself.
func remedyFor(e *RunError) *string {
	if text, ok := remedies[e.Class]; ok {
		return &text
	}
	return nil
}
