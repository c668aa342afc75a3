package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/account"
	"fanfare/internal/asset"
	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/llm/provider"
	"fanfare/internal/outbound"
	"fanfare/internal/record"
	"fanfare/internal/store"
)

// buildCreatives creates the creative service and its dependencies.
func (a *App) buildCreatives() error {
	c := a.config
	var err error
	// Choice: only the operator can set up a model, so a model's address may be
	// local or in a private network.
	if a.Providers, err = provider.New(a.DB.Providers(), a.ring, outbound.Trusted(), c.Now); err != nil {
		return err
	}
	fetch, err := newFetcher()
	if err != nil {
		return err
	}
	a.Creatives = creative.New(creative.Deps{
		Store: a.DB.Creatives(), Catalogue: a.Providers, Painter: provider.NewPainter(), Assets: &library{a.Assets, a.DB.Assets()},
		Fetch: fetch, Neighbours: &neighbours{a.Campaigns, a.Audiences, a.Accounts}, Figures: a.Analytics, Now: c.Now, Random: c.Random,
	})
	return nil
}

const (
	maxFetched = 5 << 20
	fetchTime  = 10 * time.Second
)

// newFetcher returns a function that downloads pictures, only from public
// addresses.
func newFetcher() (creative.Fetcher, error) {
	client, err := outbound.New(outbound.Options{Policy: outbound.Guarded(nil), Timeout: fetchTime, MaxBytes: maxFetched})
	if err != nil {
		return nil, fmt.Errorf("make client for pictures: %w", err)
	}
	return func(ctx context.Context, url string) ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, fmt.Errorf("fetch picture: %w", err)
		}
		res, err := client.Do(req)
		if err != nil {
			return nil, fmt.Errorf("fetch picture: %w", err)
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("fetch picture: got status %d", res.StatusCode)
		}
		b, err := io.ReadAll(res.Body)
		if err != nil {
			return nil, fmt.Errorf("fetch picture: %w", err)
		}
		return b, nil
	}, nil
}

// library gives creatives access to assets.
type library struct {
	assets *asset.Service
	store  *store.Assets
}

func mediaOf(a *asset.Asset) creative.Media {
	side := func(n *int) *int64 {
		if n == nil {
			return nil
		}
		v := int64(*n)
		return &v
	}
	return creative.Media{
		AssetID: a.ID, URL: a.URL, MIMEType: a.MIMEType, Width: side(a.Width), Height: side(a.Height), Bytes: a.Bytes, SHA256: a.SHA256,
	}
}

// Keep implements creative.Assets.
func (l *library) Keep(ctx context.Context, cause record.Cause, p *creative.Picture) (creative.Media, error) {
	d, err := l.assets.Keep(ctx, cause, asset.Picture{MIMEType: p.MIMEType, Width: p.Shape.Width, Height: p.Shape.Height, Bytes: p.Bytes})
	if err != nil {
		return creative.Media{}, err
	}
	var a asset.Asset
	if err := json.Unmarshal(d.JSON, &a); err != nil {
		return creative.Media{}, fmt.Errorf("read asset: %w", err)
	}
	return mediaOf(&a), nil
}

// Find implements creative.Assets.
func (l *library) Find(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]creative.Media, error) {
	list, err := l.store.ByID(ctx, workspace, ids)
	if err != nil {
		return nil, err
	}
	found := map[ident.ID]creative.Media{}
	for _, a := range list {
		found[a.ID] = mediaOf(a)
	}
	return found, nil
}

// Bytes implements creative.Assets.
func (l *library) Bytes(ctx context.Context, workspace, id ident.ID) ([]byte, error) {
	f, err := l.assets.Open(ctx, workspace, id)
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

// neighbours gives creatives access to related records.
type neighbours struct {
	campaigns *campaign.Service
	audiences *audience.Service
	accounts  *account.Service
}

// Campaign implements creative.Neighbours.
func (n *neighbours) Campaign(ctx context.Context, workspace, id ident.ID) (c creative.Context, there, archived bool, err error) {
	d, err := n.campaigns.Get(ctx, workspace, id)
	if err != nil {
		return c, false, false, absent(err)
	}
	var v campaign.Campaign
	if err := json.Unmarshal(d.JSON, &v); err != nil {
		return c, false, false, fmt.Errorf("read campaign: %w", err)
	}
	c.Channels = v.Channels
	if v.Objective != nil {
		c.Objective = *v.Objective
	}
	if v.Tracking != nil && v.Tracking.LandingURL != nil {
		c.LandingURL = *v.Tracking.LandingURL
	}
	return c, true, v.Status == campaign.StatusArchived, nil
}

// Audience implements creative.Neighbours.
func (n *neighbours) Audience(ctx context.Context, workspace, id ident.ID) (there, archived bool, err error) {
	d, err := n.audiences.Get(ctx, workspace, id)
	if err != nil {
		return false, false, absent(err)
	}
	var v audience.Audience
	if err := json.Unmarshal(d.JSON, &v); err != nil {
		return false, false, fmt.Errorf("read audience: %w", err)
	}
	return true, v.ArchivedAt != nil, nil
}

// absent returns nil for a not-found fault.
func absent(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Workspace implements creative.Neighbours.
func (n *neighbours) Workspace(ctx context.Context, workspace ident.ID) (creative.Rules, error) {
	w, err := n.accounts.Workspace(ctx, workspace)
	return creative.Rules{RequireApproval: w.RequireApproval, Budget: w.ModelBudget}, err
}
