package sqlite

import "fanfare/internal/store"

// tx implements store.Tx. After the first error every statement returns that
// error, as in PostgreSQL, so that no caller continues a partial transaction.
type tx struct {
	c      *conn
	err    error
	topics []string
}

func (t *tx) Exec(query string, args ...any) (int64, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.c.exec(query, args...)
	t.err = err
	return n, err
}

func (t *tx) Query(query string, args ...any) (*store.Rows, error) {
	if t.err != nil {
		return nil, t.err
	}
	r, err := t.c.query(query, args...)
	t.err = err
	return r, err
}

func (t *tx) Script(text string) error {
	if t.err == nil {
		t.err = t.c.script(text)
	}
	return t.err
}

func (t *tx) Touch(topic string) { t.topics = append(t.topics, topic) }
