/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which mounts of a box the host can take away, and noticing that it did,
 * while commands run. A rename over a mount point, or its removal, detaches
 * the mount and changes the mount table; a mount point renamed aside keeps
 * its mount, and what then appears under the old name is seen by inotify.
 * The holder polls both by descriptors of its own, so the host still gets
 * its notice and settles before it starts or ends a command.
 *
 * Between the host's change and the new mount lies a window, well below a
 * millisecond on an idle machine, in which a running command can open what
 * the host has put there, for writing if the tree is writable. A file that
 * was opened in the window stays open. Where that is too much: `overlay`.
 * Spec: DESIGN.md section 6, RECIPES.md section 8p, proc(5) mountinfo.
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>

#include "base/clock.h"
#include "base/fd.h"

/* Names that appear in a busy workspace cost one look in this time. */
#define CHECK_EVERY_NS 10000000ull
/* The same while a command runs, or where nothing tells of a name. */
#define LOOK_EVERY_NS 1000000000ull

enum { GUARD_MOUNTS, GUARD_NAMES };

static bool is_strictly_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1) /* "/" */
		return path[1] != '\0';
	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/*
 * The step whose tree a later step's target lies in; NULL: the root's. What is
 * bound onto itself is no tree, and of those a workspace has thousands: they
 * come last, so who asks about many of them passes `trees`, the number of steps
 * up to the last tree.
 */
static const ab_plan_step *cover_of(const ab_plan *plan, uint32_t i,
				    uint32_t trees)
{
	const char *target = plan->steps[i].target;
	const ab_plan_step *cover = NULL;

	for (uint32_t j = 0; j < i && j < trees; j++) {
		const ab_plan_step *s = &plan->steps[j];

		if (s->kind > AB_STEP_MQUEUE ||
		    !is_strictly_below(target, s->target))
			continue;
		if (!cover || strlen(s->target) >= strlen(cover->target))
			cover = s;
	}
	return cover;
}

static uint32_t count_trees(const ab_plan *plan)
{
	uint32_t n = plan->step_count;

	while (n && plan->steps[n - 1].kind > AB_STEP_MQUEUE)
		n--;
	return n;
}

/* Its cover; NULL: it is not guarded. */
static const ab_plan_step *guard_of(const ab_plan *plan, uint32_t i,
				    uint32_t trees)
{
	const ab_plan_step *s = &plan->steps[i], *cover;

	if (s->kind != AB_STEP_SELF && s->kind != AB_STEP_HIDE &&
	    s->kind != AB_STEP_BIND && s->kind != AB_STEP_TMPFS)
		return NULL;
	/* elsewhere the host has no name for the mount point */
	cover = cover_of(plan, i, trees);
	return cover && cover->kind == AB_STEP_BIND ? cover : NULL;
}

bool init_is_guarded_step(const ab_plan *plan, uint32_t i)
{
	return guard_of(plan, i, plan->step_count) != NULL;
}

/* Where the host has the mount point. 0 or -ENOMEM. */
static int find_host(guarded *g)
{
	const char *rest = g->target;
	const char *source = g->cover->source[1] ? g->cover->source : "";
	size_t skip = strlen(g->cover->target), n;

	rest += skip == 1 ? 0 : skip;
	n = strlen(source) + strlen(rest) + 1;
	g->host = malloc(n);
	if (!g->host)
		return -ENOMEM;
	snprintf(g->host, n, "%s%s", source, rest);
	g->below = g->host + strlen(source) + 1;
	return 0;
}

/*
 * Of steps that lie in the same tree, one descriptor of that; only for what is
 * judged when it is missing: as long as it is open the host cannot unmount it.
 */
static int open_cover(const watcher *w, const guarded *g)
{
	if (g->step->kind != AB_STEP_SELF)
		return -1;
	for (size_t i = w->guarded_count; i-- > 0;) {
		if (w->guarded[i].cover == g->cover &&
		    w->guarded[i].step->kind == AB_STEP_SELF)
			return w->guarded[i].tree_fd;
	}
	return init_open_host(g->cover->source, g->cover->dev, g->cover->ino);
}

static int compare_target(const void *a, const void *b)
{
	const guarded *const *x = a, *const *y = b;

	return strcmp((*x)->target, (*y)->target);
}

static int list_targets(watcher *w)
{
	w->by_target = calloc(w->guarded_count + 1, sizeof(*w->by_target));
	if (!w->by_target)
		return -ENOMEM;
	for (size_t i = 0; i < w->guarded_count; i++)
		w->by_target[i] = &w->guarded[i];
	w->by_target_count = w->guarded_count;
	qsort(w->by_target, w->by_target_count, sizeof(*w->by_target),
	      compare_target);
	return 0;
}

int init_list_guarded(watcher *w)
{
	const ab_plan *p = &w->box->plan;
	const char *top = p->workspace_inside;
	uint32_t trees = count_trees(p);
	size_t n = strlen(top);

	w->guarded = calloc(p->step_count + INIT_MAX_ADOPTED + 1,
			    sizeof(*w->guarded));
	if (!w->guarded)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->step_count; i++) {
		const ab_plan_step *s = &p->steps[i];
		guarded *g = &w->guarded[w->guarded_count];

		g->cover = guard_of(p, i, trees);
		if (!g->cover)
			continue;
		g->step = s;
		g->target = s->target;
		g->flags = s->flags;
		if (find_host(g))
			return -ENOMEM;
		g->tree_fd = open_cover(w, g);
		g->parent_fd = -1;
		if (n && is_strictly_below(s->target, top))
			g->rest = s->target + n + 1;
		w->guarded_count++;
	}
	return list_targets(w) ? -ENOMEM : init_list_sealed(w);
}

