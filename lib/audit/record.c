/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes one record: checks the caller's fields, adds the framing, writes the
 * canonical line. Refuses reserved names, wrong types under names that have a
 * meaning, a bridge command without its seven fields, and what does not fit a
 * line even with its strings cut. Spec: agentbox-audit(5), DESIGN.md
 * section 13.
 */
#include "config.h"

#include "audit/internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define OWN_FIELDS 10
#define OWN_ROOM 128

static const char *const reserved[] = {
	"clock", "cut",	   "log", "mono_ns",   "prev",
	"redacted", "repeat", "seq", "timestamp", "type",
};

/* The record of a command over the fleet bridge; DESIGN.md section 10. */
static const char *const command_fields[] = {
	"source_vm", "command", "target", "config_hash", "result", "reason",
};

/* Longest string kept, tried in turn until the record fits. */
static const size_t value_limits[] = { 0, 16384, 2048, 256, 32 };

typedef struct entry {
	const char *key;
	const char *text; /* canonical value */
	size_t n;
} entry;

static bool is_word(const char *s, size_t max, const char *more)
{
	size_t n = strlen(s);

	if (!n || n > max || !((s[0] >= 'a' && s[0] <= 'z') || s[0] == '_'))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!((s[i] >= 'a' && s[i] <= 'z') ||
		      (s[i] >= '0' && s[i] <= '9') || strchr(more, s[i])))
			return false;
	}
	return true;
}

int32_t ab_audit_check_type(const char *type, agentbox_error **err)
{
	if (!type || !is_word(type, AB_AUDIT_MAX_TYPE, "_.-") ||
	    type[0] == '_')
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "a record type is [a-z][a-z0-9_.-]{0,63}");
	if (strncmp(type, "audit.", 6) == 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "record types 'audit.*' are the log's own");
	return 0;
}

static int32_t wrong(const char *key, const char *what, agentbox_error **err)
{
	char where[80];

	snprintf(where, sizeof(where), "/%s", key);
	return ab_error_set(err, AGENTBOX_EINVAL, where,
			    "record field '%s' %s", key, what);
}

static int32_t check_actor(const json_t *actor, agentbox_error **err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(actor))
		return wrong("actor", "must be an object", err);
	json_object_foreach((json_t *)actor, key, value) {
		bool is_box = strcmp(key, "box") == 0;

		if (!is_box && strcmp(key, "generation") != 0 &&
		    strcmp(key, "uid") != 0 && strcmp(key, "euid") != 0 &&
		    strcmp(key, "pid") != 0)
			return wrong("actor", "has an unknown member", err);
		if (is_box ? !json_is_string(value) ||
				     json_string_length(value) > AB_MAX_NAME :
			     !json_is_null(value) &&
				     (!json_is_integer(value) ||
				      json_integer_value(value) < 0))
			return wrong("actor", "has a member of the wrong type",
				     err);
	}
	return 0;
}

static bool is_digest(const json_t *value)
{
	const char *s = json_string_value(value);

	if (!s || strlen(s) != AB_DIGEST_SIZE - 1 ||
	    strncmp(s, "sha256:", 7) != 0)
		return false;
	return strspn(s + 7, "0123456789abcdef") == AB_DIGEST_SIZE - 8;
}

static bool is_verdict(const json_t *value)
{
	static const char *const words[] = { "none", "allow", "ask", "deny" };
	const char *s = json_string_value(value);

	for (size_t i = 0; s && i < AB_ARRAY_LEN(words); i++) {
		if (strcmp(s, words[i]) == 0)
			return true;
	}
	return false;
}

static int32_t check_field(const char *key, const json_t *value,
			   agentbox_error **err)
{
	if (!is_word(key, 64, "_"))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "a record field is [a-z_][a-z0-9_]{0,63}");
	for (size_t i = 0; i < AB_ARRAY_LEN(reserved); i++) {
		if (key[0] == reserved[i][0] && strcmp(key, reserved[i]) == 0)
			return wrong(key, "is reserved", err);
	}
	if (strcmp(key, "actor") == 0)
		return check_actor(value, err);
	if (strcmp(key, "verdict") == 0 && !is_verdict(value))
		return wrong(key, "must be none, allow, ask or deny", err);
	if (strcmp(key, "rule") == 0 && !json_is_string(value))
		return wrong(key, "must be a string", err);
	if (strcmp(key, "subject") == 0 && !json_is_string(value) &&
	    !json_is_object(value))
		return wrong(key, "must be a string or an object", err);
	if (strcmp(key, "config_hash") == 0 && !is_digest(value))
		return wrong(key, "must be sha256: and 64 hex digits", err);
	return 0;
}

