package creative

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"fanfare/internal/asset"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// mediaOf returns an asset as part of a variant.
func mediaOf(a *asset.Asset) Media {
	side := func(n *int) *int64 {
		if n == nil {
			return nil
		}
		v := int64(*n)
		return &v
	}
	return Media{
		AssetID: a.ID, URL: a.URL, MIMEType: a.MIMEType, Width: side(a.Width), Height: side(a.Height), Bytes: a.Bytes, SHA256: a.SHA256,
	}
}

// storeImage stores a generated image.
func (s *Service) storeImage(ctx context.Context, cause record.Cause, p *Picture) (Media, error) {
	d, err := s.Assets.Store(ctx, cause, asset.Picture{MIMEType: p.MIMEType, Width: p.Shape.Width, Height: p.Shape.Height, Bytes: p.Bytes})
	if err != nil {
		return Media{}, err
	}
	var a asset.Asset
	if err := json.Unmarshal(d.JSON, &a); err != nil {
		return Media{}, fmt.Errorf("read asset: %w", err)
	}
	return mediaOf(&a), nil
}

// media returns the assets with the given ids. It omits ids that do not exist.
func (s *Service) media(ctx context.Context, workspace ident.ID, ids []ident.ID) (map[ident.ID]Media, error) {
	list, err := s.Assets.ByID(ctx, workspace, ids)
	if err != nil {
		return nil, err
	}
	found := map[ident.ID]Media{}
	for _, a := range list {
		found[a.ID] = mediaOf(a)
	}
	return found, nil
}
