package signin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// DeviceLife is how long a browser keeps its device cookie, which is the
// maximum that browsers allow.
const DeviceLife = 400 * 24 * time.Hour

// deviceMark returns the MAC that binds a device name to this user. The key is
// the stored password hash: nothing else has to be stored, and a new password
// invalidates all marks.
func (c *Credential) deviceMark(name string) string {
	mac := hmac.New(sha256.New, c.Doc)
	mac.Write([]byte("device " + string(c.User) + " " + name))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// device returns the name of a browser in which the user has signed in since
// the password was set, or an empty string.
func (p *User) device(token string) string {
	if p == nil || token == "" {
		return ""
	}
	c := p.find(kindPassword, "")
	name, mark, ok := strings.Cut(token, ".")
	if c == nil || !ok || !hmac.Equal([]byte(mark), []byte(c.deviceMark(name))) {
		return ""
	}
	return name
}

// deviceFor returns the device value of a sign-in that stores the change c. It
// keeps the browser's current value if that is still valid.
func (s *Service) deviceFor(p *User, from From, c *UserChange) string {
	after := p.find(kindPassword, "")
	if i := slices.IndexFunc(c.Put, func(c Credential) bool { return c.Kind == kindPassword }); i >= 0 {
		after = &c.Put[i]
	} else if p.device(from.Device) != "" {
		return from.Device
	}
	if after == nil || slices.ContainsFunc(c.Drop, func(c Credential) bool { return c.Kind == kindPassword }) {
		return ""
	}
	name, _ := s.newToken()
	return name + "." + after.deviceMark(name)
}

// in returns f with a session.
func (f From) in(session *Session) From {
	f.session = session.ID
	return f
}
