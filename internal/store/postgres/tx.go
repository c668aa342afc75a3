package postgres

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fanfare/internal/store"
)

// channel is the one that all nodes listen to.
const channel = "fanfare"

// tx implements store.Tx. After the first error every statement returns that
// error, since PostgreSQL refuses them all anyway.
type tx struct {
	ctx context.Context
	c   *pgx.Conn
	err error
	// cause is the error of the statement that failed, as the driver gave it.
	cause  error
	topics []string
}

func (t *tx) Exec(query string, args ...any) (int64, error) {
	if t.err != nil {
		return 0, t.err
	}
	if err := check(args); err != nil {
		return 0, t.failed(err)
	}
	tag, err := t.c.Exec(t.ctx, query, args...)
	return tag.RowsAffected(), t.failed(err)
}

func (t *tx) Query(query string, args ...any) (*store.Rows, error) {
	if t.err != nil {
		return nil, t.err
	}
	r, err := queryRows(t.ctx, t.c, query, args)
	return r, t.failed(err)
}

func (t *tx) Script(text string) error {
	if t.err != nil {
		return t.err
	}
	_, err := t.c.PgConn().Exec(t.ctx, text).ReadAll()
	return t.failed(err)
}

func (t *tx) Touch(topic string) { t.topics = append(t.topics, topic) }

func (t *tx) failed(err error) error {
	if err != nil {
		t.cause = err
		t.err = classify(t.ctx, err, t.c.IsClosed())
	}
	return t.err
}

// notify sends the broadcast topics with the commit. PostgreSQL lets such
// commits happen one at a time in the whole server, so they should be few.
func (t *tx) notify() error {
	var topics []string
	for _, topic := range t.topics {
		if strings.HasPrefix(topic, store.TopicBroadcast) && !slices.Contains(topics, topic) {
			topics = append(topics, topic)
		}
	}
	if len(topics) == 0 {
		return nil
	}
	_, err := t.c.Exec(t.ctx, "SELECT pg_notify('"+channel+"', topic) FROM unnest($1::text[]) AS topic", topics)
	if err != nil {
		t.cause = err
	}
	return classify(t.ctx, err, t.c.IsClosed())
}
