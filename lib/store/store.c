/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file, its version, and statements on it. Fails closed: a file of a
 * later version, or one that is no store, is refused and not touched.
 */
#include "config.h"

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"

#define BUSY_TIMEOUT_MS 5000
#define APPLICATION_ID 0x61626f78 /* "abox" */
#define MAX_COLUMNS 32
#define JOURNAL_NAME AB_STORE_NAME "-journal"
#define JOURNAL_ROOM (128 * 1024) /* what a withdrawal touches, many times */
#define HOLD "hold room to take back what is granted"
#define SPARE_PAGES 32
#define CHUNK (64 * 1024)

struct ab_store {
	pid_t owner;
	int state; /* the state directory */
	sqlite3 *db;
};

/* Each brings the file from one version to the next; never changed again. */
static const char *const migrations[] = {
	"CREATE TABLE grants("
	" id TEXT PRIMARY KEY,"
	" reader TEXT NOT NULL,"    /* box ids */
	" source TEXT NOT NULL,"
	" name TEXT NOT NULL,"	    /* below the reader's .shared */
	" account TEXT,"
	" workspace TEXT NOT NULL," /* of the source, on the host */
	" dev INTEGER NOT NULL, ino INTEGER NOT NULL,"
	" source_pid INTEGER NOT NULL,"	    /* who owns the source */
	" source_started INTEGER NOT NULL,"
	" state TEXT NOT NULL,"	    /* making, live, revoked */
	" reason TEXT NOT NULL DEFAULT '',"
	" generation INTEGER NOT NULL DEFAULT 0,"
	" digest TEXT NOT NULL DEFAULT '',"
	" files INTEGER NOT NULL DEFAULT 0,"
	" bytes INTEGER NOT NULL DEFAULT 0,"
	" left_out INTEGER NOT NULL DEFAULT 0,"
	" made_ns INTEGER NOT NULL,"
	" refreshed_ns INTEGER NOT NULL DEFAULT 0,"
	" revoked_ns INTEGER NOT NULL DEFAULT 0"
	") STRICT;"
	"CREATE UNIQUE INDEX grants_live ON grants(reader, name)"
	" WHERE state <> 'revoked';"
	"CREATE INDEX grants_source ON grants(source);",
};

static int32_t no_room(const ab_store *s, const char *what,
		       agentbox_error **err)
{
	const char *path = s->db ? sqlite3_db_filename(s->db, "main") : NULL;

	return ab_error_sys_code(err, AGENTBOX_ESYS, ENOSPC, AB_STORE_NAME,
				 "cannot %s: the disk of '%s' is full", what,
				 path ? path : AB_STORE_NAME);
}

static bool is_full(const ab_store *s, int rc)
{
	int e = s->db ? sqlite3_system_errno(s->db) : 0;

	return (rc & 0xff) == SQLITE_FULL ||
	       ((rc & 0xff) == SQLITE_IOERR && (e == ENOSPC || e == EDQUOT));
}

static int32_t failed(const ab_store *s, int rc, const char *what,
		      agentbox_error **err)
{
	if (is_full(s, rc))
		return no_room(s, what, err);
	const char *why = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc);

	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return ab_error_nomem(err);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return ab_error_set(err, AGENTBOX_EBUSY, AB_STORE_NAME,
				    "another process holds the store; %s "
				    "waited %d ms", what, BUSY_TIMEOUT_MS);
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return ab_error_set(err, AGENTBOX_ETAMPERED, AB_STORE_NAME,
				    "the store is damaged or none (%s); move "
				    "it away to begin anew", why);
	case SQLITE_CONSTRAINT:
		return ab_error_set(err, AGENTBOX_EEXIST, AB_STORE_NAME,
				    "cannot %s: %s", what, why);
	default:
		return ab_error_set(err, AGENTBOX_ESYS, AB_STORE_NAME,
				    "cannot %s: %s", what, why);
	}
}

static int32_t usable(const ab_store *s, agentbox_error **err)
{
	if (s->owner == getpid())
		return 0;
	return ab_error_set(err, AGENTBOX_EFORKED, AB_STORE_NAME,
			    "the store was opened by process %d",
			    (int)s->owner);
}

/* Several statements without values, of this file's own text. */
static int32_t script(ab_store *s, const char *sql, const char *what,
		      agentbox_error **err)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : failed(s, rc, what, err);
}

int32_t ab_store_begin(ab_store *store, agentbox_error **err)
{
	int32_t rc = usable(store, err);

	return rc < 0 ? rc : script(store, "BEGIN IMMEDIATE", "begin", err);
}

int32_t ab_store_commit(ab_store *store, agentbox_error **err)
{
	return script(store, "COMMIT", "commit", err);
}

