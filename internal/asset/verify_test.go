package asset

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// TestOpenMissing removes the file of an asset.
func TestOpenMissing(t *testing.T) {
	t.Parallel()
	now := noon
	v, _, dir := newService(t, &now)
	a := upload(t, v, []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`))
	if err := os.Remove(filepath.Join(dir, string(home), a.SHA256[:2], a.SHA256)); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Open(t.Context(), home, a.ID); !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "Upload the file again") {
		t.Errorf("got %v", err)
	}
}

// sums lists assets for TestVerify.
type sums map[ident.ID][]string

func (s sums) Workspaces(context.Context) (list []ident.ID, _ error) {
	for w := range s {
		list = append(list, w)
	}
	return list, nil
}

func (s sums) Sums(_ context.Context, w ident.ID, after string, most int) (list []string, _ error) {
	for _, sum := range s[w] {
		if sum > after && len(list) < most {
			list = append(list, sum)
		}
	}
	return list, nil
}

// TestVerify counts good, missing and damaged files, more than one page of
// them.
func TestVerify(t *testing.T) {
	t.Parallel()
	now := noon
	f, dir := newFolder(t, &now)
	list := sums{}
	const files = 2*batch + 1
	var all []string
	for i := range files {
		text := strings.Repeat("p", i)
		all = append(all, sumOf(text))
		if err := f.Put(home, sumOf(text), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(all)
	list[home] = all
	at := func(i int) string {
		return filepath.Join(dir, string(home), list[home][i][:2], list[home][i])
	}
	if r, err := Verify(t.Context(), list, f); err != nil || r.Files != files || r.Missing+r.Damaged != 0 || r.Named != nil {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := errors.Join(os.Remove(at(0)), os.WriteFile(at(files-1), []byte("x"), 0o600), os.Remove(at(batch))); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(t.Context(), list, f)
	if err != nil || r.Files != files || r.Missing != 2 || r.Damaged != 1 || len(r.Named) != 3 || r.Named[0] != string(home)+"/"+list[home][0] {
		t.Errorf("got %+v, %v", r, err)
	}
}

// BenchmarkOpen measures the cost that the check adds to reading a file.
func BenchmarkOpen(b *testing.B) {
	f, err := OpenFolder(b.TempDir(), time.Now, rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{100 << 10, VerifyAtOnce, 4 * VerifyAtOnce} {
		text := strings.Repeat("p", size)
		sum := sumOf(text)
		if err := f.Put(home, sum, []byte(text)); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d KiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				r, _, err := f.Open(home, sum)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, r); err != nil {
					b.Fatal(err)
				}
				_ = r.Close()
			}
		})
	}
}
