package sqlite

// #include <stdlib.h>
// #include "shim.h"
//
// #cgo noescape ff_run
// #cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
import "C"

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"strings"
	"sync"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // links the SQLite library

	"fanfare/internal/store"
)

const (
	maxStatements = 200
	busyMillis    = 5000
	// keepArgs is the largest argument buffer that is kept for the next
	// statement; a rare large document should not stay in memory.
	keepArgs = 1 << 20
)

// conn is one connection. One goroutine uses it at a time.
type conn struct {
	c      *C.ff_conn
	handle cgo.Handle
	// ctx is the context of the running statement, nil if it must not be
	// interrupted.
	ctx context.Context
	// most is the limit of the bytes of its rows, 0 for none.
	most  int
	stmts map[string]*stmt
	clock uint64
	// args is always on the heap, never on a stack (see ff_run).
	args []byte
	// seq is the engine's seq at the start of the open read transaction,
	// 0 if none is open.
	seq uint64
	// damage, if set, records errors that mean that the file is corrupt.
	damage *damage
	// wrote is set by every statement that may have changed the database.
	wrote bool
}

type stmt struct {
	st     *C.ff_stmt
	params int
	// writes reports that the statement can change the database, counts that
	// SQLite then returns the number of changed rows.
	writes, counts bool
	used           uint64
}

var setup = sync.OnceFunc(func() { C.ff_setup() })

func connect(path string, writable bool, pragmas string) (*conn, error) {
	setup()
	c := &conn{stmts: make(map[string]*stmt)}
	c.handle = cgo.NewHandle(c)
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var rc, write C.int
	if writable {
		write = 1
	}
	c.c = C.ff_open(name, write, busyMillis, C.uintptr_t(c.handle), &rc)
	if c.c == nil {
		c.handle.Delete()
		return nil, classify(int(rc), "open "+path)
	}
	if err := c.script(pragmas); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) close() {
	for _, s := range c.stmts {
		C.ff_finalize(s.st)
	}
	C.ff_close(c.c)
	c.handle.Delete()
}

// ffStop reports to SQLite whether to stop a long statement. SQLite calls it at
// intervals. Unlike a goroutine or a timer per statement, it costs short
// statements nothing. It follows cancellation and deadlines.
//
//export ffStop
func ffStop(handle C.uintptr_t) C.int {
	c := cgo.Handle(handle).Value().(*conn)
	if c.ctx != nil && c.ctx.Err() != nil {
		return 1
	}
	return 0
}

func (c *conn) prepare(query string) (*stmt, error) {
	c.clock++
	if s := c.stmts[query]; s != nil {
		s.used = c.clock
		return s, nil
	}
	text := C.CString(query)
	defer C.free(unsafe.Pointer(text))
	p := C.ff_prepare(c.c, text, C.int(len(query)))
	if p.rc != 0 {
		return nil, c.fail(C.ff_message(c.c, p.rc), query)
	}
	if p.st == nil {
		return nil, fmt.Errorf("no statement in %q", query)
	}
	if len(c.stmts) >= maxStatements {
		c.evict()
	}
	s := &stmt{st: p.st, params: int(p.params), writes: p.writes != 0, counts: changesRows(query), used: c.clock}
	c.stmts[query] = s
	return s, nil
}

// changesRows reports whether the statement changes rows rather than the schema
// or a setting.
func changesRows(query string) bool {
	verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
	switch strings.ToUpper(verb) {
	case "INSERT", "UPDATE", "DELETE", "WITH":
		return true
	}
	return false
}

// evict drops the least recently used statement.
func (c *conn) evict() {
	var query string
	var oldest *stmt
	for q, s := range c.stmts {
		if oldest == nil || s.used < oldest.used {
			query, oldest = q, s
		}
	}
	C.ff_finalize(oldest.st)
	delete(c.stmts, query)
}

func (c *conn) runStatement(query string, args []any, how C.int) (C.ff_result, error) {
	s, err := c.prepare(query)
	if err != nil {
		return C.ff_result{}, err
	}
	if s.params != len(args) {
		return C.ff_result{}, fmt.Errorf("%d arguments for %d placeholders in %q", len(args), s.params, query)
	}
	if err := c.pack(args); err != nil {
		return C.ff_result{}, fmt.Errorf("%w in %q", err, query)
	}
	r := C.ff_run(c.c, s.st, (*C.uchar)(unsafe.SliceData(c.args)), C.int(len(args)), how, C.int64_t(c.most))
	c.wrote = c.wrote || s.writes && (r.changes > 0 || !s.counts)
	if r.rc != 0 {
		return r, c.fail(r, query)
	}
	return r, nil
}

