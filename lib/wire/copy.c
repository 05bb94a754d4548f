/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan and the messages of agentbox-copy as bytes. Decoding refuses
 * everything encoding would not have written; a name is one component, so
 * that no message can point out of the directory it came with. Opens and
 * changes nothing. Spec: copy.h. Libc only.
 */
#include "config.h"

#include "wire/copy.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"

#define ALL_FDS                                                            \
	(AB_COPY_FD_SOURCE | AB_COPY_FD_DEST | AB_COPY_FD_STAGING |        \
	 AB_COPY_FD_RECORD | AB_COPY_FD_STREAM | AB_COPY_FD_REPOSITORY)
#define ALL_FLAGS                                                          \
	(AB_COPY_REPLACE | AB_COPY_NO_HASHES | AB_COPY_ZIP |               \
	 AB_COPY_KEEP_OLD | AB_COPY_HOLD | AB_COPY_UNLINK |                \
	 AB_COPY_GZIP | AB_COPY_ZSTD | AB_COPY_ASKED)
#define FORMATS (AB_COPY_ZIP | AB_COPY_GZIP | AB_COPY_ZSTD)

/* What is copied of a repository, and of which. */
static void put_git(ab_writer *w, const ab_copy_plan *p)
{
	ab_put_u32(w, p->git_mode);
	ab_put_str(w, p->git_base ? p->git_base : "");
	ab_put_str(w, p->git_repository ? p->git_repository : "");
	ab_put_str(w, p->git_head ? p->git_head : "");
	ab_put_u64(w, p->repository_dev);
	ab_put_u64(w, p->repository_ino);
}

static void get_git(ab_reader *r, ab_copy_plan *p)
{
	p->git_mode = ab_get_u32(r);
	p->git_base = ab_get_str(r);
	p->git_repository = ab_get_str(r);
	p->git_head = ab_get_str(r);
	p->repository_dev = ab_get_u64(r);
	p->repository_ino = ab_get_u64(r);
}

void ab_copy_plan_put(ab_writer *w, const ab_copy_plan *p)
{
	ab_put_str(w, p->build_id);
	ab_put_u32(w, p->job);
	ab_put_u32(w, p->fds);
	ab_put_u32(w, p->flags);
	ab_put_u32(w, p->source_uid);
	ab_put_u32(w, p->source_gid);
	ab_put_u32(w, p->output_uid);
	ab_put_u32(w, p->output_gid);
	ab_put_u64(w, p->max_bytes);
	ab_put_u64(w, p->max_files);
	ab_put_u64(w, p->max_file_bytes);
	ab_put_u64(w, p->deadline_ms);
	ab_put_u32(w, p->max_depth);
	ab_put_u32(w, p->content_level);
	put_git(w, p);
	ab_put_str(w, p->dest_name);
	ab_put_str(w, p->record_name);
	ab_put_str(w, p->source_name);
	ab_put_bytes(w, p->filter, p->filter_len);
}

