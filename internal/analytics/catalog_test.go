package analytics

import (
	"slices"
	"testing"

	"fanfare/internal/fact"
)

// TestCatalogIsComplete checks that the catalog defines every metric that
// other packages know by name, in the same order.
func TestCatalogIsComplete(t *testing.T) {
	t.Parallel()
	var names []string
	for _, m := range Metrics {
		names = append(names, m.Name)
	}
	if !slices.Equal(names, fact.Metrics) {
		t.Errorf("got %v want %v", names, fact.Metrics)
	}
}
