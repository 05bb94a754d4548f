/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree of a policy, kept with it: hosts raise many boxes from one policy,
 * and each time the same few dozen paths were opened, judged and read. What a
 * compile looked at and what it saw is written down beside the steps and
 * views that came of it. The next one looks again at each, by the cheapest
 * call that tells, and takes the steps only when all is as it was: a tree is
 * made of the policy, the machine's facts in the key, and what was seen. Binds
 * are opened and pinned anew; no descriptor is kept.
 *
 * Refuses: a tree that a box can write to, a workspace, a role, the host's
 * network, and whatever a step of the compile cannot say in a look; then all
 * is done anew each time. Spec: internal.h.
 */
#include "config.h"

#include "walls/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

#define MAX_LOOKS 1024
/* A file as young as this may change again within one tick of its clock. */
#define SETTLED_SECONDS 2

enum look_kind {
	LOOK_NOTHING, /* there is nothing, however its name is followed */
	LOOK_BIND,    /* this inode, and no link on the way to it */
	LOOK_FILE,    /* this inode, as it was when it was read */
	LOOK_LINK,    /* a link of this text that leads to this inode */
	LOOK_TEXT,    /* a link of this text, or none */
	LOOK_ACCESS   /* it is there, or not */
};

typedef struct look {
	enum look_kind kind;
	const char *path;
	const char *text;   /* LINK, TEXT; NULL: it is no link */
	const char *target; /* LINK: canonical; NULL: it leads nowhere */
	bool found;	    /* ACCESS */
	uint32_t mode, uid, gid;
	uint64_t dev, ino, size;
	struct timespec mtime, ctime;
} look;

/* What was seen so far, by one compile. Strings are the build's. */
struct ab_looks {
	look *rows;
	size_t count;
	bool is_spoiled;
};

/* Immutable; strings and contents point into `memory`. */
struct ab_memo {
	atomic_uint refs;
	uint32_t tier;
	bool pool, no_idmap;
	look *looks;
	size_t look_count;
	ab_plan_step *steps;
	uint32_t step_count;
	ab_view *views;
	size_t view_count;
	size_t copied;
	char *memory;
};

void ab_memo_ref(ab_memo *m)
{
	if (m)
		atomic_fetch_add(&m->refs, 1);
}

void ab_memo_unref(ab_memo *m)
{
	if (!m || atomic_fetch_sub(&m->refs, 1) != 1)
		return;
	free(m->looks);
	free(m->steps);
	free(m->views);
	free(m->memory);
	free(m);
}

/* --- writing down -------------------------------------------------------- */

static bool is_closed(const ab_build *b)
{
	const ab_policy *p = b->policy;

	if (b->input->dry || !ab_build_has_tree(b) || p->workspace.path ||
	    p->network.mode == AB_NET_HOST)
		return false;
	for (size_t i = 0; i < p->mount_count; i++) {
		if (p->mounts[i].access == AB_ACCESS_WRITE ||
		    p->mounts[i].from_role)
			return false;
	}
	return true;
}

void ab_look_begin(ab_build *b)
{
	if (!is_closed(b))
		return;
	b->looks = ab_new(struct ab_looks);
	if (!b->looks)
		b->nomem = true;
}

void ab_look_end(ab_build *b)
{
	if (b->looks)
		free(b->looks->rows);
	free(b->looks);
	b->looks = NULL;
}

void ab_look_spoil(ab_build *b)
{
	if (b->looks)
		b->looks->is_spoiled = true;
}

static void add(ab_build *b, const look *row)
{
	struct ab_looks *l = b->looks;
	look *rows;

	if (!l || l->is_spoiled)
		return;
	if (l->count == MAX_LOOKS) {
		l->is_spoiled = true;
		return;
	}
	rows = ab_realloc(l->rows, l->count + 1, sizeof(*rows));
	if (!rows) {
		b->nomem = true;
		return;
	}
	l->rows = rows;
	rows[l->count++] = *row;
}

static void set_stat(look *row, const struct stat *st)
{
	row->dev = st->st_dev;
	row->ino = st->st_ino;
	row->mode = st->st_mode;
	row->uid = st->st_uid;
	row->gid = st->st_gid;
	row->size = (uint64_t)st->st_size;
	row->mtime = st->st_mtim;
	row->ctime = st->st_ctim;
}

