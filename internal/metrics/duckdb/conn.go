package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

const (
	maxIdle       = 16
	maxStatements = 64
)

var errClosed = errors.New("the facts are closed")

// conn is a connection with its prepared statements. It replaces database/sql,
// which copies every value once more and cannot use the appender in a
// transaction.
type conn struct {
	*duckdb.Conn
	statements map[string]*duckdb.Stmt
	plans      map[string]plannedStatement
}

// plannedStatement is a statement without parameters, and the change count at
// which it was planned. A text seen once has no statement yet.
type plannedStatement struct {
	*duckdb.Stmt
	changes int64
}

// Close closes the statement, if it has one.
func (p plannedStatement) Close() error {
	if p.Stmt == nil {
		return nil
	}
	return p.Stmt.Close()
}

// prepared returns a statement; done must be called after use. Statements with
// parameters are cached, because DuckDB plans them on each run. Others are not,
// because their plan becomes wrong when the statistics of the table change
// (DuckDB issue 23704); see planned.
func (c *conn) prepared(ctx context.Context, text string, keep bool) (s *duckdb.Stmt, done func() error, err error) {
	nothing := func() error { return nil }
	if s := c.statements[text]; s != nil {
		return s, nothing, nil
	}
	made, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare: %w", err)
	}
	s = made.(*duckdb.Stmt)
	if !keep {
		return s, s.Close, nil
	}
	if err := evict(c.statements, maxStatements); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	c.statements[text] = s
	return s, nothing, nil
}

// evict closes arbitrary statements until there are fewer than most.
func evict[T io.Closer](kept map[string]T, most int) (err error) {
	for text, s := range kept {
		if len(kept) < most {
			break
		}
		delete(kept, text)
		err = errors.Join(err, s.Close())
	}
	return err
}

// planned returns a statement without parameters. It returns nil on the first
// call for a text. The plan is reused until the next change, because dashboards
// repeat queries and planning takes as long as the rest of a small query.
func (c *conn) planned(ctx context.Context, text string, changes int64) (*duckdb.Stmt, error) {
	p, there := c.plans[text]
	switch {
	case !there:
		if err := evict(c.plans, maxStatements); err != nil {
			return nil, err
		}
		c.plans[text] = plannedStatement{}
		return nil, nil
	case p.Stmt != nil && p.changes == changes:
		return p.Stmt, nil
	}
	c.plans[text] = plannedStatement{}
	if err := p.Close(); err != nil {
		return nil, err
	}
	made, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	p = plannedStatement{made.(*duckdb.Stmt), changes}
	c.plans[text] = p
	return p.Stmt, nil
}

func (c *conn) close() error {
	return errors.Join(evict(c.statements, 0), evict(c.plans, 0), c.Close())
}

// named numbers arguments. Text in the file is always UTF-8, so an argument that
// is not matches nothing.
func named(args []any) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, v := range args {
		if s, ok := v.(string); ok {
			v = strings.ToValidUTF8(s, "\uFFFD")
		}
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return list
}

// exec runs one statement and returns how many rows it changed.
func (c *conn) exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	s, done, err := c.prepared(ctx, text, len(args) > 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	r, err := s.ExecContext(ctx, named(args))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query calls each with every row. The row is reused for the next one.
func (c *conn) query(ctx context.Context, each func(row []driver.Value) error, text string, args ...any) error {
	return c.queryIn(ctx, runDirectly, each, text, args...)
}

// runDirectly calls f in this goroutine.
func runDirectly(f func() error) error { return f() }

// queryIn is query with a statement that in runs, such as withLowPriority. It
// reads the rows in this goroutine.
func (c *conn) queryIn(ctx context.Context, in func(func() error) error, each func(row []driver.Value) error, text string, args ...any) (err error) {
	s, done, err := c.prepared(ctx, text, len(args) > 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return readRows(ctx, in, each, s, args)
}

// readRows runs a statement with in and calls each with every row of its
// result.
func readRows(ctx context.Context, in func(func() error) error, each func(row []driver.Value) error, s *duckdb.Stmt, args []any) (err error) {
	var rows driver.Rows
	if err := in(func() (err error) { rows, err = s.QueryContext(ctx, named(args)); return err }); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// inTransaction commits the changes of f, or rolls back if f fails.
func (c *conn) inTransaction(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A canceled BEGIN may still have started a transaction, which the next user
	// of the connection would be in. So neither BEGIN nor the end is canceled.
	whole := context.WithoutCancel(ctx)
	if _, err := c.exec(whole, `BEGIN TRANSACTION`); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := f(); err != nil {
		_, back := c.exec(whole, `ROLLBACK`)
		return errors.Join(err, back)
	}
	if _, err := c.exec(whole, `COMMIT`); err != nil {
		// The transaction may still be open; the next user must not be in it.
		_, _ = c.exec(whole, `ROLLBACK`)
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// appendTo adds rows to a table. fill sets the values of a row, which is reused
// for the next one.
func (c *conn) appendTo(ctx context.Context, catalog, table string, rows, columns int, fill func(i int, row []driver.Value)) (err error) {
	if rows == 0 {
		return nil
	}
	a, err := duckdb.NewAppender(c.Conn, catalog, "", table)
	if err != nil {
		return fmt.Errorf("append to %s: %w", table, err)
	}
	defer func() {
		if closing := a.CloseWithCancel(ctx); err == nil && closing != nil {
			err = fmt.Errorf("append to %s: %w", table, closing)
		}
	}()
	row := make([]driver.Value, columns)
	for i := range rows {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		fill(i, row)
		if err := a.AppendRow(row...); err != nil {
			return fmt.Errorf("append to %s: %w", table, err)
		}
	}
	return nil
}

// temporaryTable creates an empty table that only this connection sees. An
// existing one is emptied, because the appender does not find the columns of a
// table that the transaction has replaced.
func (c *conn) temporaryTable(ctx context.Context, table, columns string) error {
	if _, err := c.exec(ctx, "CREATE TEMP TABLE IF NOT EXISTS "+table+" ("+columns+")"); err != nil {
		return err
	}
	_, err := c.exec(ctx, "DELETE FROM temp."+table)
	return err
}

// pool keeps idle connections.
type pool struct {
	connector *duckdb.Connector
	mu        sync.Mutex
	back      sync.Cond
	idle      []*conn
	lent      int
	closed    bool
}

func newPool(c *duckdb.Connector) *pool {
	p := &pool{connector: c}
	p.back.L = &p.mu
	return p
}

func (p *pool) takeConn(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.lent++
		return c, nil
	}
	made, err := p.connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	p.lent++
	return &conn{Conn: made.(*duckdb.Conn), statements: map[string]*duckdb.Stmt{}, plans: map[string]plannedStatement{}}, nil
}

// use calls f with a connection of the pool.
func (p *pool) use(ctx context.Context, f func(*conn) error) error {
	c, err := p.takeConn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lent--
		p.back.Broadcast()
		if len(p.idle) < maxIdle {
			p.idle = append(p.idle, c)
			return
		}
		_ = c.close()
	}()
	return f(c)
}

// close waits until all connections are idle.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for p.lent > 0 {
		p.back.Wait()
	}
	var errs error
	for _, c := range p.idle {
		errs = errors.Join(errs, c.close())
	}
	p.idle = nil
	return errors.Join(errs, p.connector.Close())
}
