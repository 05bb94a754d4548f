/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mounts that the host has detached. When the host renames a file over a
 * protected one, or removes it, the kernel silently drops the box's mount on
 * it (since 3.18). The mount table of PID 1 tells; a child of the holder then
 * enters the box's user and mount namespaces, but not its pid namespace, so
 * the agent never sees it, and covers what is there now.
 * Spec: RECIPES.md sections 4 and 8p, proc(5) mountinfo, setns(2).
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sys.h"
#include "wire/message.h"

#define MAX_TABLE (16u << 20)
/* While the host replaces the same file again and again. */
#define MAX_LOOKS 20u
/* What the host removes and makes anew is away for less than this. */
#define GRACE_NS 10000000ull
/* In it: it may have come and gone. */
#define LOOK_AGAIN_NS (GRACE_NS / 5)
/* And a holder that had to wait may have looked into two gaps, far apart. */
#define ABSENT_LOOKS 3u
/* For what covers a name that is not there: it may come back. */
#define COVER_AGAIN_NS 10000000ull

static void send_event(const watcher *w, uint32_t kind, const guarded *g,
		       const char *detail)
{
	init_tell(w->box, kind, g->rest ? g->rest : g->target, detail);
}

/* \040 and the like, in place. proc(5). */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 +
				       (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static int compare_target(const void *item, const void *key)
{
	return strcmp((*(const guarded *const *)item)->target, key);
}

/* The first in by_target that does not come before this point. */
static size_t find_target(const watcher *w, const char *point)
{
	return init_find_first(w->by_target, w->by_target_count,
			       sizeof(*w->by_target), point, compare_target);
}

static void mark_mounted(watcher *w, const char *point)
{
	for (size_t i = find_target(w, point);
	     i < w->by_target_count && !strcmp(w->by_target[i]->target, point);
	     i++)
		w->by_target[i]->is_mounted = true;
	/* what was adopted later */
	for (size_t i = w->by_target_count; i < w->guarded_count; i++) {
		if (!strcmp(w->guarded[i].target, point))
			w->guarded[i].is_mounted = true;
	}
}

/* The table of the box's mounts; owned, NULL when it cannot be read. */
static char *slurp_table(const watcher *w)
{
	char *table = NULL;
	size_t n = 0;

	if (lseek(w->mountinfo_fd, 0, SEEK_SET) < 0 ||
	    ab_fd_slurp(w->mountinfo_fd, MAX_TABLE, &table, &n))
		return NULL;
	return table;
}

/* The fifth field of a line is the mount point, options follow. proc(5) */
static const char *next_mount(char **table, const char **options)
{
	char *line, *at, *end;

	while ((line = strsep(table, "\n"))) {
		at = line;
		for (int i = 0; i < 4 && at; i++) {
			at = strchr(at, ' ');
			at = at ? at + 1 : NULL;
		}
		end = at ? strchr(at, ' ') : NULL;
		if (!end)
			continue;
		*end = '\0';
		*options = end + 1;
		unescape(at);
		return at;
	}
	return NULL;
}

static void read_table(watcher *w, char *table)
{
	const char *point, *options;

	for (size_t i = 0; i < w->guarded_count; i++)
		w->guarded[i].is_mounted = false;
	while ((point = next_mount(&table, &options)))
		mark_mounted(w, point);
}

bool init_is_in_table(const watcher *w, const char *path)
{
	const char *top = w->box->plan.workspace_inside;
	const char *point, *options;
	ab_autofree char *table = slurp_table(w);
	char *rest = table;
	size_t n = strlen(top);

	while (rest && (point = next_mount(&rest, &options))) {
		if (!strncmp(point, top, n) && point[n] == '/' &&
		    !strcmp(point + n + 1, path) &&
		    !strncmp(options, "ro,", 3))
			return true;
	}
	return false;
}

/* To be made again, in this look at the table. */
static bool is_wanted(const guarded *g)
{
	return !g->is_mounted && !g->is_gone && !g->is_absent;
}

/*
 * An ordinary user's process can clone a host tree only in a mount namespace
 * of its own, and then not enter the box: so one process clones, and another
 * takes the clones into the box (RECIPES.md section 4).
 */
static _Noreturn void lend_clones(const watcher *w, int sock)
{
	uint8_t header[AB_MESSAGE_HEADER + 4];
	int r = unshare(CLONE_NEWUSER | CLONE_NEWNS) ? -errno : 0;

	for (size_t i = 0; i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];
		ab_autofd int fd = -1;
		ab_writer out;

		if (!is_wanted(g) || g->step->kind != AB_STEP_BIND)
			continue;
		fd = r ? r : init_clone_source(w->box, g->step);
		ab_writer_init_fixed(&out, header, sizeof(header));
		ab_put_u32(&out, 0);
		ab_put_u32(&out, fd >= 0);
		ab_put_i32(&out, fd < 0 ? fd : 0);
		if (ab_message_send(sock, out.data, out.len, &fd, fd >= 0, 0))
			_exit(1);
	}
	_exit(0);
}

