package signin_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"fanfare/internal/signin"
)

// device is a software authenticator with one passkey on P-256.
type device struct {
	t      *testing.T
	key    *ecdsa.PrivateKey
	id     []byte
	user   []byte
	count  uint32
	origin string
	host   string
	// verifies is true if the device verifies its user.
	verifies bool
}

func newDevice(t *testing.T) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		t.Fatal(err)
	}
	return &device{t: t, key: key, id: id, origin: origin, host: "console.example.com", verifies: true}
}

var b64 = base64.RawURLEncoding

// Flags of the authenticator data.
const (
	present  = 1 << 0
	verified = 1 << 2
	attested = 1 << 6
)

// says returns the authenticator data, which the device signs.
func (d *device) says(flags byte) []byte {
	if d.verifies {
		flags |= verified
	}
	d.count++
	sum := sha256.Sum256([]byte(d.host))
	return binary.BigEndian.AppendUint32(append(sum[:], flags|present), d.count)
}

// client returns the client data, which the browser adds.
func (d *device) client(kind, challenge string) []byte {
	return d.json(map[string]any{"type": "webauthn." + kind, "challenge": challenge, "origin": d.origin, "crossOrigin": false})
}

func (d *device) json(v any) []byte {
	d.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}

func (d *device) read(c signin.Ceremony) (options struct {
	Challenge string
	User      struct{ ID string }
},
) {
	d.t.Helper()
	if err := json.Unmarshal(c.Options, &options); err != nil || options.Challenge == "" {
		d.t.Fatalf("got options %s, %v", c.Options, err)
	}
	return options
}

// create creates the passkey.
func (d *device) create(c signin.Ceremony) []byte {
	d.t.Helper()
	o := d.read(c)
	var err error
	if d.user, err = b64.DecodeString(o.User.ID); err != nil {
		d.t.Fatal(err)
	}
	public, err := d.key.PublicKey.Bytes()
	if err != nil {
		d.t.Fatal(err)
	}
	key, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: public[1:33], -3: public[33:]})
	if err != nil {
		d.t.Fatal(err)
	}
	data := append(d.says(attested), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(d.id)))
	data = append(append(data, d.id...), key...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	if err != nil {
		d.t.Fatal(err)
	}
	return d.answer(map[string]any{
		"clientDataJSON": b64.EncodeToString(d.client("create", o.Challenge)), "attestationObject": b64.EncodeToString(object),
	})
}

// use signs with the passkey.
func (d *device) use(c signin.Ceremony) []byte {
	d.t.Helper()
	client := d.client("get", d.read(c).Challenge)
	data := d.says(0)
	sum := sha256.Sum256(client)
	signed := sha256.Sum256(append(append([]byte{}, data...), sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, signed[:])
	if err != nil {
		d.t.Fatal(err)
	}
	return d.answer(map[string]any{
		"clientDataJSON": b64.EncodeToString(client), "authenticatorData": b64.EncodeToString(data),
		"signature": b64.EncodeToString(signature), "userHandle": b64.EncodeToString(d.user),
	})
}

func (d *device) answer(response map[string]any) []byte {
	d.t.Helper()
	id := b64.EncodeToString(d.id)
	return d.json(map[string]any{"id": id, "rawId": id, "type": "public-key", "response": response})
}
