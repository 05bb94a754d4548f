/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Canonical JSON (base/canonical.h) into the line of a record. It is what
 * Python's json.dumps(sort_keys=True, separators=(",", ":")) gives, so a
 * verifier in another language needs no code of ours. Secrets are replaced
 * and long strings cut on the way, in that order: a cut never leaves half a
 * secret. Refuses reals, depth over 16 and too many keys.
 * Spec: agentbox-audit(5), "CANONICAL FORM".
 */
#include "config.h"

#include "audit/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/canonical.h"

#define REDACTED "[redacted]"

static bool append(void *data, const char *p, size_t n)
{
	ab_audit_writer *w = data;

	if (w->is_full || n > w->max - w->len) {
		w->is_full = true;
		return false;
	}
	memcpy(w->buf + w->len, p, n);
	w->len += n;
	return true;
}

void ab_audit_write_raw(ab_audit_writer *w, const char *p, size_t n)
{
	append(w, p, n);
}

/* How much of p,n is kept, at a character boundary. */
static size_t cut_at(const char *p, size_t n, size_t max)
{
	size_t keep = max;

	if (!max || n <= max)
		return n;
	while (keep && ((unsigned char)p[keep] & 0xc0) == 0x80)
		keep--;
	return keep;
}

static void write_string(ab_audit_writer *w, const char *p, size_t n,
			 ab_audit_span known)
{
	ab_canonical c = { .data = w, .put = append };
	ab_autofree char *clean = NULL;
	size_t clean_n = 0, keep;
	int64_t found = 0;

	if (w->secrets)
		found = ab_audit_redact(w->secrets, p, n, known, &clean,
					&clean_n);
	if (found < 0) {
		w->has_no_memory = true;
		return;
	}
	if (clean) {
		p = clean;
		n = clean_n;
		w->redacted += (uint64_t)found;
	}
	keep = cut_at(p, n, w->value_max);
	append(w, "\"", 1);
	ab_canonical_text(&c, p, keep);
	if (keep < n) {
		char mark[48];
		int len = snprintf(mark, sizeof(mark), "[cut %zu bytes]",
				   n - keep);

		w->cut_values++;
		w->cut_bytes += n - keep;
		append(w, mark, (size_t)len);
	}
	append(w, "\"", 1);
}

void ab_audit_write_string(ab_audit_writer *w, const char *p, size_t n)
{
	write_string(w, p, n, (ab_audit_span){ 0, 0 });
}

static void write_redacted(ab_audit_writer *w)
{
	append(w, "\"" REDACTED "\"", sizeof(REDACTED) + 1);
	w->redacted++;
}

static void put_string(void *data, const char *p, size_t n)
{
	ab_audit_write_string(data, p, n);
}

/* A member whose name says that it is a secret. */
static bool put_member(void *data, const char *key, const json_t *value)
{
	ab_audit_writer *w = data;

	if (!w->secrets || json_is_null(value) || json_is_boolean(value) ||
	    !ab_audit_is_secret_name(key, strlen(key)))
		return false;
	write_redacted(w);
	return true;
}

/* No memory counts as yes, and is marked. */
static bool has_secret_key(ab_audit_writer *w, const json_t *object)
{
	for (void *it = json_object_iter((json_t *)object); it;
	     it = json_object_iter_next((json_t *)object, it)) {
		const char *key = json_object_iter_key(it);
		ab_autofree char *clean = NULL;
		size_t n = 0;
		int64_t found = ab_audit_redact(w->secrets, key, strlen(key),
						(ab_audit_span){ 0, 0 },
						&clean, &n);

		if (found < 0)
			w->has_no_memory = true;
		if (found)
			return true;
	}
	return false;
}

/* Where a name is a secret, the object goes, names and values. */
static bool put_object(void *data, const json_t *object)
{
	ab_audit_writer *w = data;

	if (!w->secrets || !has_secret_key(w, object))
		return false;
	write_redacted(w);
	return true;
}

/* Strings in a row are arguments: one says what the next one is. */
static bool put_array(void *data, const json_t *array)
{
	ab_audit_writer *w = data;
	ab_audit_arguments a = { 0 };
	size_t n = json_array_size(array);

	for (size_t i = 0; i < n; i++) {
		if (!json_is_string(json_array_get(array, i)))
			return false;
	}
	if (!w->secrets || n < 2)
		return false;
	append(w, "[", 1);
	for (size_t i = 0; i < n && !w->is_full; i++) {
		const json_t *v = json_array_get(array, i);
		const char *p = json_string_value(v);
		size_t len = json_string_length(v);

		if (i)
			append(w, ",", 1);
		write_string(w, p, len, ab_audit_argument(&a, p, len));
	}
	append(w, "]", 1);
	return true;
}

void ab_audit_write_value(ab_audit_writer *w, const json_t *value,
			  unsigned depth)
{
	ab_canonical c = { .data = w, .put = append,
			   .put_string = put_string, .put_object = put_object,
			   .put_array = put_array, .put_member = put_member,
			   .depth_max = AB_MAX_JSON_DEPTH + 1,
			   .keys_max = AB_AUDIT_MAX_KEYS };

	if (!value || w->is_bad) {
		w->is_bad = true;
		return;
	}
	int32_t rc = ab_canonical_value(&c, value, depth);
	w->has_no_memory |= rc == AGENTBOX_ENOMEM;
	w->is_bad |= rc == AGENTBOX_EINVAL || rc == AGENTBOX_ELIMIT;
}
