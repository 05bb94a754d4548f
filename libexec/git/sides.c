/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trees listed and judged, as libexec/copy/walk.c does it for directories.
 * Trees are believed in nothing: names that are no names are left out, order
 * is made here, what stands twice is kept once, and a tree that contains
 * itself many times over ends at the limits on names. Spec: DESIGN.md section
 * 8.
 */
#include "config.h"

#include "sides.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "snapshot/manifest.h"

#define TREE_MAX ((size_t)64 << 20)
#define NAME_BYTES_MAX ((size_t)1 << 30)
#define SEEN_PER_FILE 8
#define SEEN_AT_LEAST 100000

typedef struct listing {
	side *s;
	copy_job *job;
	objects *o;
	const ab_filter *filter;
	path path;
} listing;

static int fail(const listing *g, int32_t code, const char *message)
{
	return copy_fail(g->o->failure, code, 0,
			 g->path.len ? g->path.text : ".", message);
}

static int no_memory(const listing *g)
{
	return fail(g, AGENTBOX_ENOMEM, "out of memory for the names");
}

/* --- the table ----------------------------------------------------------- */

static bool add_node(side *s, const node *e, const char *name)
{
	if (!ab_grow(&s->nodes, &s->room, s->count + 1, sizeof(*s->nodes)) ||
	    !ab_grow(&s->names, &s->names_room, s->names_len + e->name_len + 1,
		     1))
		return false;
	memcpy(s->names + s->names_len, name, e->name_len);
	s->names[s->names_len + e->name_len] = 0;
	s->nodes[s->count] = *e;
	s->nodes[s->count++].name = (uint32_t)s->names_len;
	s->names_len += (size_t)e->name_len + 1;
	return true;
}

static int by_path(const void *a, const void *b, void *names)
{
	const node *x = a, *y = b;

	return name_order((const char *)names + x->name, x->name_len,
			  x->kind == NODE_DIR, (const char *)names + y->name,
			  y->name_len, y->kind == NODE_DIR);
}

