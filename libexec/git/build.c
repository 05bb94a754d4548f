/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files, trees, commits. A file is judged as agentbox-copy judges it: its
 * size, the proof where its name asks for one, the content scan under its own
 * path, on both sides. Trees are made anew from what was kept, commits from
 * nothing of the source: no name, address, date or message of anybody. Spec:
 * build.h, DESIGN.md section 8, cases 84, 85.
 */
#include "config.h"

#include "build.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "base/hash.h"

/* The base's; the head's is a second later. 2000-01-01 00:00:00 UTC. */
#define MADE_AT 946684800
#define NOBODY "agentbox <agentbox@localhost>"

static int fail(build *b, int32_t code, int sys_errno, const char *message)
{
	return copy_fail(b->failure, code, sys_errno,
			 b->path.len ? b->path.text : ".", message);
}

static void leave(node *e, enum ab_left_out reason)
{
	/* one that was left out by name says so still */
	if (e->reason == AB_KEPT) {
		e->reason = (uint8_t)reason;
		e->tier = 0;
		e->rule = "";
	}
	e->proof = 0;
}

static int add_object(build *b, enum object_type type,
		      const uint8_t oid[OID_SIZE], const void *p, size_t n)
{
	int r = b->is_sent ? out_add(&b->out, type, oid, p, n) : 0;

	return r ? fail(b, r == -ENOMEM ? AGENTBOX_ENOMEM : AGENTBOX_ESYS, -r,
			"cannot keep an object")
		 : 0;
}

/* An object that is made, and its name. */
static int make_object(build *b, enum object_type type, const void *p,
		       size_t n, uint8_t oid[OID_SIZE])
{
	git_oid id;

	if (git_odb_hash(&id, p, n, (git_object_t)type))
		return fail(b, AGENTBOX_ENOMEM, 0, "cannot name an object");
	memcpy(oid, id.id, OID_SIZE);
	return add_object(b, type, oid, p, n);
}

/* --- one file ------------------------------------------------------------ */

/* Does the scan let it pass? */
static bool is_clean(build *b, node *e, const void *p, size_t n)
{
	ab_content_finding f = { 0 };

	if (e->proof && !ab_filter_proves(e->proof, p, n)) {
		leave(e, AB_OUT_NAME);
		return false;
	}
	ab_filter_begin_content(b->filter, b->content,
				b->job->plan.content_level, b->path.text,
				b->path.len);
	(void)ab_content_feed(b->content, p, n);
	if (ab_content_end(b->content, &f))
		e->reason = AB_OUT_CONTENT;
	else if (ab_content_admitted(b->content, &f))
		e->flags |= NODE_ADMITTED;
	else
		return true;
	e->proof = 0;
	e->tier = (uint8_t)f.tier;
	e->rule = f.rule;
	e->count = f.line > UINT32_MAX ? UINT32_MAX : (uint32_t)f.line;
	return e->flags & NODE_ADMITTED;
}

static void keep_file(build *b, const side *s, node *e, const void *p,
		      size_t n)
{
	bool is_exec = e->flags & NODE_EXEC;

	e->reason = AB_KEPT;
	e->proof = 0;
	e->first = (uint32_t)n;
	b->bytes += n;
	if (s != b->head)
		return;
	b->counts.files++;
	b->counts.copied++;
	b->counts.bytes += n;
	atomic_fetch_add(&b->job->counters->files, 1);
	atomic_store(&b->job->counters->bytes, b->bytes);
	if (!b->is_sent)
		return;
	emit_file(&b->emitter, node_name(s, e), is_exec, p, n);
	index_add(&b->index, b->path.text, b->path.len, is_exec, e->oid, n,
		  b->emitter.mtime_ns);
}

/* 1: by its size alone it is not kept. */
static int judge_size(build *b, node *e, const git_oid *id)
{
	const ab_copy_plan *plan = &b->job->plan;
	git_object_t type;
	size_t size;
	int r = git_odb_read_header(&size, &type, b->objects->odb, id);

	if (r && objects_is_large(b->objects, id->id)) {
		leave(e, AB_OUT_SIZE);
		return 1;
	}
	if (r)
		return objects_fail(b->objects, id->id, b->path.text, r);
	if (type != GIT_OBJECT_BLOB)
		return fail(b, AGENTBOX_EPARSE, 0,
			    "the tree names it as a file, but it is none");
	if (size > plan->max_file_bytes || size > OBJECT_MAX) {
		leave(e, AB_OUT_SIZE);
		return 1;
	}
	if (e->proof && size > AB_FILTER_PROOF_MAX) {
		leave(e, AB_OUT_NAME);
		return 1;
	}
	if (size > plan->max_bytes - b->bytes)
		return fail(b, AGENTBOX_ELIMIT, 0,
			    "max_bytes: more than may be copied");
	return 0;
}