func (c *conn) exec(query string, args ...any) (int64, error) {
	r, err := c.runStatement(query, args, 0)
	return int64(r.changes), err
}

func (c *conn) query(query string, args ...any) (*store.Rows, error) {
	return rows(c.runStatement(query, args, C.FF_ROWS))
}

// readRows is query at a state of the database that is not older than seq. The
// transaction stays open for the next read, because acquiring and releasing
// SQLite's file locks takes a quarter of a short read's time.
func (c *conn) readRows(ctx context.Context, seq uint64, query string, args []any) (*store.Rows, error) {
	var how C.int = C.FF_ROWS
	if c.seq != seq {
		how |= C.FF_FRESH
		c.seq = seq
	}
	c.ctx, c.most = ctx, store.MaxBytes(ctx)
	r, err := rows(c.runStatement(query, args, how))
	c.ctx, c.most = nil, 0
	if err != nil {
		c.letGo()
	}
	return r, err
}

// letGo ends the transaction that read left open.
func (c *conn) letGo() {
	C.ff_let_go(c.c)
	c.seq = 0
}

func rows(r C.ff_result, err error) (*store.Rows, error) {
	if err != nil {
		return nil, err
	}
	packed := bytes.Clone(unsafe.Slice((*byte)(r.buf), int(r.len)))
	found := store.NewRows(packed, int(r.cols))
	found.Cut = r.cut != 0
	return found, nil
}

func (c *conn) script(text string) error {
	s := C.CString(text)
	defer C.free(unsafe.Pointer(s))
	c.wrote = true
	if r := C.ff_script(c.c, s); r.rc != 0 {
		return c.fail(r, text)
	}
	return nil
}

// inTransaction reports whether a transaction is open. SQLite itself ends a
// transaction after some errors.
func (c *conn) inTransaction() bool { return C.ff_in_transaction(c.c) != 0 }

// walFrames returns the length of the write-ahead log at the last commit.
func (c *conn) walFrames() int { return int(C.ff_wal_frames(c.c)) }

// walCommits returns the number of commits that wrote to the write-ahead log.
func (c *conn) walCommits() int { return int(C.ff_wal_commits(c.c)) }

// checkpoint moves the pages that no reader needs from the write-ahead log to
// the file.
func (c *conn) checkpoint() { C.ff_checkpoint(c.c, 0) }

// truncate empties the write-ahead log if no reader is active.
func (c *conn) truncate() error {
	if rc := C.ff_checkpoint(c.c, 1); rc != 0 {
		return c.fail(C.ff_message(c.c, rc), "checkpoint")
	}
	return nil
}

// keepLog has close leave the files as they are.
func (c *conn) keepLog() { C.ff_keep_log(c.c) }

func (c *conn) fail(r C.ff_result, query string) error {
	if r.rc == codeInterrupt && c.ctx != nil && c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	text := C.GoStringN((*C.char)(unsafe.Pointer(r.buf)), C.int(r.len))
	err := classify(int(r.rc), fmt.Sprintf("%s in %q", text, query))
	if c.damage != nil && errors.Is(err, store.ErrDamaged) {
		c.damage.recordDamage(err)
	}
	return err
}

// pack writes the arguments into c.args. Bytes are bound as text, like strings:
// SQLite would otherwise find a text column that was written from bytes to
// differ from the same text written from a string.
func (c *conn) pack(args []any) error {
	if cap(c.args) > keepArgs {
		c.args = nil
	}
	b := c.args[:0]
	for i, arg := range args {
		switch v := arg.(type) {
		case nil:
			b = store.AppendNull(b)
		case string:
			b = store.AppendText(b, v)
		case []byte:
			if v == nil {
				b = store.AppendNull(b)
			} else {
				b = store.AppendText(b, v)
			}
		case int64:
			b = store.AppendInt(b, v)
		case int:
			b = store.AppendInt(b, int64(v))
		case bool:
			var n int64
			if v {
				n = 1
			}
			b = store.AppendInt(b, n)
		default:
			return fmt.Errorf("argument %d is of type %T", i+1, arg)
		}
	}
	c.args = b
	return nil
}