void ab_store_rollback(ab_store *store)
{
	if (store->owner == getpid() && !sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

static int bind_values(sqlite3_stmt *st, const char *types, va_list ap)
{
	int rc = SQLITE_OK;

	for (int i = 0; types[i] && rc == SQLITE_OK; i++) {
		if (types[i] == 'i')
			rc = sqlite3_bind_int64(st, i + 1,
						va_arg(ap, int64_t));
		else
			rc = sqlite3_bind_text(st, i + 1,
					       va_arg(ap, const char *), -1,
					       SQLITE_TRANSIENT);
	}
	return rc;
}

static int32_t take_row(sqlite3_stmt *st, ab_store_row row, void *data,
			agentbox_error **err)
{
	const char *columns[MAX_COLUMNS];
	int n = sqlite3_column_count(st);

	if (n > MAX_COLUMNS)
		return ab_error_set(err, AGENTBOX_ELIMIT, AB_STORE_NAME,
				    "more than %d columns", MAX_COLUMNS);
	for (int i = 0; i < n; i++) {
		columns[i] = (const char *)sqlite3_column_text(st, i);
		/* NULL for a value that is there: no memory to show it */
		if (!columns[i] && sqlite3_column_type(st, i) != SQLITE_NULL)
			return ab_error_nomem(err);
	}
	return row(data, columns, (size_t)n, err);
}

int32_t ab_store_run(ab_store *store, ab_store_row row, void *data,
		     agentbox_error **err, const char *sql, const char *types,
		     ...)
{
	sqlite3_stmt *st = NULL;
	va_list ap;

	int32_t result = usable(store, err);
	if (result < 0)
		return result;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &st, NULL);
	if (rc == SQLITE_OK) {
		va_start(ap, types);
		rc = bind_values(st, types, ap);
		va_end(ap);
	}
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc != SQLITE_ROW || !row)
			continue;
		result = take_row(st, row, data, err);
		if (result != 0)
			break;
	}
	if (result == 0 && rc != SQLITE_DONE)
		result = failed(store, rc, "use the store", err);
	sqlite3_finalize(st);
	return result;
}

int64_t ab_store_changes(const ab_store *store)
{
	return sqlite3_changes(store->db);
}

/* --- its version --- */

static int32_t take_number(void *data, const char *const *columns,
			   size_t count, agentbox_error **err)
{
	(void)err;
	*(int64_t *)data = count && columns[0] ?
				   strtoll(columns[0], NULL, 10) : -1;
	return 0;
}

static int32_t number(ab_store *s, const char *sql, int64_t *out,
		      agentbox_error **err)
{
	*out = -1;
	return ab_store_run(s, take_number, out, err, sql, "");
}

static int32_t refuse_version(int64_t application, int64_t version,
			      agentbox_error **err)
{
	if (application != APPLICATION_ID)
		return ab_error_set(err, AGENTBOX_ETAMPERED, AB_STORE_NAME,
				    "'" AB_STORE_NAME "' in the state "
				    "directory is a database of something "
				    "else");
	return ab_error_set(err, AGENTBOX_EUNSUPPORTED, AB_STORE_NAME,
			    "the store has version %lld, and this library "
			    "knows %zu: a later one made it",
			    (long long)version, AB_ARRAY_LEN(migrations));
}

static int32_t set_number(ab_store *s, const char *name, int value,
			  agentbox_error **err)
{
	char sql[64];

	sqlite3_snprintf(sizeof(sql), sql, "PRAGMA %s = %d", name, value);
	return script(s, sql, "migrate", err);
}

/* Whoever comes first migrates; the others find it done. */
static int32_t migrate(ab_store *s, agentbox_error **err)
{
	int64_t application = -1, version = -1, tables = -1;
	int32_t rc = ab_store_begin(s, err);

	if (rc == 0)
		rc = number(s, "PRAGMA application_id", &application, err);
	if (rc == 0)
		rc = number(s, "PRAGMA user_version", &version, err);
	if (rc == 0)
		rc = number(s, "SELECT count(*) FROM sqlite_schema", &tables,
			    err);
	if (rc == 0 && (version < 0 ||
			version > (int64_t)AB_ARRAY_LEN(migrations) ||
			(tables && application != APPLICATION_ID)))
		rc = refuse_version(application, version, err);
	if (rc == 0 && version == 0)
		rc = set_number(s, "application_id", APPLICATION_ID, err);
	for (int64_t v = version;
	     rc == 0 && v < (int64_t)AB_ARRAY_LEN(migrations); v++) {
		rc = script(s, migrations[v], "migrate", err);
		if (rc == 0)
			rc = set_number(s, "user_version", (int)v + 1, err);
	}
	if (rc == 0)
		return ab_store_commit(s, err);
	ab_store_rollback(s);
	return rc;
}

/* --- the room of what takes away --- */

/*
 * Zeros behind or instead of a journal's records are no journal to SQLite. Not
 * posix_fallocate(3): where the file system cannot, it writes bytes one by one,
 * and another host may write the journal at that moment.
 */
