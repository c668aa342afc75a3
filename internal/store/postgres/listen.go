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

// listener receives the broadcast topics of all nodes, including those of this
// node, which is harmless. After a lost connection it passes
// store.TopicBroadcast+"all" to tell, because it may have missed any topic.
type listener struct {
	config *pgx.ConnConfig
	conn   *pgx.Conn
	tell   func(topics []string)
}

func (l *listener) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectWait)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		_ = conn.Close(ctx)
		return err
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
