package creative

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// VariantsWithMetrics returns Variants with metrics.
func (s *Service) VariantsWithMetrics(ctx context.Context, workspace, id ident.ID, q page.Query) (page.Page, error) {
	p, err := s.Variants(ctx, workspace, id, q)
	if err != nil || len(p.Docs) == 0 {
		return p, err
	}
	c, err := s.Store.Load(ctx, workspace, id)
	if err != nil {
		return p, err
	}
	list := make([]ident.ID, len(p.Docs))
	for i, d := range p.Docs {
		var v struct {
			ID ident.ID `json:"id"`
		}
		if err := json.Unmarshal(d.JSON, &v); err != nil {
			return p, fmt.Errorf("read variant: %w", err)
		}
		list[i] = v.ID
	}
	var found map[ident.ID]fact.VariantMetrics
	if s.Metrics != nil {
		if found, err = s.Metrics.Variants(ctx, workspace, id); err != nil {
			return p, fmt.Errorf("look up metrics of %s: %w", id, err)
		}
	}
	for i, v := range list {
		// Choice: platforms report ads, so a variant has the metrics of the ads
		// linked to it. Metrics of ads linked to the creative belong to no
		// variant, unless the creative has only one.
		if c.VariantCount == 1 {
			v = id
		}
		if p.Docs[i], err = withMetrics(p.Docs[i], found[v]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// noMetrics is the metrics member of a stored variant. Text in a document
// cannot match it, because its quotes are escaped.
var noMetrics = []byte(`"metrics":null`)

// withMetrics returns the variant document with its metrics.
func withMetrics(d record.Doc, m fact.VariantMetrics) (record.Doc, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return d, fmt.Errorf("encode metrics: %w", err)
	}
	d.JSON = bytes.Replace(d.JSON, noMetrics, append([]byte(`"metrics":`), b...), 1)
	return d, nil
}