static int32_t hold_journal(const ab_store *s, agentbox_error **err)
{
	ab_autofd int fd = ab_fd_lift(openat(s->state, JOURNAL_NAME,
					     O_RDWR | O_CREAT | O_NOFOLLOW |
					     O_CLOEXEC, 0600));
	int e = fd < 0 ? errno : 0;

	while (fd >= 0 && fallocate(fd, 0, 0, JOURNAL_ROOM) < 0) {
		if (errno == EINTR)
			continue;
		e = errno == EOPNOTSUPP ? 0 : errno;
		break;
	}
	if (e == ENOSPC || e == EDQUOT)
		return no_room(s, HOLD, err);
	return e ? ab_error_sys(err, e, AB_STORE_NAME,
				"cannot hold room for its journal") : 0;
}

/*
 * Asked of SQLite, which may write a byte into each block behind the end: only
 * who holds the write lock knows where that is.
 */
static int32_t grow(ab_store *s, agentbox_error **err)
{
	int64_t size = 0, pages = 0, rows = 0;
	sqlite3_int64 bytes;
	int chunk = CHUNK;
	int32_t rc = number(s, "PRAGMA page_size", &size, err);

	if (rc == 0)
		rc = number(s, "PRAGMA page_count", &pages, err);
	if (rc == 0)
		rc = number(s, "SELECT count(*) FROM grants "
			       "WHERE state <> 'revoked'", &rows, err);
	if (rc < 0)
		return rc;
	/* a row that grows splits one page, at worst each a page of its own */
	bytes = (pages + rows + SPARE_PAGES) * size;
	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk);
	if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_SIZE_HINT,
				 &bytes) != SQLITE_OK)
		return no_room(s, HOLD, err);
	return 0;
}

int32_t ab_store_hold_room(ab_store *store, agentbox_error **err)
{
	int32_t rc = hold_journal(store, err);

	if (rc == 0)
		rc = ab_store_begin(store, err);
	if (rc < 0)
		return rc;
	rc = grow(store, err);
	/* nothing was written that SQLite knows of */
	ab_store_rollback(store);
	return rc;
}

/* --- open and close --- */

/*
 * Made here, 0600 whatever the umask, so that SQLite finds it. One that is
 * there is not opened: closing it would drop the locks that another handle
 * of this process has.
 */
static int32_t make_file(agentbox_context *context, int state, char **path,
			 agentbox_error **err)
{
	ab_autofd int fd = ab_fd_lift(openat(state, AB_STORE_NAME,
					     O_RDWR | O_CREAT | O_EXCL |
					     O_CLOEXEC, 0600));
	struct stat st;
	int e = fd < 0 ? errno : fchmod(fd, 0600) ? errno : 0;

	e = e == EEXIST ? 0 : e;
	if (e == 0 && fstatat(state, AB_STORE_NAME, &st,
			      AT_SYMLINK_NOFOLLOW) < 0)
		e = errno;
	if (e == 0 && S_ISLNK(st.st_mode))
		e = ELOOP;
	if (e)
		return ab_error_sys(err, e, AB_STORE_NAME,
				    "cannot make the store");
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return ab_error_set(err, AGENTBOX_EDENIED, AB_STORE_NAME,
				    "the store is not a file of this user");
	*path = ab_asprintf("%s/" AB_STORE_NAME,
			    ab_context_state_dir(context));
	return *path ? 0 : ab_error_nomem(err);
}

int32_t ab_store_open(agentbox_context *context, ab_store **out,
		      agentbox_error **err)
{
	ab_autofree char *path = NULL;
	ab_auto(ab_store) *s = ab_new(ab_store);

	if (!s)
		return ab_error_nomem(err);
	s->owner = getpid();
	s->state = -1;
	int32_t rc = ab_context_open_state(context, &s->state, err);
	if (rc == 0)
		rc = make_file(context, s->state, &path, err);
	if (rc < 0)
		return rc;
	int r = sqlite3_open_v2(path, &s->db,
				SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
				SQLITE_OPEN_PRIVATECACHE,
				"unix");
	if (r != SQLITE_OK)
		return failed(s, r, "open it", err);
	sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
	/*
	 * What is committed survives a power cut; no temporary files. A
	 * write-ahead log would need room to be read.
	 */
	rc = script(s, "PRAGMA trusted_schema = OFF;"
		       "PRAGMA temp_store = MEMORY;"
		       "PRAGMA journal_mode = PERSIST;"
		       "PRAGMA synchronous = FULL;", "set it up", err);
	if (rc == 0)
		rc = migrate(s, err);
	if (rc < 0)
		return rc;
	/* what a crash gave up; who needs it for sure asks again */
	ab_store_hold_room(s, NULL);
	*out = ab_steal(&s);
	return 0;
}

void ab_store_close(ab_store *store)
{
	if (!store)
		return;
	int saved = errno;
	/* in a forked child it stays open: closing would drop the locks */
	if (store->owner == getpid())
		sqlite3_close_v2(store->db);
	if (store->state >= 0)
		close(store->state);
	free(store);
	errno = saved;
}
