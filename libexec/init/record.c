/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record that a box over a direct workspace runs, beside its quarantine:
 * written before the box is ready, removed when it has ended and all that
 * appeared was put right. So a holder that is killed, a disk that the agent
 * has filled, or a host that is gone can only leave it standing, and then the
 * next box over that workspace is not raised: its host would take what stands
 * there for his own (lib/walls/quarantine.c). Where the record cannot be
 * written there is no box.
 *
 * It also says what stood at protected names when the box began, and what has
 * come since and is the host's, so that the next start can look through the
 * workspace as the end would have (left.c). Where that cannot be said it says
 * only that the box runs.
 *
 * Its way to the disk begins when the box is ready: to wait for the end of that
 * would take as long as a fifth of all the rest, and on a slow disk many times
 * that. Its name and its bytes then go in the order in which the agent's do, if
 * those are on the same file system.
 * Spec: wire/plan.h.
 */
#include "config.h"

#include "watcher.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sys.h"

/* What follows the first line; another build may say other things there. */
#define RECORD_VERSION 2u
/* Patterns, names, and as much again of what came later. */
#define MAX_RECORD (16u << 20)
#define MAX_SEEN (1u << 20)
/* Nobody waits for it then, and a box that is gone by then needs none. */
#define SYNC_AFTER_NS 50000000ull
#define DIR_BESIDE "../" AB_UNSETTLED_DIR

static const char *name_of(const watcher *w)
{
	return strrchr(w->box->plan.quarantine_host, '/') + 1;
}

static int open_beside(int quarantine_fd)
{
	return ab_fd_lift(openat(quarantine_fd, DIR_BESIDE,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					 O_CLOEXEC));
}

static int open_record(const watcher *w, const char *name, int flags)
{
	return openat(w->unsettled_fd, name, flags | O_NOFOLLOW | O_CLOEXEC,
		      0600);
}

/* --- what stands there ---------------------------------------------------- */

static_assert(sizeof(struct ab_statx) == 256, "as the kernel has it");

static uint64_t to_ns(const struct ab_statx_time *t)
{
	return (uint64_t)t->sec * 1000000000u + t->nsec;
}

/* On the workspace's own mount: below another one nothing can be told. */
static int open_name(const watcher *w, const char *path)
{
	int fd = ab_sys_openat2(w->workspace_fd, path[0] ? path : ".",
				O_PATH | O_CLOEXEC | O_NOFOLLOW,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					RESOLVE_NO_MAGICLINKS |
					RESOLVE_NO_XDEV);

	if (fd == -ENOSYS || fd == -EPERM)
		fd = init_open_beneath(w->workspace_fd, path, O_NOFOLLOW);
	return ab_fd_lift(fd);
}

/* Nothing tells its snapshots apart before Linux 6.10. */
static bool is_bcachefs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || (uint32_t)fs.f_type == 0xca451a4eu;
}

/*
 * A snapshot, which the agent may make, has the same inodes again: of btrfs as
 * another device, of bcachefs as the same one.
 */
static bool may_be_in_snapshot(const watcher *w, const struct ab_statx *st)
{
	struct ab_statx top;

	if (makedev(st->dev_major, st->dev_minor) !=
	    w->box->plan.workspace_dev)
		return true;
	if (ab_sys_statx(w->workspace_fd, &top) ||
	    !(st->mask & AB_STATX_SUBVOL) != !(top.mask & AB_STATX_SUBVOL))
		return true;
	return st->mask & AB_STATX_SUBVOL ? st->subvol != top.subvol
					  : is_bcachefs(w->workspace_fd);
}

