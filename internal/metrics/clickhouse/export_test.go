package clickhouse

import (
	"context"
	"errors"
	"testing"
)

// Read runs a query with more settings and returns the code of the server's error,
// 0 for none.
func (e *Engine) Read(ctx context.Context, text string, limits map[string]string) (code int, err error) {
	body, err := e.facts.queryLimited(ctx, text, nil, limits)
	if failed := (*serverError)(nil); errors.As(err, &failed) {
		return failed.code, err
	}
	if err == nil {
		err = body.Close()
	}
	return 0, err
}

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
