package sandbox

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// ServiceAccountKey is the key file of a Google service account.
type ServiceAccountKey struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	ClientEmail  string `json:"client_email"`
	ClientID     string `json:"client_id"`
	AuthURI      string `json:"auth_uri"`
	TokenURI     string `json:"token_uri"`
}

// servicePublicKey is what the sandbox remembers of a key that it gave out.
type servicePublicKey struct {
	Email string     `json:"email"`
	Key   []byte     `json:"key"`
	Set   AccountSet `json:"world"`
}

const (
	assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	// assertionLife is the longest life of an assertion, clockSkew how far ahead
	// the clock of its signer may be.
	assertionLife = time.Hour
	clockSkew     = 5 * time.Minute
)

// ServiceAccount creates a service account with access to the accounts of an
// account set at Google, and returns its key file.
func (s *Server) ServiceAccount(w AccountSet) (ServiceAccountKey, error) {
	w = s.complete(w)
	if _, err := s.registerSet(w); err != nil {
		return ServiceAccountKey{}, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return ServiceAccountKey{}, fmt.Errorf("create key: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return ServiceAccountKey{}, fmt.Errorf("encode key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return ServiceAccountKey{}, fmt.Errorf("encode key: %w", err)
	}
	n := s.state.nextSerial(s.Now())
	sum := sha256.Sum256(public)
	file := ServiceAccountKey{
		Type: "service_account", ProjectID: "sandbox", PrivateKeyID: fmt.Sprintf("%x", sum[:20]),
		PrivateKey:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		ClientEmail: fmt.Sprintf("fanfare-%d@sandbox.iam.gserviceaccount.com", n), ClientID: fmt.Sprintf("1%020d", n),
		AuthURI: "https://" + googleConsentHost + "/o/oauth2/auth", TokenURI: "https://" + googleTokenHost + "/token",
	}
	s.state.addServiceKey(file.PrivateKeyID, servicePublicKey{file.ClientEmail, public, w})
	return file, s.state.flush()
}

// DeleteServiceAccountKey deletes a key, as its owner does at Google. It reports
// whether there was one.
func (s *Server) DeleteServiceAccountKey(id string) bool { return s.state.deleteServiceKey(id) }

// assertionClaims are the claims of an assertion.
type assertionClaims struct {
	Issuer   string `json:"iss"`
	Scope    string `json:"scope"`
	Audience string `json:"aud"`
	Issued   int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

// googleAssertion answers a token call with the assertion of a service account.
// There is no refresh token, and the answer has no scope.
func googleAssertion(s *Call, w http.ResponseWriter, r *http.Request, scope string) {
	claims, key, problem := s.readAssertion(r.PostFormValue("assertion"))
	switch {
	case problem != "":
		writeOAuthError(w, "invalid_grant", problem)
	case !slices.Contains(strings.Fields(claims.Scope), scope):
		writeOAuthError(w, "invalid_scope", "Invalid OAuth scope or ID token audience provided.")
	case s.Fault(FaultRevokedToken):
		writeOAuthError(w, "invalid_grant", "Invalid grant: account not found")
	default:
		agreed := Consent{Person: claims.Issuer, Scope: claims.Scope}
		tokens := s.server.issueTokens(issuerOf(s.api.Platform()), key.Set, s.server.state.nextSerial(s.now), agreed, s.now)
		writeGoogle(w, http.StatusOK, map[string]any{"access_token": tokens.Access, "expires_in": int64(tokens.AccessLifetime.Seconds()), "token_type": "Bearer"})
	}
}

// readAssertion checks an assertion and returns its claims, or what Google says
// is wrong with it.
func (s *Call) readAssertion(text string) (c assertionClaims, key servicePublicKey, problem string) {
	parts := strings.Split(text, ".")
	var head struct {
		Algorithm string `json:"alg"`
		Key       string `json:"kid"`
	}
	if len(parts) != 3 || !decodePart(parts[0], &head) || !decodePart(parts[1], &c) || head.Algorithm != "RS256" {
		return c, key, "Invalid JWT: Failed to parse."
	}
	key, known := s.server.state.serviceKey(head.Key, c.Issuer)
	if !known || !key.verifies(parts) || key.Email != c.Issuer {
		return c, key, "Invalid JWT Signature."
	}
	issued, expires := time.Unix(c.Issued, 0), time.Unix(c.Expires, 0)
	switch {
	case c.Audience != s.base+"/token" && c.Audience != "https://"+googleTokenHost+"/token":
		return c, key, "Invalid JWT: Failed audience check."
	case !expires.After(s.now) || issued.After(s.now.Add(clockSkew)) || expires.Sub(issued) > assertionLife:
		return c, key, "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
	}
	return c, key, ""
}

func decodePart(part string, into any) bool {
	b, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(b, into) == nil
}

// verifies reports whether the key has signed the parts of a JWT.
func (k servicePublicKey) verifies(parts []string) bool {
	parsed, err := x509.ParsePKIXPublicKey(k.Key)
	public, ok := parsed.(*rsa.PublicKey)
	signature, decodeErr := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !ok || decodeErr != nil {
		return false
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature) == nil
}

func (s *state) addServiceKey(id string, k servicePublicKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stored.ServiceKeys == nil {
		s.stored.ServiceKeys = map[string]servicePublicKey{}
	}
	s.stored.ServiceKeys[id] = k
	s.dirty = true
}

// serviceKey returns a key by its id, or the one of a service account if the
// assertion names none.
func (s *state) serviceKey(id, email string) (servicePublicKey, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" {
		k, known := s.stored.ServiceKeys[id]
		return k, known
	}
	for _, k := range s.stored.ServiceKeys {
		if k.Email == email {
			return k, true
		}
	}
	return servicePublicKey{}, false
}

func (s *state) deleteServiceKey(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.stored.ServiceKeys[id]
	delete(s.stored.ServiceKeys, id)
	s.dirty = s.dirty || known
	return known
}
