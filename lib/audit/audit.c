/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle: life cycle, setters, locking. Everything that touches the log
 * happens under one mutex, so appends from many threads become one chain.
 * Refuses use in a forked child before it looks at the mutex (another thread
 * may have held it at the fork), use from within its own callback, and
 * setters once it is open. Spec: audit.h.
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "audit/audit.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/canonical.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"

#define NS_PER_MS 1000000ull
#define DEFAULT_SYNC_MS 100
#define DEFAULT_HEAD_RECORDS 10000
#define DEFAULT_HEAD_MS 60000
#define DEFAULT_BURST 20
#define DEFAULT_WINDOW_MS 1000
#define MIN_FILE_BYTES (4u * AB_AUDIT_MAX_LINE)

static int32_t new_lock(agentbox_audit *a)
{
	pthread_mutexattr_t attr;
	int rc = pthread_mutexattr_init(&attr);

	if (rc != 0)
		return rc;
	/* a callback that comes back gets EDEADLK, not a hang */
	rc = pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	if (rc == 0)
		rc = pthread_mutex_init(&a->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return rc;
}

static void set_defaults(agentbox_audit *a)
{
	atomic_init(&a->refs, 1);
	a->pid = getpid();
	a->sync_mode = AGENTBOX_AUDIT_SYNC_BATCH;
	a->sync_ns = DEFAULT_SYNC_MS * NS_PER_MS;
	a->head_ns = DEFAULT_HEAD_MS * NS_PER_MS;
	a->head_records = DEFAULT_HEAD_RECORDS;
	a->flood.burst = DEFAULT_BURST;
	a->flood.window_ns = DEFAULT_WINDOW_MS * NS_PER_MS;
	a->flood.next_ns = UINT64_MAX;
	a->real_ns = ab_clock_real_ns;
	a->boot_ns = ab_clock_boot_ns;
	a->sink.fd = -1;
	a->key.fd = -1;
	a->anchor_fd = -1;
}

int32_t agentbox_audit_new(agentbox_context *context, agentbox_audit **audit,
			   agentbox_error **err)
{
	agentbox_audit *a;

	if (!context || !audit)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "context and audit must not be NULL");
	if (sodium_init() < 0)
		return ab_error_set(err, AGENTBOX_ESYS, "",
				    "libsodium cannot be initialised");
	a = ab_new(agentbox_audit);
	if (!a)
		return ab_error_nomem(err);
	set_defaults(a);
	a->line = ab_calloc(AB_AUDIT_MAX_LINE, 1);
	a->scratch = ab_calloc(AB_AUDIT_MAX_LINE, 1);
	if (!a->line || !a->scratch || new_lock(a) != 0) {
		free(a->line);
		free(a->scratch);
		free(a);
		return ab_error_nomem(err);
	}
	a->context = ab_context_use(context);
	*audit = a;
	return 0;
}

agentbox_audit *agentbox_audit_ref(agentbox_audit *audit)
{
	if (audit)
		atomic_fetch_add(&audit->refs, 1);
	return audit;
}

static int32_t enter(agentbox_audit *a, agentbox_error **err)
{
	if (!a)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "audit must not be NULL");
	if (a->pid != getpid())
		return ab_error_set(err, AGENTBOX_EFORKED, "",
				    "the audit belongs to the parent process");
	if (pthread_mutex_lock(&a->lock) != 0)
		return ab_error_set(err, AGENTBOX_EBUSY, "",
				    "the audit was used from its own callback");
	return 0;
}

