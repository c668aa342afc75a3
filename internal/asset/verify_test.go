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

// TestFolderDamaged changes, shortens and lengthens stored files. A file of up to
// verifyAtOnce bytes cannot be opened then; a larger one fails before its last
// byte.
func TestFolderDamaged(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"small": "picture", "largest at once": strings.Repeat("p", verifyAtOnce), "large": strings.Repeat("p", verifyAtOnce+1)} {
		for fate, damage := range map[string]func(b []byte) []byte{
			"first byte": func(b []byte) []byte { b[0] ^= 1; return b },
			"last byte":  func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
			"shorter":    func(b []byte) []byte { return b[:len(b)-1] },
			"longer":     func(b []byte) []byte { return append(b, 'x') },
			"empty":      func([]byte) []byte { return nil },
		} {
			t.Run(name+", "+fate, func(t *testing.T) {
				t.Parallel()
				now := noon
				f, dir := newFolder(t, &now)
				sum := sumOf(text)
				if err := f.Put(home, sum, []byte(text)); err != nil {
					t.Fatal(err)
				}
				if content(t, f, sum) != text {
					t.Fatal("the file differs before the damage")
				}
				bad := damage([]byte(text))
				if err := os.WriteFile(filepath.Join(dir, string(home), sum[:2], sum), bad, 0o600); err != nil {
					t.Fatal(err)
				}
				r, _, err := f.Open(home, sum)
				if err == nil {
					if len(bad) <= verifyAtOnce {
						t.Error("a damaged small file was opened")
					}
					var b []byte
					b, err = io.ReadAll(r)
					if closing := r.Close(); closing != nil {
						t.Error(closing)
					}
					if len(b) >= len(bad) {
						t.Errorf("all %d bytes of a damaged file were read", len(b))
					}
				}
				if !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "fanfare doctor") {
					t.Errorf("got %v", err)
				}
				// The next upload of the same bytes replaces the file.
				if err := f.Put(home, sum, []byte(text)); err != nil {
					t.Fatal(err)
				}
				if content(t, f, sum) != text {
					t.Error("the file differs after it was put again")
				}
			})
		}
	}
}

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
	for _, size := range []int{100 << 10, verifyAtOnce, 4 * verifyAtOnce} {
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
