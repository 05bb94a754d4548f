/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Grants as rows. What has to hold against another process is asked and
 * changed in one transaction of the caller; each function is one statement.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "peering/internal.h"

#define COLUMNS                                                             \
	"id, reader, source, name, state, account, workspace, dev, ino, "   \
	"source_pid, source_started, generation"

void ab_grant_end(ab_grant *grant)
{
	free(grant->account);
	free(grant->workspace);
	grant->account = grant->workspace = NULL;
}

int32_t ab_grant_insert(ab_store *store, const ab_grant *g,
			agentbox_error **err)
{
	agentbox_error *error = NULL;
	int32_t rc = ab_store_hold_room(store, err);
	if (rc < 0)
		return rc;
	rc = ab_store_run(
		store, NULL, NULL, &error,
		"INSERT INTO grants(id, reader, source, name, state, account, "
		"workspace, dev, ino, source_pid, source_started, made_ns) "
		"VALUES(?, ?, ?, ?, 'making', ?, ?, ?, ?, ?, ?, ?)",
		"ssssssiiiii", g->id, g->reader, g->source, g->name,
		g->account, g->workspace, (int64_t)g->dev, (int64_t)g->ino,
		(int64_t)g->source_pid, (int64_t)g->source_started,
		(int64_t)ab_clock_real_ns());
	if (rc == AGENTBOX_EEXIST) {
		agentbox_error_free(error);
		return ab_error_set(err, AGENTBOX_EEXIST, "name",
				    "box %s has something of the name '%s' "
				    "below .shared; revoke it first", g->reader,
				    g->name);
	}
	return rc < 0 ? ab_error_move(err, &error) : 0;
}

int32_t ab_grant_give_up(ab_store *store, const char *reader,
			 const char *name, agentbox_error **err)
{
	return ab_store_run(store, NULL, NULL, err,
			    "UPDATE grants SET state = 'revoked', "
			    "reason = 'its maker is gone', revoked_ns = ? "
			    "WHERE reader = ? AND name = ? AND "
			    "state = 'making'", "iss",
			    (int64_t)ab_clock_real_ns(), reader, name);
}

static uint64_t to_u64(const char *s)
{
	return s ? (uint64_t)strtoll(s, NULL, 10) : 0;
}

static void to_text(char *out, size_t size, const char *s)
{
	snprintf(out, size, "%s", s ? s : "");
}

static int32_t take_grant(void *data, const char *const *c, size_t count,
			  agentbox_error **err)
{
	ab_grant *g = data;

	(void)count;
	to_text(g->id, sizeof(g->id), c[0]);
	to_text(g->reader, sizeof(g->reader), c[1]);
	to_text(g->source, sizeof(g->source), c[2]);
	to_text(g->name, sizeof(g->name), c[3]);
	to_text(g->state, sizeof(g->state), c[4]);
	g->account = c[5] ? ab_strdup(c[5]) : NULL;
	g->workspace = ab_strdup(c[6] ? c[6] : "");
	g->dev = to_u64(c[7]);
	g->ino = to_u64(c[8]);
	g->source_pid = (pid_t)to_u64(c[9]);
	g->source_started = to_u64(c[10]);
	g->generation = to_u64(c[11]);
	if ((c[5] && !g->account) || !g->workspace)
		return ab_error_nomem(err);
	return 0;
}

int32_t ab_grant_get(ab_store *store, const char *id, ab_grant *out,
		     agentbox_error **err)
{
	ab_grant g = { .generation = 0 };
	int32_t rc = ab_store_run(store, take_grant, &g, err,
				  "SELECT " COLUMNS " FROM grants WHERE id = ? "
				  "AND state <> 'revoked'", "s", id);
	if (rc == 0 && !g.id[0])
		rc = ab_error_set(err, AGENTBOX_ENOTFOUND, "grant",
				  "no live grant has the id '%s'", id);
	if (rc < 0)
		ab_grant_end(&g);
	else
		*out = g;
	return rc;
}

static int32_t revoked_meanwhile(const char *id, agentbox_error **err)
{
	return ab_error_set(err, AGENTBOX_ECANCELED, "grant",
			    "grant %s was revoked meanwhile", id);
}

