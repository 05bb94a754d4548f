/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk: names, kinds and inodes, judged by the filter before anything is
 * opened but directories. Never follows a link, never enters a mount, never
 * builds a path for the kernel. Refuses trees past the plan's limits as a
 * whole. Spec: DESIGN.md section 8, cases 29-34, 50-59, getdents64(2),
 * openat2(2).
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "snapshot/manifest.h"
#include "tree.h"

#define NAME_BYTES_MAX ((size_t)1 << 30)
#define AGAIN_MAX 16
/* Left-out names count too, but there may be more of them. */
#define SEEN_PER_FILE 8
#define SEEN_AT_LEAST 100000

/* One directory that is open. */
typedef struct level {
	int fd;
	uint32_t index; /* its entry */
	uint32_t next;	/* child to look at */
	uint32_t mark;
	size_t path_len;
} level;

struct walking {
	walk *w;
	level levels[COPY_MAX_DEPTH + 1];
	size_t depth;
	path path;
	_Alignas(8) uint8_t raw[RAW_SIZE];
};

bool path_push(path *p, const char *name, size_t n)
{
	size_t slash = p->len ? 1 : 0;

	if (p->len + slash + n > AB_MAX_PATH)
		return false;
	if (slash)
		p->text[p->len++] = '/';
	memcpy(p->text + p->len, name, n);
	p->len += n;
	p->text[p->len] = 0;
	return true;
}

void path_pop(path *p, size_t len)
{
	p->len = len;
	p->text[len] = 0;
}

int open_beneath(int dirfd, const char *name, int flags)
{
	/* openat2(2): magic links and mounts would lead out of the tree */
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};

	for (int i = 0;; i++) {
		long fd = syscall(SYS_openat2, dirfd, name, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EINTR && (errno != EAGAIN || i == AGAIN_MAX))
			return -errno;
	}
}

