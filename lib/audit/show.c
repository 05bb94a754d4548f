/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a log: show hands matching lines on, report counts them. Neither
 * verifies; both refuse to pass on a line that is not a canonical record, so
 * that what reaches a terminal is printable ASCII whatever is in the file.
 * Spec: agentbox_audit_show(3).
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

/* 0 to go on; anything else ends the reading and is returned. */
typedef int32_t (*record_fn)(void *data, const json_t *record,
			     const char *line, size_t n, agentbox_error **err);

typedef struct walk {
	ab_audit_filter filter;
	record_fn fn;
	void *data;
	uint64_t lines, bad_line; /* bad_line: the first, 1-based */
} walk;

static int32_t walk_line(walk *w, const char *line, size_t n,
			 agentbox_error **err)
{
	ab_auto(json_t) *doc = NULL;
	ab_audit_frame f = { 0 };
	int rc = ab_audit_scan(line, n, &f);

	w->lines++;
	if (rc == -ENOMEM)
		return ab_error_nomem(err);
	if (rc != 0) {
		w->bad_line = w->bad_line ? w->bad_line : w->lines;
		return 0;
	}
	doc = ab_audit_parse_line(line, n);
	if (!doc)
		return ab_error_nomem(err);
	if (!ab_audit_filter_matches(&w->filter, doc))
		return 0;
	return w->fn(w->data, doc, line, n, err);
}

static int32_t walk_fd(walk *w, int fd, const char *path, agentbox_error **err)
{
	ab_audit_reader r;
	const char *line = NULL;
	size_t n = 0;
	int32_t rc = 0;
	int got = ab_audit_reader_init(&r, fd);

	if (got != 0)
		return ab_error_nomem(err);
	while (rc == 0) {
		got = ab_audit_reader_next(&r, &line, &n);
		if (got <= 0)
			break;
		rc = walk_line(w, line, n, err);
	}
	ab_audit_reader_end(&r);
	if (rc == 0 && got == -EFBIG)
		w->bad_line = w->bad_line ? w->bad_line : w->lines + 1;
	else if (rc == 0 && got < 0)
		rc = ab_error_sys(err, -got, "", "cannot read '%s'", path);
	return rc;
}

static int32_t walk_paths(walk *w, const char *const *paths, size_t count,
			  const char *filter, agentbox_error **err)
{
	int32_t rc = ab_audit_filter_parse(&w->filter, filter, err);

	for (size_t i = 0; rc == 0 && i < count; i++) {
		ab_autofd int fd = -1;

		if (!paths[i]) {
			rc = ab_error_set(err, AGENTBOX_EINVAL, "",
					  "path must not be NULL");
			break;
		}
		rc = ab_audit_open_log(paths[i], &fd, err);
		if (rc == 0)
			rc = walk_fd(w, fd, paths[i], err);
	}
	json_decref(w->filter.doc);
	if (rc == 0 && w->bad_line)
		rc = ab_error_set(err, AGENTBOX_EPARSE, "",
				  "line %llu of the log is not a record; "
				  "verify it",
				  (unsigned long long)w->bad_line);
	return rc;
}

typedef struct shower {
	agentbox_audit_line_fn fn;
	void *data;
} shower;

static int32_t show_one(void *data, const json_t *record, const char *line,
			size_t n, agentbox_error **err)
{
	const shower *s = data;

	(void)record;
	/* the reader's line is followed by its newline */
	if (s->fn(s->data, line, n + 1) != 0)
		return ab_error_set(err, AGENTBOX_ECANCELED, "",
				    "the reader of the log stopped");
	return 0;
}

int32_t agentbox_audit_show(agentbox_context *context,
			    const char *const *paths, size_t path_count,
			    const char *filter_json, agentbox_audit_line_fn fn,
			    void *data, agentbox_error **err)
{
	shower s = { fn, data };
	walk w = { .fn = show_one, .data = &s };

	if (!context || !paths || !path_count || !fn ||
	    path_count > AB_AUDIT_MAX_PATHS)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "show needs a context, paths and a "
				    "callback");
	return walk_paths(&w, paths, path_count, filter_json, err);
}

typedef struct counts {
	json_t *types, *verdicts, *denials; /* owned */
	json_int_t records, counted, redacted, cut, other_denials;
	char first[AB_TIMESTAMP_SIZE], last[AB_TIMESTAMP_SIZE];
} counts;

static json_int_t repeats(const json_t *record)
{
	json_int_t n = json_integer_value(json_object_get(
		json_object_get(record, "repeat"), "count"));

	return n > 0 && n < INT64_MAX / 2 ? n : 1;
}

static json_int_t sum(json_int_t a, json_int_t b)
{
	json_int_t v;

	return __builtin_add_overflow(a, b, &v) ? INT64_MAX : v;
}

static bool count_in(json_t *table, const char *key, json_int_t n)
{
	json_int_t had = json_integer_value(json_object_get(table, key));

	return json_object_set_new(table, key, json_integer(sum(had, n))) == 0;
}

