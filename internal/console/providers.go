package console

import (
	"context"

	"fanfare/internal/creative"
	"fanfare/internal/httpapi"
	"fanfare/internal/secret"
)

// maxModel and maxProviderKey are the maximum lengths of model names and API
// keys.
const (
	maxModel       = 200
	maxProviderKey = 4096
)

// providerView is a language model as the console shows it. Scope is
// scopeWorkspace for the workspace's own, or scopeServer for all workspaces.
type providerView struct {
	Kind     string               `json:"kind"`
	Name     string               `json:"name"`
	Scope    string               `json:"scope"`
	Settings providerSettingsView `json:"settings"`
}

type providerSettingsView struct {
	BaseURL    string `json:"base_url"`
	Model      string `json:"model"`
	ImageModel string `json:"image_model"`
	Default    bool   `json:"default"`
	// Priced is true if the price of the model is known.
	Priced bool `json:"priced"`
}

const (
	scopeWorkspace = "workspace"
	scopeServer    = "server"
)

// vendorNames are the display names of model vendors.
var vendorNames = map[string]string{"openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Google Gemini"}

func (c *Console) listProviders(ctx context.Context, v *consoleRequest) (any, error) {
	found, err := c.Providers.List(ctx, v.workspace())
	list := make([]providerView, len(found))
	for i, p := range found {
		list[i] = providerView{
			Kind: p.Kind, Name: vendorNames[p.Kind], Scope: scopeWorkspace,
			Settings: providerSettingsView{BaseURL: p.BaseURL, Model: p.Model, ImageModel: p.ImageModel, Default: p.Default, Priced: p.Priced},
		}
		if p.WorkspaceID == "" {
			// Only the operator may see the URLs of the operator's models.
			list[i].Scope, list[i].Settings.BaseURL = scopeServer, ""
		}
	}
	return list, err
}

// setProvider configures a language model at the vendor's own URL.
// Choice: only the operator can set another URL. The server calls models from
// its own network, and members must not make it send requests there.
func (c *Console) setProvider(ctx context.Context, v *consoleRequest) (any, error) {
	var settings creative.ModelSettings
	var key secret.Text
	if err := v.Read(func(f httpapi.Fields) {
		settings.Model = f.Text("model", 1, maxModel)
		if image := f.TextOr("image_model", 0, maxModel); image != nil {
			settings.ImageModel = *image
		}
		if first := f.Flag("default"); first != nil {
			settings.Default = *first
		}
		key = secret.New(f.Text("api_key", 1, maxProviderKey))
	}); err != nil {
		return nil, err
	}
	if _, err := c.Providers.Set(ctx, v.cause(), v.workspace(), v.id, settings, key); err != nil {
		return nil, err
	}
	return c.listProviders(ctx, v)
}

func (c *Console) removeProvider(ctx context.Context, v *consoleRequest) (any, error) {
	if err := c.Providers.Remove(ctx, v.cause(), v.workspace(), v.id); err != nil {
		return nil, err
	}
	return c.listProviders(ctx, v)
}