int init_see(const watcher *w, const char *path, seen *out)
{
	ab_autofd int fd = open_name(w, path);
	struct ab_statx st;
	int r;

	if (fd < 0)
		return fd;
	r = ab_sys_statx(fd, &st);
	if (r)
		return r;
	*out = (seen){.path = path,
		      .kind = SEEN_HELD,
		      .type = (uint32_t)st.mode & S_IFMT,
		      .ino = st.ino,
		      .changed_ns = to_ns(&st.ctime)};
	if (st.mask & AB_STATX_BTIME)
		out->made_ns = to_ns(&st.btime);
	/* an inode's number may be given to another; by another name of it
	   somebody may have written to it */
	if (!out->made_ns || (S_ISREG(st.mode) && st.nlink > 1) ||
	    may_be_in_snapshot(w, &st))
		out->kind = SEEN_LEFT;
	return 0;
}

/* --- as bytes ------------------------------------------------------------- */

static void put_seen(ab_writer *out, const seen *s)
{
	ab_put_str(out, s->path);
	ab_put_u32(out, s->kind);
	ab_put_u32(out, s->type);
	ab_put_u64(out, s->ino);
	ab_put_u64(out, s->made_ns);
	ab_put_u64(out, s->changed_ns);
}

static void get_seen(ab_reader *in, seen *s)
{
	s->path = ab_get_str(in);
	s->kind = ab_get_u32(in);
	s->type = ab_get_u32(in);
	s->ino = ab_get_u64(in);
	s->made_ns = ab_get_u64(in);
	s->changed_ns = ab_get_u64(in);
	if (!s->path[0] || s->path[0] == '/' ||
	    strlen(s->path) >= AB_MAX_PATH || s->kind < SEEN_HELD ||
	    s->kind > SEEN_MOUNT || (s->kind == SEEN_HELD && !s->made_ns))
		in->bad = true;
}

/* What is not there any more was not the agent's either. */
static void put_path(const watcher *w, const char *path, bool is_left,
		     ab_writer *out)
{
	seen s;
	int r = init_see(w, path, &s);

	/* what is on another mount makes a later look fail anyway */
	if (init_is_nowhere(r) || r == -EXDEV)
		return;
	if (r)
		out->bad = true;
	if (is_left)
		s.kind = SEEN_LEFT;
	if (r == 0)
		put_seen(out, &s);
}

/* The agent could not change it, nor what is in it. */
static bool is_out_of_reach(const watcher *w, const guarded *g)
{
	return g->rest && !g->is_gone && (g->flags & AB_MOUNT_RDONLY) &&
	       init_is_only_way(w, g);
}

/* By a mount of its own, and not by what lies over it. */
static bool is_by_itself(const watcher *w, const guarded *g)
{
	return g->step->kind == AB_STEP_SELF &&
	       (!g->cover || !strcmp(g->cover->target,
				     w->box->plan.workspace_inside));
}

static void put_guarded(const watcher *w, const guarded *g, ab_writer *out)
{
	if (is_out_of_reach(w, g))
		put_path(w, g->rest, !is_by_itself(w, g), out);
}

static void put_names(const watcher *w, ab_writer *out)
{
	const seen mount = {.kind = SEEN_MOUNT};

	for (size_t i = 0; i < w->guarded_count; i++)
		put_guarded(w, &w->guarded[i], out);
	for (size_t i = 0; i < w->known_count; i++)
		put_path(w, w->known[i], true, out);
	for (size_t i = 0; i < w->mount_count; i++) {
		seen s = mount;

		s.path = w->mounts[i];
		put_seen(out, &s);
	}
}