long read_names(int fd, void *buffer)
{
	long n;

	do {
		n = syscall(SYS_getdents64, fd, buffer, RAW_SIZE);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* --- the table ------------------------------------------------------------ */

static int fail(const walking *g, int32_t code, int sys_errno,
		const char *message)
{
	return copy_fail(g->w->failure, code, sys_errno,
			 g->path.len ? g->path.text : ".", message);
}

static int no_memory(const walking *g)
{
	return fail(g, AGENTBOX_ENOMEM, 0, "out of memory for the walk");
}

static bool add_name(tree *t, const char *name, size_t n, uint32_t *at)
{
	if (!ab_grow(&t->names, &t->names_room, t->names_len + n + 1, 1))
		return false;
	memcpy(t->names + t->names_len, name, n);
	t->names[t->names_len + n] = 0;
	*at = (uint32_t)t->names_len;
	t->names_len += n + 1;
	return true;
}

static bool add_entry(tree *t, const entry *e, const char *name)
{
	if (!ab_grow(&t->entries, &t->room, t->count + 1, sizeof(*t->entries)))
		return false;
	t->entries[t->count] = *e;
	return add_name(t, name, e->name_len, &t->entries[t->count++].name);
}

uint16_t tree_rule(tree *t, const char *rule)
{
	if (!rule || !*rule)
		return 0;
	/* a handful are in use; the last ones most */
	for (size_t i = t->rule_count; i > 1; i--) {
		if (t->rules[i - 1] == rule)
			return (uint16_t)(i - 1);
	}
	if (t->rule_count > UINT16_MAX ||
	    !ab_grow(&t->rules, &t->rule_room, t->rule_count + 1,
		     sizeof(*t->rules)))
		return 0;
	t->rules[t->rule_count] = rule;
	return (uint16_t)t->rule_count++;
}

void tree_end(tree *t)
{
	ab_filter_ignore_free(t->ignore);
	free(t->entries);
	free(t->names);
	free(t->rules);
	free(t->left);
	memset(t, 0, sizeof(*t));
}

/* --- order ---------------------------------------------------------------- */

int name_order(const char *a, size_t an, bool a_is_dir, const char *b,
	       size_t bn, bool b_is_dir)
{
	size_t least = an < bn ? an : bn;
	int by = memcmp(a, b, least);
	unsigned char ca, cb;

	if (by)
		return by;
	ca = an > least ? (unsigned char)a[least] : a_is_dir ? '/' : 0;
	cb = bn > least ? (unsigned char)b[least] : b_is_dir ? '/' : 0;
	return ca < cb ? -1 : ca > cb;
}

static int by_path(const void *a, const void *b, void *names)
{
	const entry *x = a, *y = b;

	return name_order((const char *)names + x->name, x->name_len,
			  x->kind == ENTRY_DIR, (const char *)names + y->name,
			  y->name_len, y->kind == ENTRY_DIR);
}

/* --- what the filter may ask ---------------------------------------------- */

typedef struct block {
	const tree *tree;
	uint32_t first, count;
} block;

static bool block_has(const void *data, const char *name, bool is_directory)
{
	const block *b = data;
	size_t n = strlen(name), low = 0, high = b->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const entry *e = &b->tree->entries[b->first + mid];
		int by = name_order(name, n, is_directory,
				    entry_name(b->tree, e), e->name_len,
				    e->kind == ENTRY_DIR);

		if (by == 0)
			return is_directory == (e->kind == ENTRY_DIR);
		if (by < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}

static const char *block_at(const void *data, size_t i, bool *is_directory)
{
	const block *b = data;
	const entry *e;

	if (i >= b->count)
		return NULL;
	e = &b->tree->entries[b->first + i];
	*is_directory = e->kind == ENTRY_DIR;
	return entry_name(b->tree, e);
}

/* --- one directory -------------------------------------------------------- */

static uint8_t kind_of(int dirfd, const raw_dirent *d)
{
	struct stat st;

	switch (d->type) {
	case DT_REG:
		return ENTRY_FILE;
	case DT_DIR:
		return ENTRY_DIR;
	case DT_LNK:
		return ENTRY_LINK;
	case DT_UNKNOWN:
		break;
	default:
		return ENTRY_SPECIAL;
	}
	if (fstatat(dirfd, d->name, &st, AT_SYMLINK_NOFOLLOW |
						 AT_NO_AUTOMOUNT))
		return ENTRY_SPECIAL;
	return S_ISREG(st.st_mode)   ? ENTRY_FILE
	       : S_ISDIR(st.st_mode) ? ENTRY_DIR
	       : S_ISLNK(st.st_mode) ? ENTRY_LINK
				     : ENTRY_SPECIAL;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' &&
	       (!name[1] || (name[1] == '.' && !name[2]));
}

static int check_bounds(const walking *g)
{
	const copy_job *job = g->w->job;
	const tree *t = g->w->tree;
	uint64_t most;

	if (__builtin_mul_overflow(job->plan.max_files,
				   (uint64_t)SEEN_PER_FILE, &most) ||
	    most < SEEN_AT_LEAST)
		most = job->plan.max_files ? SEEN_AT_LEAST : 0;
	if (t->count > most || t->count >= UINT32_MAX / 2)
		return fail(g, AGENTBOX_ELIMIT, 0,
			    "max_files: far more names than files may be");
	if (t->names_len > NAME_BYTES_MAX)
		return fail(g, AGENTBOX_ELIMIT, 0,
			    "over 1 GiB of names; exclude more");
	if (t->kept_files > job->plan.max_files)
		return fail(g, AGENTBOX_ELIMIT, 0,
			    "max_files: more files than may be copied");
	if (job->deadline_ns && ab_clock_boot_ns() >= job->deadline_ns)
		return fail(g, AGENTBOX_ETIMEOUT, 0, "deadline_ms is over");
	return 0;
}

static int list(walking *g, int fd, uint32_t index)
{
	tree *t = g->w->tree;
	uint32_t first = (uint32_t)t->count;

	for (;;) {
		long n = read_names(fd, g->raw);

		if (n == 0)
			break;
		if (n < 0)
			return fail(g, AGENTBOX_ESYS, (int)-n,
				    "cannot read the directory");
		for (long at = 0; at < n;) {
			const raw_dirent *d = (void *)(g->raw + at);
			entry e = { .ino = d->ino };

			at += d->len;
			if (is_dots(d->name))
				continue;
			e.name_len = (uint8_t)strnlen(d->name, AB_MAX_NAME);
			e.kind = kind_of(fd, d);
			if (!add_entry(t, &e, d->name))
				return no_memory(g);
		}
		if (check_bounds(g))
			return -1;
	}
	t->entries[index].first = first;
	t->entries[index].count = (uint32_t)t->count - first;
	qsort_r(t->entries + first, t->count - first, sizeof(entry), by_path,
		t->names);
	return 0;
}

static void leave_out(entry *e, enum ab_left_out reason)
{
	e->reason = (uint8_t)reason;
	e->tier = 0;
	e->rule = 0;
}

static void judge(walking *g, entry *e, const block *b, uint32_t mark,
		  uint32_t *marked)
{
	const ab_filter_names names = { block_has, block_at, b, mark };
	ab_filter_verdict v = { .reason = AB_OUT_NAME };
	tree *t = g->w->tree;
	bool is_dir = e->kind == ENTRY_DIR;

	/* the manifest's own place */
	if (g->depth == 1 &&
	    strcmp(entry_name(t, e), AB_MANIFEST_DIR) == 0) {
		leave_out(e, AB_OUT_NAME);
		return;
	}
	if (g->w->filter)
		ab_filter_name(g->w->filter, t->ignore, g->path.text,
			       g->path.len, is_dir, &names, &v);
	else
		v.reason = AB_KEPT;
	e->reason = (uint8_t)v.reason;
	e->tier = (uint8_t)v.tier;
	e->rule = tree_rule(t, v.rule);
	if (v.reason != AB_KEPT && is_dir && v.is_passage)
		e->flags |= ENTRY_PASSAGE;
	if (v.reason != AB_KEPT && e->kind == ENTRY_FILE)
		e->proof = (uint8_t)v.proof;
	*marked = v.mark;
	if (v.reason == AB_KEPT && e->kind == ENTRY_LINK)
		leave_out(e, AB_OUT_LINK);
	else if (v.reason == AB_KEPT && e->kind == ENTRY_SPECIAL)
		leave_out(e, AB_OUT_SPECIAL);
}

/*
 * Some file systems number a file otherwise in its directory than on itself
 * (overlays of several): then the latter is asked for. One question per
 * directory tells, and whoever races it gets the slower and stricter way.
 */
static void take_inode(const walking *g, const level *l, entry *e, bool *ask)
{
	struct stat st = { 0 };

	if (!*ask || e->kind != ENTRY_FILE)
		return;
	if (fstatat(l->fd, entry_name(g->w->tree, e), &st,
		    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
	    st.st_ino == e->ino)
		*ask = false;
	else
		e->ino = st.st_ino;
}

/* What the walk of a directory needs to know of it later on. */
static int judge_all(walking *g, const level *l, uint32_t *marks)
{
	tree *t = g->w->tree;
	const entry *dir = &t->entries[l->index];
	const block b = { t, dir->first, dir->count };
	bool ask = true;

	for (uint32_t i = 0; i < b.count; i++) {
		entry *e = &t->entries[b.first + i];

		marks[i] = 0;
		if (!path_push(&g->path, entry_name(t, e), e->name_len)) {
			leave_out(e, AB_OUT_DEPTH);
			continue;
		}
		judge(g, e, &b, l->mark, &marks[i]);
		path_pop(&g->path, l->path_len);
		if (e->kind == ENTRY_FILE &&
		    (e->reason == AB_KEPT || e->proof)) {
			t->kept_files++;
			take_inode(g, l, e, &ask);
		}
	}
	return check_bounds(g);
}

/* --- up and down ---------------------------------------------------------- */

enum ab_left_out reason_of(int sys_errno)
{
	switch (sys_errno) {
	case EXDEV:
		return AB_OUT_MOUNT;
	case EACCES:
	case EPERM:
		return AB_OUT_UNREADABLE;
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case EAGAIN:
		return AB_OUT_RACED;
	default:
		return AB_OUT_REASONS;
	}
}

/*
 * The directories that the job writes to are no part of what it reads: each
 * generation would have the one before in it. One that is left out is never
 * come to.
 */
static int check_own(const walking *g, const struct stat *st)
{
	const copy_job *job = g->w->job;

	for (size_t i = 0; i < sizeof(job->own) / sizeof(job->own[0]); i++)
		if (job->own[i].ino == st->st_ino &&
		    job->own[i].dev == st->st_dev)
			return fail(g, AGENTBOX_EINVAL, 0,
				    "the snapshot would be in its own source; "
				    "choose a directory that is not below it, "
				    "or exclude that");
	return 0;
}

static void skip(entry *e, enum ab_left_out reason)
{
	if (e->reason == AB_KEPT)
		leave_out(e, reason);
	e->flags = (uint8_t)((e->flags | ENTRY_SKIPPED) & ~ENTRY_PASSAGE);
}

/* 1: it is not to be walked; its entry says why. */
static int open_level(walking *g, const level *above, uint32_t index, int *fd)
{
	tree *t = g->w->tree;
	entry *e = &t->entries[index];
	enum ab_left_out reason;
	struct stat st;

	if (g->depth > g->w->job->plan.max_depth ||
	    g->depth > COPY_MAX_DEPTH) {
		skip(e, AB_OUT_DEPTH);
		return 1;
	}
	*fd = open_beneath(above->fd, entry_name(t, e),
			   O_RDONLY | O_DIRECTORY);
	if (*fd < 0) {
		reason = reason_of(-*fd);
		if (reason == AB_OUT_REASONS)
			return fail(g, AGENTBOX_ESYS, -*fd,
				    "cannot open the directory");
		skip(e, reason);
		return 1;
	}
	if (fstat(*fd, &st))
		return fail(g, AGENTBOX_ESYS, errno, "cannot look at it");
	e->ino = st.st_ino;
	return check_own(g, &st);
}

/* Judge a directory by what is in it; 1: left out, its block forgotten. */
static int judge_listing(walking *g, uint32_t index, uint32_t *mark)
{
	tree *t = g->w->tree;
	entry *e = &t->entries[index];
	const block b = { t, e->first, e->count };
	const ab_filter_names names = { block_has, block_at, &b, *mark };
	ab_filter_verdict v = { .reason = AB_OUT_STRUCTURE };

	ab_filter_listing(g->w->filter, g->path.text, g->path.len, &names, &v);
	*mark = v.mark;
	if (v.reason == AB_KEPT)
		return 0;
	if (e->reason == AB_KEPT) {
		e->reason = (uint8_t)v.reason;
		e->tier = (uint8_t)v.tier;
		e->rule = tree_rule(t, v.rule);
	}
	if (v.is_passage) {
		e->flags |= ENTRY_PASSAGE;
		return 0;
	}
	t->count = e->first;
	e->first = 0;
	e->count = 0;
	skip(e, v.reason);
	return 1;
}

/*
 * The root is what the host chose, whatever it looks like, but for a
 * repository: what it holds is history and configuration, under names that no
 * rule knows.
 */
static int judge_root(walking *g, uint32_t index)
{
	const entry *e = &g->w->tree->entries[index];
	const block b = { g->w->tree, e->first, e->count };
	const ab_filter_names names = { block_has, block_at, &b, 0 };
	ab_filter_verdict v;

	ab_filter_listing(g->w->filter, "", 0, &names, &v);
	return v.reason == AB_KEPT || v.tier != 'X'
		       ? 0
		       : fail(g, AGENTBOX_EDENIED, 0,
			      "the source is itself a repository, history and "
			      "configuration; of git's, \"head\" copies the "
			      "files of the last commit");
}

/* The tree's own patterns, which may only leave out more. */
static int read_ignore(walking *g, int root_fd)
{
	ab_autofd int fd = open_beneath(root_fd, AB_FILTER_IGNORE_NAME,
					O_RDONLY | O_NONBLOCK);
	char *text = NULL;
	struct stat st;
	size_t n = 0;
	int r;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	r = ab_fd_slurp(fd, AB_FILTER_IGNORE_MAX, &text, &n);
	/* one that cannot be read whole would leave out less than was meant */
	if (r == -EFBIG)
		return fail(g, AGENTBOX_ELIMIT, 0,
			    AB_FILTER_IGNORE_NAME " is over 64 KiB");
	if (r)
		return fail(g, AGENTBOX_ESYS, -r,
			    "cannot read " AB_FILTER_IGNORE_NAME);
	r = ab_filter_ignore_parse(text, n, &g->w->tree->ignore, NULL);
	free(text);
	return r ? no_memory(g) : 0;
}

/* Open, list and judge; the marks of its directories go into `first`. */
static int enter(walking *g, uint32_t index, uint32_t mark)
{
	tree *t = g->w->tree;
	level *l = &g->levels[g->depth];
	uint32_t *marks;
	int fd = -1, r;

	if (g->depth == 0)
		fd = ab_fd_lift(open_beneath(g->w->root_fd, ".",
					     O_RDONLY | O_DIRECTORY));
	r = g->depth ? open_level(g, l - 1, index, &fd) : 0;
	if (r)
		return r < 0 ? r : 0;
	if (fd < 0)
		return fail(g, AGENTBOX_ESYS, -fd, "cannot open the source");
	if ((g->depth == 0 && g->w->filter && read_ignore(g, fd)) ||
	    list(g, fd, index) ||
	    (g->depth == 0 && g->w->filter && judge_root(g, index))) {
		close(fd);
		return -1;
	}
	if (g->depth && g->w->filter && judge_listing(g, index, &mark)) {
		close(fd);
		return 0;
	}
	*l = (level){ fd, index, 0, mark, g->path.len };
	g->depth++;
	t->kept_dirs++;
	marks = ab_calloc(t->entries[index].count + 1, sizeof(*marks));
	if (!marks)
		return no_memory(g);
	r = judge_all(g, l, marks);
	/* a directory that is not yet walked has no block: its place is free */
	for (uint32_t i = 0; i < t->entries[index].count; i++) {
		entry *e = &t->entries[t->entries[index].first + i];

		if (e->kind == ENTRY_DIR)
			e->first = marks[i];
	}
	free(marks);
	return r;
}

static int step(walking *g)
{
	level *l = &g->levels[g->depth - 1];
	tree *t = g->w->tree;
	const entry *dir = &t->entries[l->index];
	uint32_t index, mark;
	entry *e;

	path_pop(&g->path, l->path_len);
	if (l->next == dir->count) {
		close(l->fd);
		g->depth--;
		return 0;
	}
	index = dir->first + l->next++;
	e = &t->entries[index];
	if (e->kind != ENTRY_DIR)
		return 0;
	e->flags |= ENTRY_REACHED;
	mark = e->first;
	e->first = 0;
	if (!is_walked(e))
		return 0;
	if (!path_push(&g->path, entry_name(t, e), e->name_len))
		return 0;
	return enter(g, index, mark);
}

int walk_begin(walk *w)
{
	entry root = { .kind = ENTRY_DIR };
	walking *g = ab_new(walking);
	tree *t = w->tree;
	struct stat st;

	if (!g)
		return copy_fail(w->failure, AGENTBOX_ENOMEM, 0, ".",
				 "out of memory for the walk");
	g->w = w;
	w->going = g;
	t->rules = ab_calloc(64, sizeof(*t->rules));
	t->rule_room = 64;
	t->rule_count = 1;
	if (!t->rules || !add_entry(t, &root, "")) {
		w->has_failed = true;
		return no_memory(g);
	}
	t->rules[0] = "";
	w->has_failed = true;
	if (fstat(w->root_fd, &st))
		return fail(g, AGENTBOX_ESYS, errno, "cannot look at it");
	t->owned_by_us = st.st_uid == geteuid();
	w->has_failed = check_own(g, &st) || enter(g, 0, 0);
	return w->has_failed ? -1 : 0;
}

static void walk_end(walk *w)
{
	walking *g = w->going;

	while (g->depth)
		close(g->levels[--g->depth].fd);
	free(g);
	w->going = NULL;
}

int walk_step(walk *w)
{
	if (w->has_failed)
		return -1;
	if (!w->going)
		return 0;
	if (w->going->depth)
		w->has_failed = step(w->going) != 0;
	if (w->going->depth && !w->has_failed)
		return 0;
	if (!w->has_failed)
		atomic_store(&w->job->counters->files_in_all,
			     w->tree->kept_files);
	walk_end(w);
	return w->has_failed ? -1 : 0;
}

int walk_reach(walk *w, uint32_t index)
{
	int r = w->has_failed ? -1 : 0;

	while (r == 0 && w->going &&
	       !(w->tree->entries[index].flags & ENTRY_REACHED))
		r = walk_step(w);
	return r;
}

int walk_finish(walk *w)
{
	int r = w->has_failed ? -1 : 0;

	while (r == 0 && w->going)
		r = walk_step(w);
	if (w->going)
		walk_end(w);
	return r;
}

int walk_tree(walk *w)
{
	(void)walk_begin(w);
	return walk_finish(w);
}
