package page_test

import (
	"bytes"
	"crypto/rand"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/ident"
	"fanfare/internal/page"
)

const (
	workspace = ident.ID("wks_01h455vb4pex5vsknk084sn02q")
	operation = "listCampaigns"
)

func sealer(t testing.TB, keys ...byte) *page.Sealer {
	t.Helper()
	var list [][]byte
	for _, k := range keys {
		list = append(list, bytes.Repeat([]byte{k}, page.KeySize))
	}
	s, err := page.NewSealer(list, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var cursors = []page.Cursor{
	{},
	{Params: "order=desc&sort=created_at", After: page.Position{Int: 1763208000000000, ID: "cmp_01h455vb4pex5vsknk084sn02q"}},
	{Params: "order=asc&sort=name", After: page.Position{Text: "winter sale ü", ID: "cmp_01h455vb4pex5vsknk084sn02q"}},
	{Params: "order=asc&sort=start_at", After: page.Position{Null: true, ID: "cmp_01h455vb4pex5vsknk084sn02q"}},
	{After: page.Position{Int: -1 << 63, ID: ""}},
	{After: page.Position{Int: 1<<63 - 1, ID: "x"}},
}

// TestCursorRoundTrip opens sealed cursors, with the same key and after a key
// rotation (L4, L6).
func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	first, rotated, dropped := sealer(t, 1), sealer(t, 2, 1), sealer(t, 3, 2)
	for _, want := range cursors {
		text := first.Seal(workspace, operation, want)
		for name, s := range map[string]*page.Sealer{"same": first, "rotated": rotated} {
			got, ok := s.Open(workspace, operation, text)
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("%s key: got ok %v, cursor differs (-want +got):\n%s", name, ok, diff)
			}
		}
		if _, ok := dropped.Open(workspace, operation, text); ok {
			t.Error("a cursor opens after its key was dropped, want it refused")
		}
	}
}

// TestCursorIsBound checks that a cursor opens for one workspace and one list
// only, and not at all after a bit of it has changed (L4).
func TestCursorIsBound(t *testing.T) {
	t.Parallel()
	s := sealer(t, 1)
	text := s.Seal(workspace, operation, cursors[1])
	if _, ok := s.Open("wks_01h455vb4pex5vsknk084sn02r", operation, text); ok {
		t.Error("the cursor opens in another workspace")
	}
	if _, ok := s.Open(workspace, "listEvents", text); ok {
		t.Error("the cursor opens for another list")
	}
	for i := range text {
		for _, letter := range []byte("A_-z9") {
			if text[i] == letter {
				continue
			}
			changed := text[:i] + string(letter) + text[i+1:]
			if _, ok := s.Open(workspace, operation, changed); ok {
				t.Errorf("the cursor opens although its character %d has changed", i)
			}
		}
	}
	for _, bad := range []string{"", "A", text + "=", text + "A", " " + text, text[:20], "\n" + text, text + "\n"} {
		if _, ok := s.Open(workspace, operation, bad); ok {
			t.Errorf("%q opens, want it refused", bad)
		}
	}
	if again := s.Seal(workspace, operation, cursors[1]); again == text {
		t.Error("the same cursor has the same ciphertext twice, want them to differ")
	}
}

// TestCursorSize bounds the length of a cursor (L4).
func TestCursorSize(t *testing.T) {
	t.Parallel()
	s := sealer(t, 1)
	for _, tt := range []struct {
		params string
		most   int
	}{
		{"order=desc&sort=created_at", 140},
		{"end_date=2026-12-01&order=desc&sort=created_at&start_date=2026-11-01&status=active%2Cpaused", 240},
	} {
		c := page.Cursor{Params: tt.params, After: page.Position{Int: 1763208000000000, ID: "cmp_01h455vb4pex5vsknk084sn02q"}}
		if got := len(s.Seal(workspace, operation, c)); got > tt.most {
			t.Errorf("%s: got %d characters, want at most %d", tt.params, got, tt.most)
		}
	}
}

func TestNewSealerRefusesBadKeys(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][][]byte{"none": nil, "short": {make([]byte, 16)}, "one short": {make([]byte, page.KeySize), {1}}} {
		if _, err := page.NewSealer(keys, rand.Reader); err == nil {
			t.Errorf("%s: got a sealer, want an error", name)
		}
	}
}

// FuzzCursor checks that only sealed text opens, and that it opens to the
// cursor that was sealed.
func FuzzCursor(f *testing.F) {
	s := sealer(f, 1)
	for _, c := range cursors {
		f.Add(s.Seal(workspace, operation, c), c.Params, c.After.Text, c.After.ID, c.After.Int, c.After.Null)
	}
	f.Add("AQ3vXk9TqLw2", "a=b", "", "", int64(7), false)
	other := sealer(f, 9)
	f.Fuzz(func(t *testing.T, text, params, sortText, id string, sortInt int64, null bool) {
		if _, ok := other.Open(workspace, operation, text); ok {
			t.Fatalf("%q opens and was never sealed", text)
		}
		want := page.Cursor{Params: params, After: page.Position{ID: id}}
		switch {
		case null:
			want.After.Null = true
		case sortText != "":
			want.After.Text = sortText
		default:
			want.After.Int = sortInt
		}
		got, ok := s.Open(workspace, operation, s.Seal(workspace, operation, want))
		if !ok || got != want {
			t.Fatalf("got %+v (%v) want %+v", got, ok, want)
		}
	})
}