static int32_t leave(agentbox_audit *a, int32_t rc)
{
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* For setters: locked, and not yet open. */
static int32_t enter_new(agentbox_audit *a, agentbox_error **err)
{
	int32_t rc = enter(a, err);

	if (rc == 0 && a->state != AB_AUDIT_NEW)
		return leave(a, ab_error_set(err, AGENTBOX_EBUSY, "",
					     "the audit was opened before; make a new one"));
	return rc;
}

static int32_t enter_open(agentbox_audit *a, agentbox_error **err)
{
	int32_t rc = enter(a, err);

	if (rc == 0 && a->state != AB_AUDIT_OPEN)
		return leave(a, ab_error_set(err, AGENTBOX_ECLOSED, "",
					     "the audit is not open"));
	return rc;
}

static int32_t close_locked(agentbox_audit *a, agentbox_error **err)
{
	int32_t rc;

	if (a->state != AB_AUDIT_OPEN)
		return 0;
	rc = ab_audit_log_flush(a, true, err);
	if (rc == 0)
		rc = ab_audit_log_head(a, "close", err);
	a->state = AB_AUDIT_CLOSED;
	ab_audit_flood_free(&a->flood);
	ab_audit_sink_close(&a->sink);
	ab_audit_key_close(&a->key);
	if (a->anchor_fd >= 0)
		close(a->anchor_fd);
	a->anchor_fd = -1;
	return rc;
}

void agentbox_audit_unref(agentbox_audit *audit)
{
	int saved = errno;

	if (!audit || atomic_fetch_sub(&audit->refs, 1) != 1)
		return;
	/* a forked child must not write to the parent's log */
	if (audit->pid == getpid()) {
		(void)close_locked(audit, NULL);
	} else {
		audit->sink.is_regular = false;
		ab_audit_flood_free(&audit->flood);
	}
	ab_audit_sink_close(&audit->sink);
	ab_audit_key_close(&audit->key);
	if (audit->anchor_fd >= 0)
		close(audit->anchor_fd);
	ab_audit_secrets_free(&audit->secrets);
	pthread_mutex_destroy(&audit->lock);
	agentbox_context_unref(audit->context);
	free(audit->sink.path);
	free(audit->key_path);
	free(audit->anchor_path);
	free(audit->line);
	free(audit->scratch);
	free(audit);
	errno = saved;
}

static int32_t set_sink(agentbox_audit *a, int kind, char *path, int fd,
			agentbox_error **err)
{
	if (a->sink.kind != AB_AUDIT_SINK_NONE) {
		free(path);
		if (fd >= 0)
			close(fd);
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "the audit already has a sink");
	}
	a->sink.kind = kind;
	a->sink.path = path;
	a->sink.fd = fd;
	return 0;
}

static int32_t copy_path(const char *path, char **out, agentbox_error **err)
{
	if (!path || !path[0] || strlen(path) >= AB_MAX_PATH)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "path must not be empty or too long");
	*out = ab_strdup(path);
	return *out ? 0 : ab_error_nomem(err);
}

int32_t agentbox_audit_set_path(agentbox_audit *audit, const char *path,
				agentbox_error **err)
{
	char *copy = NULL;
	int32_t rc = enter_new(audit, err);

	if (rc != 0)
		return rc;
	rc = copy_path(path, &copy, err);
	if (rc == 0)
		rc = set_sink(audit, AB_AUDIT_SINK_PATH, copy, -1, err);
	return leave(audit, rc);
}

int32_t agentbox_audit_set_fd(agentbox_audit *audit, int32_t fd,
			      agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);
	int own;

	if (rc != 0)
		return rc;
	own = ab_fd_dup(fd);
	if (own < 0)
		return leave(audit, ab_error_sys_code(err, AGENTBOX_EINVAL,
						      -own, "",
						      "cannot use fd %d", fd));
	return leave(audit,
		     set_sink(audit, AB_AUDIT_SINK_FD, NULL, own, err));
}

int32_t agentbox_audit_set_callback(agentbox_audit *audit,
				    agentbox_audit_line_fn fn, void *data,
				    agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);

	if (rc != 0)
		return rc;
	if (!fn)
		return leave(audit, ab_error_set(err, AGENTBOX_EINVAL, "",
						 "callback must not be NULL"));
	rc = set_sink(audit, AB_AUDIT_SINK_CALLBACK, NULL, -1, err);
	if (rc == 0) {
		audit->sink.fn = fn;
		audit->sink.data = data;
	}
	return leave(audit, rc);
}