static int read_file(build *b, const side *s, node *e)
{
	git_odb_object *object = NULL;
	git_oid id;
	int r;

	memcpy(id.id, e->oid, OID_SIZE);
	r = judge_size(b, e, &id);
	if (r)
		return r < 0 ? r : 0;
	r = git_odb_read(&object, b->objects->odb, &id);
	if (r)
		return objects_fail(b->objects, e->oid, b->path.text, r);
	const void *p = git_odb_object_data(object);
	size_t n = git_odb_object_size(object);

	if (is_clean(b, e, p, n)) {
		r = add_object(b, OBJECT_BLOB, e->oid, p, n);
		if (r == 0)
			keep_file(b, s, e, p, n);
	}
	git_odb_object_free(object);
	return r;
}

static int build_file(build *b, const side *s, node *e, const node *twin)
{
	if (e->reason != AB_KEPT && !e->proof)
		return 0;
	/* the head's, at the same path: it was looked into already */
	if (twin && twin->kind == NODE_FILE &&
	    memcmp(twin->oid, e->oid, OID_SIZE) == 0) {
		e->reason = AB_KEPT;
		e->proof = 0;
		e->first = twin->first;
		return 0;
	}
	return read_file(b, s, e);
}

/* --- trees --------------------------------------------------------------- */

static bool is_in_tree(const node *e)
{
	if (e->flags & NODE_HIDDEN)
		return false;
	return e->kind == NODE_DIR ? node_is_walked(e) &&
					     !(e->flags & NODE_EMPTY)
				   : e->reason == AB_KEPT;
}

/* The tree of what was kept, named in its node. */
static int make_tree(build *b, side *s, node *dir)
{
	static const char *const modes[] = { "100644 ", "100755 ", "40000 " };
	size_t room = 1, n = 0;
	uint8_t *p;
	int r;

	for (uint32_t i = 0; i < dir->count; i++)
		room += (size_t)s->nodes[dir->first + i].name_len + 8 +
			OID_SIZE;
	p = ab_calloc(room, 1);
	if (!p)
		return fail(b, AGENTBOX_ENOMEM, 0, "out of memory");
	for (uint32_t i = 0; i < dir->count; i++) {
		const node *e = &s->nodes[dir->first + i];
		const char *mode = modes[e->kind == NODE_DIR	  ? 2
					 : e->flags & NODE_EXEC ? 1
								: 0];
		size_t len = strlen(mode);

		if (!is_in_tree(e))
			continue;
		memcpy(p + n, mode, len);
		memcpy(p + n + len, node_name(s, e), (size_t)e->name_len + 1);
		n += len + e->name_len + 1;
		memcpy(p + n, e->oid, OID_SIZE);
		n += OID_SIZE;
	}
	if (n == 0)
		dir->flags |= NODE_EMPTY;
	r = n || dir == s->nodes ? make_object(b, OBJECT_TREE, p, n, dir->oid)
				 : 0;
	free(p);
	return r;
}

static int build_dir(build *b, side *s, node *dir, const node *twin_dir);

/* What the head leaves out is absent here, and everything below it. */
static bool is_hidden_by(const node *e, const node *twin)
{
	if (!twin || twin->reason == AB_KEPT)
		return false;
	return !(e->kind == NODE_DIR && node_is_walked(twin));
}

static int build_node(build *b, side *s, node *e, const node *twin_dir)
{
	const node *twin = twin_dir ? side_find(b->head, twin_dir,
						node_name(s, e), e->name_len)
				    : NULL;
	int r = 0;

	if (is_hidden_by(e, twin)) {
		e->flags |= NODE_HIDDEN;
		return 0;
	}
	if (e->kind == NODE_FILE)
		return build_file(b, s, e, twin);
	if (!node_is_walked(e))
		return 0;
	if (s == b->head && b->is_sent)
		emit_down(&b->emitter, node_name(s, e));
	/* depth is bounded by COPY_MAX_DEPTH */
	r = build_dir(b, s, e, twin && twin->kind == NODE_DIR ? twin : NULL);
	if (s == b->head && b->is_sent)
		emit_up(&b->emitter);
	return r;
}

