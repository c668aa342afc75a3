package seal_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
)

// secrets are the sealed texts of two workspaces, and the key of all nodes.
type secrets struct {
	text    map[ident.ID]string
	noted   string
	failure error
}

func (s *secrets) Sealed(context.Context) ([]string, error) {
	return []string{s.text["wks_1"], s.text["wks_2"]}, s.failure
}

func (s *secrets) ReplaceMasterKey(_ context.Context, id string) error {
	s.noted = id
	return nil
}

func (s *secrets) workspaces(context.Context) ([]ident.ID, error) {
	return []ident.ID{"wks_1", "wks_2"}, nil
}

// sealed seals a secret per workspace.
func sealed(t *testing.T, r *seal.Ring) *secrets {
	t.Helper()
	s := &secrets{text: map[ident.ID]string{}}
	for _, id := range []ident.ID{"wks_1", "wks_2"} {
		text, err := r.Seal(seal.Context{Workspace: string(id), Record: "key", Field: "secret"}, secret.New("token"))
		if err != nil {
			t.Fatal(err)
		}
		s.text[id] = text
	}
	return s
}

// operator is the cause of a rotation.
var operator = record.Cause{Actor: record.Actor{Type: record.ActorSystem, Name: "operator"}}

func TestRotate(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	s, old := sealed(t, r), r.Active()
	rewrap := func(_ context.Context, cause record.Cause, id ident.ID) (int, error) {
		if cause.Actor != operator.Actor {
			t.Errorf("rewrap of %s: got the cause %+v want that of the rotation", id, cause)
		}
		text, err := r.Rewrap(s.text[id])
		s.text[id] = text
		return 1, err
	}
	rotate := func(rewraps ...seal.Rewrap) (seal.Rotated, error) {
		return seal.Rotation{Ring: r, Store: s, Rewraps: rewraps}.Rotate(t.Context(), operator)
	}

	failure := errors.New("database unavailable")
	out, err := rotate(seal.RewrapEach(s.workspaces, func(ctx context.Context, cause record.Cause, id ident.ID) (int, error) {
		if id == "wks_2" {
			return 0, failure
		}
		return rewrap(ctx, cause, id)
	}))
	if !errors.Is(err, failure) || out.Rewrapped != 1 || len(out.Dropped) != 0 || !r.Has(old) {
		t.Errorf("after a failure: got %+v, %v want 1 secret rewrapped and no key dropped", out, err)
	}
	if out, err := rotate(); err == nil || len(out.Dropped) != 0 || !r.Has(old) {
		t.Errorf("a secret that was not rewrapped: got %+v, %v want its key kept", out, err)
	}
	s.failure = failure
	if out, err := rotate(seal.RewrapEach(s.workspaces, rewrap)); !errors.Is(err, failure) || len(out.Dropped) != 0 || !r.Has(old) {
		t.Errorf("secrets that cannot be listed: got %+v, %v want all keys kept", out, err)
	}
	s.failure = nil
	if s.noted != "" {
		t.Errorf("after failures: got %s as the key of all nodes want none", s.noted)
	}

	before := r.IDs()
	out, err = rotate(seal.RewrapEach(s.workspaces, rewrap))
	if err != nil || out.Rewrapped != 2 || !slices.Equal(out.Dropped, before) || !slices.Equal(r.IDs(), []string{out.Active}) {
		t.Errorf("repeated: got %+v, %v and keys %v want only the new key", out, err, r.IDs())
	}
	if s.noted != out.Active {
		t.Errorf("key of all nodes: got %q want %s", s.noted, out.Active)
	}
	if used, err := (seal.Rotation{Ring: r, Store: s}).Used(t.Context()); err != nil || !slices.Equal(used, []string{out.Active}) {
		t.Errorf("used keys: got %v, %v want %s once", used, err, out.Active)
	}
}

// TestAccept makes the key of a node that of all nodes.
func TestAccept(t *testing.T) {
	t.Parallel()
	r, s := newRing(t), &secrets{noted: "0000000000000000"}
	id, err := seal.Rotation{Ring: r, Store: s}.Accept(t.Context())
	if err != nil || id != r.Active() || s.noted != id {
		t.Errorf("got %s, %v and %s noted want %s", id, err, s.noted, r.Active())
	}
}

// TestNoRing checks a server without a master key.
func TestNoRing(t *testing.T) {
	t.Parallel()
	r := newRing(t)
	s := sealed(t, r)
	none := seal.Rotation{Store: s}
	if _, err := none.Rotate(t.Context(), operator); err == nil || !strings.Contains(err.Error(), "--master-key") {
		t.Errorf("rotate: got %v want the setting that is missing", err)
	}
	if _, err := none.Accept(t.Context()); err == nil || !strings.Contains(err.Error(), "--master-key") || s.noted != "" {
		t.Errorf("accept: got %v and %q noted want the setting that is missing", err, s.noted)
	}
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, nil))
	if err := (seal.Rotation{Ring: r, Store: s}).WarnMissing(t.Context(), log); err != nil || text.Len() != 0 {
		t.Errorf("no key is missing: got %v, %s", err, text.String())
	}
	if err := none.WarnMissing(t.Context(), log); err != nil || strings.Count(text.String(), "master key missing") != 1 || !strings.Contains(text.String(), r.Active()) {
		t.Errorf("missing key: got %v, %q", err, text.String())
	}
}