int32_t agentbox_audit_set_journal(agentbox_audit *audit,
				   const char *socket_path,
				   agentbox_error **err)
{
	char *copy = NULL;
	int32_t rc = enter_new(audit, err);

	if (rc != 0)
		return rc;
	if (socket_path)
		rc = copy_path(socket_path, &copy, err);
	if (rc == 0)
		rc = set_sink(audit, AB_AUDIT_SINK_JOURNAL, copy, -1, err);
	return leave(audit, rc);
}

int32_t agentbox_audit_set_sync(agentbox_audit *audit, int32_t mode,
				uint32_t interval_ms, agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);

	if (rc != 0)
		return rc;
	if ((mode != AGENTBOX_AUDIT_SYNC_BATCH &&
	     mode != AGENTBOX_AUDIT_SYNC_RECORD &&
	     mode != AGENTBOX_AUDIT_SYNC_NEVER) ||
	    (mode == AGENTBOX_AUDIT_SYNC_BATCH &&
	     (interval_ms < 1 || interval_ms > 60000)))
		return leave(audit, ab_error_set(err, AGENTBOX_EINVAL, "",
						 "sync mode or interval is "
						 "out of range"));
	audit->sync_mode = mode;
	audit->sync_ns = interval_ms * NS_PER_MS;
	return leave(audit, 0);
}

int32_t agentbox_audit_set_heads(agentbox_audit *audit, uint32_t records,
				 uint32_t interval_ms, agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);

	if (rc != 0)
		return rc;
	if (records > 10000000 || interval_ms > 86400000)
		return leave(audit, ab_error_set(err, AGENTBOX_EINVAL, "",
						 "head interval is out of "
						 "range"));
	audit->head_records = records;
	audit->head_ns = interval_ms * NS_PER_MS;
	return leave(audit, 0);
}

static int32_t set_file(agentbox_audit *audit, char **slot, const char *path,
			agentbox_error **err)
{
	char *copy = NULL;
	int32_t rc = copy_path(path, &copy, err);

	if (rc == 0) {
		free(*slot);
		*slot = copy;
	}
	return leave(audit, rc);
}

int32_t agentbox_audit_set_key_file(agentbox_audit *audit, const char *path,
				    agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);

	return rc == 0 ? set_file(audit, &audit->key_path, path, err) : rc;
}

int32_t agentbox_audit_set_anchor_file(agentbox_audit *audit,
				       const char *path, agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);

	return rc == 0 ? set_file(audit, &audit->anchor_path, path, err) : rc;
}

int32_t agentbox_audit_set_rotation(agentbox_audit *audit, uint64_t max_bytes,
				    uint32_t keep, agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);

	if (rc != 0)
		return rc;
	if (max_bytes && (max_bytes < MIN_FILE_BYTES ||
			  max_bytes > (uint64_t)INT64_MAX / 2))
		return leave(audit, ab_error_set(err, AGENTBOX_EINVAL, "",
						 "a file holds at least "
						 "262144 bytes"));
	audit->max_bytes = max_bytes;
	audit->keep = keep;
	return leave(audit, 0);
}

int32_t agentbox_audit_set_coalesce(agentbox_audit *audit, uint32_t burst,
				    uint32_t window_ms, agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);

	if (rc != 0)
		return rc;
	if (burst > 1000000 || window_ms > 60000)
		return leave(audit, ab_error_set(err, AGENTBOX_EINVAL, "",
						 "burst or window is out of "
						 "range"));
	audit->flood.burst = burst;
	audit->flood.window_ns = window_ms * NS_PER_MS;
	return leave(audit, 0);
}

