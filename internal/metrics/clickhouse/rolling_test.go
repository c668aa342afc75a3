package clickhouse_test

import (
	"testing"

	"fanfare/internal/fact"
	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/metrics/metricstest"
	"fanfare/internal/store/pgtest"
)

// TestRollingExpand runs a node of this release while one of a later release
// expands the tables of both databases: it goes on, with the statements that it has
// prepared. Another node of this release starts and dumps all facts.
func TestRollingExpand(t *testing.T) {
	t.Parallel()
	facts, lists := chtest.URL(t), pgtest.URL(t)
	i := install(t, facts, lists)
	metricstest.Compare(t, i.Engine, 1, 12, 8, func() {
		pgtest.Expand(t, lists, "fanfare_clickhouse")
		for _, family := range fact.Families {
			i.ask("ALTER TABLE facts_" + family + " ADD COLUMN future Int64 DEFAULT 7")
		}
	})
	facts, lists = chtest.URL(t), pgtest.URL(t)
	install(t, facts, lists)
	pgtest.Expand(t, lists, "fanfare_clickhouse")
	metricstest.Move(t, install(t, facts, lists).Engine, open(t))
}
