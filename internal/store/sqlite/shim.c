#include <stdlib.h>
#include <string.h>

#include "shim.h"
#include "_cgo_export.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed rows are little-endian"
#endif

/* The part of SQLite's interface used here. The library itself is compiled by
 * github.com/mattn/go-sqlite3, which shows its header to nobody. The symbols
 * are weak because cgo links every package once on its own; in the program
 * they are always there, since the Go side imports that package. */
#pragma weak sqlite3_config
#pragma weak sqlite3_db_config
#pragma weak sqlite3_open_v2
#pragma weak sqlite3_close_v2
#pragma weak sqlite3_busy_timeout
#pragma weak sqlite3_prepare_v3
#pragma weak sqlite3_finalize
#pragma weak sqlite3_bind_parameter_count
#pragma weak sqlite3_stmt_readonly
#pragma weak sqlite3_bind_null
#pragma weak sqlite3_bind_int64
#pragma weak sqlite3_bind_text
#pragma weak sqlite3_clear_bindings
#pragma weak sqlite3_step
#pragma weak sqlite3_reset
#pragma weak sqlite3_column_count
#pragma weak sqlite3_column_type
#pragma weak sqlite3_column_int64
#pragma weak sqlite3_column_blob
#pragma weak sqlite3_column_bytes
#pragma weak sqlite3_changes64
#pragma weak sqlite3_total_changes64
#pragma weak sqlite3_get_autocommit
#pragma weak sqlite3_exec
#pragma weak sqlite3_errmsg
#pragma weak sqlite3_errstr
#pragma weak sqlite3_progress_handler
#pragma weak sqlite3_wal_hook
#pragma weak sqlite3_wal_checkpoint_v2

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef long long sqlite3_int64;

