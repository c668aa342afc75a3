package clickhouse

import "testing"

// ClusterStatements returns the statements that define and clean the tables of a
// cluster.
func ClusterStatements(t *testing.T) []string {
	t.Helper()
	a, err := parseAddress("clickhouse+http://host/facts?cluster=main")
	if err != nil {
		t.Fatal(err)
	}
	return append(definitions(a), removeText(a, 0, "slot IN (1, 2)"))
}