/* The group of a denial, made when new; NULL without memory or room. */
static json_t *group_of(counts *c, const json_t *record, bool *is_full)
{
	const json_t *box =
		json_object_get(json_object_get(record, "actor"), "box");
	json_t *id = json_pack("{s:O?,s:O?,s:O?,s:O?}", "type",
			       json_object_get(record, "type"), "rule",
			       json_object_get(record, "rule"), "box", box,
			       "subject", json_object_get(record, "subject"));
	char *key = id ? json_dumps(id, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_t *group = key ? json_object_get(c->denials, key) : NULL;

	*is_full = key && !group &&
		   json_object_size(c->denials) >= AB_AUDIT_MAX_GROUPS;
	if (key && !group && !*is_full &&
	    json_object_set(c->denials, key, id) == 0)
		group = id;
	free(key);
	json_decref(id);
	return group;
}

static bool count_denial(counts *c, const json_t *record, json_int_t n)
{
	json_t *repeat = json_object_get(record, "repeat");
	json_t *first = json_object_get(repeat, "first");
	json_t *last = json_object_get(repeat, "last");
	json_t *time = json_object_get(record, "timestamp");
	bool is_full = false;
	json_t *group = group_of(c, record, &is_full);

	if (is_full) {
		c->other_denials = sum(c->other_denials, n);
		return true;
	}
	if (!group || !count_in(group, "count", n))
		return false;
	if (!json_object_get(group, "first") &&
	    json_object_set(group, "first", first ? first : time) != 0)
		return false;
	return json_object_set(group, "last", last ? last : time) == 0;
}

static int32_t count_one(void *data, const json_t *record, const char *line,
			 size_t n, agentbox_error **err)
{
	counts *c = data;
	const char *type = json_string_value(json_object_get(record, "type"));
	const char *time =
		json_string_value(json_object_get(record, "timestamp"));
	const char *verdict =
		json_string_value(json_object_get(record, "verdict"));
	json_int_t times = repeats(record);
	bool ok = count_in(c->types, type, times);

	(void)line;
	(void)n;
	if (!c->records)
		memcpy(c->first, time, strlen(time) + 1);
	memcpy(c->last, time, strlen(time) + 1);
	c->records++;
	c->counted = sum(c->counted, times);
	c->redacted = sum(c->redacted, json_integer_value(json_object_get(
					       record, "redacted")));
	if (json_object_get(record, "cut"))
		c->cut++;
	if (verdict)
		ok = ok && count_in(c->verdicts, verdict, times);
	if (verdict && strcmp(verdict, "deny") == 0)
		ok = ok && count_denial(c, record, times);
	return ok ? 0 : ab_error_nomem(err);
}

static int by_count(const void *a, const void *b)
{
	json_int_t x = json_integer_value(
		json_object_get(*(json_t *const *)a, "count"));
	json_int_t y = json_integer_value(
		json_object_get(*(json_t *const *)b, "count"));

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The groups as an array, most frequent first; NULL without memory. */
static json_t *sorted(const json_t *denials)
{
	size_t n = json_object_size(denials), i = 0;
	ab_autofree json_t **rows = ab_calloc(n + 1, sizeof(*rows));
	json_t *array = json_array();

	for (void *it = json_object_iter((json_t *)denials); rows && it;
	     it = json_object_iter_next((json_t *)denials, it))
		rows[i++] = json_object_iter_value(it);
	if (rows)
		qsort(rows, n, sizeof(*rows), by_count);
	for (i = 0; rows && array && i < n; i++) {
		if (json_array_append(array, rows[i]) != 0)
			break;
	}
	if (!rows || !array || i < n) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static int32_t finish(const counts *c, agentbox_bytes **out,
		      agentbox_error **err)
{
	json_t *rows = sorted(c->denials);
	ab_auto(json_t) *doc = NULL;

	if (!rows)
		return ab_error_nomem(err);
	doc = json_pack("{s:I,s:I,s:s,s:s,s:I,s:I,s:I,s:O,s:O,s:o}", "records",
			c->records, "events", c->counted, "first", c->first,
			"last", c->last, "redacted", c->redacted, "cut_records",
			c->cut, "other_denials", c->other_denials, "by_type",
			c->types, "by_verdict", c->verdicts, "denials", rows);
	if (!doc)
		return ab_error_nomem(err);
	return ab_json_canonical(doc, out, err);
}

int32_t agentbox_audit_report(agentbox_context *context,
			      const char *const *paths, size_t path_count,
			      const char *filter_json,
			      agentbox_bytes **report_json,
			      agentbox_error **err)
{
	counts c = { 0 };
	walk w = { .fn = count_one, .data = &c };
	int32_t rc;

	if (!context || !paths || !path_count || !report_json ||
	    path_count > AB_AUDIT_MAX_PATHS)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "report needs a context, paths and an "
				    "out-parameter");
	c.types = json_object();
	c.verdicts = json_object();
	c.denials = json_object();
	rc = c.types && c.verdicts && c.denials ?
		     walk_paths(&w, paths, path_count, filter_json, err) :
		     ab_error_nomem(err);
	if (rc == 0)
		rc = finish(&c, report_json, err);
	json_decref(c.types);
	json_decref(c.verdicts);
	json_decref(c.denials);
	return rc;
}