/* What the scan of the workspace does not watch. */
static void watch_parent(watcher *w, const guarded *g)
{
	char path[AB_MAX_PATH];
	const char *slash = strrchr(g->host, '/');

	if (g->rest && w->box->plan.watch_count)
		return;
	snprintf(path, sizeof(path), "%.*s", (int)(slash - g->host), g->host);
	if (inotify_add_watch(w->box->inotify_fd, path[0] ? path : "/",
			      IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM |
				      IN_ONLYDIR | IN_MASK_ADD) < 0 &&
	    errno != ENOENT)
		init_note(w->box,
			  "%s: cannot be watched (%s); it is looked at before "
			  "and after every command",
			  g->target, strerror(errno));
}

int init_start_guarding(holder *h, int mountinfo_fd)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET};
	watcher *w = h->watcher;

	if (mountinfo_fd < 0)
		return init_fail(h->box, -mountinfo_fd, "", "mountinfo");
	w->mountinfo_fd = mountinfo_fd;
	w->edge_fd = ab_fd_lift(epoll_create1(EPOLL_CLOEXEC));
	if (w->edge_fd < 0 ||
	    (h->box->inotify_fd >= 0 &&
	     epoll_ctl(w->edge_fd, EPOLL_CTL_ADD, h->box->inotify_fd, &e)))
		return init_fail(h->box, errno, "", "mountinfo");
	if (init_is_blind(w))
		w->names_at_ns = ab_clock_boot_ns() + LOOK_EVERY_NS;
	/* what was detached before that was open tells nobody */
	if (init_check_mounts(w, false))
		init_demand(w);
	init_judge_late(w);
	init_sync_soon(w);
	/* what was there at start is known, and nobody was in the box yet */
	init_mark_quiet(w, 0, !init_last_begun(w));
	return 0;
}

void init_watch_parents(watcher *w)
{
	for (size_t i = 0; i < w->guarded_count && !w->is_rescan; i++)
		watch_parent(w, &w->guarded[i]);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

int64_t init_poll_guard(const holder *h, struct pollfd *fds)
{
	const watcher *w = h->watcher;

	fds[GUARD_MOUNTS].fd = w && w->guarded_count ? w->mountinfo_fd : -1;
	fds[GUARD_MOUNTS].events = POLLPRI;
	fds[GUARD_NAMES].fd = w ? w->edge_fd : -1;
	fds[GUARD_NAMES].events = POLLIN;
	return w ? ab_clock_left_ms(earlier(earlier(w->check_at_ns,
						    w->names_at_ns),
					    w->sync_at_ns))
		 : -1;
}

static void look_at_mounts(watcher *w, bool is_due, uint64_t now)
{
	if (!is_due && (!w->check_at_ns || w->check_at_ns > now))
		return;
	w->check_at_ns = 0;
	w->next_check_ns = now + CHECK_EVERY_NS;
	(void)init_check_mounts(w, false);
}

/* Nobody will settle soon: no command of the host's is there to end. */
static bool is_idle(const watcher *w)
{
	const init_shared *s = w->box->shared;
	bool is_starting = atomic_load(&s->in_flight) ||
			   atomic_load(&s->heard) < atomic_load(&s->told);

	return !is_starting && !atomic_load(&s->command_count);
}

/*
 * While a command runs the names wait for its end, when the host settles; its
 * end may also be something nobody has asked for yet. Where no event tells,
 * they are looked at from time to time, for a tenth of the time at most.
 */
static void look_at_names(watcher *w, uint64_t now)
{
	uint64_t took;

	if (!w->names_at_ns || w->names_at_ns > now)
		return;
	if (!is_idle(w)) {
		w->names_at_ns = now + LOOK_EVERY_NS;
		return;
	}
	w->names_at_ns = 0;
	init_settle_unasked(w);
	if (!init_is_blind(w))
		return;
	took = ab_clock_boot_ns() - now;
	w->names_at_ns = now + 10 * took + LOOK_EVERY_NS;
}

void init_look_soon(watcher *w)
{
	w->names_at_ns = earlier(w->names_at_ns,
				 ab_clock_boot_ns() + CHECK_EVERY_NS);
}

void init_serve_guard(holder *h, const struct pollfd *fds)
{
	watcher *w = h->watcher;
	bool is_due = fds[GUARD_MOUNTS].revents != 0;
	struct epoll_event e;
	uint64_t now, next;

	if (!w || !h->is_ready ||
	    (!is_due && !fds[GUARD_NAMES].revents && !w->check_at_ns &&
	     !w->names_at_ns && !w->sync_at_ns))
		return;
	now = ab_clock_boot_ns();
	init_sync_record(w, now);
	if (fds[GUARD_NAMES].revents) {
		/* takes the edge; the events stay, for the host to see */
		(void)epoll_wait(w->edge_fd, &e, 1, 0);
		next = w->next_check_ns > now ? w->next_check_ns : now;
		if (w->guarded_count)
			w->check_at_ns = earlier(w->check_at_ns, next);
		if (w->box->plan.watch_count)
			w->names_at_ns = earlier(w->names_at_ns, next);
	}
	look_at_mounts(w, is_due, now);
	look_at_names(w, now);
}
