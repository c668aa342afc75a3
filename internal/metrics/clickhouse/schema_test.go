package clickhouse

import (
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	a, err := parseAddress("clickhouse+https://ann:pass%2Fword@example.com:8443/facts?cluster=main")
	if err != nil || a.server != "https://example.com:8443/" || a.database != "facts" || a.user != "ann" || a.password.Reveal() != "pass/word" || a.cluster != "main" {
		t.Errorf("got %+v, %v", a, err)
	}
	if a, err = parseAddress("clickhouse+http://localhost:8123"); err != nil || a.database != "default" || a.cluster != "" {
		t.Errorf("got %+v, %v", a, err)
	}
	for _, raw := range []string{
		"", "http://host/", "clickhouse://host/", "clickhouse+ftp://host/", "clickhouse+http:///x", "clickhouse+http://ann:sesame@host:x/", "clickhouse+http://host/a b",
		"clickhouse+http://host/a`b", "clickhouse+http://host/a?cluster=a'b", "clickhouse+http://host/a?replicas=2",
	} {
		if _, err := parseAddress(raw); err == nil {
			t.Errorf("%q: got no error", raw)
		} else if strings.Contains(err.Error(), "sesame") {
			t.Errorf("%q: the error has the password: %v", raw, err)
		}
	}
}