void ab_look_nothing(ab_build *b, const char *path)
{
	add(b, &(look){ .kind = LOOK_NOTHING, .path = path });
}

void ab_look_bind(ab_build *b, const char *path, const ab_hostpath *h)
{
	add(b, &(look){ .kind = LOOK_BIND, .path = path, .dev = h->dev,
			.ino = h->ino, .mode = h->mode, .uid = h->uid,
			.gid = h->gid });
}

void ab_look_file(ab_build *b, const char *path, const struct stat *st)
{
	look row = { .kind = LOOK_FILE, .path = path };
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) ||
	    now.tv_sec < st->st_ctim.tv_sec + SETTLED_SECONDS ||
	    now.tv_sec < st->st_mtim.tv_sec + SETTLED_SECONDS) {
		ab_look_spoil(b);
		return;
	}
	set_stat(&row, st);
	add(b, &row);
}

void ab_look_link(ab_build *b, const char *path, const char *text,
		  const ab_hostpath *h)
{
	look row = { .kind = LOOK_LINK, .path = path, .text = text };

	if (!b->looks)
		return;
	row.text = ab_build_str(b, text);
	if (h) {
		row.target = ab_build_str(b, h->path);
		row.dev = h->dev;
		row.ino = h->ino;
	}
	add(b, &row);
}

void ab_look_text(ab_build *b, const char *path, const char *text)
{
	look row = { .kind = LOOK_TEXT, .path = path };

	if (!b->looks)
		return;
	row.text = text ? ab_build_str(b, text) : NULL;
	add(b, &row);
}

void ab_look_access(ab_build *b, const char *path, bool found)
{
	add(b, &(look){ .kind = LOOK_ACCESS, .path = path, .found = found });
}

/* --- looking again ------------------------------------------------------- */

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_inode(const look *row, const char *path, int flags)
{
	struct stat st;

	return fstatat(AT_FDCWD, path, &st, flags) == 0 &&
	       st.st_dev == row->dev && st.st_ino == row->ino;
}

