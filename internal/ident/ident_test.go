package ident_test

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"fanfare/internal/ident"
)

// TestPublishedVectors checks the codec with the vectors of the TypeID
// specification (T1).
func TestPublishedVectors(t *testing.T) {
	t.Parallel()
	for text, uuid := range map[string]string{
		"00000000000000000000000000": "00000000000000000000000000000000",
		"00000000000000000000000001": "00000000000000000000000000000001",
		"0000000000000000000000000a": "0000000000000000000000000000000a",
		"0000000000000000000000000g": "00000000000000000000000000000010",
		"00000000000000000000000010": "00000000000000000000000000000020",
		"7zzzzzzzzzzzzzzzzzzzzzzzzz": "ffffffffffffffffffffffffffffffff",
		"0123456789abcdefghjkmnpqrs": "0110c8531d0952d8d73e1194e95b5f19",
		"01h455vb4pex5vsknk084sn02q": "01890a5dac96774bbcceb302099a8057",
	} {
		var u [16]byte
		if _, err := hex.Decode(u[:], []byte(uuid)); err != nil {
			t.Fatal(err)
		}
		if got := ident.Encode("prefix", u); got != ident.ID("prefix_"+text) {
			t.Errorf("%s: got %s want prefix_%s", uuid, got, text)
		}
		if got, ok := ident.Parse("prefix", "prefix_"+text); !ok || got != u {
			t.Errorf("%s: got %x (%v) want %s", text, got, ok, uuid)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const good = "cmp_01h455vb4pex5vsknk084sn02q"
	if !ident.Valid("cmp", good) {
		t.Errorf("%s: want it valid", good)
	}
	for _, text := range []string{
		"", "cmp", "cmp_", "01h455vb4pex5vsknk084sn02q", "_01h455vb4pex5vsknk084sn02q", "crv_01h455vb4pex5vsknk084sn02q", strings.ToUpper(good), "CMP" + good[3:],
		"cmp-" + good[4:], good + "0", good[:len(good)-1], "cmp_81h455vb4pex5vsknk084sn02q", "cmp_z1h455vb4pex5vsknk084sn02q", "cmp_01h455vb4pex5vsknk084sn02i",
		"cmp_01h455vb4pex5vsknk084sn02l", "cmp_01h455vb4pex5vsknk084sn02o", "cmp_01h455vb4pex5vsknk084sn02u", "cmp_01h455vb4pex5vsknk084sn0 q", " " + good[1:], good[:29] + "\x00", "cmp_01h455vb4pex5vsknk084sn0é",
	} {
		if ident.Valid("cmp", text) {
			t.Errorf("%q: want it refused", text)
		}
	}
}

// TestNewIsTimeOrderedUUIDv7 wants version and variant of RFC 9562, the moment
// inside, and ids of different moments in their order.
func TestNewIsTimeOrderedUUIDv7(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		nanos := rapid.Int64Range(0, 1<<62).Draw(rt, "nanoseconds")
		now := time.Unix(0, nanos)
		id := ident.New(ident.Campaign, now, rand.Reader)
		u, ok := ident.Parse(ident.Campaign, string(id))
		if !ok || u[6]>>4 != 7 || u[8]>>6 != 2 {
			rt.Fatalf("got %s (%x, %v), want a UUIDv7", id, u, ok)
		}
		ms := int64(u[0])<<40 | int64(u[1])<<32 | int64(u[2])<<24 | int64(u[3])<<16 | int64(u[4])<<8 | int64(u[5])
		if ms != now.UnixMilli() {
			rt.Fatalf("got %d ms inside want %d", ms, now.UnixMilli())
		}
		later := ident.New(ident.Campaign, now.Add(time.Duration(rapid.Int64Range(500, 1<<40).Draw(rt, "later"))), rand.Reader)
		if later <= id {
			rt.Fatalf("got %s after %s, want them in the order of time", later, id)
		}
	})
}

func TestNewIsUnique(t *testing.T) {
	t.Parallel()
	now := time.Unix(1763208000, 0)
	var ids []ident.ID
	for range 10_000 {
		ids = append(ids, ident.New(ident.Event, now, rand.Reader))
	}
	slices.Sort(ids)
	if got := len(slices.Compact(ids)); got != 10_000 {
		t.Errorf("got %d different ids of 10000 made in one moment", got)
	}
}

// FuzzParse wants an accepted id to be the one way of writing its bits.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"cmp_01h455vb4pex5vsknk084sn02q", "cmp_7zzzzzzzzzzzzzzzzzzzzzzzzz", "cmp_8zzzzzzzzzzzzzzzzzzzzzzzzz", "cmp_", "crv_01h455vb4pex5vsknk084sn02q"} {
		f.Add("cmp", seed)
	}
	f.Fuzz(func(t *testing.T, prefix, text string) {
		u, ok := ident.Parse(prefix, text)
		if ok && ident.Encode(prefix, u) != ident.ID(text) {
			t.Fatalf("got %s from %x want %q", ident.Encode(prefix, u), u, text)
		}
	})
}
