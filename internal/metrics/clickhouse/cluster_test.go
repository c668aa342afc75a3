package clickhouse_test

import (
	"strings"
	"testing"

	"fanfare/internal/metrics/clickhouse"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/store/pgtest"
)

// TestClusterDefinitions wants the statements for a cluster to be ClickHouse's
// SQL, and facts to be distributed by workspace. There is no cluster to run them.
func TestClusterDefinitions(t *testing.T) {
	t.Parallel()
	i := install(t, chtest.URL(t), pgtest.URL(t))
	for _, text := range clickhouse.ClusterStatements(t) {
		tree := i.ask("EXPLAIN AST " + text)
		if strings.Contains(text, "facts_base") && strings.Contains(text, "Distributed") && !strings.Contains(text, "Distributed(main, facts, facts_base_stored, workspace)") {
			t.Errorf("not distributed by workspace: %s", text)
		}
		if tree == "" {
			t.Errorf("%s: got no tree", text)
		}
	}
}
