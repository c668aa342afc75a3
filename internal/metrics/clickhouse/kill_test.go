package clickhouse_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"fanfare/internal/metrics/clickhouse/chtest"
	"fanfare/internal/store/pgtest"
)

// Codes of ClickHouse's errors.
const (
	codeReadOnly    = 164
	codeTooManyRows = 396
)

// TestQueriesAreLimited checks that a query can change nothing and that the server
// stops one with too many rows.
func TestQueriesAreLimited(t *testing.T) {
	t.Parallel()
	i := install(t, chtest.URL(t), pgtest.URL(t))
	i.must(i.replace(1, 2, 3))
	for _, text := range []string{"INSERT INTO facts_pair SELECT 'other'", "ALTER TABLE facts_base DELETE WHERE 1", "DROP TABLE facts_base", "CREATE TABLE more (id String) ENGINE = Memory"} {
		if code, err := i.Read(t.Context(), text, nil); code != codeReadOnly {
			t.Errorf("%s: got %v want code %d", text, err, codeReadOnly)
		}
	}
	limits := map[string]string{"max_result_rows": "2", "result_overflow_mode": "throw"}
	if code, err := i.Read(t.Context(), "SELECT clicks FROM facts_base", limits); code != codeTooManyRows {
		t.Errorf("three rows of two: got %v want code %d", err, codeTooManyRows)
	}
	i.wantClicks(6)
}

// TestCanceledQueryIsKilled cancels a query that the server has not answered yet.
// The server then gets a KILL QUERY with its id.
func TestCanceledQueryIsKilled(t *testing.T) {
	t.Parallel()
	facts := chtest.URL(t)
	server, err := url.Parse(strings.TrimPrefix(facts, "clickhouse+"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	waits := false
	waiting, killed := make(chan url.Values, 1), make(chan string, 1)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: server.Scheme, Host: server.Host})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := r.URL.Query()
		mu.Lock()
		wait := waits && values.Get("query_id") != ""
		mu.Unlock()
		if wait {
			// A server notices a closed connection after it has read the request.
			_, _ = io.Copy(io.Discard, r.Body)
			waiting <- values
			<-r.Context().Done()
			return
		}
		if text := values.Get("query"); strings.HasPrefix(text, "KILL") {
			// A busy server accepts the statement after the client has given up.
			answer := httptest.NewRecorder()
			proxy.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
			if answer.Code != http.StatusOK {
				t.Errorf("%s: got %s", text, answer.Body)
			}
			killed <- text
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	i := install(t, "clickhouse+"+front.URL+server.Path, pgtest.URL(t))
	i.must(i.replace(1))
	i.wantClicks(1)
	mu.Lock()
	waits = true
	mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := i.Query(ctx, everything())
		ended <- err
	}()
	query := <-waiting
	if query.Get("readonly") != "2" || query.Get("max_result_rows") == "" || query.Get("max_execution_time") == "" {
		t.Errorf("got %v want limits", query)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v want %v", err, context.Canceled)
	}
	if got, want := <-killed, "KILL QUERY WHERE query_id = '"+query.Get("query_id")+"' ASYNC"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
}
