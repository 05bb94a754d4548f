/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walked tree beside the record of the generation before, both in byte
 * order: what has the same inode, ctime, size, mtime and mode (scout.c looks)
 * is taken over unread (cases 66, 75: mtime alone proves nothing). Refuses to
 * take over a file that was written so shortly before it was read that its
 * times cannot tell, unless its bytes are the same.
 */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "reading.h"

typedef struct comparison {
	reading *g;
	ab_record_cursor cursor;
	ab_record_entry entry; /* of the record, when has_entry */
	const char *path;
	size_t at; /* where the entry lies */
	bool has_entry, differs;
	path here;
} comparison;

static void advance(comparison *c)
{
	const ab_record *old = &c->g->job->old;
	int r;

	c->at = c->cursor.pos ? c->cursor.pos : old->first;
	r = ab_record_next(old, &c->cursor, &c->entry, &c->path);
	c->has_entry = r == 1;
	if (r < 0)
		c->differs = true;
}

/* The record's cursor goes to this path; is it there? */
static bool seek(comparison *c, const char *p, size_t n)
{
	while (c->has_entry) {
		int by = ab_record_order(c->path, c->entry.path_len, p, n);

		if (by == 0)
			return true;
		if (by > 0)
			return false;
		c->differs = true; /* it is gone */
		advance(c);
	}
	return false;
}

/* A directory that came to be left out may hold its other name. */
static bool is_alias(comparison *c)
{
	ab_autofd int fd = open_beneath(c->g->walk.root_fd, c->here.text,
					O_PATH);
	struct stat st;

	return fd < 0 || fstat(fd, &st) || st.st_ino != c->entry.ino ||
	       is_left_out(&c->g->walk, st.st_ino, st.st_nlink);
}

static bool is_same(comparison *c, const entry *e)
{
	enum look look = c->g->job->scouting.looks[c->cursor.entries - 1];

	if (look != LOOK_SAME && look != LOOK_LINKED)
		return false;
	if (look == LOOK_LINKED && e->reason == AB_KEPT && is_alias(c))
		return false;
	return !(c->entry.flags & AB_RECORD_RACY) ||
	       is_same_content(c->g, c->here.text, &c->entry);
}

/* As it was when it was scanned, with the same rules and options. */
static void take_admitted(comparison *c, entry *e)
{
	const char *rule = copy_admitted_rule(&c->entry);

	if (!rule)
		return;
	e->flags |= ENTRY_ADMITTED;
	e->rule = tree_rule(&c->g->tree, rule);
	e->tier = (uint8_t)ab_content_rule_tier(c->entry.admitted - 1u);
	e->count = c->entry.admitted_line;
}

static void compare_file(comparison *c, uint32_t index)
{
	entry *e = &c->g->tree.entries[index];

	if (e->reason != AB_KEPT && !e->proof)
		return;
	if (!seek(c, c->here.text, c->here.len)) {
		c->g->unknown++;
		return;
	}
	if (is_same(c, e)) {
		e->flags |= ENTRY_MATCH;
		e->first = (uint32_t)(c->at / 8);
		e->reason = AB_KEPT;
		take_admitted(c, e);
	} else {
		c->differs = true;
	}
	advance(c);
}

static void compare_dir(comparison *c, const entry *e)
{
	bool is_there;

	c->here.text[c->here.len] = '/';
	is_there = seek(c, c->here.text, c->here.len + 1);
	c->here.text[c->here.len] = 0;
	if (is_there)
		advance(c);
	else if (!(e->flags & ENTRY_PASSAGE))
		c->differs = true;
}

static void compare_below(comparison *c, uint32_t index)
{
	const tree *t = &c->g->tree;
	const entry *dir = &t->entries[index];

	for (uint32_t i = 0; i < dir->count; i++) {
		const entry *e = &t->entries[dir->first + i];
		size_t len = c->here.len;

		if (!path_push(&c->here, entry_name(t, e), e->name_len))
			continue;
		if (e->kind == ENTRY_FILE)
			compare_file(c, dir->first + i);
		if (is_walked(e)) {
			compare_dir(c, e);
			/* depth is bounded by COPY_MAX_DEPTH */
			compare_below(c, dir->first + i);
		}
		path_pop(&c->here, len);
	}
}

bool compare_with_record(reading *g)
{
	comparison *c = ab_new(comparison);
	bool same;

	if (!c)
		return false;
	scouting_finish(g->job);
	c->g = g;
	advance(c);
	compare_below(c, 0);
	same = !c->differs && !c->has_entry;
	free(c);
	return same;
}
