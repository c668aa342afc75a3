package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Replica starts a server in a temporary folder that streams all changes of s.
// It answers reads. From then on s acknowledges a commit only after the replica
// has it on disk, so that a promoted replica lacks nothing that was
// acknowledged.
func (s *Server) Replica() (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	r, err := newServer("")
	if err != nil {
		return nil, err
	}
	if err := r.copyOf(s, bin); err != nil {
		text, _ := os.ReadFile(filepath.Join(r.dir, "log"))
		_ = r.shutdown(os.Kill)
		return nil, fmt.Errorf("start a replica of PostgreSQL: %w\n%s", err, text)
	}
	return r, nil
}

// copyOf copies the data of the primary, starts on it and waits until the
// primary waits for this replica.
func (s *Server) copyOf(primary *Server, bin string) error {
	if err := disown(s.dir); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	err = s.command(log, filepath.Join(bin, "pg_basebackup"), "-D", filepath.Join(s.dir, "data"), "-d", primary.URL(""),
		"--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync").Run()
	if err != nil {
		return fmt.Errorf("pg_basebackup: %w", err)
	}
	if err := s.start(bin, true); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if err := run(ctx, primary.URL(""), statement); err != nil {
			return err
		}
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	// The division by zero is an error while no replica is synchronous.
	for run(ctx, primary.URL(""), "SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != nil {
		select {
		case <-ctx.Done():
			return errors.New("the primary does not wait for the replica")
		case <-tick.C:
		}
	}
	return nil
}

// Promote makes a replica a server that accepts writes. Stop its primary first.
func (s *Server) Promote() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := run(ctx, s.URL(""), "SELECT 1 / pg_promote(true, 60)::int"); err != nil {
		return fmt.Errorf("promote the replica: %w", err)
	}
	return nil
}

// EitherURL returns the address of a database on s or on its replica, whichever
// accepts writes.
func (s *Server) EitherURL(database string, replica *Server) (string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("target_session_attrs", "read-write")
	u.Host, u.RawQuery = "127.0.0.1:"+s.port+",127.0.0.1:"+replica.port, q.Encode()
	return u.String(), nil
}
