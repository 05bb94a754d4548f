/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox audit: show, verify, report. Logs are read, never written; the
 * format is agentbox-audit(5). Keys and anchors of logs that run --audit
 * wrote are in the state directory, where no box reaches them.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <agentbox/audit.h>

#include "text.h"
#include "tool.h"

#define MOST_ANCHOR 65536
/* Of the keys of a filter. */
#define FIRST_TIME 6

/* FNV-1a: names, not security; a clash only makes an anchor not fit. */
static uint64_t hash_path(const char *s)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
	return h;
}

char *tool_audit_beside(const tool *t, const char *log, const char *kind)
{
	char *path = tool_absolute(log);
	char *slash = path ? strrchr(path, '/') : NULL;
	char *out = NULL, *full = NULL;

	if (!t->state || !slash)
		goto end;
	/* The directory by its real name; the file may not exist yet. */
	*slash = '\0';
	char *dir = realpath(*path ? path : "/", NULL);
	full = dir ? text_format("%s/%s", dir, slash + 1) : NULL;
	free(dir);
	if (full)
		out = text_format("%s/audit/%.64s-%016llx.%s", t->state,
				  slash + 1,
				  (unsigned long long)hash_path(full), kind);
end:
	free(path);
	free(full);
	return out;
}

static bool is_verdict(const char *s)
{
	return !strcmp(s, "none") || !strcmp(s, "allow") ||
	       !strcmp(s, "ask") || !strcmp(s, "deny");
}

/*
 * A date, with or without the time, in UTC: as the log writes it, so that the
 * two can be compared as text. What is left out is the first moment of what
 * is named, for --until the last. Owned; NULL: not a time.
 */
static char *time_of(const char *s, bool is_until)
{
	static const char shape[] = "0000-00-00T00:00:00";
	size_t n = 0, digits = 0;

	while (shape[n] && (shape[n] == '0' ? s[n] >= '0' && s[n] <= '9'
					    : s[n] == shape[n]))
		n++;
	if (n == 10 && !s[n])
		return text_format("%s%s", s, is_until ? "T23:59:59.999999Z"
						       : "T00:00:00.000000Z");
	if (shape[n])
		return NULL;
	if (s[n] == '.')
		digits = strspn(s + n + 1, "0123456789");
	const char *end = s + n + (s[n] == '.') + digits;
	if (strcmp(end, *end == 'Z' ? "Z" : "") != 0 || digits > 6 ||
	    (s[n] == '.' && !digits))
		return NULL;
	return text_format("%.*s.%.*s%.*sZ", (int)n, s, (int)digits, s + n + 1,
			   (int)(6 - digits),
			   is_until ? "999999" : "000000");
}

/* Filters that would match nothing by mistake. */
static int check_filter(tool *t, const tool_args *args)
{
	static const char *const times[] = { "--since", "--until" };
	const char *verdict = tool_get(args, "--verdict");

	if (verdict && !is_verdict(verdict))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--verdict",
				   "'%s' is not none, allow, ask or deny",
				   verdict);
	for (size_t i = 0; i < 2; i++) {
		const char *given = tool_get(args, times[i]);
		char *time = given ? time_of(given, i) : NULL;

		if (given && !time)
			return tool_refuse(t, TOOL_USAGE, "EINVAL", times[i],
					   "'%s' is not a time in UTC; write "
					   "2026-01-31T12:00:00Z", given);
		free(time);
	}
	return 0;
}

/* The files named, or the default one. */
static int choose_files(tool *t, const tool_args *args, char **fallback,
			const char *const **paths, size_t *count)
{
	int rc = check_filter(t, args);

	if (rc)
		return rc;
	*paths = (const char *const *)args->operands;
	*count = (size_t)args->operand_count;
	if (*count)
		return 0;
	*fallback = t->state ? text_format("%s/audit.jsonl", t->state) : NULL;
	if (!*fallback || access(*fallback, F_OK) < 0)
		return tool_refuse(t, TOOL_NOT_FOUND, "ENOTFOUND",
				   *fallback ? *fallback : "audit",
				   "there is no log here; name the file that "
				   "was given to run --audit");
	*paths = (const char *const *)fallback;
	*count = 1;
	return 0;
}

static char *filter_of(const tool_args *args)
{
	static const char *const keys[] = { "run", "box", "group", "type",
					    "verdict", "rule", "since",
					    "until" };
	json_t *filter = json_object();
	bool any = false;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char option[16];
		snprintf(option, sizeof(option), "--%s", keys[i]);
		const char *value = tool_get(args, option);
		if (!value)
			continue;
		any = true;
		char *time = i >= FIRST_TIME ? time_of(value, i > FIRST_TIME)
					     : NULL;
		json_object_set_new(filter, keys[i],
				    json_string(time ? time : value));
		free(time);
	}
	char *text = any ? json_dumps(filter, JSON_COMPACT) : NULL;
	json_decref(filter);
	return text;
}

