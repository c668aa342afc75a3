package httpapi

import (
	"context"
	"net/http"
)

// brandKitRoutes returns the operations on the brand kit of the workspace.
func (a *API) brandKitRoutes() []route {
	const one = "/v1/brand-kit"
	return []route{
		{method: http.MethodGet, pattern: one, operation: "getBrandKit", handle: a.getBrandKit},
		{method: http.MethodPut, pattern: one, operation: "setBrandKit", handle: a.setBrandKit, body: jsonBody},
	}
}

func (a *API) getBrandKit(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	d, err := a.Creatives.BrandKit(ctx, r.caller.Workspace.ID)
	return brandKit(d.JSON, d.ETag()), err
}

func (a *API) setBrandKit(ctx context.Context, r *request) (response, error) {
	d, err := a.Creatives.SetBrandKit(ctx, r.cause(), r.match(), &r.object)
	return brandKit(d.JSON, d.ETag()), err
}

// brandKit returns the response with a kit. The one that was never set has an
// ETag too, so that two callers do not both set the first.
func brandKit(doc []byte, etag string) response {
	return response{status: http.StatusOK, data: doc, etag: etag}
}
