package sandbox

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strconv"
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
	// wholeGrant says that a revocation ends all tokens of the same person and
	// app, and not only those of one consent.
	wholeGrant bool
}{
	GoogleAds:   {access: time.Hour, refreshes: true, wholeGrant: true},
	MetaAds:     {access: 60 * days, wholeGrant: true},
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
	Consent
}

// Consent is what a person agreed to.
type Consent struct {
	// Person is the platform's id of the person, Client the app that asked.
	Person string `json:"o,omitzero"`
	Client string `json:"c,omitzero"`
	// Seed is that of the account set that the person has, 0 for the sandbox's own.
	Seed int64 `json:"d,omitzero"`
	// Scope is the scope that the app asked for, as it wrote it.
	Scope string `json:"x,omitzero"`
	// System says that the tokens are those of a system user at Meta. They do
	// not expire and cannot be exchanged.
	System bool `json:"y,omitzero"`
}

// defaultPerson is who grants access unless the consent names another person.
const defaultPerson = "100200300400500600700"

// newConsent returns the consent to the request of an app.
//
// Choice: consent is given without a page to sign in on, so the parameter
// sandbox_person says who gives it, and sandbox_seed which accounts that person
// has.
func newConsent(query url.Values, client, scope string) Consent {
	seed, _ := strconv.ParseInt(query.Get("sandbox_seed"), 10, 64)
	return Consent{Person: cmp.Or(query.Get("sandbox_person"), defaultPerson), Client: client, Seed: seed, Scope: scope}
}

// grantee names the person and the app of a token, empty if a revocation ends
// only the tokens of one consent.
func (c claims) grantee() string {
	if c.Person == "" || !tokenLifetimes[c.Issuer].wholeGrant {
		return ""
	}
	return c.Issuer + "|" + c.Client + "|" + c.Person
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
	case s.state.isRevoked(c):
		return c, ErrRevokedToken
	case s.state.isSpent(c.Serial):
		return c, ErrUnknownToken
	case c.Expires != 0 && now.Unix() >= c.Expires:
		return c, ErrExpiredToken
	}
	return c, nil
}

func (s *Server) issueCode(issuer string, w AccountSet, agreed Consent, now time.Time) string {
	n := s.state.nextSerial(now)
	return claims{Set: w, Issuer: issuer, Kind: kindCode, Grant: n, Serial: n, Expires: expiryOf(now, codeLife), Consent: agreed}.token()
}

// issueTokens returns the first tokens of a grant.
func (s *Server) issueTokens(issuer string, w AccountSet, grant int64, agreed Consent, now time.Time) Tokens {
	c := claims{Set: w, Issuer: issuer, Grant: grant, Consent: agreed, Expires: expiryOf(now, tokenLifetimes[issuer].refresh)}
	return s.renewTokens(c, "", now)
}

// renewTokens returns a new access token of the grant of c, and a refresh token
// if the platform has them and keep is empty. A new refresh token expires with
// c, because the consent does.
func (s *Server) renewTokens(c claims, keep string, now time.Time) Tokens {
	life := tokenLifetimes[c.Issuer]
	if c.System {
		life.access = 0
	}
	t := Tokens{AccessLifetime: life.access, Consent: c.Consent}
	if life.refreshes {
		t.Refresh = keep
		if keep == "" {
			refresh := c
			refresh.Kind, refresh.Serial = kindRefresh, s.state.nextSerial(now)
			t.Refresh = refresh.token()
		}
		if c.Expires != 0 {
			t.RefreshLifetime = time.Unix(c.Expires, 0).Sub(now)
		}
	}
	access := c
	access.Kind, access.Serial, access.Expires = kindAccess, s.state.nextSerial(now), expiryOf(now, life.access)
	t.Access = access.token()
	return t
}