extern int sqlite3_config(int, ...);
extern int sqlite3_db_config(sqlite3 *, int, ...);
extern int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
extern int sqlite3_close_v2(sqlite3 *);
extern int sqlite3_busy_timeout(sqlite3 *, int);
extern int sqlite3_prepare_v3(sqlite3 *, const char *, int, unsigned int, sqlite3_stmt **, const char **);
extern int sqlite3_finalize(sqlite3_stmt *);
extern int sqlite3_bind_parameter_count(sqlite3_stmt *);
extern int sqlite3_stmt_readonly(sqlite3_stmt *);
extern int sqlite3_bind_null(sqlite3_stmt *, int);
extern int sqlite3_bind_int64(sqlite3_stmt *, int, sqlite3_int64);
extern int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, void (*)(void *));
extern int sqlite3_clear_bindings(sqlite3_stmt *);
extern int sqlite3_step(sqlite3_stmt *);
extern int sqlite3_reset(sqlite3_stmt *);
extern int sqlite3_column_count(sqlite3_stmt *);
extern int sqlite3_column_type(sqlite3_stmt *, int);
extern sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *, int);
extern const void *sqlite3_column_blob(sqlite3_stmt *, int);
extern int sqlite3_column_bytes(sqlite3_stmt *, int);
extern sqlite3_int64 sqlite3_changes64(sqlite3 *);
extern sqlite3_int64 sqlite3_total_changes64(sqlite3 *);
extern int sqlite3_get_autocommit(sqlite3 *);
extern int sqlite3_exec(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
extern const char *sqlite3_errmsg(sqlite3 *);
extern const char *sqlite3_errstr(int);
extern void sqlite3_progress_handler(sqlite3 *, int, int (*)(void *), void *);
extern void *sqlite3_wal_hook(sqlite3 *, int (*)(void *, sqlite3 *, const char *, int), void *);
extern int sqlite3_wal_checkpoint_v2(sqlite3 *, const char *, int, int *, int *);

enum {
	OK = 0,
	NOMEM = 7,
	TOOBIG = 18,
	ROW = 100,
	DONE = 101,

	INTEGER = 1,
	FLOAT = 2,
	NULL_VALUE = 5,

	OPEN_READONLY = 0x1,
	OPEN_READWRITE = 0x2,
	OPEN_NOMUTEX = 0x8000,
	OPEN_PRIVATECACHE = 0x40000,
	OPEN_EXRESCODE = 0x2000000,

	DBCONFIG_NO_CKPT_ON_CLOSE = 1006,
	DBCONFIG_ENABLE_QPSG = 1007,
	CONFIG_MEMSTATUS = 9,
	CONFIG_STMTJRNL_SPILL = 26,
	PREPARE_PERSISTENT = 1,
	CHECKPOINT_PASSIVE = 0,
	CHECKPOINT_TRUNCATE = 3,

	/* Of store.Rows. */
	TAG_NULL = 0,
	TAG_INT = 1,
	TAG_TEXT = 2,

	/* Virtual machine steps between two looks at the context, about half a
	 * millisecond of work. A short statement never gets there. */
	STEPS = 20000,

	BUF_MIN = 16 << 10,
	BUF_KEEP = 1 << 20,
	BUF_MAX = 1 << 30,
};

struct ff_conn {
	sqlite3 *db;
	sqlite3_stmt *begin;
	sqlite3_stmt *end;
	unsigned char *buf;
	size_t len;
	size_t cap;
	uintptr_t handle;
	int wal_frames;
	int wal_commits;
};

void ff_setup(void)
{
	/* Refused without harm when SQLite already runs. Counting memory takes a
	 * global lock on every allocation; the savepoints of a batch should not
	 * go through a temporary file. */
	sqlite3_config(CONFIG_MEMSTATUS, 0);
	sqlite3_config(CONFIG_STMTJRNL_SPILL, 4 << 20);
}

static int progress(void *p)
{
	return ffStop(((ff_conn *)p)->handle);
}

static int committed(void *p, sqlite3 *db, const char *name, int frames)
{
	(void)db;
	(void)name;
	((ff_conn *)p)->wal_frames = frames;
	((ff_conn *)p)->wal_commits++;
	return OK;
}

static int reserve(ff_conn *c, size_t more)
{
	size_t need = c->len + more, cap = c->cap ? c->cap : BUF_MIN;
	unsigned char *buf;

	if (need <= c->cap)
		return OK;
	if (need > BUF_MAX)
		return TOOBIG;
	while (cap < need)
		cap *= 2;
	buf = realloc(c->buf, cap);
	if (buf == NULL)
		return NOMEM;
	c->buf = buf;
	c->cap = cap;
	return OK;
}

static ff_result fail(ff_conn *c, int rc)
{
	const char *text = sqlite3_errmsg(c->db);
	ff_result r = {.rc = rc};
	size_t n;

	if (rc == TOOBIG || rc == NOMEM)
		text = sqlite3_errstr(rc);
	if (rc == FF_FLOAT)
		text = "a column holds a floating-point number";
	if (rc == FF_TAIL)
		text = "more than one statement";
	n = strlen(text);
	c->len = 0;
	if (reserve(c, n) == OK) {
		memcpy(c->buf, text, n);
		r.buf = c->buf;
		r.len = n;
	}
	return r;
}

ff_result ff_message(ff_conn *c, int rc)
{
	return fail(c, rc);
}

ff_conn *ff_open(const char *path, int writable, int busy_ms, uintptr_t handle, int *rc)
{
	int flags = OPEN_NOMUTEX | OPEN_PRIVATECACHE | OPEN_EXRESCODE;
	ff_conn *c = calloc(1, sizeof *c);

	if (c == NULL) {
		*rc = NOMEM;
		return NULL;
	}
	c->handle = handle;
	flags |= writable ? OPEN_READWRITE : OPEN_READONLY;
	*rc = sqlite3_open_v2(path, &c->db, flags, NULL);
	if (*rc == OK)
		*rc = sqlite3_prepare_v3(c->db, "BEGIN", -1, PREPARE_PERSISTENT, &c->begin, NULL);
	if (*rc == OK)
		*rc = sqlite3_prepare_v3(c->db, "COMMIT", -1, PREPARE_PERSISTENT, &c->end, NULL);
	if (*rc != OK) {
		ff_close(c);
		return NULL;
	}
	sqlite3_busy_timeout(c->db, busy_ms);
	/* Otherwise SQLite looks at the value bound to LIMIT when it plans, and
	 * plans again at every run: 11 of 44 microseconds of a list. */
	sqlite3_db_config(c->db, DBCONFIG_ENABLE_QPSG, 1, NULL);
	sqlite3_progress_handler(c->db, STEPS, progress, c);
	if (writable)
		sqlite3_wal_hook(c->db, committed, c);
	return c;
}

void ff_close(ff_conn *c)
{
	sqlite3_finalize(c->begin);
	sqlite3_finalize(c->end);
	sqlite3_close_v2(c->db);
	free(c->buf);
	free(c);
}

ff_prepared ff_prepare(ff_conn *c, const char *sql, int len)
{
	ff_prepared p = {0};
	const char *tail;

	p.rc = sqlite3_prepare_v3(c->db, sql, len, PREPARE_PERSISTENT, &p.st, &tail);
	if (p.rc != OK)
		return p;
	while (tail < sql + len && strchr(" \t\r\n;", *tail) != NULL)
		tail++;
	if (tail < sql + len) {
		sqlite3_finalize(p.st);
		p.st = NULL;
		p.rc = FF_TAIL;
		return p;
	}
	p.params = sqlite3_bind_parameter_count(p.st);
	p.writes = p.st != NULL && !sqlite3_stmt_readonly(p.st);
	return p;
}

void ff_finalize(ff_stmt *st)
{
	sqlite3_finalize(st);
}

/* The values are bound in place, without a copy: ff_run forgets them before it
 * returns to Go, which owns that memory. */
static int bind(sqlite3_stmt *st, const unsigned char *p, int n)
{
	int64_t number;
	uint32_t len;
	int rc = OK;

	for (int i = 1; i <= n && rc == OK; i++) {
		switch (*p++) {
		case TAG_INT:
			memcpy(&number, p, sizeof number);
			rc = sqlite3_bind_int64(st, i, number);
			p += sizeof number;
			break;
		case TAG_TEXT:
			memcpy(&len, p, sizeof len);
			p += sizeof len;
			rc = sqlite3_bind_text(st, i, (const char *)p, (int)len, NULL);
			p += len;
			break;
		default:
			rc = sqlite3_bind_null(st, i);
		}
	}
	return rc;
}

static int pack(ff_conn *c, sqlite3_stmt *st, int cols)
{
	for (int i = 0; i < cols; i++) {
		int type = sqlite3_column_type(st, i);
		const void *text = NULL;
		uint32_t len = 0;
		int64_t number;
		int rc;

		if (type == FLOAT)
			return FF_FLOAT;
		if (type != INTEGER && type != NULL_VALUE) {
			text = sqlite3_column_blob(st, i);
			len = (uint32_t)sqlite3_column_bytes(st, i);
		}
		rc = reserve(c, 1 + sizeof number + len);
		if (rc != OK)
			return rc;
		if (type == NULL_VALUE) {
			c->buf[c->len++] = TAG_NULL;
		} else if (type == INTEGER) {
			number = sqlite3_column_int64(st, i);
			c->buf[c->len++] = TAG_INT;
			memcpy(c->buf + c->len, &number, sizeof number);
			c->len += sizeof number;
		} else {
			c->buf[c->len++] = TAG_TEXT;
			memcpy(c->buf + c->len, &len, sizeof len);
			c->len += sizeof len;
			if (len > 0)
				memcpy(c->buf + c->len, text, len);
			c->len += len;
		}
	}
	return OK;
}

static int once(sqlite3_stmt *st)
{
	sqlite3_step(st);
	return sqlite3_reset(st);
}

/* ff_let_go ends the read transaction that FF_FRESH left open, if any. */
void ff_let_go(ff_conn *c)
{
	if (!sqlite3_get_autocommit(c->db))
		once(c->end);
}

/* The progress handler may call into Go while this runs, so args must not point
 * into a Go stack, which could move then. */
ff_result ff_run(ff_conn *c, ff_stmt *st, const unsigned char *args, int nargs, int how, int64_t most)
{
	ff_result r = {0};
	sqlite3_int64 before = sqlite3_total_changes64(c->db);
	int rc;

	c->len = 0;
	if (c->cap > BUF_KEEP) {
		free(c->buf);
		c->buf = NULL;
		c->cap = 0;
	}
	if (how & FF_FRESH) {
		ff_let_go(c);
		rc = once(c->begin);
		if (rc != OK)
			return fail(c, rc);
	}
	rc = bind(st, args, nargs);
	if (rc == OK) {
		while ((rc = sqlite3_step(st)) == ROW) {
			size_t kept = c->len;

			r.cols = sqlite3_column_count(st);
			if ((how & FF_ROWS) && (rc = pack(c, st, r.cols)) != OK)
				break;
			if (most > 0 && kept > 0 && (int64_t)c->len > most) {
				c->len = kept;
				r.cut = 1;
				rc = DONE;
				break;
			}
		}
	}
	if (rc == DONE) {
		r.cols = sqlite3_column_count(st);
		r.buf = c->buf;
		r.len = (int64_t)c->len;
	} else {
		r = fail(c, rc);
	}
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	if (sqlite3_total_changes64(c->db) != before)
		r.changes = sqlite3_changes64(c->db);
	return r;
}

ff_result ff_script(ff_conn *c, const char *text)
{
	int rc = sqlite3_exec(c->db, text, NULL, NULL, NULL);

	if (rc != OK)
		return fail(c, rc);
	return (ff_result){0};
}

int ff_in_transaction(ff_conn *c)
{
	return !sqlite3_get_autocommit(c->db);
}

int ff_wal_frames(ff_conn *c)
{
	return c->wal_frames;
}

int ff_wal_commits(ff_conn *c)
{
	return c->wal_commits;
}

int ff_checkpoint(ff_conn *c, int truncate)
{
	int mode = truncate ? CHECKPOINT_TRUNCATE : CHECKPOINT_PASSIVE;

	return sqlite3_wal_checkpoint_v2(c->db, NULL, mode, NULL, NULL);
}

/* ff_keep_log has the last connection that closes neither move the log to the
 * file nor remove it. */
void ff_keep_log(ff_conn *c)
{
	sqlite3_db_config(c->db, DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}