int32_t agentbox_audit_add_secret(agentbox_audit *audit, const char *secret,
				  size_t n, agentbox_error **err)
{
	int32_t rc = enter(audit, err);

	if (rc != 0)
		return rc;
	return leave(audit, ab_audit_secrets_add(&audit->secrets, secret, n,
						 err));
}

int32_t agentbox_audit_open(agentbox_audit *audit, agentbox_error **err)
{
	int32_t rc = enter_new(audit, err);

	if (rc != 0)
		return rc;
	if (audit->max_bytes && audit->sink.kind != AB_AUDIT_SINK_PATH)
		rc = ab_error_set(err, AGENTBOX_EINVAL, "",
				  "rotation needs a path sink");
	if (rc == 0)
		rc = ab_audit_log_open(audit, err);
	if (rc == 0)
		audit->state = AB_AUDIT_OPEN;
	return leave(audit, rc);
}

int32_t ab_audit_record(agentbox_audit *audit, const char *type,
			const json_t *fields, agentbox_error **err)
{
	int32_t rc;

	if (!audit)
		return 0;
	rc = ab_audit_check_type(type, err);
	if (rc == 0)
		rc = ab_audit_check_fields(type, fields, err);
	if (rc == 0)
		rc = enter_open(audit, err);
	if (rc != 0)
		return rc;
	return leave(audit, ab_audit_log_append(audit, type, fields, err));
}

/* p,n with each byte that is no UTF-8 written out; owned. */
static json_t *escaped(const char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	ab_autofree char *text = n > SIZE_MAX / 4 ? NULL : ab_calloc(n + 1, 4);
	size_t used = 0;

	for (size_t i = 0; text && i < n;) {
		size_t len = ab_canonical_char(p + i, n - i);

		if (len) {
			memcpy(text + used, p + i, len);
			used += len;
			i += len;
			continue;
		}
		memcpy(text + used, "\\x", 2);
		text[used + 2] = digits[(unsigned char)p[i] >> 4];
		text[used + 3] = digits[(unsigned char)p[i] & 15];
		used += 4;
		i++;
	}
	return text ? json_stringn(text, used) : NULL;
}

json_t *ab_audit_text(agentbox_audit *audit, const char *p, size_t n)
{
	ab_autofree char *clean = NULL;
	size_t clean_n = 0;
	int64_t found;
	json_t *text = json_stringn(p, n);

	if (text || !audit)
		return text ? text : escaped(p, n);
	if (enter(audit, NULL) != 0)
		return NULL;
	found = ab_audit_redact(&audit->secrets, p, n, (ab_audit_span){ 0, 0 },
				&clean, &clean_n);
	(void)leave(audit, 0);
	if (found < 0)
		return NULL;
	return clean ? escaped(clean, clean_n) : escaped(p, n);
}

/*
 * Appending is the hot path and a good record needs no positions: jansson
 * reads it alone, with depth and size bounded here, and the tree is compared
 * with the text, since short of memory jansson may shorten it in silence.
 * Only what fails is read again, for the message.
 */
static int32_t parse_fields(const char *fields, size_t n, json_t **doc,
			    agentbox_error **err)
{
	if (n <= AB_AUDIT_MAX_INPUT && ab_audit_is_shallow(fields, n))
		*doc = json_loadb(fields, n, JSON_REJECT_DUPLICATES, NULL);
	if (*doc && ab_json_is_faithful(fields, n, *doc))
		return 0;
	json_decref(*doc);
	*doc = NULL;
	return ab_json_parse(fields, n, AB_AUDIT_MAX_INPUT, doc, NULL, err);
}

int32_t agentbox_audit_append(agentbox_audit *audit, const char *type,
			      const char *fields, size_t n,
			      agentbox_error **err)
{
	json_t *doc = NULL;
	int32_t rc;

	if (!audit || (!fields && n))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "audit and fields must not be NULL");
	if (fields) {
		rc = parse_fields(fields, n, &doc, err);
		if (rc != 0)
			return rc;
	}
	rc = ab_audit_record(audit, type, doc, err);
	json_decref(doc);
	return rc;
}

