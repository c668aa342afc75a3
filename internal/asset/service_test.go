package asset

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

func sealerOf(t *testing.T, keys ...byte) func() *page.Sealer {
	t.Helper()
	var list [][]byte
	for _, k := range keys {
		list = append(list, bytes.Repeat([]byte{k}, page.KeySize))
	}
	s, err := page.NewSealer(list, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return func() *page.Sealer { return s }
}

func newService(t *testing.T, now *time.Time) (*Service, *memoryStore, string) {
	t.Helper()
	f, dir := newFolder(t, now)
	s := newMemoryStore()
	return New(s, f, sealerOf(t, 1), nil, 0, func() time.Time { return *now }, rand.Reader), s, dir
}

var cause = record.Cause{Workspace: home, Actor: record.Actor{Type: record.ActorKey, ID: "key_1", Name: "Key"}}

func upload(t *testing.T, v *Service, b []byte) *Asset {
	t.Helper()
	d, err := v.Upload(context.Background(), cause, b)
	if err != nil {
		t.Fatal(err)
	}
	a := &Asset{}
	if err := json.Unmarshal(d.JSON, a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestUpload(t *testing.T) {
	t.Parallel()
	now := noon
	v, _, _ := newService(t, &now)
	file := pngOf(t, sample(20, 10))
	a := upload(t, v, file)
	if a.URL != "/v1/assets/"+string(a.ID) || a.MIMEType != PNG || *a.Width != 20 || *a.Height != 10 || a.CreatedBy.Name != "Key" || a.CreatedAt.Time() != noon {
		t.Errorf("got %+v", a)
	}
	now = now.Add(time.Hour)
	// The same pixels in other bytes are the same picture.
	again := upload(t, v, withChunk(file, "tEXt", []byte("Comment\x00x")))
	if again.ID != a.ID || again.CreatedAt != a.CreatedAt {
		t.Errorf("got %+v want %+v", again, a)
	}
	f, err := v.Open(t.Context(), home, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil || int64(len(b)) != a.Bytes || sumOf(string(b)) != a.SHA256 || f.ETag() != `"`+a.SHA256+`"` {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
	if size := upload(t, v, []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)); size.Width != nil || size.Height != nil {
		t.Errorf("got %v by %v of a drawing without a size", size.Width, size.Height)
	}
	_, err = v.Upload(t.Context(), cause, []byte("no picture"))
	var f422 *fault.Error
	if !errors.As(err, &f422) || f422.Code != fault.ValidationFailed || len(f422.Details) != 1 || f422.Details[0].Code != "invalid_format" {
		t.Errorf("got %v", err)
	}
}

// TestUploadWaits wants large pictures to wait for each other, and to give up
// when the caller does.
func TestUploadWaits(t *testing.T) {
	t.Parallel()
	now := noon
	v, _, _ := newService(t, &now)
	release, err := v.large.Take(t.Context(), "wks_other", 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Upload(ctx, cause, header(4000, 4000)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v want %v", err, context.Canceled)
	}
	drawing := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><text>` + strings.Repeat("x", largeDrawing) + `</text></svg>`)
	if _, err := v.Upload(ctx, cause, drawing); !errors.Is(err, context.Canceled) {
		t.Errorf("a large drawing: got %v want %v", err, context.Canceled)
	}
	upload(t, v, pngOf(t, sample(20, 10)))
	release()
	if _, err := v.Upload(t.Context(), cause, header(4000, 4000)); !fault.Is(err, fault.ValidationFailed) {
		t.Errorf("got %v want it to have its turn", err)
	}
}

func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	now := noon
	v, _, dir := newService(t, &now)
	a := upload(t, v, pngOf(t, sample(20, 10)))
	at := filepath.Join(dir, string(home), a.SHA256[:2], a.SHA256)
	if err := os.Truncate(at, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Open(t.Context(), home, a.ID); err == nil || fault.Is(err, fault.NotFound) {
		t.Errorf("got %v for a file that was cut, want an error of ours", err)
	}
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Open(t.Context(), home, a.ID); err == nil || fault.Is(err, fault.NotFound) {
		t.Errorf("got %v for a file that is gone, want an error of ours", err)
	}
	upload(t, v, pngOf(t, sample(20, 10)))
	f, err := v.Open(t.Context(), home, a.ID)
	if err != nil {
		t.Fatalf("after the next upload: %v", err)
	}
	_ = f.Close()
}

// link makes a link with the body of a request.
func link(t *testing.T, v *Service, id ident.ID, sent string) (record.Doc, error) {
	t.Helper()
	object, err := body.Parse([]byte(sent))
	if err != nil {
		t.Fatal(err)
	}
	return v.Link(t.Context(), cause, id, "https://host/assets/", &object)
}

// TestLinkRules checks the lifetime that a caller may ask for.
func TestLinkRules(t *testing.T) {
	t.Parallel()
	now := noon
	v, _, _ := newService(t, &now)
	a := upload(t, v, pngOf(t, sample(20, 10)))
	for sent, life := range map[string]time.Duration{`{}`: 15 * time.Minute, `{"expires_in":60}`: time.Minute, `{"expires_in":86400}`: 24 * time.Hour} {
		d, err := link(t, v, a.ID, sent)
		if err != nil {
			t.Fatalf("%s: %v", sent, err)
		}
		var l SignedURL
		if err := json.Unmarshal(d.JSON, &l); err != nil || l.ExpiresAt.Time() != noon.Add(life) {
			t.Errorf("%s: got %+v, %v want %s", sent, l, err, life)
		}
	}
	for sent, want := range map[string]string{
		`{"expires_in":59}`:          "expires_in too_small",
		`{"expires_in":86401}`:       "expires_in too_large",
		`{"expires_in":60.0}`:        "expires_in invalid_type",
		`{"expires_in":null,"at":1}`: "expires_in not_nullable, at unknown_field",
	} {
		_, err := link(t, v, a.ID, sent)
		var got []string
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == fault.ValidationFailed {
			for _, d := range f.Details {
				got = append(got, d.Field+" "+d.Code)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %v, %q want %s", sent, err, got, want)
		}
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	now := noon
	v, s, _ := newService(t, &now)
	a := upload(t, v, pngOf(t, sample(20, 10)))
	d, err := link(t, v, a.ID, `{"expires_in":60}`)
	if err != nil {
		t.Fatal(err)
	}
	var l SignedURL
	if err := json.Unmarshal(d.JSON, &l); err != nil {
		t.Fatal(err)
	}
	token, ok := strings.CutPrefix(l.URL, "https://host/assets/")
	if !ok || l.ExpiresAt.Time() != noon.Add(time.Minute) || strings.Contains(token, string(a.ID)) {
		t.Errorf("got %+v", l)
	}
	follow := func(token string) error {
		f, err := v.OpenLink(t.Context(), token)
		if err == nil {
			_ = f.Close()
			if f.ID != a.ID {
				t.Errorf("got %s want %s", f.ID, a.ID)
			}
		}
		return err
	}
	if err := follow(token); err != nil {
		t.Fatal(err)
	}
	// The key has become an old one.
	v.sealer = sealerOf(t, 3, 2, 1)
	if err := follow(token); err != nil {
		t.Errorf("after the key was changed: %v", err)
	}
	v.sealer = sealerOf(t, 1)
	for i := range token {
		for _, letter := range "Az0_" {
			if changed := token[:i] + string(letter) + token[i+1:]; changed != token && !fault.Is(follow(changed), fault.NotFound) {
				t.Fatalf("character %d as %c: the link works", i, letter)
			}
		}
	}
	cursor := v.sealer().Seal(home, "listCampaigns", page.Cursor{Params: strings.Repeat("x", 40)})
	long := v.sealer().SealBytes(linkPurpose, binary.BigEndian.AppendUint64(nil, 1))
	for _, wrong := range []string{"", "nonsense", token + "A", token[1:], cursor, long, token + "\n"} {
		if err := follow(wrong); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: got %v want not_found", wrong, err)
		}
	}
	if _, ok := v.sealer().Open(home, "listCampaigns", token); ok {
		t.Error("a link is taken for a cursor")
	}
	now = noon.Add(time.Minute)
	if err := follow(token); !fault.Is(err, fault.NotFound) {
		t.Errorf("at its end: got %v want not_found", err)
	}
	now = noon
	delete(s.assets, a.SHA256)
	if err := follow(token); !fault.Is(err, fault.NotFound) {
		t.Errorf("whose asset is gone: got %v want not_found", err)
	}
	if _, err := link(t, v, ident.New(ident.Asset, now, rand.Reader), `{"expires_in":0}`); !fault.Is(err, fault.NotFound) {
		t.Errorf("to nothing: got %v want not_found", err)
	}
}