/* A wrong filter value is wrong usage, though the library says EINVAL. */
static int fail_reading(tool *t, agentbox_error *err)
{
	if (agentbox_error_get_code(err) == AGENTBOX_EINVAL)
		return tool_fail_as(t, TOOL_USAGE, err, NULL);
	return tool_fail(t, err, NULL);
}

typedef struct listing {
	tool *t;
	int rc;
	uint64_t count;
} listing;

/* The words of a recorded command on one line; owned. */
static char *words_of(const json_t *argv)
{
	char *out = strdup("");
	json_t *v;
	size_t i;

	json_array_foreach(argv, i, v) {
		char *grown = text_format("%s%s%s", out ? out : "",
					  i ? " " : "",
					  json_is_string(v)
					  ? json_string_value(v) : "?");
		free(out);
		out = grown;
	}
	return out;
}

/* What a record is about, in its own words; owned. */
static char *about_of(const json_t *o)
{
	json_t *subject = json_object_get(o, "subject");
	json_t *status = json_object_get(o, "exit_status");
	json_t *signum = json_object_get(o, "signal");
	long long s = json_integer_value(status);

	if (json_is_array(json_object_get(o, "argv")))
		return words_of(json_object_get(o, "argv"));
	if (json_integer_value(signum) > 0)
		return text_format("signal %lld",
				   (long long)json_integer_value(signum));
	if (json_is_integer(status) && s >= 0)
		return text_format("exit %lld", s);
	if (json_is_string(subject))
		return strdup(json_string_value(subject));
	return subject ? json_dumps(subject, JSON_COMPACT | JSON_ENCODE_ANY)
		       : strdup("");
}

/* "2026-01-02T03:04:05Z  1a2b3c4d  command.start  allow  make check" */
static char *line_for_people(const json_t *o)
{
	const char *box = text_of(json_object_get(o, "actor"), "box");
	const char *verdict = text_of(o, "verdict");
	const char *rule = text_of(o, "rule");
	const char *reason = text_of(o, "reason");
	char *about = about_of(o);

	if (!strcmp(reason, "exited")) /* the status says it */
		reason = "";
	char *line = text_format("%s  %-8.8s  %-14s  %-5s  %s%s%s%s%s%s",
				 text_of(o, "timestamp"), *box ? box : "-",
				 text_of(o, "type"), verdict,
				 about ? about : "", *rule ? "  rule " : "",
				 rule, *reason ? "  (" : "", reason,
				 *reason ? ")" : "");
	size_t n = line ? strlen(line) : 0;
	while (n && line[n - 1] == ' ')
		line[--n] = '\0';
	free(about);
	return line;
}

static int32_t show_line(void *data, const char *line, size_t n)
{
	listing *l = data;

	l->count++;
	if (l->t->json) {
		l->rc = tool_write_out(l->t, line, n);
		return l->rc;
	}
	json_t *o = json_loadb(line, n, 0, NULL);
	char *raw = o ? line_for_people(o) : strndup(line, n);
	char *clean = raw ? text_clean_line(raw) : NULL;
	l->rc = tool_write_line(l->t, clean ? text_format("%s\n", clean)
					   : NULL);
	free(clean);
	free(raw);
	json_decref(o);
	return l->rc;
}

int tool_audit_show(tool *t, const tool_args *args)
{
	const char *const *paths = NULL;
	char *fallback = NULL;
	size_t count = 0;
	agentbox_error *err = NULL;
	listing l = { .t = t };
	int rc = choose_files(t, args, &fallback, &paths, &count);

	if (!rc) {
		char *filter = filter_of(args);
		int32_t done = agentbox_audit_show(t->context, paths, count,
						   filter, show_line, &l, &err);
		free(filter);
		t->json_written = true; /* what came was records */
		if (done < 0 && l.rc)
			rc = l.rc;
		else if (done < 0)
			rc = fail_reading(t, err), err = NULL;
		else if (!l.count && !t->json)
			text_note("no record matches");
	}
	if (err)
		agentbox_error_free(err);
	free(fallback);
	return rc;
}