/* The clone of one BIND step, or -errno. lender: -1 for a root host. */
static int take_clone(const watcher *w, const guarded *g, int lender)
{
	uint8_t header[AB_MESSAGE_HEADER + 4];
	size_t count = 0;
	ssize_t n;
	int fd = -1, r;
	ab_reader in;

	if (lender < 0)
		return init_clone_source(w->box, g->step);
	n = ab_message_recv(lender, header, sizeof(header), &fd, 1, &count, 0);
	if (n <= 0)
		return n ? (int)n : -EPIPE;
	ab_reader_init(&in, header, (size_t)n);
	(void)ab_get_u64(&in);
	r = ab_get_i32(&in);
	return count ? fd : r ? r : -EPROTO;
}

/* Before the child enters the box: what it must bring along. */
static int take_clones(const watcher *w, int *trees)
{
	int pair[2] = {-1, -1};
	bool any = false;
	pid_t pid = -1;
	int r;

	for (size_t i = 0; i < w->guarded_count; i++)
		any |= is_wanted(&w->guarded[i]) &&
		       w->guarded[i].step->kind == AB_STEP_BIND;
	if (!any)
		return 0;
	if (!w->box->plan.map_by_holder) {
		r = ab_fd_seqpacket_pair(pair);
		if (r)
			return r;
		pid = ab_sys_clone(SIGCHLD);
		if (pid == 0)
			lend_clones(w, pair[1]);
		close(pair[1]);
		if (pid < 0)
			return pid;
	}
	for (size_t i = 0; i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];

		if (is_wanted(g) && g->step->kind == AB_STEP_BIND)
			trees[i] = take_clone(w, g, pair[0]);
	}
	ab_cleanup_fd(&pair[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

bool init_is_nowhere(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP;
}

static int make_again(const watcher *w, const guarded *g, int root, int self,
		      int tree)
{
	const ab_plan_step *s = g->step;
	const char *path = g->target + 1;
	ab_autofd int fs = -1;

	switch ((enum ab_plan_step_kind)s->kind) {
	case AB_STEP_SELF:
		return g->is_adopted ? init_bind_adopted(w, g, root, self)
				     : init_bind_self(root, path, g->flags);
	case AB_STEP_HIDE:
		return init_bind_nothing(root, path);
	case AB_STEP_BIND:
		return tree < 0 ? tree : init_bind_tree(root, path, tree);
	case AB_STEP_TMPFS:
		fs = init_new_tmpfs(s->size, s->mode,
				    init_mount_attrs(s->flags));
		return fs < 0 ? fs : init_bind_tree(root, path, fs);
	case AB_STEP_PROC:
	case AB_STEP_DEV:
	case AB_STEP_MQUEUE:
	case AB_STEP_SYMLINK:
	case AB_STEP_FILE:
	case AB_STEP_DIR:
	case AB_STEP_BROKER:
	case AB_STEP_SECRETS:
	case AB_STEP_KIND_COUNT:
		break;
	}
	return -EINVAL;
}

/* The box's namespaces and ids: a root host's own are not mapped there. */
static int enter_box(const watcher *w)
{
	const ab_plan *p = &w->box->plan;
	gid_t gid = p->gid_inside;
	uid_t uid = p->uid_inside;

	if (setns(w->namespace_fds[0], CLONE_NEWUSER) ||
	    setns(w->namespace_fds[1], CLONE_NEWNS) ||
	    setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

static _Noreturn void lend(const watcher *w, const char *path, int flags,
			   int sock)
{
	uint8_t header[AB_MESSAGE_HEADER];
	ab_writer out;
	ab_autofd int fd = -1;

	if (enter_box(w) == 0)
		fd = ab_sys_openat2(AT_FDCWD, path,
				    (uint64_t)(flags | O_CLOEXEC),
				    RESOLVE_NO_SYMLINKS |
					    RESOLVE_NO_MAGICLINKS);
	/* in /proc nobody has put a link of his own */
	if (fd == -ENOSYS || fd == -EPERM)
		fd = flags & O_PATH ? -1 : open(path, flags | O_CLOEXEC);
	ab_writer_init_fixed(&out, header, sizeof(header));
	ab_put_u32(&out, 0);
	ab_put_u32(&out, fd >= 0);
	_exit(fd < 0 || ab_message_send(sock, out.data, out.len, &fd, 1, 0));
}

int init_borrow(const watcher *w, const char *path, int flags)
{
	uint8_t header[AB_MESSAGE_HEADER];
	size_t count = 0;
	int pair[2], fd = -1;
	int r = ab_fd_seqpacket_pair(pair);
	pid_t pid;

	if (r)
		return r;
	pid = ab_sys_clone(SIGCHLD);
	if (pid == 0)
		lend(w, path, flags, pair[1]);
	close(pair[1]);
	if (pid > 0)
		(void)ab_message_recv(pair[0], header, sizeof(header), &fd, 1,
				      &count, 0);
	close(pair[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return pid < 0 ? pid : count ? ab_fd_lift(fd) : -ENOENT;
}

int init_open_mountinfo(const watcher *w)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", w->box->pid_one);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return ab_fd_lift(fd);
	/* PID 1 is not dumpable: hidepid hides it from its own user, proc(5).
	   By the box's own /proc, where nobody is hidden. */
	if (errno == ENOENT && w->namespace_fds[0] >= 0)
		return init_borrow(w, "/proc/1/mountinfo", O_RDONLY);
	if (errno == ENOENT && w->box->plan.tier >= AB_TIER_LANDLOCK)
		fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : ab_fd_lift(fd);
}

/* In a child: one result per missing mount, in the order of the plan. */
static _Noreturn void remount(const watcher *w, int result_fd)
{
	int *trees = calloc(w->guarded_count, sizeof(*trees));
	/* the box's own /proc has no entry for us */
	ab_autofd int self = open("/proc/self/fd", O_PATH | O_CLOEXEC);
	ab_autofd int root = -1;
	int r = trees ? take_clones(w, trees) : -ENOMEM;

	if (r == 0)
		r = enter_box(w);
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 && r == 0)
		r = -errno;
	for (size_t i = 0; i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];
		int one = r;

		if (!is_wanted(g))
			continue;
		if (one == 0)
			one = make_again(w, g, root, self, trees[i]);
		if (ab_fd_write_full(result_fd, &one, sizeof(one)))
			_exit(1);
	}
	free(trees);
	_exit(0);
}

/*
 * Below the tree that the box has, wherever the host has moved that: whoever
 * looks for it there finds nothing, no process for that. A link on the way is
 * not what led to it.
 */
static int look_up(const guarded *g)
{
	struct stat st;
	int fd, r;

	if (g->tree_fd < 0)
		return fstatat(AT_FDCWD, g->host, &st,
			       AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)
			       ? -errno
			       : 0;
	fd = init_open_beneath(g->tree_fd, g->below, O_NOFOLLOW);
	r = fd < 0 ? fd : 0;
	ab_cleanup_fd(&fd);
	return r;
}

static bool is_absent(const guarded *g)
{
	return init_is_nowhere(look_up(g));
}

/* But something is there that it cannot be, or in the place of a directory
   on the way: a link, a file. */
static bool is_displaced(const guarded *g)
{
	int r = look_up(g);

	return init_is_nowhere(r) && r != -ENOENT;
}

/* It may come back: looked at again then, and by the host's next settle. */
static void defer(watcher *w, guarded *g, uint64_t at)
{
	if (at && (!w->check_at_ns || at < w->check_at_ns))
		w->check_at_ns = at;
	g->is_deferred = true;
	w->has_deferred = true;
	init_demand(w);
}

/*
 * What is to cover the name is looked for again while the agent could see what
 * comes: of what is made twice no event tells, while the first one's was not
 * read, and none comes from a full queue (inotify(7)).
 */
static void await_cover(watcher *w)
{
	uint64_t at = ab_clock_boot_ns() + COVER_AGAIN_NS;

	if (!init_agent_is_absent(w) &&
	    (!w->check_at_ns || at < w->check_at_ns))
		w->check_at_ns = at;
}

/* From now on it is a name that must not appear. */
static void on_gone(watcher *w, guarded *g)
{
	/* what is there now was taken for the host's so far */
	init_give_up(w, g);
	w->reprotected++;
	send_event(w, AB_EVENT_REPROTECTED, g,
		   "it was removed on the host, or moved away with its "
		   "protection; whoever makes it again here, it goes to "
		   "quarantine");
}

/* Nobody looks after it any more, so who has made it stays unknown. */
static bool is_doubtful_for_good(const watcher *w, const guarded *g)
{
	return w->is_last && g->step->kind == AB_STEP_SELF &&
	       (g->flags & AB_MOUNT_RDONLY) && !init_is_hosts(w);
}

static void on_doubtful(watcher *w, const guarded *g)
{
	w->failed++;
	send_event(w, AB_EVENT_UNPROTECTED, g,
		   "it was away when the box ended, and a process of "
		   "the box may have made it: look at what is there");
}

/*
 * Nothing is there any more. What covered it has nothing to cover. What was
 * protected becomes a name that must not appear; but the host may be about
 * to make it anew, as git does within a fraction of GRACE_NS, and where the
 * agent has no process it can only be the host. The host has to settle before
 * its next command, and that finds what it made, or nothing: what is there
 * after that may be the agent's.
 */
static void on_removed(watcher *w, guarded *g, bool settling)
{
	uint64_t now = ab_clock_boot_ns();

	if (g->step->kind != AB_STEP_SELF) {
		await_cover(w);
		return;
	}
	/* its name counts as held as long as it may come back */
	if (is_doubtful_for_good(w, g) && is_displaced(g)) {
		on_doubtful(w, g);
		return;
	}
	if (!g->absent_ns) {
		g->absent_ns = now;
		g->absent_begun = init_last_begun(w);
	}
	g->absent_looks++;
	/* what is there next may be the agent's: on_mounted_again() says so */
	g->is_doubtful = g->is_doubtful || !init_agent_is_absent(w);
	if (now - g->absent_ns < GRACE_NS || g->absent_looks < ABSENT_LOOKS) {
		defer(w, g, now + LOOK_AGAIN_NS);
		return;
	}
	if (!settling && init_agent_is_absent(w)) {
		defer(w, g, 0);
		return;
	}
	on_gone(w, g);
}

/* Seen there: whatever is missing later is missing since then. Of what a
   command came to while it was away nobody knows whose it is. */
static void on_seen(const watcher *w, guarded *g)
{
	if (g->absent_ns && g->absent_begun != init_last_begun(w))
		g->is_doubtful = true;
	g->absent_ns = 0;
	g->absent_looks = 0;
}

static void on_present(const watcher *w, guarded *g)
{
	on_seen(w, g);
	g->is_deferred = false;
	g->is_doubtful = false;
	g->is_failed = false;
}

static void on_mounted_again(watcher *w, guarded *g)
{
	if (g->step->kind == AB_STEP_BIND)
		init_forget_inside(w);
	if (is_doubtful_for_good(w, g)) {
		on_doubtful(w, g);
		return;
	}
	w->reprotected++;
	init_add_to_record(w, g);
	if (g->is_new) {
		g->is_new = false;
		send_event(w, AB_EVENT_REPROTECTED, g,
			   "made on the host, or checked out there, while no "
			   "process of the box ran; read-only in the box from now on");
		return;
	}
	send_event(w, AB_EVENT_REPROTECTED, g,
		   g->is_doubtful ? "mounted again; it was away while a "
				    "process of the box ran: look at what is "
				    "there"
				  : "mounted again");
}

/* Told once, and tried again; and at the end, after which nobody tries. */
static int on_failed(watcher *w, guarded *g, int r)
{
	on_seen(w, g);
	g->is_deferred = false;
	if (!g->is_failed || is_doubtful_for_good(w, g)) {
		w->failed++;
		send_event(w, AB_EVENT_UNPROTECTED, g, strerror(-r));
	}
	g->is_failed = true;
	return r;
}

static int judge(watcher *w, guarded *g, int r, bool settling)
{
	if (init_is_nowhere(r)) {
		/* else the host replaced it again, under our hands */
		g->is_absent = is_absent(g);
		if (!g->is_absent) {
			on_seen(w, g);
			return -EAGAIN;
		}
		on_removed(w, g, settling);
		return 0;
	}
	if (r == -ESTALE && g->is_adopted) {
		init_give_up(w, g);
		return 0;
	}
	if (r == 0) {
		on_mounted_again(w, g);
		on_present(w, g);
		return 0;
	}
	return on_failed(w, g, r);
}

static int remount_missing(watcher *w, bool settling)
{
	int pair[2], failed = 0;
	pid_t pid = -1;

	if (pipe2(pair, O_CLOEXEC) == 0) {
		pid = ab_sys_clone(SIGCHLD);
		if (pid == 0)
			remount(w, pair[1]);
		close(pair[1]);
	} else {
		pair[0] = -1;
	}
	for (size_t i = 0; i < w->guarded_count; i++) {
		guarded *g = &w->guarded[i];
		int r = -EIO;

		if (!is_wanted(g))
			continue;
		if (pid > 0 &&
		    ab_fd_read_full(pair[0], &r, sizeof(r)) != sizeof(r))
			r = -EIO;
		r = judge(w, g, r, settling);
		failed = failed ? failed : r;
	}
	ab_cleanup_fd(&pair[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return failed;
}

/* 0: as it has to be; 1: it is to be mounted again; -errno: nobody knows. */
static int look_at(watcher *w, guarded *g, bool settling)
{
	int r = init_check_place(w, g);

	/* mounted or not: somebody else's mount may be there now */
	if (r == -ESTALE) {
		on_gone(w, g);
		return 0;
	}
	/* of one that is not mounted the attempt says why */
	if (g->is_mounted && r)
		return r == -EAGAIN ? r : on_failed(w, g, r);
	if (g->is_mounted) {
		on_present(w, g);
		return 0;
	}
	g->is_absent = is_absent(g);
	if (g->is_absent) {
		on_removed(w, g, settling);
		return 0;
	}
	on_seen(w, g);
	return 1;
}

static int look(watcher *w, bool settling)
{
	ab_autofree char *table = NULL;
	int failed = 0, r;
	bool missing = false;

	if (!w->guarded_count)
		return 0;
	w->has_adopted = false;
	table = slurp_table(w);
	if (!table) {
		w->failed++;
		send_event(w, AB_EVENT_UNPROTECTED, &w->guarded[0],
			   "the mount table cannot be read");
		return -EIO;
	}
	read_table(w, table);
	w->has_deferred = false;
	for (size_t i = 0; i < w->guarded_count; i++) {
		guarded *g = &w->guarded[i];

		r = g->is_gone ? 0 : look_at(w, g, settling);
		missing |= r > 0;
		failed = r < 0 && !failed ? r : failed;
	}
	r = missing ? remount_missing(w, settling) : 0;
	return r ? r : failed;
}

int init_check_mounts(watcher *w, bool settling)
{
	int r = -EAGAIN;

	for (unsigned i = 0; r == -EAGAIN && i < MAX_LOOKS; i++) {
		r = look(w, settling);
		if (r || !settling || !w->has_deferred)
			continue;
		(void)poll(NULL, 0, LOOK_AGAIN_NS / 1000000);
		r = -EAGAIN;
	}
	if (r == -EAGAIN)
		w->check_at_ns = w->next_check_ns;
	return r;
}