/* False: only the end of the box itself can tell what is new. */
static bool put_all(const watcher *w, ab_writer *out)
{
	const ab_plan *p = &w->box->plan;
	seen top;
	life of;

	/* without mounts the agent could change whatever stood there */
	if (!(p->namespaces & AB_NS_MOUNT) || !(p->namespaces & AB_NS_PID) ||
	    init_see(w, "", &top) || !top.made_ns ||
	    init_see_life(w->box->pid_one, &of))
		return false;
	ab_put_u32(out, RECORD_VERSION);
	ab_put_str(out, of.boot);
	ab_put_u64(out, of.pid_ns);
	ab_put_u64(out, of.time_ns);
	ab_put_u64(out, of.started);
	ab_put_u32(out, of.pid);
	ab_put_u64(out, top.ino);
	ab_put_u64(out, top.made_ns);
	ab_put_str(out, p->workspace_inside);
	ab_put_u32(out, p->watch_count);
	for (uint32_t i = 0; i < p->watch_count; i++)
		ab_put_str(out, p->watches[i].pattern);
	put_names(w, out);
	return !out->bad;
}

/* --- the file ------------------------------------------------------------- */

/* Whole, or not there: one that says nothing would be about every workspace. */
static int write_record(const watcher *w, const char *text, const void *more,
			size_t size)
{
	char beside[AB_MAX_NAME + sizeof(AB_UNBORN_RECORD)];
	ab_autofd int fd = -1;
	int r;

	if (snprintf(beside, sizeof(beside), AB_UNBORN_RECORD "%s",
		     name_of(w)) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	fd = open_record(w, beside, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd < 0)
		return -errno;
	r = ab_fd_write_full(fd, text, strlen(text) + 1);
	if (r == 0)
		r = ab_fd_write_full(fd, more, size);
	if (r == 0 && renameat(w->unsettled_fd, beside, w->unsettled_fd,
			       name_of(w)))
		r = -errno;
	if (r)
		(void)unlinkat(w->unsettled_fd, beside, 0);
	return r;
}

int init_begin_record(watcher *w)
{
	const ab_plan *p = &w->box->plan;
	char text[AB_MAX_PATH + 64];
	ab_writer out;
	bool is_said;
	int r;

	w->unsettled_fd = open_beside(w->quarantine_fd);
	if (w->unsettled_fd < 0 && errno == ENOENT) {
		(void)mkdirat(w->quarantine_fd, DIR_BESIDE, 0700);
		w->unsettled_fd = open_beside(w->quarantine_fd);
	}
	if (w->unsettled_fd < 0)
		return -errno;
	snprintf(text, sizeof(text), "%llu %llu %s",
		 (unsigned long long)p->workspace_dev,
		 (unsigned long long)p->workspace_ino, p->workspace_host);
	ab_writer_init(&out, MAX_RECORD);
	is_said = put_all(w, &out);
	r = write_record(w, text, out.data, is_said ? out.len : 0);
	ab_writer_end(&out);
	return r;
}

/*
 * Whole, or not at all: behind a part of a name, as a full disk leaves it, the
 * next one would be read as the rest of it.
 */
static bool append(int fd, const void *p, size_t n)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	       (ab_fd_write_full(fd, p, n) == 0 ||
		ftruncate(fd, st.st_size) == 0);
}

void init_add_to_record(watcher *w, const guarded *g)
{
	ab_autofd int fd = -1;
	ab_writer out;

	if (w->unsettled_fd < 0 || w->is_torn)
		return;
	ab_writer_init(&out, MAX_RECORD);
	put_guarded(w, g, &out);
	/* else who ran may have been at it before it was covered, or have put
	   another in its place before we saw it: what leads to one that was
	   adopted is not pinned */
	fd = out.bad || !out.len || !init_is_hosts(w)
		     ? -1
		     : open_record(w, name_of(w), O_WRONLY | O_APPEND);
	/* one that ends in a part of a name says nothing at all: left.c */
	if (fd >= 0)
		w->is_torn = !append(fd, out.data, out.len);
	ab_writer_end(&out);
	init_sync_soon(w);
}

/* --- of a box that is gone ------------------------------------------------ */

int init_open_record(watcher *w)
{
	int fd;

	w->unsettled_fd = open_beside(w->quarantine_fd);
	if (w->unsettled_fd < 0)
		return -errno;
	fd = ab_fd_lift(open_record(w, name_of(w), O_RDWR));
	return fd < 0 ? -errno : fd;
}

