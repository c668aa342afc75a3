package chtest

import (
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Serve()
	code := m.Run()
	Stop()
	os.Exit(code)
}

func post(t *testing.T, address, query, body string) string {
	t.Helper()
	u, err := url.Parse(strings.TrimPrefix(address, "clickhouse+"))
	if err != nil {
		t.Fatal(err)
	}
	values := url.Values{"query": {query}, "database": {strings.Trim(u.Path, "/")}}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+u.Host+"/?"+values.Encode(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return send(t, req)
}

func send(t *testing.T, req *http.Request) string {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.Header.Get("X-ClickHouse-Exception-Code") + string(b)
}

// TestServer wants inserts of binary data, parameters in a form, and the codes of
// errors.
func TestServer(t *testing.T) {
	t.Parallel()
	a := URL(t)
	if got := post(t, a, "CREATE TABLE t (n UInt16) ENGINE = MergeTree ORDER BY n", ""); got != "" {
		t.Fatal(got)
	}
	// Two line feeds are a value like any other.
	if got := post(t, a, "INSERT INTO t FORMAT RowBinary", "\n\n\x01\x00"); got != "" {
		t.Fatal(got)
	}
	if got := post(t, a, "SELECT n FROM t ORDER BY n", ""); got != "1\n2570\n" {
		t.Errorf("got %q", got)
	}
	if got := post(t, URL(t), "SELECT n FROM t", ""); !strings.HasPrefix(got, "60") {
		t.Errorf("a table of another database: got %q want an error 60", got)
	}
	var form strings.Builder
	w := multipart.NewWriter(&form)
	for name, value := range map[string]string{"query": "SELECT arraySum({list:Array(UInt64)}), {text:String}", "param_list": "[1,2,3]", "param_text": "a\\nb'\x00"} {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(strings.TrimPrefix(a, "clickhouse+"))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+u.Host+"/?max_execution_time=10", strings.NewReader(form.String()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	if got := send(t, req); got != "6\ta\\nb\\'\\0\n" {
		t.Errorf("got %q", got)
	}
}
