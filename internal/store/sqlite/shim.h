#ifndef FANFARE_SQLITE_SHIM_H
#define FANFARE_SQLITE_SHIM_H

#include <stdint.h>

typedef struct ff_conn ff_conn;
typedef struct sqlite3_stmt ff_stmt;

/* What a call left behind: with rc 0 the packed rows, otherwise the message.
 * buf belongs to the connection and is good until its next call. */
typedef struct {
	const unsigned char *buf;
	int64_t len;
	int64_t changes;
	int rc;
	int cols;
	int cut;
} ff_result;

typedef struct {
	ff_stmt *st;
	int rc;
	int params;
	int writes;
} ff_prepared;

/* Result codes of our own, outside SQLite's range. */
enum { FF_FLOAT = -1, FF_TAIL = -2 };

/* How to run a statement: keep its rows; end the read transaction that the
 * connection holds and begin a new one, which stays open afterwards. */
enum { FF_ROWS = 1, FF_FRESH = 2 };

/* ff_run keeps at most that many bytes of rows, but at least one row, and sets
 * cut if there are more; 0 for no limit. */

void ff_setup(void);
ff_conn *ff_open(const char *path, int writable, int busy_ms, uintptr_t handle, int *rc);
void ff_close(ff_conn *c);
ff_prepared ff_prepare(ff_conn *c, const char *sql, int len);
void ff_finalize(ff_stmt *st);
ff_result ff_run(ff_conn *c, ff_stmt *st, const unsigned char *args, int nargs, int how, int64_t most);
ff_result ff_script(ff_conn *c, const char *text);
ff_result ff_message(ff_conn *c, int rc);
void ff_let_go(ff_conn *c);
int ff_in_transaction(ff_conn *c);
int ff_wal_frames(ff_conn *c);
int ff_wal_commits(ff_conn *c);
int ff_checkpoint(ff_conn *c, int truncate);
void ff_keep_log(ff_conn *c);

#endif
