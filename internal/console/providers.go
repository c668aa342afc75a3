package console

import (
	"context"

	"fanfare/internal/httpapi"
	"fanfare/internal/secret"
)

// maxModel and maxProviderKey bound what is said of a language model.
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

// setProvider sets a language model up, at the platform's own address.
// Choice: another address can only be set by the operator. The server asks
// models from inside its own network, where members must not send it.
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
