package guard_test

import (
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/account"
	"fanfare/internal/fanfaretest"
)

// FuzzBearer sends any text as the Authorization header (K3): it is accepted
// exactly if it is the scheme Bearer and a key. KEY is replaced by a valid key.
func FuzzBearer(f *testing.F) {
	w := fanfaretest.New(f, nil)
	w.App.API.Limits[account.Enterprise] = w.App.API.Limits["none"]
	a := w.Tenant(account.Enterprise)
	for _, seed := range []string{
		"", "Bearer", "Bearer ", "Bearer KEY", "bearer KEY", "BEARER  KEY ", "Bearer\tKEY", "Bearer KEY fanf_ KEY", "Basic KEY", "KEY", "Bearer fanf_", " Bearer KEY", "Bearer KEYx",
		"Bearer, KEY", "Bearer \x00KEY", "Bearer fanf_000000000000000000000000000000000000", "Bearer \"KEY\"", "Bearer KEY\r\nX: y",
	} {
		f.Add(seed)
	}
	n := 0
	f.Fuzz(func(t *testing.T, header string) {
		header = strings.ReplaceAll(header, "KEY", a.Key)
		n++
		r := newRequest(t.Context(), w.Client(""), "GET", "/v1", nil)
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", n>>16&255, n>>8&255, n&255)
		r.Header["Authorization"] = []string{header}
		rec := serveRequest(w, r)
		scheme, secret, _ := strings.Cut(header, " ")
		want := 401
		if strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(secret) == a.Key {
			want = 200
		}
		if rec.Code != want {
			t.Errorf("%q: got %d, want %d", header, rec.Code, want)
		}
		if strings.Contains(rec.Body.String(), a.Key) || strings.Contains(w.Log.String(), a.Key) {
			t.Errorf("%q: got the key in the answer or the log", header)
		}
	})
}

// TestDrillKeyTiming measures that the time of a refusal does not depend on how
// much of a key was guessed. A single run on a busy machine can show a
// difference between any two strings; a leak would show in every run, with
// every key, in the same direction.
func TestDrillKeyTiming(t *testing.T) {
	if !fullDrill {
		t.Skip("a measurement, only with FANFARE_DRILL=full")
	}
	w := fanfaretest.New(t, nil)
	a := w.Tenant(account.Enterprise)
	const runs = 9
	var scores []float64
	for range runs {
		c := a.As(account.Viewer)
		c.Do("GET", "/v1", nil).Want(200)
		scores = append(scores, timingDifference(w, c.Key, 200_000))
	}
	slices.Sort(scores)
	t.Logf("key_timing t %.2f in the middle of %d runs, from %.2f to %.2f; a leak is beyond 4.5 in all", scores[runs/2], runs, scores[0], scores[runs-1])
	if scores[0] > 4.5 || scores[runs-1] < -4.5 {
		t.Errorf("got t %.2f, want less than 4.5 in some run", scores)
	}
}

// timingDifference compares guesses that start like a valid key with guesses
// that start like an unknown one, by Welch's t over the faster nine tenths.
// Guesses with other starts would not be comparable, because a processor learns
// the common prefix.
func timingDifference(w *fanfaretest.Service, key string, n int) float64 {
	begins := [2]string{key[:30], account.NewSecret(rand.Reader)[:30]}
	times := [2][]float64{}
	for range n {
		class := mathrand.IntN(2)
		guess := begins[class] + account.NewSecret(rand.Reader)[30:35]
		guess += keyChecksum(guess)
		// The format check is skipped: it does not know any key.
		start := time.Now()
		w.App.Keys.Cached(account.HashSecret(guess))
		times[class] = append(times[class], float64(time.Since(start)))
	}
	var mean, spread [2]float64
	for c, list := range times {
		slices.Sort(list)
		list = list[:len(list)*9/10]
		for _, x := range list {
			mean[c] += x / float64(len(list))
		}
		for _, x := range list {
			spread[c] += (x - mean[c]) * (x - mean[c]) / float64(len(list)) / float64(len(list))
		}
	}
	return (mean[0] - mean[1]) / math.Sqrt(spread[0]+spread[1])
}

// keyChecksum returns the six characters that complete 35 characters to a key.
func keyChecksum(start string) string {
	const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := crc32.ChecksumIEEE([]byte(start))
	var digits [6]byte
	for i := 5; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return string(digits[:])
}