static bool same_file(const look *row)
{
	struct stat st;

	return fstatat(AT_FDCWD, row->path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == row->dev && st.st_ino == row->ino &&
	       st.st_mode == row->mode && st.st_uid == row->uid &&
	       st.st_gid == row->gid && (uint64_t)st.st_size == row->size &&
	       same_time(st.st_mtim, row->mtime) &&
	       same_time(st.st_ctim, row->ctime);
}

static bool same_text(const look *row)
{
	char text[AB_MAX_PATH];

	if (!ab_host_is_link(row->path, text, sizeof(text)))
		return !row->text;
	return row->text && strcmp(text, row->text) == 0;
}

static bool same_link(const look *row)
{
	struct stat st;

	if (!same_text(row))
		return false;
	if (!row->target)
		return fstatat(AT_FDCWD, row->path, &st, 0) < 0 &&
		       errno == ENOENT;
	return same_inode(row, row->path, 0) &&
	       same_inode(row, row->target, AT_SYMLINK_NOFOLLOW);
}

/* What is opened here is what the plan's box will hold on to. */
static bool same_bind(ab_build *b, const look *row)
{
	ab_hostpath h;

	if (ab_host_open_plain(row->path, &h))
		return false;
	ab_build_pin(b, h.fd);
	return h.dev == row->dev && h.ino == row->ino &&
	       h.mode == row->mode && h.uid == row->uid && h.gid == row->gid;
}

static bool is_nothing(const look *row)
{
	ab_hostpath h;
	int r = ab_host_open_plain(row->path, &h);

	if (r == 0)
		close(h.fd);
	return r == -ENOENT;
}

static bool is_as_it_was(ab_build *b, const look *row)
{
	switch (row->kind) {
	case LOOK_NOTHING:
		return is_nothing(row);
	case LOOK_BIND:
		return same_bind(b, row);
	case LOOK_FILE:
		return same_file(row);
	case LOOK_LINK:
		return same_link(row);
	case LOOK_TEXT:
		return same_text(row);
	case LOOK_ACCESS:
		return (faccessat(AT_FDCWD, row->path, F_OK, 0) == 0 ||
			errno != ENOENT) == row->found;
	}
	return false;
}

/* Room as build.c grows it: the next power of two. */
static void *copy_array(const void *from, size_t count, size_t size)
{
	size_t room = 1;
	void *p;

	while (room < count)
		room *= 2;
	p = ab_calloc(room, size);
	if (p)
		memcpy(p, from, count * size);
	return p;
}

static bool take(ab_build *b, const ab_memo *m)
{
	ab_plan_step *steps =
		copy_array(m->steps, m->step_count, sizeof(*steps));
	ab_view *views = copy_array(m->views, m->view_count, sizeof(*views));

	if (!steps || !views) {
		free(steps);
		free(views);
		b->nomem = true;
		return false;
	}
	b->plan.steps = steps;
	b->plan.step_count = m->step_count;
	b->views = views;
	b->view_count = m->view_count;
	b->copied = m->copied;
	return true;
}

bool ab_memo_replay(ab_build *b)
{
	ab_memo *m = is_closed(b) ? ab_cache_get_memo(b->handle) : NULL;
	bool same = m && m->tier == b->input->tier && m->pool == b->pool &&
		    m->no_idmap == b->input->no_idmap;

	for (size_t i = 0; same && i < m->look_count; i++)
		same = is_as_it_was(b, &m->looks[i]);
	if (same && !b->nomem && take(b, m)) {
		b->memo = m; /* the steps point into it */
		return true;
	}
	ab_memo_unref(m);
	while (b->out->path_fd_count)
		close(b->out->path_fds[--b->out->path_fd_count]);
	return false;
}

/* --- keeping ------------------------------------------------------------- */

/* A copy of n bytes and a NUL at *used; without memory, only their room. */
static const void *put(char *memory, size_t *used, const void *p, size_t n)
{
	char *at = memory ? memory + *used : NULL;

	if (!p)
		return NULL;
	if (at && n)
		memcpy(at, p, n);
	if (at)
		at[n] = '\0';
	*used += n + 1;
	return at;
}

static const char *put_text(char *memory, size_t *used, const char *s)
{
	return put(memory, used, s, s ? strlen(s) : 0);
}

/* Twice: for the room, and for good. */
static size_t put_all(const ab_build *b, ab_memo *m)
{
	size_t used = 0;

	for (uint32_t i = 0; i < m->step_count; i++) {
		const ab_plan_step *from = &b->plan.steps[i];
		ab_plan_step *s = &m->steps[i];

		s->source = put_text(m->memory, &used, from->source);
		s->target = put_text(m->memory, &used, from->target);
		s->content = put(m->memory, &used, from->content,
				 from->content_len);
	}
	for (size_t i = 0; i < m->view_count; i++) {
		const ab_view *from = &b->views[i];
		ab_view *v = &m->views[i];

		v->inside = put_text(m->memory, &used, from->inside);
		v->host = put_text(m->memory, &used, from->host);
	}
	for (size_t i = 0; i < m->look_count; i++) {
		const look *from = &b->looks->rows[i];
		look *l = &m->looks[i];

		l->path = put_text(m->memory, &used, from->path);
		l->text = put_text(m->memory, &used, from->text);
		l->target = put_text(m->memory, &used, from->target);
	}
	return used;
}

static ab_memo *make(const ab_build *b)
{
	ab_memo *m = ab_new(ab_memo);

	if (!m)
		return NULL;
	atomic_init(&m->refs, 1);
	m->tier = b->input->tier;
	m->pool = b->pool;
	m->no_idmap = b->input->no_idmap;
	m->copied = b->copied;
	m->step_count = b->plan.step_count;
	m->view_count = b->view_count;
	m->look_count = b->looks->count;
	m->steps = copy_array(b->plan.steps, m->step_count, sizeof(*m->steps));
	m->views = copy_array(b->views, m->view_count, sizeof(*m->views));
	m->looks = copy_array(b->looks->rows, m->look_count,
			      sizeof(*m->looks));
	if (m->steps && m->views && m->looks)
		m->memory = ab_calloc(1, put_all(b, m) + 1);
	if (!m->memory) {
		ab_memo_unref(m);
		return NULL;
	}
	(void)put_all(b, m);
	return m;
}

void ab_memo_keep(ab_build *b, bool has_notes)
{
	ab_memo *m;

	if (!b->looks || b->looks->is_spoiled || b->nomem || has_notes)
		return;
	m = make(b);
	if (!m)
		b->nomem = true;
	ab_cache_put_memo(b->handle, m);
}