int32_t ab_grant_check(ab_store *store, const char *id, agentbox_error **err)
{
	agentbox_error *error = NULL;
	ab_grant g = { .generation = 0 };
	int32_t rc = ab_grant_get(store, id, &g, &error);

	ab_grant_end(&g);
	if (rc == AGENTBOX_ENOTFOUND) {
		agentbox_error_free(error);
		return revoked_meanwhile(id, err);
	}
	return rc < 0 ? ab_error_move(err, &error) : 0;
}

int32_t ab_grant_publish(ab_store *store, const char *id, uint64_t generation,
			 const char *digest, uint64_t files, uint64_t bytes,
			 uint64_t left_out, agentbox_error **err)
{
	int32_t rc = ab_store_run(
		store, NULL, NULL, err,
		"UPDATE grants SET state = 'live', generation = ?, digest = ?, "
		"files = ?, bytes = ?, left_out = ?, refreshed_ns = ? "
		"WHERE id = ? AND state <> 'revoked'",
		"isiiiis", (int64_t)generation, digest, (int64_t)files,
		(int64_t)bytes, (int64_t)left_out,
		(int64_t)ab_clock_real_ns(), id);

	if (rc == 0 && ab_store_changes(store) != 1)
		rc = revoked_meanwhile(id, err);
	return rc;
}

int32_t ab_grant_revoke(ab_store *store, const char *id, const char *reason,
			agentbox_error **err)
{
	int32_t rc = ab_store_run(
		store, NULL, NULL, err,
		"UPDATE grants SET state = 'revoked', reason = ?, "
		"revoked_ns = ? WHERE id = ? AND state <> 'revoked'",
		"sis", reason, (int64_t)ab_clock_real_ns(), id);

	if (rc == 0 && ab_store_changes(store) != 1)
		rc = ab_error_set(err, AGENTBOX_ENOTFOUND, "grant",
				  "no live grant has the id '%s'", id);
	return rc;
}

static int32_t take_id(void *data, const char *const *c, size_t count,
		       agentbox_error **err)
{
	(void)count;
	return json_array_append_new(data, json_string(c[0])) < 0 ?
		       ab_error_nomem(err) : 0;
}

/* A statement whose rows become an array. */
static int32_t rows_of(json_t **out, ab_store_row take, ab_store *store,
		       const char *sql, const char *value, agentbox_error **err)
{
	ab_auto(json_t) *rows = json_array();
	if (!rows)
		return ab_error_nomem(err);
	int32_t rc = ab_store_run(store, take, rows, err, sql,
				  value ? "s" : "", value);
	if (rc == 0)
		*out = ab_steal(&rows);
	return rc;
}

int32_t ab_grant_ids(ab_store *store, const char *column, const char *box,
		     json_t **ids, agentbox_error **err)
{
	bool source = strcmp(column, "source") == 0;

	return rows_of(ids, take_id, store, source ?
		       "SELECT id FROM grants WHERE source = ? AND "
		       "state <> 'revoked' ORDER BY made_ns" :
		       "SELECT id FROM grants WHERE reader = ? AND "
		       "state <> 'revoked' ORDER BY made_ns", box, err);
}

int32_t ab_grant_making(ab_store *store, const char *reader, json_t **names,
			agentbox_error **err)
{
	return rows_of(names, take_id, store,
		       "SELECT name FROM grants WHERE reader = ? AND "
		       "state = 'making'", reader, err);
}

static int32_t take_owner(void *data, const char *const *c, size_t count,
			  agentbox_error **err)
{
	(void)count;
	return json_array_append_new(data, json_pack(
		       "{s:s, s:s, s:I, s:I}", "id", c[0], "reader", c[1],
		       "pid", (json_int_t)to_u64(c[2]), "started",
		       (json_int_t)to_u64(c[3]))) < 0 ?
		       ab_error_nomem(err) : 0;
}

int32_t ab_grant_owners(ab_store *store, json_t **rows, agentbox_error **err)
{
	return rows_of(rows, take_owner, store,
		       "SELECT id, reader, source_pid, source_started "
		       "FROM grants WHERE state <> 'revoked'", NULL, err);
}

static bool add_time(json_t *v, const char *key, const char *column)
{
	char text[AB_TIMESTAMP_SIZE];
	uint64_t ns = to_u64(column);

	if (!ns)
		return true;
	ab_clock_format(ns, text);
	return json_object_set_new(v, key, json_string(text)) == 0;
}

