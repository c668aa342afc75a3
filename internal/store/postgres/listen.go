package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/store"
)

const (
	// heartbeat bounds how long a dead connection goes unnoticed.
	heartbeat     = 15 * time.Second
	heartbeatWait = 5 * time.Second
	connectWait   = 10 * time.Second
)

// The lock of a database lasts as long as the connection of the listener. A
// process that has just ended may hold it for a moment longer, so connect waits.
// The number is used for nothing else in the database.
const (
	useShared = "SET lock_timeout = '5s'; SELECT pg_advisory_lock_shared(6442019531157043554)"
	useAlone  = "SET lock_timeout = '5s'; SELECT pg_advisory_lock(6442019531157043554)"
)

// listener receives the broadcast topics of all nodes, including those of this
// node, which is harmless. After a lost connection it passes
// store.TopicBroadcast+"all" to tell, because it may have missed any topic.
type listener struct {
	config *pgx.ConnConfig
	conn   *pgx.Conn
	// use takes the lock of the database, useShared or useAlone.
	use  string
	tell func(topics []string)
}

func (l *listener) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectWait)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return err
	}
	for _, text := range []string{l.use, "LISTEN " + channel} {
		if _, err := conn.Exec(ctx, text); err != nil {
			_ = conn.Close(ctx)
			return err
		}
	}
	l.conn = conn
	return nil
}

func (l *listener) runLoop(ctx context.Context) {
	for {
		l.receiveTopics(ctx)
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeatWait)
		_ = l.conn.Close(bye)
		cancel()
		for try := 1; ; try++ {
			if !pause(ctx, 50*time.Millisecond<<min(try, 6)) {
				return
			}
			if l.connect(ctx) == nil {
				break
			}
		}
		l.tell([]string{store.TopicBroadcast + "all"})
	}
}

// receiveTopics passes on notifications until the connection is lost or ctx
// ends.
func (l *listener) receiveTopics(ctx context.Context) {
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, heartbeat)
		n, err := l.conn.WaitForNotification(wait)
		silent := wait.Err() != nil
		cancel()
		switch {
		case err == nil:
			l.tell([]string{n.Payload})
		case ctx.Err() != nil || !silent || !l.alive(ctx):
			return
		}
	}
}

func (l *listener) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, heartbeatWait)
	defer cancel()
	return l.conn.Ping(ctx) == nil
}
