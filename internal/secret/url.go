package secret

import (
	"regexp"
	"strings"
)

const (
	unreadable = "(unreadable URL)"
	concealed  = "xxxxx"
)

// secretParameter matches a parameter of a URL whose value is a secret, such as
// password or sslpassword.
var secretParameter = regexp.MustCompile(`(?i)([?&][^=&]*(?:password|secret|token|%)[^=&]*=)[^&]*`)

// RedactURL returns a URL without its secrets: the password before the host and
// in parameters. It reads addresses with several hosts, as databases have them;
// net/url refuses some of these. A URL that could hold a password elsewhere is
// not shown at all.
func RedactURL(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return unreadable
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	at := strings.LastIndexByte(authority, '@')
	if strings.ContainsAny(rest, "@#") || strings.Count(authority, "@") > 1 {
		// The password is not escaped, so that its end is unknown.
		return unreadable
	}
	if user, _, has := strings.Cut(authority[:at+1], ":"); has {
		authority = user + ":" + concealed + authority[at:]
	}
	return scheme + "://" + authority + secretParameter.ReplaceAllString(rest, "${1}"+concealed)
}

// RedactSetting is RedactURL for a setting that may also be a path, which it
// returns as it is.
func RedactSetting(raw string) string {
	if !strings.Contains(raw, "@") && !strings.Contains(raw, "://") {
		return raw
	}
	return RedactURL(raw)
}