int32_t agentbox_audit_flush(agentbox_audit *audit, agentbox_error **err)
{
	int32_t rc = enter_open(audit, err);

	return rc == 0 ? leave(audit, ab_audit_log_flush(audit, true, err)) :
			 rc;
}

static uint64_t due_ns(const agentbox_audit *a)
{
	uint64_t due = a->flood.next_ns;

	if (a->unsynced_ns && a->sync_mode == AGENTBOX_AUDIT_SYNC_BATCH &&
	    a->unsynced_ns + a->sync_ns < due)
		due = a->unsynced_ns + a->sync_ns;
	if (a->since_head && a->head_ns && a->head_boot_ns + a->head_ns < due)
		due = a->head_boot_ns + a->head_ns;
	return due;
}

int64_t agentbox_audit_get_timeout_ms(agentbox_audit *audit)
{
	uint64_t due, now;

	if (enter_open(audit, NULL) != 0)
		return -1;
	due = due_ns(audit);
	now = audit->boot_ns();
	(void)leave(audit, 0);
	if (due == UINT64_MAX)
		return -1;
	return due <= now ? 0 : (int64_t)((due - now - 1) / NS_PER_MS + 1);
}

int32_t agentbox_audit_dispatch(agentbox_audit *audit, agentbox_error **err)
{
	int32_t rc = enter_open(audit, err);

	return rc == 0 ? leave(audit, ab_audit_log_flush(audit, false, err)) :
			 rc;
}

int32_t agentbox_audit_close(agentbox_audit *audit, agentbox_error **err)
{
	int32_t rc = enter(audit, err);

	if (rc == 0 && audit->state == AB_AUDIT_NEW)
		rc = leave(audit, ab_error_set(err, AGENTBOX_ECLOSED, "",
					       "the audit is not open"));
	else if (rc == 0)
		rc = leave(audit, close_locked(audit, err));
	return rc;
}

static int32_t enter_begun(agentbox_audit *a, agentbox_error **err)
{
	int32_t rc = enter(a, err);

	if (rc == 0 && a->state == AB_AUDIT_NEW)
		return leave(a, ab_error_set(err, AGENTBOX_ECLOSED, "",
					     "the audit is not open"));
	return rc;
}

int32_t agentbox_audit_get_key(agentbox_audit *audit, agentbox_bytes **key_hex,
			       agentbox_error **err)
{
	agentbox_bytes *b;
	int32_t rc = enter_begun(audit, err);

	if (rc != 0)
		return rc;
	if (!key_hex)
		return leave(audit, ab_error_set(err, AGENTBOX_EINVAL, "",
						 "key_hex must not be NULL"));
	b = ab_bytes_from(audit->key.hex, AB_AUDIT_KEY_HEX - 1);
	if (b)
		*key_hex = b;
	return leave(audit, b ? 0 : ab_error_nomem(err));
}

int32_t agentbox_audit_get_anchor(agentbox_audit *audit,
				  agentbox_bytes **anchor_json,
				  agentbox_error **err)
{
	int32_t rc = enter_begun(audit, err);

	if (rc != 0)
		return rc;
	if (!anchor_json)
		rc = ab_error_set(err, AGENTBOX_EINVAL, "",
				  "anchor_json must not be NULL");
	else
		rc = ab_audit_log_anchor(audit, anchor_json, err);
	return leave(audit, rc);
}

void ab_audit_set_clock(agentbox_audit *a, ab_audit_clock_fn real_ns,
			ab_audit_clock_fn boot_ns)
{
	if (real_ns)
		a->real_ns = real_ns;
	if (boot_ns)
		a->boot_ns = boot_ns;
}
