package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/asset"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// openAssets gives the fixture a folder for files and the service over it.
func (w *Fixture) openAssets() {
	w.T.Helper()
	var err error
	w.Files, err = asset.OpenFolder(w.T.TempDir(), w.Clock.Now, rand.Reader)
	w.must(err)
	w.T.Cleanup(func() { _ = w.Files.Close() })
	w.LimitAssets(0)
}

// LimitAssets gives the fixture a service whose workspaces may have most bytes
// of pictures, 0 for any number.
func (w *Fixture) LimitAssets(most int64) {
	w.T.Helper()
	sealer, err := page.NewSealer([][]byte{make([]byte, page.KeySize)}, rand.Reader)
	w.must(err)
	w.Assets = asset.New(w.DB.Assets(), w.Files, func() *page.Sealer { return sealer }, nil, most, w.Clock.Now, rand.Reader)
}

// drawing is a picture with a text in it.
func drawing(text string) asset.Picture {
	return asset.Picture{MIMEType: asset.SVG, Width: 20, Height: 10, Bytes: []byte(`<svg xmlns="http://www.w3.org/2000/svg"><text>` + text + `</text></svg>`)}
}

// Keep stores a picture.
func (w *Fixture) Keep(text string) *asset.Asset {
	w.T.Helper()
	d, err := w.Assets.Store(w.T.Context(), w.Cause(), drawing(text))
	w.must(err)
	return assetOf(w.T, d)
}

func assetOf(t testing.TB, d record.Doc) *asset.Asset {
	t.Helper()
	a := &asset.Asset{}
	if err := json.Unmarshal(d.JSON, a); err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *Fixture) assetSteps() []Step {
	tries := 0
	var a *asset.Asset
	var idle []asset.Idle
	act := func(name string, f func(ctx context.Context, cause record.Cause) error) Step {
		return Step{name, false, func(ctx context.Context) error {
			tries++
			cause := w.Cause()
			cause.Idempotency = &record.Idempotency{Key: fmt.Sprintf("%s-%d", name, tries), Fingerprint: "f", Status: 200}
			return f(ctx, cause)
		}}
	}
	upload := func(ctx context.Context, cause record.Cause) error {
		d, err := w.Assets.Store(ctx, cause, drawing("Summer"))
		if err == nil {
			a = assetOf(w.T, d)
		}
		return err
	}
	return []Step{
		act("asset.upload", upload),
		act("asset.upload again", upload),
		act("asset.link", func(ctx context.Context, cause record.Cause) error {
			_, err := w.Assets.Link(ctx, cause, a.ID, "https://host/", Sent(w.T, "{}"))
			return err
		}),
		{"asset.touch", false, func(ctx context.Context) error {
			missing, err := w.DB.Assets().Touch(ctx, w.Workspace, []ident.ID{a.ID, "ast_none"})
			if err == nil && !slices.Equal(missing, []ident.ID{"ast_none"}) {
				err = fmt.Errorf("got %v missing", missing)
			}
			return err
		}},
		{"asset.used", false, func(ctx context.Context) error {
			used, err := w.DB.Assets().Used(ctx, w.Workspace, 1000)
			if err == nil && used != 1000 {
				err = fmt.Errorf("got %d bytes", used)
			}
			return err
		}},
		{"asset.sums", false, func(ctx context.Context) error {
			r, err := asset.Verify(ctx, w.DB.Assets(), w.Files)
			if err == nil && (r.Files == 0 || r.Missing+r.Damaged > 0) {
				err = fmt.Errorf("got %+v", r)
			}
			return err
		}},
		{"asset.idle", false, func(ctx context.Context) (err error) {
			idle, err = w.DB.Assets().Idle(ctx, w.Workspace, w.Now(), 10)
			return err
		}},
		{"asset.drop", false, func(ctx context.Context) error { return w.DB.Assets().Drop(ctx, w.Workspace, w.Now(), idle) }},
		{"asset.named", false, func(ctx context.Context) error {
			named, err := w.DB.Assets().Named(ctx, w.Workspace, []string{a.SHA256, "none"})
			if err == nil && len(named) > 0 {
				err = fmt.Errorf("got %v", named)
			}
			return err
		}},
		act("asset.upload what was dropped", upload),
	}
}