/* One component that is not "." or ".."; "" where it may be absent. */
static bool is_name(const char *s, bool may_be_absent)
{
	if (!*s)
		return may_be_absent;
	return strlen(s) <= AB_MAX_NAME && !strchr(s, '/') &&
	       strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static bool is_git(const ab_copy_plan *p)
{
	size_t n = strlen(p->git_base), head = strlen(p->git_head);
	bool is_named = *p->git_repository;

	return p->git_mode <= AB_COPY_GIT_RANGE &&
	       n <= AB_COPY_GIT_NAME_MAX && head <= AB_COPY_GIT_NAME_MAX &&
	       (n != 0) == (p->git_mode == AB_COPY_GIT_RANGE) &&
	       (head != 0) == is_named &&
	       (!is_named || (p->git_mode != AB_COPY_GIT_NONE &&
			      *p->git_repository == '/' &&
			      strlen(p->git_repository) < AB_MAX_PATH));
}

/* Who is told of a repository gets it, and it is for those jobs alone. */
static bool has_its_repository(const ab_copy_plan *p)
{
	bool has_fd = p->fds & AB_COPY_FD_REPOSITORY;

	return has_fd == (*p->git_repository != 0) &&
	       (!has_fd || p->job == AB_COPY_MAKE ||
		p->job == AB_COPY_EXPLAIN);
}

static bool is_sane(const ab_copy_plan *p)
{
	uint32_t format = p->flags & FORMATS;
	bool has_dest = p->fds & AB_COPY_FD_DEST;
	bool has_record = p->fds & AB_COPY_FD_RECORD;

	return p->job >= AB_COPY_MAKE && p->job <= AB_COPY_SCRUB &&
	       !(p->fds & ~ALL_FDS) && !(p->flags & ~ALL_FLAGS) && is_git(p) &&
	       has_its_repository(p) &&
	       (p->job == AB_COPY_PACK || !format) &&
	       (format & (format - 1)) == 0 &&
	       is_name(p->dest_name, !has_dest) &&
	       is_name(p->record_name, !has_record);
}

int ab_copy_plan_get(ab_reader *r, const char *build_id, ab_copy_plan *out)
{
	ab_copy_plan p = { .build_id = ab_get_str(r) };

	if (strcmp(p.build_id, build_id) != 0)
		return -ESTALE;
	p.job = ab_get_u32(r);
	p.fds = ab_get_u32(r);
	p.flags = ab_get_u32(r);
	p.source_uid = ab_get_u32(r);
	p.source_gid = ab_get_u32(r);
	p.output_uid = ab_get_u32(r);
	p.output_gid = ab_get_u32(r);
	p.max_bytes = ab_get_u64(r);
	p.max_files = ab_get_u64(r);
	p.max_file_bytes = ab_get_u64(r);
	p.deadline_ms = ab_get_u64(r);
	p.max_depth = ab_get_u32(r);
	p.content_level = ab_get_u32(r);
	get_git(r, &p);
	p.dest_name = ab_get_str(r);
	p.record_name = ab_get_str(r);
	p.source_name = ab_get_str(r);
	p.filter = ab_get_bytes(r, &p.filter_len);
	if (!ab_reader_done(r) || !is_sane(&p))
		return -EPROTO;
	*out = p;
	return 0;
}

void ab_copy_choice_put(ab_writer *w, const ab_copy_plan *p)
{
	ab_put_u32(w, p->flags & AB_COPY_NO_HASHES);
	ab_put_u64(w, p->max_bytes);
	ab_put_u64(w, p->max_files);
	ab_put_u64(w, p->max_file_bytes);
	ab_put_u64(w, p->deadline_ms);
	ab_put_u32(w, p->max_depth);
	ab_put_u32(w, p->content_level);
	put_git(w, p);
	ab_put_bytes(w, p->filter, p->filter_len);
}

int ab_copy_choice_get(ab_reader *r, ab_copy_plan *out)
{
	ab_copy_plan p = *out;
	uint32_t flags = ab_get_u32(r);

	p.flags = (p.flags & ~AB_COPY_NO_HASHES) | flags;
	p.max_bytes = ab_get_u64(r);
	p.max_files = ab_get_u64(r);
	p.max_file_bytes = ab_get_u64(r);
	p.deadline_ms = ab_get_u64(r);
	p.max_depth = ab_get_u32(r);
	p.content_level = ab_get_u32(r);
	get_git(r, &p);
	p.filter = ab_get_bytes(r, &p.filter_len);
	if (!ab_reader_done(r) || (flags & ~AB_COPY_NO_HASHES) || !is_git(&p))
		return -EPROTO;
	*out = p;
	return 0;
}

void ab_copy_progress_put(ab_writer *w, const ab_copy_progress *m)
{
	ab_put_u32(w, AB_MSG_COPY_PROGRESS);
	ab_put_u32(w, 0);
	ab_put_u32(w, m->phase);
	ab_put_u64(w, m->files);
	ab_put_u64(w, m->bytes);
	ab_put_u64(w, m->files_in_all);
}

int ab_copy_progress_get(ab_reader *r, ab_copy_progress *m)
{
	m->phase = ab_get_u32(r);
	m->files = ab_get_u64(r);
	m->bytes = ab_get_u64(r);
	m->files_in_all = ab_get_u64(r);
	return ab_reader_done(r) && m->phase >= AB_PHASE_WALK &&
			       m->phase <= AB_PHASE_CLEAN ?
		       0 :
		       -EPROTO;
}

static void put_id(ab_writer *w, const char *id)
{
	ab_put_str(w, id ? id : "");
}

/* A commit's name, or none. */
static bool is_id(const char *s)
{
	size_t n = strlen(s);

	return n == 0 || (n == AB_COPY_GIT_ID_SIZE - 1 &&
			  strspn(s, "0123456789abcdef") == n);
}

void ab_copy_done_put(ab_writer *w, const ab_copy_done *m)
{
	ab_put_u32(w, AB_MSG_COPY_DONE);
	ab_put_u32(w, 1);
	ab_put_u32(w, m->unchanged);
	ab_put_u64(w, m->generation);
	ab_put_u64(w, m->files);
	ab_put_u64(w, m->directories);
	ab_put_u64(w, m->bytes);
	ab_put_u64(w, m->copied);
	ab_put_u64(w, m->linked);
	ab_put_u64(w, m->left_out);
	ab_put_u64(w, m->torn);
	ab_put_u64(w, m->raced);
	ab_put_u64(w, m->admitted);
	ab_put_u64(w, m->swap_ns);
	ab_put_str(w, m->digest);
	put_id(w, m->git_head);
	put_id(w, m->git_base);
	put_id(w, m->source_head);
	put_id(w, m->source_base);
	ab_put_u64(w, m->base_left_out);
}

int ab_copy_done_get(ab_reader *r, ab_copy_done *m)
{
	m->unchanged = ab_get_u32(r);
	m->generation = ab_get_u64(r);
	m->files = ab_get_u64(r);
	m->directories = ab_get_u64(r);
	m->bytes = ab_get_u64(r);
	m->copied = ab_get_u64(r);
	m->linked = ab_get_u64(r);
	m->left_out = ab_get_u64(r);
	m->torn = ab_get_u64(r);
	m->raced = ab_get_u64(r);
	m->admitted = ab_get_u64(r);
	m->swap_ns = ab_get_u64(r);
	m->digest = ab_get_str(r);
	m->git_head = ab_get_str(r);
	m->git_base = ab_get_str(r);
	m->source_head = ab_get_str(r);
	m->source_base = ab_get_str(r);
	m->base_left_out = ab_get_u64(r);
	return ab_reader_done(r) && m->unchanged <= 1 && is_id(m->git_head) &&
			       is_id(m->git_base) && is_id(m->source_head) &&
			       is_id(m->source_base) ?
		       0 :
		       -EPROTO;
}

void ab_copy_failed_put(ab_writer *w, uint32_t fds, const ab_copy_failed *m)
{
	ab_put_u32(w, AB_MSG_COPY_FAILED);
	ab_put_u32(w, fds);
	ab_put_i32(w, m->code);
	ab_put_i32(w, m->sys_errno);
	ab_put_str(w, m->where);
	ab_put_str(w, m->message);
}

int ab_copy_failed_get(ab_reader *r, ab_copy_failed *m)
{
	m->code = ab_get_i32(r);
	m->sys_errno = ab_get_i32(r);
	m->where = ab_get_str(r);
	m->message = ab_get_str(r);
	return ab_reader_done(r) && m->code < 0 ? 0 : -EPROTO;
}
