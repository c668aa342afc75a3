package account_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"fanfare/internal/account"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// published is the regular expression that K1 gives to scanners.
var published = regexp.MustCompile(`\bfanf_[0-9A-Za-z]{36}\b`)

// TestK1Format checks that every key has the published format and a valid
// checksum, and that keys are unique.
func TestK1Format(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 20_000 {
		s := account.NewSecret(rand.Reader)
		if len(s) != 41 {
			t.Fatalf("got a key of %d characters, want 41", len(s))
		}
		if got := published.FindString("key=" + s + "&x"); got != s {
			t.Fatalf("got %q by the published expression, want %q", got, s)
		}
		if !account.WellFormed(s) {
			t.Fatalf("got %q not well-formed", s)
		}
		if seen[s] {
			t.Fatalf("got %q twice", s)
		}
		seen[s] = true
	}
}

// TestK1OneCharacter checks that a key is invalid after any single character is
// changed, dropped, doubled or swapped with its neighbor. CRC-32 detects every
// error burst up to 32 bits, so this holds for all keys.
func TestK1OneCharacter(t *testing.T) {
	t.Parallel()
	refused := 0
	for range 20 {
		s := account.NewSecret(rand.Reader)
		for i := range s {
			for c := range 256 {
				if byte(c) == s[i] {
					continue
				}
				if changed := s[:i] + string([]byte{byte(c)}) + s[i+1:]; account.WellFormed(changed) {
					t.Fatalf("got %q taken for a key, made from %q", changed, s)
				}
				refused++
			}
			if account.WellFormed(s[:i]+s[i+1:]) || account.WellFormed(s[:i]+s[i:i+1]+s[i:]) {
				t.Fatalf("got %q taken for a key with character %d dropped or doubled", s, i)
			}
			if i > 0 && s[i] != s[i-1] && account.WellFormed(s[:i-1]+s[i:i+1]+s[i-1:i]+s[i+1:]) {
				t.Fatalf("got %q taken for a key with characters %d and %d swapped", s, i-1, i)
			}
		}
	}
	t.Logf("key_checksum %d changed keys, 0 accepted", refused)
}

// TestK1Shape checks texts that are not keys.
func TestK1Shape(t *testing.T) {
	t.Parallel()
	s := account.NewSecret(rand.Reader)
	for _, no := range []string{
		"", "fanf_", s[:40], s + "0", " " + s, s + " ", s + "\n", strings.ToUpper(s), "Fanf_" + s[5:], "fanf-" + s[5:],
		strings.Repeat("0", 41), "fanf_" + strings.Repeat("0", 36), "fanf_" + strings.Repeat("é", 18), strings.Repeat("\x00", 41),
	} {
		if account.WellFormed(no) {
			t.Errorf("got %q taken for a key", no)
		}
	}
}

// TestK1Uniform checks that all characters are equally likely at all positions.
// The bound is the 99.9999 % quantile of chi-square with 61 degrees of freedom.
func TestK1Uniform(t *testing.T) {
	t.Parallel()
	const keys, bound = 40_000, 126.0
	var counts [30][62]float64
	var all [62]float64
	for range keys {
		s := account.NewSecret(rand.Reader)
		for i, c := range []byte(s[5:35]) {
			at := strings.IndexByte(base62, c)
			counts[i][at]++
			all[at]++
		}
	}
	square := func(observed [62]float64, n float64) (sum float64) {
		for _, o := range observed {
			sum += (o - n/62) * (o - n/62) / (n / 62)
		}
		return sum
	}
	worst := square(all, keys*30)
	for i := range counts {
		worst = max(worst, square(counts[i], keys))
	}
	if worst > bound {
		t.Errorf("got chi-square %.1f, want at most %.1f", worst, bound)
	}
	t.Logf("key_letters chi-square %.1f of at most %.1f, worst of 31", worst, bound)
}

