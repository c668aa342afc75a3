package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Kinds of tokens.
const (
	kindAccess  = "access"
	kindRefresh = "refresh"
	kindCode    = "code"
)

const (
	days     = 24 * time.Hour
	codeLife = 10 * time.Minute
)

// tokenLifetimes are the lifetimes by issuer, 0 for unlimited.
var tokenLifetimes = map[string]struct {
	access, refresh time.Duration
	// refreshes says that the platform has refresh tokens.
	refreshes bool
}{
	GoogleAds:   {access: time.Hour, refreshes: true},
	MetaAds:     {access: 60 * days},
	TikTokAds:   {},
	LinkedInAds: {access: 60 * days, refresh: 365 * days, refreshes: true},

	MicrosoftAds: {access: time.Hour, refresh: microsoftRefreshLife, refreshes: true},
}

// issuerOf returns the platform whose tokens a platform accepts.
//
// Choice: one consent at Google gives access to both of its platforms, because
// they share the OAuth hosts and scopes are not simulated.
func issuerOf(platform string) string {
	if platform == GA4 {
		return GoogleAds
	}
	return platform
}

// claims are the content of a token, so that a restarted sandbox can read it.
type claims struct {
	Set    AccountSet `json:"w"`
	Issuer string     `json:"p"`
	Kind   string     `json:"k"`
	// Grant is shared by all tokens of one consent.
	Grant  int64 `json:"g"`
	Serial int64 `json:"s"`
	// Expires is in seconds since 1970, 0 for never.
	Expires int64 `json:"e,omitzero"`
}

const tokenPrefix = "sbx."

// sign uses a public key: it detects invented tokens and protects nothing.
func sign(text string) string {
	mac := hmac.New(sha256.New, []byte("the sandbox holds no secrets"))
	_, _ = mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:9])
}

func (c claims) token() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // cannot fail: it has only numbers and texts
	}
	text := tokenPrefix + base64.RawURLEncoding.EncodeToString(b)
	return text + "." + sign(text)
}

// readToken parses a token.
func readToken(token string) (claims, bool) {
	cut := strings.LastIndexByte(token, '.')
	if cut < len(tokenPrefix) || !strings.HasPrefix(token, tokenPrefix) || token[cut+1:] != sign(token[:cut]) {
		return claims{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(token[len(tokenPrefix):cut])
	var c claims
	if err != nil || json.Unmarshal(b, &c) != nil {
		return claims{}, false
	}
	return c, true
}

// expiryOf returns the expiry of a lifetime that starts now, 0 for unlimited.
func expiryOf(now time.Time, d time.Duration) int64 {
	if d == 0 {
		return 0
	}
	return now.Add(d).Unix()
}

// readValidToken parses a token and checks its kind, issuer, expiry and grant.
func (s *Server) readValidToken(token, kind, issuer string, now time.Time) (claims, error) {
	c, ok := readToken(token)
	switch {
	case !ok, c.Kind != kind, c.Issuer != issuer:
		return c, ErrUnknownToken
	case s.state.isRevoked(c.Grant):
		return c, ErrRevokedToken
	case s.state.isSpent(c.Serial):
		return c, ErrUnknownToken
	case c.Expires != 0 && now.Unix() >= c.Expires:
		return c, ErrExpiredToken
	}
	return c, nil
}

func (s *Server) issueCode(issuer string, w AccountSet, now time.Time) string {
	n := s.state.nextSerial()
	return claims{Set: w, Issuer: issuer, Kind: kindCode, Grant: n, Serial: n, Expires: expiryOf(now, codeLife)}.token()
}

// issueTokens returns the first tokens of a grant.
func (s *Server) issueTokens(issuer string, w AccountSet, grant int64, now time.Time) Tokens {
	c := claims{Set: w, Issuer: issuer, Grant: grant, Expires: expiryOf(now, tokenLifetimes[issuer].refresh)}
	return s.renewTokens(c, "", now)
}

// renewTokens returns a new access token of the grant of c, and a refresh token
// if the platform has them and keep is empty. A new refresh token expires with
// c, because the consent does.
func (s *Server) renewTokens(c claims, keep string, now time.Time) Tokens {
	life := tokenLifetimes[c.Issuer]
	t := Tokens{AccessLifetime: life.access}
	if life.refreshes {
		t.Refresh = keep
		if keep == "" {
			refresh := c
			refresh.Kind, refresh.Serial = kindRefresh, s.state.nextSerial()
			t.Refresh = refresh.token()
		}
		if c.Expires != 0 {
			t.RefreshLifetime = time.Unix(c.Expires, 0).Sub(now)
		}
	}
	access := c
	access.Kind, access.Serial, access.Expires = kindAccess, s.state.nextSerial(), expiryOf(now, life.access)
	t.Access = access.token()
	return t
}
