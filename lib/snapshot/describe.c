/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the record of a snapshot says, for the host. The record lies in a
 * directory that others may write to: it is believed only whole, and what it
 * says is done only where nobody else can have written it. Its checksum, which
 * has no key, tells of a record that is broken and of none that is forged.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "snapshot/job.h"
#include "snapshot/line.h"
#include "snapshot/record.h"

/* Of a record: 4 million files of 250 bytes of path. */
#define MAX_RECORD (UINT64_C(1) << 30)

static int set_id(json_t *v, const char *key, const uint8_t *id)
{
	char hex[AB_HEX_SIZE(sizeof(((ab_record_git *)0)->head))];

	ab_hex(id, sizeof(((ab_record_git *)0)->head), hex);
	return json_object_set_new(v, key, json_string(hex));
}

/* The commits of a snapshot of commits; -1 without memory. */
static int add_git(json_t *v, const ab_record_git *g)
{
	ab_auto(json_t) *git = json_object();

	if (!g->has_head)
		return 0;
	if (!git || set_id(git, "head", g->head) ||
	    set_id(git, "source_head", g->source_head))
		return -1;
	if (g->has_base &&
	    (set_id(git, "base", g->base) ||
	     set_id(git, "source_base", g->source_base) ||
	     json_object_set_new(git, "base_left_out", json_integer(
			     (json_int_t)g->base_left_out))))
		return -1;
	return json_object_set(v, "git", git);
}

/* {"source"} and, where it is not UTF-8, "encoded", as paths in a report. */
static json_t *source_of(const ab_record *r)
{
	ab_autofree ab_line *line = ab_new(ab_line);

	if (!line)
		return NULL;
	ab_line_begin(line);
	ab_line_add(line, "{");
	ab_line_path(line, r->source_name, (size_t)r->head.source_name_len);
	ab_line_add(line, "}");
	if (line->bad)
		return NULL;
	return json_loadb(line->text, line->len, 0, NULL);
}

static json_t *describe(const ab_record *r)
{
	char digest[AB_DIGEST_SIZE] = "sha256:";
	ab_auto(json_t) *source = source_of(r);

	if (!source)
		return NULL;
	ab_hex(r->tail.manifest, AB_SHA256_SIZE, digest + strlen(digest));
	return json_pack("{s:O, s:O*, s:I, s:s, s:I, s:I, s:I, s:I, s:I}",
			 "source", json_object_get(source, "path"),
			 "encoded", json_object_get(source, "encoded"),
			 "generation", (json_int_t)r->head.generation,
			 "digest", digest,
			 "files", (json_int_t)r->tail.files,
			 "directories", (json_int_t)r->tail.directories,
			 "bytes", (json_int_t)r->tail.bytes,
			 "left_out", (json_int_t)r->tail.left_out,
			 "admitted", (json_int_t)r->tail.admitted);
}

/* A record that somebody else could have written says what he likes. */
static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int32_t slurp(int dest_fd, const char *file, const char *name,
		     enum ab_record_use use, char **text, size_t *n,
		     agentbox_error **err)
{
	struct stat st;

	ab_autofd int fd = ab_fd_lift(openat(dest_fd, file, O_RDONLY |
					     O_NOFOLLOW | O_NONBLOCK |
					     O_CLOEXEC));
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_error_sys(err, errno, name,
				    "no record of a snapshot '%s'", name);
	if (!S_ISREG(st.st_mode))
		return ab_error_set(err, AGENTBOX_ETAMPERED, name,
				    "the record of '%s' is no file", name);
	if (use == AB_RECORD_FOLLOW && !is_ours(&st))
		return ab_error_set(err, AGENTBOX_EDENIED, name,
				    "the record of snapshot '%s' belongs to "
				    "uid %u, or others may write it: it could "
				    "name any source; refresh it as its owner, "
				    "or make it anew", name, st.st_uid);
	int r = ab_fd_slurp(fd, MAX_RECORD, text, n);
	return r < 0 ? ab_error_sys(err, -r, name,
				    "cannot read the record of '%s'", name) :
		       0;
}

/* `name` is what it is called in errors. */
static int32_t read_file(int dirfd, const char *file, const char *name,
			 enum ab_record_use use, char **text,
			 ab_record *record, agentbox_error **err)
{
	size_t n = 0;
	int32_t rc = slurp(dirfd, file, name, use, text, &n, err);

	if (rc < 0)
		return rc;
	int r = ab_record_open(record, *text, n, ab_sha256_pick());
	if (r == -ESTALE)
		return ab_error_set(err, AGENTBOX_EUNSUPPORTED, name,
				    "another version of the library made "
				    "snapshot '%s'; make it anew", name);
	if (r < 0)
		return ab_error_set(err, AGENTBOX_ETAMPERED, name,
				    "the record of snapshot '%s' is not whole; "
				    "give the options, or make it anew", name);
	return 0;
}

int32_t ab_snapshot_read_record(int dest_fd, const char *name,
				enum ab_record_use use, char **text,
				ab_record *record, agentbox_error **err)
{
	char file[AB_SNAPSHOT_RECORD_SIZE];
	int32_t rc = ab_snapshot_check_name(name, err);

	if (rc < 0)
		return rc;
	ab_snapshot_record_name(name, file);
	return read_file(dest_fd, file, name, use, text, record, err);
}

int32_t ab_snapshot_read_choice(int dirfd, const char *file, char **text,
				const void **choice, size_t *choice_len,
				agentbox_error **err)
{
	ab_record record;
	int32_t rc = read_file(dirfd, file, file, AB_RECORD_FOLLOW, text,
			       &record, err);

	if (rc < 0)
		return rc;
	*choice = record.choice;
	*choice_len = (size_t)record.head.choice_len;
	return 0;
}

int32_t agentbox_snapshot_describe(int32_t dest_fd, const char *name,
				   agentbox_bytes **json, agentbox_error **err)
{
	ab_autofree char *text = NULL;
	ab_record record;

	if (!json)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "json is NULL");
	int32_t rc = ab_snapshot_read_record(dest_fd, name, AB_RECORD_TELL,
					     &text, &record, err);
	if (rc < 0)
		return rc;
	ab_auto(json_t) *v = describe(&record);
	if (v && add_git(v, &record.tail.git))
		return ab_error_nomem(err);
	return v ? ab_json_canonical(v, json, err) : ab_error_nomem(err);
}
