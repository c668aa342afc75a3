package connection

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/secret"
)

// serviceAccountPlatforms are the platforms that a Google service account can
// be given access to.
var serviceAccountPlatforms = []string{PlatformGoogleAds, PlatformGA4}

// ServiceAccount is the key of a Google service account. Tokens are got by
// signing with it, so there is nobody who has to grant access.
type ServiceAccount struct {
	Email      string
	KeyID      string
	PrivateKey secret.Text
}

const (
	maxEmail      = 320
	maxKeyID      = 200
	maxPrivateKey = 16 << 10
	maxUnused     = 2 << 10
	// minKeyBits is the least length of a key that is taken.
	minKeyBits = 2048
)

// errNoKey never quotes the key.
var errNoKey = errors.New("not an RSA private key in PEM format with 2048 bits or more")

// Key decodes the private key.
func (a *ServiceAccount) Key() (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(a.PrivateKey.Reveal()))
	if block == nil {
		return nil, errNoKey
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok || key.N.BitLen() < minKeyBits {
		return nil, errNoKey
	}
	return key, nil
}

// unusedKeyMembers are the members of a key file that are not needed. The
// address of the token endpoint is one of them: a caller must not choose where
// the server connects to.
var unusedKeyMembers = []string{"project_id", "client_id", "auth_uri", "token_uri", "auth_provider_x509_cert_url", "client_x509_cert_url", "universe_domain"}

// readServiceAccount reads the key file of a service account.
func readServiceAccount(n *body.Reader) *ServiceAccount {
	a := &ServiceAccount{}
	n.Choice("type", body.Required, []string{"service_account"})
	body.Set(&a.Email, n.Text("client_email", body.Required, 1, maxEmail))
	if a.Email != "" && !strings.Contains(a.Email, "@") {
		n.Bad(n.At("client_email"), "invalid_value", "is not the email address of a service account.", nil)
	}
	body.Set(&a.KeyID, n.Text("private_key_id", body.Optional, 1, maxKeyID))
	if text := n.Text("private_key", body.Required, 1, maxPrivateKey); text != nil {
		a.PrivateKey = secret.New(*text)
		if _, err := a.Key(); err != nil {
			n.Bad(n.At("private_key"), "invalid_value", "is "+err.Error()+". Send the key file as Google has created it.", nil)
		}
	}
	for _, name := range unusedKeyMembers {
		n.Text(name, body.Optional, 0, maxUnused)
	}
	n.Done()
	return a
}

// serviceAccountProblems are what is wrong with a service account beside the
// other members.
func (g *Given) serviceAccountProblems(platform string) (details []fault.Detail) {
	if !slices.Contains(serviceAccountPlatforms, platform) {
		details = append(details, fault.Detail{
			Field: "credentials.service_account", Code: "incompatible_fields", Message: fmt.Sprintf("credentials.service_account is for %s only.", strings.Join(serviceAccountPlatforms, " and ")),
		})
	}
	for _, other := range []struct {
		name  string
		there bool
	}{{"access_token", !g.Access.Empty()}, {"refresh_token", !g.Refresh.Empty()}, {"client_id", g.ClientID != ""}, {"client_secret", !g.ClientSecret.Empty()}} {
		if other.there {
			details = append(details, fault.Detail{
				Field: "credentials." + other.name, Code: "incompatible_fields", Message: "credentials." + other.name + " cannot be sent together with service_account.",
			})
		}
	}
	return details
}