/* A small file as text; NULL without one. */
static char *slurp(const char *path)
{
	FILE *f = path ? fopen(path, "re") : NULL;
	char *text = f ? calloc(1, MOST_ANCHOR + 1) : NULL;

	if (text && !fread(text, 1, MOST_ANCHOR, f)) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

/* An anchor that was named must be readable; the usual one need not be. */
static int read_anchor(tool *t, const tool_args *args, const char *option,
		       const char *usual, char **text)
{
	const char *named = tool_get(args, option);

	errno = ENODATA; /* what an empty file does not set */
	*text = slurp(named ? named : usual);
	if (!*text && named)
		return tool_refuse(t, TOOL_NOT_FOUND, "ENOTFOUND", option,
				   "cannot read '%s': %s", named,
				   strerror(errno));
	return 0;
}

/* What no key vouches for, when there is any. */
static void tell_signed(const json_t *report)
{
	json_t *seq = json_object_get(report, "signed_seq");
	json_t *tail = json_object_get(report, "unsigned_tail");
	char *s;

	if (json_integer_value(tail) <= 0)
		return;
	s = json_integer_value(seq) > 0 ?
		    text_format("up to record %lld; %lld after it are not",
				(long long)json_integer_value(seq),
				(long long)json_integer_value(tail)) :
		    strdup("no record");
	if (s)
		text_item(stderr, 10, TEXT_PLAIN, "signed", s);
	free(s);
}

static void tell_verified(const json_t *report, size_t files)
{
	const char *tail = text_of(report, "tail");
	json_t *n = json_object_get(report, "records");
	json_t *bad = json_object_get(report, "first_bad_seq");

	text_item(stderr, 10, !strcmp(text_of(report, "status"), "verified")
		  ? TEXT_GOOD : TEXT_BAD, "status", text_of(report, "status"));
	if (json_is_integer(n)) {
		char *s = text_format("%lld in %zu file%s",
				      (long long)json_integer_value(n), files,
				      files == 1 ? "" : "s");
		if (s)
			text_item(stderr, 10, TEXT_PLAIN, "records", s);
		free(s);
	}
	if (!strcmp(text_of(report, "begins"), "link"))
		text_item(stderr, 10, TEXT_PLAIN, "begins", "with a link: what "
			  "was before it is not looked at; give --start FILE");
	tell_signed(report);
	text_item(stderr, 10, TEXT_PLAIN, "tail",
		  !strcmp(tail, "unanchored")
		  ? "unanchored: records missing at the end would not show; "
		    "give --anchor FILE" : tail);
	if (json_is_integer(bad)) {
		char *s = text_format("seq %lld: %s",
				      (long long)json_integer_value(bad),
				      text_of(report, "reason"));
		if (s)
			text_item(stderr, 10, TEXT_BAD, "first bad", s);
		free(s);
	}
}

int tool_audit_verify(tool *t, const tool_args *args)
{
	const char *const *paths = NULL;
	char *fallback = NULL, *anchor = NULL, *start = NULL, *usual = NULL;
	size_t count = 0;
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	int rc = choose_files(t, args, &fallback, &paths, &count);

	if (!rc)
		usual = tool_audit_beside(t, paths[count - 1], "anchor");
	if (!rc)
		rc = read_anchor(t, args, "--anchor", usual, &anchor);
	if (!rc)
		rc = read_anchor(t, args, "--start", NULL, &start);
	if (rc)
		goto out;
	text_progress_begin("verifying");
	int32_t done = agentbox_audit_verify(t->context, paths, count,
					     tool_get(args, "--key"), anchor,
					     start, &bytes, &err);
	text_progress_end();
	json_t *report = tool_json_of(bytes);
	if (report && !t->json)
		tell_verified(report, count);
	if (report && t->json)
		rc = tool_print_json(t, json_incref(report));
	if (done < 0)
		rc = tool_fail(t, err, report && count == 1 ? paths[0] : NULL);
	json_decref(report);
out:
	free(fallback);
	free(anchor);
	free(start);
	free(usual);
	return rc;
}

int tool_audit_report(tool *t, const tool_args *args)
{
	const char *const *paths = NULL;
	char *fallback = NULL;
	size_t count = 0;
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	int rc = choose_files(t, args, &fallback, &paths, &count);

	if (!rc) {
		char *filter = filter_of(args);
		text_progress_begin("counting");
		int32_t done = agentbox_audit_report(t->context, paths, count,
						     filter, &bytes, &err);
		text_progress_end();
		free(filter);
		json_t *report = tool_json_of(bytes);
		if (done < 0)
			rc = fail_reading(t, err);
		else if (t->json)
			rc = tool_print_json(t, json_incref(report));
		else
			text_outline(stderr, 0, report);
		json_decref(report);
	}
	free(fallback);
	return rc;
}