int32_t ab_audit_check_fields(const char *type, const json_t *fields,
			      agentbox_error **err)
{
	const char *key;
	json_t *value;
	int32_t rc;

	if (fields && !json_is_object(fields))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "record fields must be a JSON object");
	if (fields && json_object_size(fields) > AB_AUDIT_MAX_FIELDS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "a record has at most %d fields",
				    AB_AUDIT_MAX_FIELDS);
	if (strcmp(type, "command") == 0) {
		for (size_t i = 0; i < AB_ARRAY_LEN(command_fields); i++) {
			if (!json_object_get(fields, command_fields[i]))
				return wrong(command_fields[i],
					     "is missing from a command", err);
		}
	}
	if (!fields)
		return 0;
	json_object_foreach((json_t *)fields, key, value) {
		rc = check_field(key, value, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Write one value into the scratch and note where it is. */
static void add(ab_audit_writer *w, entry *e, const char *key,
		const json_t *value)
{
	size_t from = w->len;

	if (w->secrets && !json_is_null(value) && !json_is_boolean(value) &&
	    ab_audit_is_secret_name(key, strlen(key))) {
		ab_audit_write_raw(w, "\"[redacted]\"", 12);
		w->redacted++;
	} else {
		ab_audit_write_value(w, value, 1);
	}
	e->key = key;
	e->text = w->buf + from;
	e->n = w->len - from;
}

/* Decimal digits of value at p; returns how many. */
static size_t digits(char *p, uint64_t value)
{
	char back[24];
	size_t n = 0;

	do {
		back[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (size_t i = 0; i < n; i++)
		p[i] = back[n - 1 - i];
	return n;
}

static void add_number(char *room, entry *e, const char *key, uint64_t value)
{
	e->key = key;
	e->text = room;
	e->n = digits(room, value);
}

/* `word` needs no escapes: a hash, a time, a type that was checked. */
static void add_word(char *room, entry *e, const char *key, const char *word)
{
	size_t n = strlen(word);

	room[0] = '"';
	memcpy(room + 1, word, n);
	room[n + 1] = '"';
	e->key = key;
	e->text = room;
	e->n = n + 2;
}

/* Insertion sort: a record has a dozen fields and most come sorted. */
static void sort_entries(entry *e, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		entry x = e[i];
		size_t k = i;

		while (k && strcmp(e[k - 1].key, x.key) > 0) {
			e[k] = e[k - 1];
			k--;
		}
		e[k] = x;
	}
}

static bool join(char *buf, size_t *n, const entry *e, size_t count)
{
	ab_audit_writer w = { .buf = buf, .max = AB_AUDIT_MAX_LINE };

	for (size_t i = 0; i < count; i++) {
		ab_audit_write_raw(&w, i ? "," : "{", 1);
		ab_audit_write_raw(&w, "\"", 1);
		ab_audit_write_raw(&w, e[i].key, strlen(e[i].key));
		ab_audit_write_raw(&w, "\":", 2);
		ab_audit_write_raw(&w, e[i].text, e[i].n);
	}
	ab_audit_write_raw(&w, "}\n", 2);
	*n = w.len;
	return !w.is_full;
}

/*
 * The actor is written here, always with its five members: what the caller
 * left out of an actor it gave is null, and without one it is this process.
 */
static void add_actor(ab_audit_writer *w, entry *e, const json_t *actor)
{
	static const char *const keys[] = { "box", "euid", "generation", "pid",
					    "uid" };
	uint64_t own[AB_ARRAY_LEN(keys)] = { 0 };
	size_t from = w->len;

	if (!actor) {
		own[1] = geteuid();
		own[3] = (uint64_t)getpid();
		own[4] = getuid();
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(keys); i++) {
		const json_t *value = json_object_get(actor, keys[i]);
		char text[24];

		ab_audit_write_raw(w, i ? ",\"" : "{\"", 2);
		ab_audit_write_raw(w, keys[i], strlen(keys[i]));
		ab_audit_write_raw(w, "\":", 2);
		if (value)
			ab_audit_write_value(w, value, 2);
		else if (i == 0)
			ab_audit_write_raw(w, "\"\"", 2);
		else if (actor)
			ab_audit_write_raw(w, "null", 4);
		else
			ab_audit_write_raw(w, text, digits(text, own[i]));
	}
	ab_audit_write_raw(w, "}", 1);
	e->key = "actor";
	e->text = w->buf + from;
	e->n = w->len - from;
}

static size_t add_fields(ab_audit_writer *w, entry *e, const json_t *fields)
{
	size_t count = 0;

	for (void *it = json_object_iter((json_t *)fields); it;
	     it = json_object_iter_next((json_t *)fields, it)) {
		const char *key = json_object_iter_key(it);

		if (strcmp(key, "actor") == 0)
			continue;
		add(w, &e[count++], key, json_object_iter_value(it));
	}
	add_actor(w, &e[count++], json_object_get(fields, "actor"));
	return count;
}

/* The framing; room holds its numbers. */
static size_t add_frame(const ab_audit_stamp *stamp, const ab_audit_writer *w,
			char room[8][OWN_ROOM], entry *e)
{
	size_t n = 0;

	add_number(room[0], &e[n++], "seq", stamp->seq);
	add_number(room[1], &e[n++], "mono_ns", stamp->mono_ns);
	add_word(room[2], &e[n++], "prev", stamp->prev);
	add_word(room[3], &e[n++], "timestamp", stamp->timestamp);
	add_word(room[4], &e[n++], "type", stamp->type);
	if (stamp->is_clock_backwards)
		add_word(room[5], &e[n++], "clock", "backwards");
	if (w->redacted)
		add_number(room[6], &e[n++], "redacted", w->redacted);
	if (w->cut_values) {
		int len = snprintf(room[7], OWN_ROOM,
				   "{\"bytes\":%llu,\"values\":%llu}",
				   (unsigned long long)w->cut_bytes,
				   (unsigned long long)w->cut_values);

		e[n].key = "cut";
		e[n].text = room[7];
		e[n++].n = (size_t)len;
	}
	return n;
}

/* One try with strings no longer than value_max. 0, ELIMIT, or an error. */
static int32_t build_once(const ab_audit_stamp *stamp, const json_t *fields,
			  ab_audit_writer *w, char *buf, size_t *n)
{
	entry entries[AB_AUDIT_MAX_FIELDS + OWN_FIELDS + 1];
	char room[8][OWN_ROOM];
	size_t count = add_fields(w, entries, fields);
	const ab_audit_secrets *secrets = w->secrets;

	w->secrets = NULL; /* our own: keys and signatures stay */
	if (stamp->log)
		add(w, &entries[count++], "log", stamp->log);
	if (stamp->repeat)
		add(w, &entries[count++], "repeat", stamp->repeat);
	w->secrets = secrets;
	if (w->has_no_memory)
		return AGENTBOX_ENOMEM;
	if (w->is_bad)
		return AGENTBOX_EINVAL;
	if (w->is_full)
		return AGENTBOX_ELIMIT;
	count += add_frame(stamp, w, room, entries + count);
	sort_entries(entries, count);
	return join(buf, n, entries, count) ? 0 : AGENTBOX_ELIMIT;
}

int32_t ab_audit_build(const ab_audit_stamp *stamp, const json_t *fields,
		       const ab_audit_secrets *secrets, char *scratch,
		       char *buf, size_t *n, agentbox_error **err)
{
	int32_t rc = AGENTBOX_ELIMIT;

	for (size_t i = 0; rc == AGENTBOX_ELIMIT &&
			   i < AB_ARRAY_LEN(value_limits);
	     i++) {
		ab_audit_writer w = { .buf = scratch,
				      .max = AB_AUDIT_MAX_LINE,
				      .secrets = secrets,
				      .value_max = value_limits[i] };

		rc = build_once(stamp, fields, &w, buf, n);
	}
	if (rc == AGENTBOX_ELIMIT)
		return ab_error_set(err, rc, "",
				    "record passes %d bytes", AB_MAX_AUDIT_RECORD);
	if (rc == AGENTBOX_EINVAL)
		return ab_error_set(err, rc, "",
				    "record has a real number, is deeper than "
				    "16 or has an object of over 1024 members");
	if (rc != 0)
		return ab_error_nomem(err);
	return 0;
}
