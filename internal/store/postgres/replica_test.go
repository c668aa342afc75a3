package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"fanfare/internal/pgdriver"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
)

// TestCommitWithoutReplica commits while the primary waits for a replica that is
// gone. When that wait is canceled, PostgreSQL reports success, although a
// promoted replica would lack the transaction.
func TestCommitWithoutReplica(t *testing.T) {
	t.Parallel()
	primary, err := pgtest.Start("", true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = primary.Stop() }()
	url, err := primary.CreateDatabase("records")
	if err != nil {
		t.Fatal(err)
	}
	replica, err := primary.Replica()
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, url)
	write(t, e, script("CREATE TABLE t (n BIGINT)"))
	if err := replica.Kill(); err != nil {
		t.Fatal(err)
	}
	stop := cancelWaits(t, primary.URL(""))
	defer stop()
	if err := e.Write(t.Context(), script("INSERT INTO t VALUES (1)")); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, pgdriver.ErrNotReplicated) {
		t.Errorf("got %v want an unknown outcome", err)
	}
	config, err := pgdriver.ParseURL(url, 1)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	insert := func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO t VALUES (2)")
		return err
	}
	if err := pgdriver.Transact(t.Context(), pool, insert); !errors.Is(err, pgdriver.ErrNotReplicated) || !pgdriver.Lost(err) {
		t.Errorf("got %v want an unknown outcome", err)
	}
}

// cancelWaits cancels every wait for a replica, as the end of commitWait does,
// only sooner.
func cancelWaits(t *testing.T, url string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for err == nil && pause(ctx, 20*time.Millisecond) {
			_, err = c.Exec(ctx, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		}
	}()
	return func() {
		cancel()
		<-ended
		_ = c.Close(context.WithoutCancel(ctx))
	}
}
