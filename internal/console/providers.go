package console

import (
	"context"

	"fanfare/internal/httpapi"
	"fanfare/internal/secret"
)

// maxModel and maxProviderKey are the maximum lengths of model names and API
// keys.
const (
	maxModel       = 200
	maxProviderKey = 4096
)

func (c *Console) listProviders(ctx context.Context, v *visit) (any, error) {
	list, err := c.Providers.List(ctx, v.workspace())
	if list == nil {
		list = []Provider{}
	}
	return list, err
}

// setProvider configures a language model at the vendor's own URL.
// Choice: only the operator can set another URL. The server calls models from
// its own network, and members must not make it send requests there.
func (c *Console) setProvider(ctx context.Context, v *visit) (any, error) {
	p := Provider{Kind: v.id, Scope: ScopeWorkspace}
	var key secret.Text
	if err := v.Read(func(f httpapi.Fields) {
		p.Settings.Model = f.Text("model", 1, maxModel)
		if image := f.TextOr("image_model", 0, maxModel); image != nil {
			p.Settings.ImageModel = *image
		}
		if first := f.Flag("default"); first != nil {
			p.Settings.Default = *first
		}
		key = secret.New(f.Text("api_key", 1, maxProviderKey))
	}); err != nil {
		return nil, err
	}
	if err := c.Providers.Set(ctx, v.cause(), p, key); err != nil {
		return nil, err
	}
	return c.listProviders(ctx, v)
}

func (c *Console) removeProvider(ctx context.Context, v *visit) (any, error) {
	if err := c.Providers.Remove(ctx, v.cause(), v.id); err != nil {
		return nil, err
	}
	return c.listProviders(ctx, v)
}
