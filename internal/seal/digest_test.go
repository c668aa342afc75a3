package seal_test

import (
	"crypto/rand"
	"slices"
	"testing"

	"fanfare/internal/seal"
)

// TestDigests checks that a digest that was stored before a new master key is
// still found, and no longer when the old key is gone.
func TestDigests(t *testing.T) {
	t.Parallel()
	r, err := seal.Read(newFile(t), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	old := r.Active()
	stored := r.Digests("grant", "person")[0]
	if again := r.Digests("grant", "person"); !slices.Equal(again, []string{stored}) {
		t.Errorf("got %v want the same digest again", again)
	}
	for _, other := range [][]string{r.Digests("grant", "another"), r.Digests("other", "person")} {
		if slices.Contains(other, stored) {
			t.Error("another text or purpose has the same digest")
		}
	}
	if _, err := r.Add(); err != nil {
		t.Fatal(err)
	}
	both := r.Digests("grant", "person")
	if len(both) != 2 || both[1] != stored {
		t.Errorf("got %v want the digest of the new key before %s", both, stored)
	}
	if err := r.Drop(old); err != nil {
		t.Fatal(err)
	}
	if left := r.Digests("grant", "person"); !slices.Equal(left, both[:1]) {
		t.Errorf("got %v want only the digest of the new key", left)
	}
}
