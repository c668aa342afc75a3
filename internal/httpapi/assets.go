package httpapi

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"fanfare/internal/asset"
	"fanfare/internal/ident"
)

// assetRoutes returns the operations on assets.
func (a *API) assetRoutes() []route {
	const one = "/v1/assets/{id}"
	return []route{
		{method: http.MethodPost, pattern: "/v1/assets", operation: "uploadAsset", handle: a.uploadAsset, body: pictureBody},
		{method: http.MethodGet, pattern: one, operation: "getAsset", handle: a.getAsset, answers: pictureTypes},
		{method: http.MethodPost, pattern: one + "/link", operation: "linkAsset", handle: a.linkAsset, body: optionalBody, exists: a.assetExists},
	}
}

// uploadTypes are the accepted Content-Types of an upload. The bytes decide the
// actual type.
var uploadTypes = []string{"application/octet-stream", asset.PNG, asset.JPEG, "image/gif", "image/webp", asset.SVG}

// pictureTypes are the media types of asset responses.
var pictureTypes = []string{asset.PNG, asset.JPEG, asset.SVG}

// Headers of image responses. The policy blocks scripts and outside resources
// of an SVG but allows its inline styles.
var (
	hImmutable = []string{"private, max-age=31536000, immutable"}
	hSandbox   = []string{"default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"}
)

func (a *API) uploadAsset(ctx context.Context, r *request) (response, error) {
	d, err := a.Assets.Upload(ctx, r.idempotentCause(http.StatusCreated), r.body)
	if err != nil {
		return response{}, err
	}
	return r.created(d, d.ID()), nil
}

func (a *API) getAsset(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(ident.Asset)
	if err != nil {
		return response{}, err
	}
	f, err := a.Assets.Open(ctx, r.caller.Workspace.ID, id)
	if err != nil {
		return response{}, err
	}
	return response{file: f}, nil
}

func (a *API) assetExists(ctx context.Context, r *request) error {
	id, err := r.recordID(ident.Asset)
	if err != nil {
		return err
	}
	_, err = a.Assets.Get(ctx, r.caller.Workspace.ID, id)
	return err
}

func (a *API) linkAsset(ctx context.Context, r *request) (response, error) {
	id, err := r.recordID(ident.Asset)
	if err != nil {
		return response{}, err
	}
	d, err := a.Assets.Link(ctx, r.idempotentCause(http.StatusOK), id, a.Origin(r.http)+linkPath, &r.object)
	return found(d), err
}

// linkPattern is the route of asset links; linkPath is the part before the
// token.
const (
	linkPattern = linkPath + "{token}"
	linkPath    = "/assets/"
)

// linkToken returns the token of a link's path.
func linkToken(path string) (token string, ok bool) {
	token, ok = strings.CutPrefix(path, linkPath)
	return token, ok && token != "" && !strings.Contains(token, "/")
}

// followLink sends the asset of a link. The token authenticates the request.
func (a *API) followLink(r *request, token string) error {
	ctx, cancel := context.WithTimeout(r.http.Context(), a.TimeLimit)
	defer cancel()
	f, err := a.Assets.OpenLink(ctx, token)
	if err != nil {
		return err
	}
	r.sendFile(f)
	return nil
}

// sendFile sends the bytes of an asset and closes the file.
func (r *request) sendFile(f *asset.File) {
	defer func() { _ = f.Close() }()
	h := r.w.Header()
	h["Cache-Control"], h["Content-Security-Policy"] = hImmutable, hSandbox
	r.header(h, 1, "Etag", f.ETag())
	if noneMatch(r.http.Header["If-None-Match"], f.ETag()) {
		r.head(http.StatusNotModified)
		return
	}
	h["Content-Type"] = []string{f.MIMEType}
	r.header(h, 2, "Content-Length", strconv.FormatInt(f.Bytes, 10))
	r.head(http.StatusOK)
	if r.http.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(r.w, f); err != nil {
		// Content-Length is sent already, so an aborted connection shows the
		// client that the body is incomplete.
		panic(http.ErrAbortHandler)
	}
}