static node *find(const side *s, const node *dir, const char *name, size_t n,
		  bool is_dir)
{
	size_t low = 0, high = dir->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		node *e = &s->nodes[dir->first + mid];
		int by = name_order(name, n, is_dir, node_name(s, e),
				    e->name_len, e->kind == NODE_DIR);

		if (by == 0)
			return is_dir == (e->kind == NODE_DIR) ? e : NULL;
		if (by < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

node *side_find(const side *s, const node *dir, const char *name, size_t n)
{
	node *e = find(s, dir, name, n, false);

	return e ? e : find(s, dir, name, n, true);
}

/* --- what the filter may ask --------------------------------------------- */

typedef struct block {
	const side *side;
	node dir; /* a copy: nodes move */
} block;

static bool block_has(const void *data, const char *name, bool is_directory)
{
	const block *b = data;

	return find(b->side, &b->dir, name, strlen(name), is_directory);
}

static const char *block_at(const void *data, size_t i, bool *is_directory)
{
	const block *b = data;
	const node *e;

	if (i >= b->dir.count)
		return NULL;
	e = &b->side->nodes[b->dir.first + i];
	*is_directory = e->kind == NODE_DIR;
	return node_name(b->side, e);
}

/* --- one tree ------------------------------------------------------------ */

static uint8_t kind_of(unsigned mode)
{
	switch (mode & 0170000) {
	case 0040000:
		return NODE_DIR;
	case 0100000:
		return NODE_FILE;
	case 0120000:
		return NODE_LINK;
	case 0160000:
		return NODE_MODULE;
	default:
		return NODE_OTHER;
	}
}

/* A name that no directory could have: the filter is for those that could. */
static bool is_component(const char *name, size_t n)
{
	return n && !memchr(name, '/', n) && !(n == 1 && name[0] == '.') &&
	       !(n == 2 && name[0] == '.' && name[1] == '.');
}

static int check_bounds(const listing *g)
{
	const side *s = g->s;
	uint64_t most;

	if (__builtin_mul_overflow(g->job->plan.max_files,
				   (uint64_t)SEEN_PER_FILE, &most) ||
	    most < SEEN_AT_LEAST)
		most = g->job->plan.max_files ? SEEN_AT_LEAST : 0;
	if (s->count > most || s->count >= UINT32_MAX / 2)
		return fail(g, AGENTBOX_ELIMIT,
			    "max_files: far more names than files may be");
	if (s->names_len > NAME_BYTES_MAX)
		return fail(g, AGENTBOX_ELIMIT,
			    "over 1 GiB of names; exclude more");
	if (s->kept_files > g->job->plan.max_files)
		return fail(g, AGENTBOX_ELIMIT,
			    "max_files: more files than may be copied");
	return 0;
}

static void set_reason(node *e, enum ab_left_out reason, const char *rule)
{
	e->reason = (uint8_t)reason;
	e->tier = 0;
	e->proof = 0;
	e->rule = rule;
}

static int add_entries(listing *g, const git_tree *from)
{
	size_t n = git_tree_entrycount(from);

	for (size_t i = 0; i < n; i++) {
		const git_tree_entry *t = git_tree_entry_byindex(from, i);
		const char *name = git_tree_entry_name(t);
		size_t len = strlen(name);
		unsigned mode = (unsigned)git_tree_entry_filemode_raw(t);
		node e = { .kind = kind_of(mode), .rule = "" };

		memcpy(e.oid, git_tree_entry_id(t)->id, OID_SIZE);
		if (e.kind == NODE_FILE && (mode & 0100))
			e.flags |= NODE_EXEC;
		e.name_len = (uint8_t)(len > AB_MAX_NAME ? AB_MAX_NAME : len);
		if (len > AB_MAX_NAME || !is_component(name, len))
			set_reason(&e, AB_OUT_ENCODING, "no-name");
		if (!add_node(g->s, &e, name))
			return no_memory(g);
		if (i % 4096 == 0 && check_bounds(g))
			return -1;
	}
	return check_bounds(g);
}

/* The tree's names, sorted; the second of two that would be one is not kept. */
static int list(listing *g, uint32_t index)
{
	side *s = g->s;
	git_tree *listed = NULL;
	git_object_t type;
	git_oid id;
	size_t size;
	uint32_t first = (uint32_t)s->count;
	int r;

	memcpy(id.id, s->nodes[index].oid, OID_SIZE);
	r = git_odb_read_header(&size, &type, g->o->odb, &id);
	if (r == 0 && size > TREE_MAX)
		return fail(g, AGENTBOX_ELIMIT, "a tree is larger than 64 MiB");
	if (r == 0)
		r = git_tree_lookup(&listed, g->o->repo, &id);
	if (r)
		return objects_fail(g->o, id.id,
				    g->path.len ? g->path.text : ".", r);
	r = add_entries(g, listed);
	git_tree_free(listed);
	if (r)
		return r;
	s->nodes[index].first = first;
	s->nodes[index].count = (uint32_t)s->count - first;
	qsort_r(s->nodes + first, s->count - first, sizeof(node), by_path,
		s->names);
	for (size_t i = first; i < s->count; i++) {
		node *e = &s->nodes[i];
		const char *name = node_name(s, e);

		if ((i > first && by_path(e - 1, e, s->names) == 0) ||
		    (e->kind == NODE_DIR &&
		     find(s, &s->nodes[index], name, e->name_len, false)))
			set_reason(e, AB_OUT_COLLISION, "");
	}
	return 0;
}

/* --- judging ------------------------------------------------------------- */

static void judge_name(const listing *g, const ab_filter_names *names,
		       bool is_dir, ab_filter_verdict *v)
{
	const side *s = g->s;

	for (size_t i = 0; i == 0 || (i < s->ignores && v->reason == AB_KEPT);
	     i++)
		ab_filter_name(g->filter, i < s->ignores ? s->ignore[i] : NULL,
			       g->path.text, g->path.len, is_dir, names, v);
}

static void judge(const listing *g, node *e, const ab_filter_names *names,
		  uint32_t depth, uint32_t *mark)
{
	ab_filter_verdict v = { .reason = AB_OUT_NAME, .rule = "" };
	bool is_dir = e->kind == NODE_DIR;

	if (e->reason != AB_KEPT) {
		e->flags |= NODE_SKIPPED;
		return;
	}
	/* the manifest's own place */
	if (depth == 0 && strcmp(node_name(g->s, e), AB_MANIFEST_DIR) == 0) {
		set_reason(e, AB_OUT_NAME, "");
		e->flags |= NODE_SKIPPED;
		return;
	}
	judge_name(g, names, is_dir, &v);
	*mark = v.mark;
	e->reason = (uint8_t)v.reason;
	e->tier = (uint8_t)v.tier;
	e->rule = v.rule;
	if (v.reason != AB_KEPT && is_dir && v.is_passage)
		e->flags |= NODE_PASSAGE;
	if (v.reason != AB_KEPT && e->kind == NODE_FILE)
		e->proof = (uint8_t)v.proof;
	if (v.reason == AB_KEPT && e->kind == NODE_LINK)
		set_reason(e, AB_OUT_LINK, "");
	else if (v.reason == AB_KEPT && e->kind == NODE_MODULE)
		set_reason(e, AB_OUT_SPECIAL, "submodule");
	else if (v.reason == AB_KEPT && e->kind == NODE_OTHER)
		set_reason(e, AB_OUT_SPECIAL, "");
}

/* Judge a directory by what is in it; false: left out, its block forgotten. */
static bool judge_listing(listing *g, uint32_t index, uint32_t *mark)
{
	side *s = g->s;
	node *e = &s->nodes[index];
	const block b = { s, *e };
	const ab_filter_names names = { block_has, block_at, &b, *mark };
	ab_filter_verdict v = { .reason = AB_OUT_STRUCTURE, .rule = "" };

	ab_filter_listing(g->filter, g->path.text, g->path.len, &names, &v);
	*mark = v.mark;
	if (v.reason == AB_KEPT)
		return true;
	if (e->reason == AB_KEPT) {
		e->reason = (uint8_t)v.reason;
		e->tier = (uint8_t)v.tier;
		e->rule = v.rule;
	}
	if (v.is_passage) {
		e->flags |= NODE_PASSAGE;
		return true;
	}
	s->count = e->first;
	e->first = 0;
	e->count = 0;
	e->flags = (uint8_t)((e->flags | NODE_SKIPPED) &
			     ~(unsigned)NODE_PASSAGE);
	return false;
}

static int judge_block(listing *g, uint32_t index, uint32_t mark,
		       uint32_t depth, uint32_t *marks)
{
	side *s = g->s;
	const block b = { s, s->nodes[index] };
	const ab_filter_names names = { block_has, block_at, &b, mark };
	size_t len = g->path.len;

	for (uint32_t i = 0; i < b.dir.count; i++) {
		node *e = &s->nodes[b.dir.first + i];

		if (!path_push(&g->path, node_name(s, e), e->name_len)) {
			set_reason(e, AB_OUT_DEPTH, "");
			e->flags |= NODE_SKIPPED;
			continue;
		}
		judge(g, e, &names, depth, &marks[i]);
		path_pop(&g->path, len);
		if (e->kind == NODE_FILE && (e->reason == AB_KEPT || e->proof))
			s->kept_files++;
	}
	return check_bounds(g);
}

/* Depth is bounded by max_depth and COPY_MAX_DEPTH. */
static int walk_dir(listing *g, uint32_t index, uint32_t mark, uint32_t depth)
{
	side *s = g->s;
	size_t len = g->path.len;
	uint32_t *marks, first, count;
	int r;

	if (depth > g->job->plan.max_depth || depth >= COPY_MAX_DEPTH) {
		set_reason(&s->nodes[index], AB_OUT_DEPTH, "");
		s->nodes[index].flags |= NODE_SKIPPED;
		return 0;
	}
	if (list(g, index))
		return -1;
	if (depth && !judge_listing(g, index, &mark))
		return 0;
	first = s->nodes[index].first;
	count = s->nodes[index].count;
	marks = ab_calloc((size_t)count + 1, sizeof(*marks));
	if (!marks)
		return no_memory(g);
	r = judge_block(g, index, mark, depth, marks);
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		const node *e = &s->nodes[first + i];

		if (!node_is_walked(e) ||
		    !path_push(&g->path, node_name(s, e), e->name_len))
			continue;
		r = walk_dir(g, first + i, marks[i], depth + 1);
		path_pop(&g->path, len);
	}
	free(marks);
	return r;
}

/* --- the tree's own patterns --------------------------------------------- */

int side_add_ignore(side *s, objects *o, const void *p, size_t n)
{
	int r = s->ignores == sizeof(s->ignore) / sizeof(s->ignore[0])
			? -E2BIG
			: ab_filter_ignore_parse(p, n, &s->ignore[s->ignores],
						 NULL);

	if (r == -EFBIG)
		return copy_fail(o->failure, AGENTBOX_ELIMIT, 0,
				 AB_FILTER_IGNORE_NAME, "it is over 64 KiB");
	if (r)
		return copy_fail(o->failure, AGENTBOX_ENOMEM, 0,
				 AB_FILTER_IGNORE_NAME, "out of memory");
	s->ignores++;
	return 0;
}

/* Not git_tree_entry_byname(): a tree that is out of order hides names. */
static const git_tree_entry *find_own_ignore(const git_tree *t)
{
	for (size_t i = 0; i < git_tree_entrycount(t); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(t, i);

		if (kind_of((unsigned)git_tree_entry_filemode_raw(e)) ==
			    NODE_FILE &&
		    strcmp(git_tree_entry_name(e), AB_FILTER_IGNORE_NAME) == 0)
			return e;
	}
	return NULL;
}

int side_add_own_ignore(side *s, objects *o, const uint8_t tree_id[OID_SIZE])
{
	const git_tree_entry *e;
	git_odb_object *object = NULL;
	git_tree *t = NULL;
	git_object_t type;
	git_oid id;
	size_t size = 0;
	int r;

	memcpy(id.id, tree_id, OID_SIZE);
	r = git_odb_read_header(&size, &type, o->odb, &id);
	if (r == 0 && size > TREE_MAX)
		return copy_fail(o->failure, AGENTBOX_ELIMIT, 0, s->called,
				 "a tree is larger than 64 MiB");
	if (r == 0)
		r = git_tree_lookup(&t, o->repo, &id);
	if (r)
		return objects_fail(o, tree_id, s->called, r);
	e = find_own_ignore(t);
	if (!e) {
		git_tree_free(t);
		return 0;
	}
	id = *git_tree_entry_id(e);
	git_tree_free(t);
	r = git_odb_read_header(&size, &type, o->odb, &id);
	if (r == 0 && size > AB_FILTER_IGNORE_MAX)
		return copy_fail(o->failure, AGENTBOX_ELIMIT, 0,
				 AB_FILTER_IGNORE_NAME, "it is over 64 KiB");
	if (r == 0)
		r = git_odb_read(&object, o->odb, &id);
	if (r)
		return objects_fail(o, id.id, AB_FILTER_IGNORE_NAME, r);
	r = side_add_ignore(s, o, git_odb_object_data(object),
			    git_odb_object_size(object));
	git_odb_object_free(object);
	return r;
}

int side_list(side *s, copy_job *job, objects *o, const ab_filter *filter,
	      const uint8_t tree_id[OID_SIZE])
{
	listing *g = ab_new(listing);
	node root = { .kind = NODE_DIR, .rule = "" };
	int r;

	if (!g)
		return copy_fail(o->failure, AGENTBOX_ENOMEM, 0, s->called,
				 "out of memory");
	*g = (listing){ .s = s, .job = job, .o = o, .filter = filter };
	memcpy(root.oid, tree_id, OID_SIZE);
	r = add_node(s, &root, "") ? walk_dir(g, 0, 0, 0) : no_memory(g);
	free(g);
	return r;
}
