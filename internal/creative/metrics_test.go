package creative_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/store"
)

// fakeMetrics has the metrics of ads.
type fakeMetrics struct {
	known map[ident.ID]fact.VariantMetrics
	asked []string
}

// Variants implements creative.MetricsSource.
func (f *fakeMetrics) Variants(_ context.Context, workspace, id ident.ID) (map[ident.ID]fact.VariantMetrics, error) {
	f.asked = append(f.asked, fmt.Sprint(workspace, id))
	return f.known, nil
}

// withMetrics reads the metrics of all variants, and checks that nothing else
// differs from a plain list.
func withMetrics(t *testing.T, c *fixture, id string) (list []string) {
	t.Helper()
	q := page.Query{Sort: "position", Limit: 100}
	plain, err := c.Creatives.Variants(t.Context(), c.Workspace, ident.ID(id), q)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Creatives.VariantsWithMetrics(t.Context(), c.Workspace, ident.ID(id), q)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range p.Docs {
		var got, bare map[string]json.RawMessage
		for _, doc := range []struct {
			json []byte
			to   *map[string]json.RawMessage
		}{{d.JSON, &got}, {plain.Docs[i].JSON, &bare}} {
			if err := json.Unmarshal(doc.json, doc.to); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, string(got["metrics"]))
		want(t, "metrics of a plain list", "null", string(bare["metrics"]))
		delete(got, "metrics")
		delete(bare, "metrics")
		want(t, "everything else", bare, got)
		want(t, "stamp", plain.Docs[i].Stamp, d.Stamp)
	}
	return list
}

const unknown = `{"impressions":null,"clicks":null,"ctr":null,"conversions":null,"cvr":null,"spend":null,"cpa":null}`

// TestVariantMetrics checks that each variant has the metrics of its own ads,
// and a single variant those of the creative.
func TestVariantMetrics(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	one, three := generate(c, `{"prompt":"Mountain tea with \"metrics\":null","variants":1}`).OK().ID(), generate(c, `{"prompt":"Mountain tea, hand-picked, 20% off until Sunday, for students. Rated 4.8 by 2,000 customers. Brewed in two minutes.","variants":3,"seed":1}`).OK().ID()
	c.Creatives.Metrics = &fakeMetrics{}
	want(t, "without metrics", []string{unknown, unknown, unknown}, withMetrics(t, c, three))
	list := variants(c, three)
	f := &fakeMetrics{known: map[ident.ID]fact.VariantMetrics{
		ident.ID(one): {Impressions: fact.Whole(7)}, ident.ID(three): {Impressions: fact.Whole(9)},
		list[1].ID: {
			Impressions: fact.Whole(1000), Clicks: fact.Whole(20), CTR: fact.Millionths(20_000), Conversions: fact.Millionths(2_500_000),
			CVR: fact.Millionths(125_000), Spend: fact.Millionths(12_340_000), CPA: fact.Millionths(4_936_000),
		},
	}}
	c.Creatives.Metrics = f
	want(t, "of three", []string{unknown, `{"impressions":1000,"clicks":20,"ctr":0.02,"conversions":2.5,"cvr":0.125,"spend":12.34,"cpa":4.936}`, unknown}, withMetrics(t, c, three))
	want(t, "of an only one", []string{`{"impressions":7,"clicks":null,"ctr":null,"conversions":null,"cvr":null,"spend":null,"cpa":null}`}, withMetrics(t, c, one))
	want(t, "what was asked", fmt.Sprint(c.Workspace, three), f.asked[0])
	if _, err := c.Creatives.VariantsWithMetrics(t.Context(), c.another().Workspace, ident.ID(one), page.Query{Sort: "position", Limit: 1}); err == nil {
		t.Error("got variants of another workspace's creative want none")
	}
}

// TestVariantMetricsOfOldDocuments reads variants that were stored without
// metrics.
func TestVariantMetricsOfOldDocuments(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	id := generate(c, `{"prompt":"Mountain tea, hand-picked, 20% off until Sunday, for students. Rated 4.8 by 2,000 customers. Brewed in two minutes.","variants":2,"seed":1}`).OK().ID()
	err := c.Raw.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(`UPDATE variant SET shape = 1, checksum = NULL, doc = replace(doc, ',"metrics":null', '') WHERE workspace_id = $1`, string(c.Workspace))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Creatives.Metrics = &fakeMetrics{}
	want(t, "metrics", []string{unknown, unknown}, withMetrics(t, c, id))
}