static int build_dir(build *b, side *s, node *dir, const node *twin_dir)
{
	size_t len = b->path.len;

	for (uint32_t i = 0; i < dir->count; i++) {
		node *e = &s->nodes[dir->first + i];
		int r;

		if (!path_push(&b->path, node_name(s, e), e->name_len))
			continue;
		r = build_node(b, s, e, twin_dir);
		if (r)
			return r;
		path_pop(&b->path, len);
	}
	return make_tree(b, s, dir);
}

/* --- commits ------------------------------------------------------------- */

static int make_commit(build *b, const uint8_t tree_id[OID_SIZE],
		       const uint8_t *parent, long at, const char *message,
		       uint8_t oid[OID_SIZE])
{
	char hex[AB_HEX_SIZE(OID_SIZE)], above[64] = "", text[512];
	int n;

	if (parent) {
		ab_hex(parent, OID_SIZE, hex);
		snprintf(above, sizeof(above), "parent %s\n", hex);
	}
	ab_hex(tree_id, OID_SIZE, hex);
	n = snprintf(text, sizeof(text),
		     "tree %s\n%sauthor " NOBODY " %ld +0000\n"
		     "committer " NOBODY " %ld +0000\n\n%s\n", hex, above, at,
		     at, message);
	return make_object(b, OBJECT_COMMIT, text, (size_t)n, oid);
}

static int make_commits(build *b)
{
	if (b->base && make_commit(b, b->base->nodes[0].oid, NULL, MADE_AT,
				   "base: what was kept of where the branch "
				   "began", b->base_made))
		return -1;
	return make_commit(b, b->head->nodes[0].oid,
			   b->base ? b->base_made : NULL, MADE_AT + 1,
			   "head: what was kept of the branch", b->head_made);
}

int build_all(build *b)
{
	int r;

	atomic_store(&b->job->counters->phase, AB_PHASE_COPY);
	atomic_store(&b->job->counters->files_in_all, b->head->kept_files);
	path_pop(&b->path, 0);
	if (build_dir(b, b->head, &b->head->nodes[0], NULL))
		return -1;
	path_pop(&b->path, 0);
	if (b->base && build_dir(b, b->base, &b->base->nodes[0],
				 &b->head->nodes[0]))
		return -1;
	if (make_commits(b))
		return -1;
	if (!b->is_sent)
		return 0;
	r = b->index.bad ? -ENOMEM
			 : emit_repository(&b->emitter, &b->out, &b->index,
					   b->head_made);
	if (r)
		return copy_fail(b->failure, AGENTBOX_ESYS, -r, "repository",
				 "cannot make the repository");
	emit_finish(&b->emitter);
	return 0;
}

/* --- the report ---------------------------------------------------------- */

static bool has_finding(const node *e)
{
	return e->reason == AB_OUT_CONTENT || (e->flags & NODE_ADMITTED);
}

static void count_line(build *b, const side *s, const node *e)
{
	if (e->reason == AB_KEPT)
		b->counts.admitted++;
	else if (s == b->base)
		b->counts.base_left_out++;
	else
		b->counts.left_out++;
}

static void report_below(build *b, const side *s, const node *dir,
			 ab_report *report)
{
	for (uint32_t i = 0; i < dir->count; i++) {
		const node *e = &s->nodes[dir->first + i];
		const ab_report_left why = {
			.reason = (enum ab_left_out)e->reason,
			.rule = e->rule,
			.tier = (char)e->tier,
			.line = has_finding(e) ? e->count : 0,
			.is_base = s == b->base,
		};
		size_t len = b->path.len;

		if ((e->flags & NODE_HIDDEN) ||
		    !path_push(&b->path, node_name(s, e), e->name_len))
			continue;
		if (e->reason != AB_KEPT || (e->flags & NODE_ADMITTED)) {
			ab_report_left_out(report, b->path.text, b->path.len,
					   &why);
			count_line(b, s, e);
		}
		if (node_is_walked(e))
			report_below(b, s, e, report);
		path_pop(&b->path, len);
	}
}

void build_report(build *b, ab_report *report)
{
	path_pop(&b->path, 0);
	report_below(b, b->head, &b->head->nodes[0], report);
	if (b->base)
		report_below(b, b->base, &b->base->nodes[0], report);
}
