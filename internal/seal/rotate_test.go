package seal_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/ident"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
)

// secrets are the sealed texts of two workspaces.
type secrets map[ident.ID]string

func (s secrets) stored(context.Context) ([]string, error) {
	return []string{s["wks_1"], s["wks_2"]}, nil
}

func (s secrets) workspaces(context.Context) ([]ident.ID, error) {
	return []ident.ID{"wks_1", "wks_2"}, nil
}

// sealed seals a secret per workspace.
func sealed(t *testing.T, r *seal.Ring) secrets {
	t.Helper()
	s := secrets{}
	for _, id := range []ident.ID{"wks_1", "wks_2"} {
		text, err := r.Seal(seal.Context{Workspace: string(id), Record: "key", Field: "secret"}, secret.New("token"))
		if err != nil {
			t.Fatal(err)
		}
		s[id] = text
	}
	return s
}

func TestRotate(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	s, old := sealed(t, r), r.Active()
	rewrap := func(_ context.Context, id ident.ID) (int, error) {
		text, err := r.Rewrap(s[id])
		s[id] = text
		return 1, err
	}

	failure := errors.New("database unavailable")
	out, err := r.Rotate(t.Context(), s.stored, seal.RewrapEach(s.workspaces, func(ctx context.Context, id ident.ID) (int, error) {
		if id == "wks_2" {
			return 0, failure
		}
		return rewrap(ctx, id)
	}))
	if !errors.Is(err, failure) || out.Rewrapped != 1 || len(out.Dropped) != 0 || !r.Has(old) {
		t.Errorf("after a failure: got %+v, %v want 1 secret rewrapped and no key dropped", out, err)
	}
	if out, err := r.Rotate(t.Context(), s.stored); err == nil || len(out.Dropped) != 0 || !r.Has(old) {
		t.Errorf("a secret that was not rewrapped: got %+v, %v want its key kept", out, err)
	}

	before := r.IDs()
	out, err = r.Rotate(t.Context(), s.stored, seal.RewrapEach(s.workspaces, rewrap))
	if err != nil || out.Rewrapped != 2 || !slices.Equal(out.Dropped, before) || !slices.Equal(r.IDs(), []string{out.Active}) {
		t.Errorf("repeated: got %+v, %v and keys %v want only the new key", out, err, r.IDs())
	}
}

// TestNoRing checks a server without a master key.
func TestNoRing(t *testing.T) {
	t.Parallel()
	var none *seal.Ring
	if _, err := none.Rotate(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "--master-key") {
		t.Errorf("rotate: got %v want the setting that is missing", err)
	}
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, nil))
	r := newRing(t)
	r.WarnMissing([]string{r.Active()}, log)
	if text.Len() != 0 {
		t.Errorf("no key is missing: got %s", text.String())
	}
	none.WarnMissing([]string{r.Active()}, log)
	if !strings.Contains(text.String(), "master key missing") || !strings.Contains(text.String(), r.Active()) {
		t.Errorf("missing key: got %q", text.String())
	}
}
