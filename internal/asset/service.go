package asset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fairqueue"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// Service implements the operations on assets.
type Service struct {
	store  Store
	files  Files
	sealer func() *page.Sealer
	now    func() time.Time
	random io.Reader
	// most is how many bytes the images of a workspace may have, 0 for any
	// number.
	most int64
	// large and small limit the concurrent decoding of images.
	large, small *fairqueue.Queue
}

// maxWait is how long an upload waits for its turn.
const maxWait = 20 * time.Second

// New returns the service. sealer returns the keys that encrypt links, founder
// finds whose workspaces share turns, most is how many bytes the images of a
// workspace may have, 0 for any number.
func New(store Store, files Files, sealer func() *page.Sealer, founder fairqueue.FounderOf, most int64, now func() time.Time, random io.Reader) *Service {
	return &Service{
		store: store, files: files, sealer: sealer, most: most, now: now, random: random,
		large: fairqueue.New(fairqueue.Limits{Work: "uploads of large images", Running: 1, PerWorkspace: 32}, founder),
		small: fairqueue.New(fairqueue.Limits{Work: "uploads of images", Running: max(runtime.GOMAXPROCS(0), 2), PerWorkspace: 128}, founder),
	}
}

// Upload sanitizes and stores an image. The same bytes return the same asset.
// Bytes that are not an image, or one that is too large, are a fault.
func (s *Service) Upload(ctx context.Context, cause record.Cause, b []byte) (record.Doc, error) {
	p, err := s.sanitize(ctx, cause.Workspace, b)
	if refused, ok := errors.AsType[*RejectedImageError](err); ok {
		return record.Doc{}, fault.New(fault.ValidationFailed, refused.Detail.Message, refused.Detail).Because(refused.cause)
	}
	if err != nil {
		return record.Doc{}, err
	}
	return s.Store(ctx, cause, p)
}

// sanitize waits for a turn, because an image of the maximum size takes up to
// 375 MB (a progressive JPEG) and a second of CPU, and a request needs only a
// few bytes for that.
func (s *Service) sanitize(ctx context.Context, workspace ident.ID, b []byte) (Picture, error) {
	queue := s.small
	if isLarge(b) {
		queue = s.large
	}
	leave, err := queue.Take(ctx, workspace, maxWait)
	if err != nil {
		return Picture{}, err
	}
	defer leave()
	return Sanitize(ctx, b)
}

// Store stores a safe image: a result of Sanitize, or a generated one. A
// workspace without room for it gets a fault with the detail StorageFull.
func (s *Service) Store(ctx context.Context, cause record.Cause, p Picture) (record.Doc, error) {
	sum := sha256.Sum256(p.Bytes)
	now := s.now()
	a := &Asset{
		WorkspaceID: cause.Workspace, ID: ident.New(ident.Asset, now, s.random), MIMEType: p.MIMEType, Bytes: int64(len(p.Bytes)),
		SHA256: hex.EncodeToString(sum[:]), CreatedBy: cause.Actor, CreatedAt: clock.At(now),
	}
	a.URL = Path(a.ID)
	if p.Width > 0 && p.Height > 0 {
		a.Width, a.Height = &p.Width, &p.Height
	}
	if err := s.checkRoom(ctx, a); err != nil {
		return record.Doc{}, err
	}
	// Write the file first: a record without a file would be an unreadable
	// asset, but Sweep removes a file without a record.
	if err := s.files.Put(a.WorkspaceID, a.SHA256, p.Bytes); err != nil {
		return record.Doc{}, fmt.Errorf("store asset: %w", err)
	}
	return s.store.Save(ctx, a, cause)
}

// StorageFull is the code of the detail of a workspace without room for one
// more image.
const StorageFull = "storage_full"

// leastBytes is what an image counts for at least, because a small one also
// needs a file and a record.
const leastBytes = 64 << 10

// checkRoom returns a fault if a workspace has no room for one more image. Bytes
// that are stored already need none.
//
// Choice: images that are stored at the same moment may exceed the limit
// together. The limit protects the disk, and they are few.
func (s *Service) checkRoom(ctx context.Context, a *Asset) error {
	if s.most == 0 {
		return nil
	}
	used, err := s.store.Used(ctx, a.WorkspaceID, leastBytes)
	if err != nil || used+max(a.Bytes, leastBytes) <= s.most {
		return err
	}
	if there, err := s.store.Named(ctx, a.WorkspaceID, []string{a.SHA256}); err != nil || there[a.SHA256] {
		return err
	}
	message := fmt.Sprintf("The pictures of this workspace use the %d MiB that a workspace may have. Ask the operator of the server to allow more (--max-asset-gib). Pictures that no creative refers to are removed after 7 days.", s.most>>20)
	return fault.New(fault.ValidationFailed, message, fault.Detail{In: "body", Code: StorageFull, Message: message, Meta: fault.Meta{"limit_bytes": s.most, "used_bytes": used}})
}

// Get returns the record of an asset.
func (s *Service) Get(ctx context.Context, workspace, id ident.ID) (*Asset, error) {
	list, err := s.store.ByID(ctx, workspace, []ident.ID{id})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fault.Missing()
	}
	return list[0], nil
}

// File is an asset with its bytes. The caller closes it.
type File struct {
	*Asset
	io.ReadCloser
}

// Open returns an asset and its bytes. A missing or damaged file is an
// internal_error fault.
func (s *Service) Open(ctx context.Context, workspace, id ident.ID) (*File, error) {
	a, err := s.Get(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	f, size, err := s.files.Open(workspace, a.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		err = errMissing(err)
	}
	if err == nil && size != a.Bytes {
		_ = f.Close()
		err = errDamaged(a.SHA256)
	}
	if err != nil {
		return nil, fmt.Errorf("open asset %s: %w", id, err)
	}
	return &File{a, f}, nil
}

// ByID returns the assets that exist, ordered by id.
func (s *Service) ByID(ctx context.Context, workspace ident.ID, ids []ident.ID) ([]*Asset, error) {
	return s.store.ByID(ctx, workspace, ids)
}

// Bytes returns the bytes of an asset.
func (s *Service) Bytes(ctx context.Context, workspace, id ident.ID) ([]byte, error) {
	f, err := s.Open(ctx, workspace, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read asset: %w", err)
	}
	return b, nil
}

// Link returns a URL below base that works without an API key for as long as the
// body says.
func (s *Service) Link(ctx context.Context, cause record.Cause, id ident.ID, base string, sent *body.Value) (record.Doc, error) {
	if _, err := s.Get(ctx, cause.Workspace, id); err != nil {
		return record.Doc{}, err
	}
	f := body.NewReader(sent, false)
	life := readLinkLife(f)
	if err := f.Err(); err != nil {
		return record.Doc{}, err
	}
	now := clock.At(s.now())
	l := SignedURL{ExpiresAt: now.Add(life)}
	l.URL = base + s.sealToken(cause.Workspace, id, l.ExpiresAt)
	b, err := json.Marshal(l, json.Deterministic(true))
	if err != nil {
		return record.Doc{}, fmt.Errorf("encode link: %w", err)
	}
	d := record.Doc{JSON: b}
	return d, s.store.Linked(ctx, id, d, now, cause)
}

// OpenLink opens the asset of a link. Expired links, changed links and links to
// missing assets return the same fault.
func (s *Service) OpenLink(ctx context.Context, token string) (*File, error) {
	workspace, id, expires, ok := s.openToken(token)
	if !ok || expires <= clock.At(s.now()) {
		return nil, fault.Missing()
	}
	return s.Open(ctx, workspace, id)
}