func recordsAssets(t *testing.T, w *Fixture) {
	other, _, _ := w.AddWorkspace("other@example.com")
	cause := w.Cause()
	cause.Idempotency = &record.Idempotency{Key: "k", Fingerprint: "f", Status: 201}
	d, err := w.Assets.Store(t.Context(), cause, drawing("one"))
	w.must(err)
	one := assetOf(t, d)
	audited := w.Int(`SELECT count(*) FROM audit WHERE workspace_id = $1`, string(w.Workspace))
	w.Clock.Advance(time.Hour)
	if again := w.Keep("one"); again.ID != one.ID || again.CreatedAt != one.CreatedAt {
		t.Errorf("the same bytes: got %+v want %+v", again, one)
	}
	w.Count(int64(w.Now()), `SELECT touched_at FROM asset WHERE workspace_id = $1`, string(w.Workspace))
	w.Count(audited, `SELECT count(*) FROM audit WHERE workspace_id = $1`, string(w.Workspace))
	answer, err := w.DB.StoredResponse(t.Context(), w.Workspace, "k")
	if err != nil || answer == nil || answer.Resource != one.ID || string(answer.Doc.JSON) != string(d.JSON) || answer.Doc.Version != 0 {
		t.Errorf("got answer %+v, %v", answer, err)
	}
	foreign := w.Cause()
	foreign.Workspace = other
	d, err = w.Assets.Store(t.Context(), foreign, drawing("one"))
	w.must(err)
	theirs := assetOf(t, d)
	if theirs.ID == one.ID || theirs.SHA256 != one.SHA256 {
		t.Errorf("the same bytes in another workspace: got %+v", theirs)
	}
	two := w.Keep("two")
	list, err := w.DB.Assets().ByID(t.Context(), w.Workspace, []ident.ID{two.ID, theirs.ID, "ast_none", one.ID})
	if err != nil || len(list) != 2 || list[0].ID != one.ID || list[1].ID != two.ID || list[0].WorkspaceID != w.Workspace {
		t.Errorf("got %v, %v", list, err)
	}
	if list, err := w.DB.Assets().ByID(t.Context(), w.Workspace, nil); err != nil || len(list) != 0 {
		t.Errorf("of no ids: got %v, %v", list, err)
	}
	if missing, err := w.DB.Assets().Touch(t.Context(), w.Workspace, []ident.ID{theirs.ID, two.ID}); err != nil || !slices.Equal(missing, []ident.ID{theirs.ID}) {
		t.Errorf("got %v missing, %v", missing, err)
	}
	if _, err := w.Assets.Link(t.Context(), w.Cause(), theirs.ID, "", Sent(t, "{}")); !fault.Is(err, fault.NotFound) {
		t.Errorf("a link to another workspace's: got %v want not_found", err)
	}
}

// recordsAssetSweep lets time pass over assets that are uploaded, uploaded again,
// referred to and touched.
func recordsAssetSweep(t *testing.T, w *Fixture) {
	forgotten, renewed, referred, touched := w.Keep("forgotten"), w.Keep("renewed"), w.Keep("referred"), w.Keep("touched")
	w.must(w.Raw.Write(store.Across(t.Context()), func(tx store.Tx) error {
		_, err := tx.Exec(`INSERT INTO ref (workspace_id, kind, value, record_id) VALUES ($1, 'asset_id', $2, 'crv_1')`, string(w.Workspace), string(referred.ID))
		return err
	}))
	there := func(what string, a *asset.Asset, record, file bool) {
		t.Helper()
		list, err := w.DB.Assets().ByID(t.Context(), w.Workspace, []ident.ID{a.ID})
		w.must(err)
		f, _, err := w.Files.Open(w.Workspace, a.SHA256)
		if err == nil {
			_ = f.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if got := len(list) == 1; got != record {
			t.Errorf("%s: got a record %v want %v", what, got, record)
		}
		if got := err == nil; got != file {
			t.Errorf("%s: got a file %v want %v", what, got, file)
		}
	}
	w.Clock.Advance(asset.IdleLife - time.Millisecond)
	w.Keep("renewed")
	_, err := w.DB.Assets().Touch(t.Context(), w.Workspace, []ident.ID{touched.ID})
	w.must(err)
	w.must(w.Assets.Sweep(t.Context()))
	there("before its time", forgotten, true, true)
	w.Clock.Advance(time.Millisecond)
	w.must(w.Assets.Sweep(t.Context()))
	there("forgotten", forgotten, false, true) // for backups that have begun
	for what, a := range map[string]*asset.Asset{"renewed": renewed, "referred": referred, "touched": touched} {
		there(what, a, true, true)
	}
	w.Clock.Advance(24*time.Hour + time.Millisecond)
	w.must(w.Assets.Sweep(t.Context()))
	there("a day later", forgotten, false, false)
	w.Clock.Advance(30 * 24 * time.Hour)
	for range 2 {
		w.must(w.Assets.Sweep(t.Context()))
		w.Clock.Advance(25 * time.Hour)
	}
	there("referred", referred, true, true)
	there("touched", touched, false, false)
	if again := w.Keep("forgotten"); again.ID == forgotten.ID {
		t.Error("an asset that was gone has its old id")
	}
}

// recordsAssetSweepRace lets references and the sweep run for the same assets: each
// asset is either found, and stays, or missing, and gone.
func recordsAssetSweepRace(t *testing.T, w *Fixture) {
	const many = 60
	assets := make([]*asset.Asset, many)
	for i := range assets {
		assets[i] = w.Keep(fmt.Sprint("picture ", i))
	}
	w.Clock.Advance(8 * 24 * time.Hour)
	before := clock.At(w.Clock.Now().Add(-asset.IdleLife))
	idle, err := w.DB.Assets().Idle(t.Context(), w.Workspace, before, many)
	if err != nil || len(idle) != many {
		t.Fatalf("got %d idle, %v", len(idle), err)
	}
	var kept atomic.Int64
	together(2*many, func(i int) {
		id := assets[i/2].ID
		if i%2 == 0 {
			if err := w.DB.Assets().Drop(t.Context(), w.Workspace, before, []asset.Idle{{ID: id}}); err != nil {
				t.Error(err)
			}
			return
		}
		missing, err := w.DB.Assets().Touch(t.Context(), w.Workspace, []ident.ID{id})
		if err != nil {
			t.Error(err)
		}
		if len(missing) > 0 {
			return
		}
		kept.Add(1)
		if list, err := w.DB.Assets().ByID(t.Context(), w.Workspace, []ident.ID{id}); err != nil || len(list) != 1 {
			t.Errorf("%s was found and is gone: %v, %v", id, list, err)
		}
	})
	w.Count(kept.Load(), `SELECT count(*) FROM asset WHERE workspace_id = $1`, string(w.Workspace))
}
