/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Floods of denials. A box that is refused in a loop must not fill the disk,
 * and no refusal may go uncounted: within a window the first ones of a kind
 * are written, the others are held here as a count with the first and last
 * time. A kind is type, box, generation, uid, euid, rule and config_hash; the
 * agent chooses subjects and pids, so they are not part of it. Refuses to
 * grow: with every bucket taken the oldest is written out early.
 * Spec: agentbox-audit(5), "REPEATED DENIALS".
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

bool ab_audit_flood_applies(const ab_audit_flood *f, const json_t *fields)
{
	const char *verdict =
		json_string_value(json_object_get(fields, "verdict"));

	return f->window_ns && verdict && strcmp(verdict, "deny") == 0;
}

static bool kind_of(const char *type, const json_t *fields,
		    uint8_t id[AB_SHA256_SIZE])
{
	static const char *const members[] = { "box", "generation", "uid",
					       "euid" };
	const json_t *actor = json_object_get(fields, "actor");
	json_t *kind = json_pack("[s,O?,O?]", type,
				 json_object_get(fields, "rule"),
				 json_object_get(fields, "config_hash"));
	bool ok = kind;
	char text[2048];
	size_t n = 0;

	for (size_t i = 0; ok && i < AB_ARRAY_LEN(members); i++) {
		json_t *m = json_object_get(actor, members[i]);

		ok = json_array_append_new(kind, m ? json_incref(m) :
						     json_null()) == 0;
	}
	if (ok)
		n = json_dumpb(kind, text, sizeof(text), JSON_COMPACT);
	ok = n && n <= sizeof(text);
	if (ok)
		ab_sha256_portable(text, n, id);
	json_decref(kind);
	/* too long to name a kind: such a denial is written on its own */
	return ok;
}

static void set_next(ab_audit_flood *f)
{
	f->next_ns = UINT64_MAX;
	for (size_t i = 0; f->used && i < AB_AUDIT_MAX_BUCKETS; i++) {
		const ab_audit_bucket *b = &f->buckets[i];

		if (b->is_used && b->start_ns + f->window_ns < f->next_ns)
			f->next_ns = b->start_ns + f->window_ns;
	}
}

ab_audit_bucket *ab_audit_flood_find(ab_audit_flood *f, const char *type,
				     const json_t *fields, uint64_t now_ns,
				     ab_audit_bucket **oldest)
{
	ab_audit_bucket *room = NULL, *old = NULL;
	uint8_t id[AB_SHA256_SIZE];

	*oldest = NULL;
	if (!f->buckets)
		f->buckets = ab_calloc(AB_AUDIT_MAX_BUCKETS,
				       sizeof(*f->buckets));
	if (!f->buckets || !kind_of(type, fields, id))
		return NULL;
	for (size_t i = 0; i < AB_AUDIT_MAX_BUCKETS; i++) {
		ab_audit_bucket *b = &f->buckets[i];

		if (!b->is_used)
			room = b;
		else if (memcmp(b->id, id, sizeof(id)) == 0)
			return b;
		else if (!old || b->start_ns < old->start_ns)
			old = b;
	}
	if (!room) {
		*oldest = old;
		return NULL;
	}
	memset(room, 0, sizeof(*room));
	room->is_used = true;
	room->start_ns = now_ns;
	memcpy(room->id, id, sizeof(id));
	f->used++;
	set_next(f);
	return room;
}

/* What differs between the held ones is not claimed for all of them. */
static int merge(json_t *held, const json_t *fields)
{
	json_t *subject = json_object_get(held, "subject");
	json_t *actor = json_object_get(held, "actor");
	json_t *pid = json_object_get(actor, "pid");

	if (subject &&
	    !json_equal(subject, json_object_get(fields, "subject")) &&
	    json_object_del(held, "subject") != 0)
		return -ENOMEM;
	if (pid && !json_equal(pid, json_object_get(json_object_get(fields,
								    "actor"),
						    "pid")) &&
	    json_object_set_new(actor, "pid", json_null()) != 0)
		return -ENOMEM;
	return 0;
}

int ab_audit_flood_hold(ab_audit_bucket *b, const char *type,
			const json_t *fields, const char *timestamp)
{
	if (!b->held) {
		b->fields = json_deep_copy(fields);
		if (!b->fields)
			return -ENOMEM;
		memcpy(b->type, type, strlen(type) + 1);
		memcpy(b->first, timestamp, strlen(timestamp) + 1);
	} else if (merge(b->fields, fields) != 0) {
		return -ENOMEM;
	}
	memcpy(b->last, timestamp, strlen(timestamp) + 1);
	b->held++;
	return 0;
}

ab_audit_bucket *ab_audit_flood_expired(ab_audit_flood *f, uint64_t now_ns,
					bool all)
{
	if (!f->used || (!all && now_ns < f->next_ns))
		return NULL;
	for (size_t i = 0; i < AB_AUDIT_MAX_BUCKETS; i++) {
		ab_audit_bucket *b = &f->buckets[i];

		if (b->is_used && (all || now_ns >= b->start_ns + f->window_ns))
			return b;
	}
	return NULL;
}

void ab_audit_flood_drop(ab_audit_flood *f, ab_audit_bucket *b)
{
	json_decref(b->fields);
	memset(b, 0, sizeof(*b));
	f->used--;
	set_next(f);
}

void ab_audit_flood_free(ab_audit_flood *f)
{
	for (size_t i = 0; f->buckets && i < AB_AUDIT_MAX_BUCKETS; i++)
		json_decref(f->buckets[i].fields);
	free(f->buckets);
	f->buckets = NULL;
	f->used = 0;
	f->next_ns = UINT64_MAX;
}
