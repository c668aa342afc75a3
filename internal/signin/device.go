package signin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// DeviceLife is for how long a browser keeps what it is known by; browsers
// keep nothing longer.
const DeviceLife = 400 * 24 * time.Hour

// deviceMark proves that a browser was given its name for this person. The key
// is the stored hash of the password, so that nothing has to be stored, and a
// new password ends what the old one has proved.
func (c *Credential) deviceMark(name string) string {
	mac := hmac.New(sha256.New, c.Doc)
	mac.Write([]byte("device " + string(c.User) + " " + name))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// device returns the name of a browser in which the person has signed in since
// the password was set; empty for any other.
func (p *Person) device(token string) string {
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

// deviceFor returns what the browser keeps of a sign-in that ends with a
// change: what it has already, if that is still good.
func (s *Service) deviceFor(p *Person, from From, c *Change) string {
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

// in says that a request comes from a session.
func (f From) in(session *Session) From {
	f.session = session.ID
	return f
}