// TestK1Unbiased checks that bytes that would favor some characters are
// skipped.
func TestK1Unbiased(t *testing.T) {
	t.Parallel()
	source := io.MultiReader(bytes.NewReader(bytes.Repeat([]byte{248, 255}, 16)), bytes.NewReader(make([]byte, 32)))
	if got := account.NewSecret(source); got[:35] != "fanf_"+strings.Repeat("0", 30) {
		t.Errorf("got %q, want only zeroes", got)
	}
}

// TestNoRandomness checks that no key is created without randomness.
func TestNoRandomness(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("got a key out of nothing, want a panic")
		}
	}()
	account.NewSecret(iotest.ErrReader(errors.New("no entropy")))
}

// TestK2Hash checks that the SHA-256 of the whole key is stored.
func TestK2Hash(t *testing.T) {
	t.Parallel()
	s := account.NewSecret(rand.Reader)
	sum := sha256.Sum256([]byte(s))
	if got, want := account.HashSecret(s).String(), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if account.HashSecret(s) == account.HashSecret(account.NewSecret(rand.Reader)) {
		t.Error("got one hash for two keys")
	}
}

// TestFindAndMask checks that keys are found anywhere in a text, and masked
// even if they are mistyped.
func TestFindAndMask(t *testing.T) {
	t.Parallel()
	a, b := account.NewSecret(rand.Reader), account.NewSecret(rand.Reader)
	typo := a[:40] + "!"
	wrong := "fanf_" + strings.Repeat("0", 36)
	short := func(s string) string { return "fanf_…" + s[37:] }
	tests := []struct {
		name, text, masked string
		found              int
	}{
		{"nothing", "a=b&c=d", "a=b&c=d", 0},
		{"prefix alone", "fanf_", "fanf_", 0},
		{"alone", a, short(a), 1},
		{"in a query", "key=" + a + "&x=1", "key=" + short(a) + "&x=1", 1},
		{"two in a row", a + b, short(a) + short(b), 2},
		{"prefix before", "fanf_fanf_" + a, "fanf_fanf_" + short(a), 1},
		{"in JSON", `{"` + a + `":"` + b + `"}`, `{"` + short(a) + `":"` + short(b) + `"}`, 2},
		{"too short", typo, typo, 0},
		{"bad checksum", wrong, short(wrong), 0},
		{"cut off", a[:40], a[:40], 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := account.Mask(tt.text); got != tt.masked {
				t.Errorf("got masked %q, want %q", got, tt.masked)
			}
			if got := account.Find(tt.text); len(got) != tt.found {
				t.Errorf("got keys %q, want %d", got, tt.found)
			}
		})
	}
}

// FuzzKey checks that any text that is accepted as a key (K1) has the published
// format and is found and masked in any text.
func FuzzKey(f *testing.F) {
	f.Add("")
	f.Add("fanf_")
	f.Add("fanf_000000000000000000000000000000000000")
	f.Add("Bearer fanf_EXAMPLE0EXAMPLE0EXAMPLE0EXAMPLE00000")
	f.Add(account.NewSecret(bytes.NewReader(make([]byte, 64))))
	f.Add("?a=" + account.NewSecret(bytes.NewReader(make([]byte, 64))) + "fanf_")
	f.Fuzz(func(t *testing.T, text string) {
		if account.WellFormed(text) && !published.MatchString(text) {
			t.Errorf("got %q taken for a key", text)
		}
		found := account.Find(text)
		if account.WellFormed(text) != (len(text) == account.KeyLength && len(found) == 1) {
			t.Errorf("got keys %q in %q, which is well-formed: %v", found, text, account.WellFormed(text))
		}
		masked := account.Mask(text)
		for _, s := range found {
			if !account.WellFormed(s) || !strings.Contains(text, s) {
				t.Errorf("got %q found in %q", s, text)
			}
			if strings.Contains(masked, s) {
				t.Errorf("got %q, want the key hidden", masked)
			}
		}
		if again := account.Mask(masked); again != masked {
			t.Errorf("got %q masked twice, want %q", again, masked)
		}
	})
}