static int32_t take_listed(void *data, const char *const *c, size_t count,
			   agentbox_error **err)
{
	json_t *v = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:I, s:s, s:I, "
			      "s:I, s:I}",
			      "id", c[0], "reader", c[1], "source", c[2],
			      "name", c[3], "state", c[4], "account", c[5],
			      "generation", (json_int_t)to_u64(c[6]),
			      "digest", c[7] ? c[7] : "",
			      "files", (json_int_t)to_u64(c[8]),
			      "bytes", (json_int_t)to_u64(c[9]),
			      "left_out", (json_int_t)to_u64(c[10]));
	bool revoked = c[4] && strcmp(c[4], "revoked") == 0;

	(void)count;
	if (!v || !add_time(v, "made", c[11]) ||
	    !add_time(v, "refreshed", c[12]) ||
	    (revoked && (!add_time(v, "revoked", c[13]) ||
			 json_object_set_new(v, "reason",
					     json_string(c[14] ? c[14] : ""))
				 < 0))) {
		json_decref(v);
		return ab_error_nomem(err);
	}
	return json_array_append_new(data, v) < 0 ? ab_error_nomem(err) : 0;
}

int32_t ab_grant_list(ab_store *store, bool all, json_t **rows,
		      agentbox_error **err)
{
#define LISTED                                                              \
	"SELECT id, reader, source, name, state, account, generation, "     \
	"digest, files, bytes, left_out, made_ns, refreshed_ns, "	    \
	"revoked_ns, reason FROM grants "
	return rows_of(rows, take_listed, store, all ?
		       LISTED "ORDER BY made_ns" :
		       LISTED "WHERE state <> 'revoked' ORDER BY made_ns",
		       NULL, err);
}

static int32_t take_found(void *data, const char *const *c, size_t count,
			  agentbox_error **err)
{
	(void)count;
	(void)err;
	to_text(data, AB_ID_SIZE, c[0]);
	return 0;
}

/* The one of this name, else those of this source. */
typedef struct found {
	char id[AB_ID_SIZE];
	char names[2][AB_PEER_NAME_MAX + 1];
	size_t count;
	bool is_named;
} found;

static int32_t take_candidate(void *data, const char *const *c, size_t count,
			      agentbox_error **err)
{
	found *f = data;

	(void)count;
	(void)err;
	if (f->is_named)
		return 0;
	f->is_named = to_u64(c[2]) == 1;
	to_text(f->id, sizeof(f->id), c[0]);
	to_text(f->names[f->count > 0], sizeof(f->names[0]), c[1]);
	f->count++;
	return 0;
}

int32_t ab_grant_find(ab_store *store, const char *reader, const char *source,
		      char id[AB_ID_SIZE], agentbox_error **err)
{
	found f = { .count = 0 };
	int32_t rc = ab_store_run(
		store, take_candidate, &f, err,
		"SELECT id, name, name = ?2 FROM grants WHERE reader = ?1 AND "
		"(name = ?2 OR source = ?2) AND state <> 'revoked' "
		"ORDER BY name = ?2 DESC, made_ns", "ss", reader, source);

	if (rc == 0 && !f.count)
		rc = ab_error_set(err, AGENTBOX_ENOTFOUND, "grant",
				  "box '%s' is granted nothing of '%s'", reader,
				  source);
	else if (rc == 0 && f.count > 1 && !f.is_named)
		rc = ab_error_set(err, AGENTBOX_EINVAL, "grant",
				  "box '%s' is granted more than one copy of "
				  "'%s', as '%s' and '%s': give that name "
				  "instead", reader, source, f.names[0],
				  f.names[1]);
	memcpy(id, f.id, AB_ID_SIZE);
	return rc;
}

int32_t ab_grant_is_live(ab_store *store, const char *reader,
			 const char *name, bool *is_live, agentbox_error **err)
{
	char id[AB_ID_SIZE] = "";
	int32_t rc = ab_store_run(store, take_found, id, err,
				  "SELECT id FROM grants WHERE reader = ? AND "
				  "name = ? AND state = 'live'", "ss", reader,
				  name);

	*is_live = id[0];
	return rc;
}

int32_t ab_grant_is_named(ab_store *store, const char *reader,
			  const char *name, bool *is_named,
			  agentbox_error **err)
{
	char id[AB_ID_SIZE] = "";
	int32_t rc = ab_store_run(store, take_found, id, err,
				  "SELECT id FROM grants WHERE reader = ? AND "
				  "name = ? AND state <> 'revoked'", "ss",
				  reader, name);

	*is_named = rc < 0 || id[0];
	return rc;
}