static void get_patterns(watcher *w, ab_reader *in)
{
	ab_plan *p = &w->box->plan;
	uint32_t n = ab_get_count(in, AB_MAX_PROTECTED);

	p->watches = calloc((size_t)n + 1, sizeof(*p->watches));
	p->watch_count = p->watches ? n : 0;
	in->bad |= !n || !p->watches;
	for (uint32_t i = 0; i < p->watch_count && !in->bad; i++) {
		p->watches[i].pattern = ab_get_str(in);
		in->bad |= !p->watches[i].pattern[0];
	}
}

static void get_names(watcher *w, ab_reader *in)
{
	size_t room = 0;

	while (!in->bad && in->pos < in->len) {
		if (w->seen_count == room) {
			room = room * 2 + 64;
			seen *all = room > MAX_SEEN ? NULL
				    : realloc(w->seen, room * sizeof(*all));

			if (!all) {
				in->bad = true;
				return;
			}
			w->seen = all;
		}
		get_seen(in, &w->seen[w->seen_count++]);
	}
}

static void get_life(ab_reader *in, life *of)
{
	const char *boot = ab_get_str(in);

	*of = (life){.pid = 0};
	in->bad |= !boot[0] || strlen(boot) >= sizeof(of->boot);
	if (!in->bad)
		strcpy(of->boot, boot);
	of->pid_ns = ab_get_u64(in);
	of->time_ns = ab_get_u64(in);
	of->started = ab_get_u64(in);
	of->pid = ab_get_u32(in);
	in->bad |= !of->pid || of->pid > INT32_MAX;
}

int init_read_record(watcher *w, int fd, seen *top, life *of)
{
	char *text = NULL; /* what is decoded points into it */
	size_t n = 0, first;
	ab_reader in;
	int r = ab_fd_slurp(fd, MAX_RECORD, &text, &n);

	if (r)
		return r;
	first = strnlen(text, n);
	if (first + 1 >= n)
		return -ENODATA;
	ab_reader_init(&in, text + first + 1, n - first - 1);
	if (ab_get_u32(&in) != RECORD_VERSION)
		return -ENODATA;
	get_life(&in, of);
	top->ino = ab_get_u64(&in);
	top->made_ns = ab_get_u64(&in);
	w->box->plan.workspace_inside = ab_get_str(&in);
	get_patterns(w, &in);
	/* known to be there, if of nothing */
	w->seen = calloc(1, sizeof(*w->seen));
	w->seen_count = 0;
	get_names(w, &in);
	return ab_reader_done(&in) && w->seen ? 0 : -ENODATA;
}

/* --- its end -------------------------------------------------------------- */

static void sync_record(const watcher *w)
{
	ab_autofd int fd = open_record(w, name_of(w), O_RDONLY);

	if (fd >= 0)
		(void)fsync(fd);
	(void)fsync(w->unsettled_fd);
}

void init_sync_soon(watcher *w)
{
	if (w->unsettled_fd >= 0 && !w->sync_at_ns)
		w->sync_at_ns = ab_clock_boot_ns() + SYNC_AFTER_NS;
}

/*
 * It is only begun: a disk may take its time, and who asks the holder for
 * something, or for its end, does not wait for one. sync_file_range(2)
 */
void init_sync_record(watcher *w, uint64_t now)
{
	ab_autofd int fd = -1;

	if (!w->sync_at_ns || now < w->sync_at_ns)
		return;
	w->sync_at_ns = 0;
	fd = open_record(w, name_of(w), O_RDONLY);
	if (fd >= 0)
		ab_sys_begin_write(fd);
}

void init_end_record(const watcher *w, bool is_settled)
{
	if (w->unsettled_fd < 0)
		return;
	if (is_settled)
		(void)unlinkat(w->unsettled_fd, name_of(w), 0);
	else
		sync_record(w);
}
