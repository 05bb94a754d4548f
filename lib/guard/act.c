/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The forms of the write guard that act. Judging is write.c's; here the
 * object that was judged is reached again from the same directory, without
 * links, compared by inode, and only then changed. What moved meanwhile is
 * judged anew, a bounded number of times.
 *
 * A name is changed through an O_PATH fd of its directory, which was opened
 * by the very path that was judged: rename, unlink and the like take one
 * component and follow nothing. Spec: DESIGN.md section 7; F11, F13, F23.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "guard/write.h"
#include "path/lexical.h"
#include "path/resolve.h"

/* How often a path may be something else than what was judged. */
#define MAX_RACES 64

/* One end of a call. */
struct end {
	int dirfd;
	const char *path;
	size_t n;
	size_t offset; /* of path in the decision's text */
};

struct call {
	agentbox_guard *guard;
	agentbox_decision *decision; /* borrowed, or `own` */
	agentbox_decision *own;	     /* owned: the caller gave none */
	agentbox_error **err;
};

static void call_end(struct call *c)
{
	agentbox_decision_free(c->own);
}

#define ab_autocall __attribute__((cleanup(call_end)))

/* --- beginning and ending --- */

static int32_t check_end(const struct end *e, const char *what,
			 agentbox_error **err)
{
	if (e->dirfd < -1)
		return ab_error_set(err, AGENTBOX_EINVAL, what,
				    "dirfd is neither -1 nor an fd: the "
				    "working directory does not count");
	if (!e->path)
		return ab_error_set(err, AGENTBOX_EINVAL, what,
				    "path must not be NULL");
	if (e->n >= AB_MAX_PATH * 2)
		return ab_error_set(err, AGENTBOX_ELIMIT, what,
				    "a path of %zu bytes", e->n);
	return 0;
}

/* `to` is NULL for a call with one end. */
static int32_t call_begin(struct call *c, agentbox_decision **decision,
			  const struct end *from, struct end *to)
{
	char text[AB_MAX_PATH * 4 + 1];
	size_t n = from->n;
	int32_t r;

	c->decision = ab_decision_use(decision ? decision : &c->own, c->err);
	if (!c->decision)
		return AGENTBOX_ENOMEM;
	r = ab_guard_check_handle(c->guard, c->err);
	if (r == 0)
		r = check_end(from, to ? "from" : "path", c->err);
	if (r == 0 && to)
		r = check_end(to, "to", c->err);
	if (r < 0)
		return r;
	memcpy(text, from->path, n);
	if (to) {
		text[n++] = ' ';
		to->offset = n;
		memcpy(text + n, to->path, to->n);
		n += to->n;
	}
	return ab_decision_begin(c->decision, c->guard, AB_DECIDE_PATH, text,
				 n, 0, c->err);
}

static int32_t denied(struct call *c, const struct end *e,
		      struct ab_path_judgement *j)
{
	if (j->finding.reason == j->message)
		j->finding.reason = ab_decision_say(c->decision, "%s",
						    j->message);
	j->finding.span.begin += (uint32_t)e->offset;
	j->finding.span.end += (uint32_t)e->offset;
	ab_decision_add(c->decision, &j->finding);
	ab_decision_end(c->decision, AGENTBOX_VERDICT_ALLOW);
	return ab_error_set(c->err, AGENTBOX_EDENIED, "", "%s",
			    j->finding.reason);
}

static int32_t allowed(struct call *c)
{
	ab_decision_end(c->decision, AGENTBOX_VERDICT_ALLOW);
	return 0;
}

/* The guard said yes, the kernel did not. */
static int32_t kernel_said(struct call *c, int error, const char *what)
{
	allowed(c);
	if (error == EEXIST || error == ENOTEMPTY)
		return ab_error_sys_code(c->err, AGENTBOX_EEXIST, error, "",
					 "cannot %s", what);
	return ab_error_sys(c->err, error, "", "cannot %s", what);
}

static int32_t no_rest(struct call *c)
{
	allowed(c);
	return ab_error_set(c->err, AGENTBOX_EBUSY, "",
			    "the path was changed by others again and again");
}

static bool judge(struct call *c, int32_t action, const struct end *e,
		  bool follow, struct ab_target *t, struct ab_path_judgement *j)
{
	ab_target_find(c->guard, e->dirfd, e->path, e->n, follow, t);
	return ab_write_judge(c->guard, action, t, j);
}

/* --- objects --- */

static const char *below_base(const struct ab_target *t)
{
	return t->area->fd < 0 ? t->path : t->path + t->in_area;
}

/*
 * Open what was judged for use. -EAGAIN: something else is there now. An fd
 * or -errno; *st is of the fd.
 */
static int open_judged(const struct ab_target *t, int flags, struct stat *st)
{
	const char *rest = below_base(t);
	ab_autofd int fd = -1;

	/* O_NONBLOCK: open(2) of a FIFO that was put there would wait */
	flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	if (*rest)
		fd = ab_path_open_beneath(t->base_fd, rest, flags, 0,
					  AB_PATH_NO_SYMLINKS |
						  AB_PATH_NO_XDEV);
	else if ((fd = openat(t->base_fd, ".", flags, 0)) < 0)
		fd = -errno;
	if (fd == -ENOENT || fd == -ELOOP || fd == -ENXIO)
		return -EAGAIN;
	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		return -errno;
	if (st->st_dev != t->st.st_dev || st->st_ino != t->st.st_ino ||
	    st->st_nlink != t->st.st_nlink)
		return -EAGAIN;
	return ab_steal_fd(&fd);
}

static int clear_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

static int access_of(uint32_t flags)
{
	int access = flags & AGENTBOX_OPEN_WRITE ?
			     (flags & AGENTBOX_OPEN_READ ? O_RDWR : O_WRONLY) :
			     O_RDONLY;

	if (flags & AGENTBOX_OPEN_APPEND)
		access |= O_APPEND;
	if (flags & AGENTBOX_OPEN_DIRECTORY)
		access |= O_DIRECTORY;
	return access;
}

static int32_t check_open(uint32_t flags, uint32_t mode, const int32_t *fd,
			  agentbox_error **err)
{
	const uint32_t write_only =
		AGENTBOX_OPEN_CREATE | AGENTBOX_OPEN_EXCLUSIVE |
		AGENTBOX_OPEN_TRUNCATE | AGENTBOX_OPEN_APPEND;
	bool write = flags & AGENTBOX_OPEN_WRITE;

	if (!fd)
		return ab_error_set(err, AGENTBOX_EINVAL, "fd",
				    "fd must not be NULL");
	if (mode & ~0777u)
		return ab_error_set(err, AGENTBOX_EINVAL, "mode",
				    "a mode is at most 0777");
	if (flags >= 2 * AGENTBOX_OPEN_NOFOLLOW ||
	    !(flags & (AGENTBOX_OPEN_READ | AGENTBOX_OPEN_WRITE)) ||
	    (!write && flags & write_only) ||
	    (write && flags & AGENTBOX_OPEN_DIRECTORY) ||
	    (flags & AGENTBOX_OPEN_EXCLUSIVE &&
	     !(flags & AGENTBOX_OPEN_CREATE)))
		return ab_error_set(err, AGENTBOX_EINVAL, "flags",
				    "these flags do not go together");
	return 0;
}

/* A new file in the directory that was judged; -EAGAIN: it is there now. */
static int make_file(const struct ab_target *t, uint32_t flags, uint32_t mode)
{
	const char *name;
	ab_autofd int parent = ab_target_open_parent(t, &name);
	int fd;

	if (parent < 0)
		return parent == -ELOOP || parent == -EXDEV ? -EAGAIN : parent;
	fd = openat(parent, name,
		    O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
			    access_of(flags),
		    (mode_t)mode);
	return fd >= 0 ? fd : errno == EEXIST ? -EAGAIN : -errno;
}

/* What is there, judged a second time by what was opened. */
static int use_file(const struct ab_target *t, uint32_t flags)
{
	struct stat st;
	ab_autofd int fd = -1;
	int r;

	if (S_ISDIR(t->st.st_mode) && !(flags & AGENTBOX_OPEN_DIRECTORY))
		return -EISDIR;
	fd = open_judged(t, access_of(flags), &st);
	if (fd < 0)
		return fd;
	r = clear_nonblock(fd);
	if (r == 0 && flags & AGENTBOX_OPEN_TRUNCATE && st.st_size > 0 &&
	    ftruncate(fd, 0) < 0)
		r = -errno;
	return r < 0 ? r : ab_steal_fd(&fd);
}

static int open_target(const struct ab_target *t, uint32_t flags, uint32_t mode)
{
	if (t->fd >= 0)
		return flags & AGENTBOX_OPEN_EXCLUSIVE ? -EEXIST :
							 use_file(t, flags);
	return flags & AGENTBOX_OPEN_CREATE ? make_file(t, flags, mode) :
					      -ENOENT;
}

static int32_t guarded_open(struct call *c, const struct end *e,
			    uint32_t flags, uint32_t mode, int *fd)
{
	bool write = flags & AGENTBOX_OPEN_WRITE;
	bool follow = !(flags &
			(AGENTBOX_OPEN_NOFOLLOW | AGENTBOX_OPEN_EXCLUSIVE));

	for (int i = 0; i < MAX_RACES; i++) {
		ab_autotarget struct ab_target t;
		struct ab_path_judgement j;
		int r;

		t.fd = -1;
		if (!judge(c, AGENTBOX_ACTION_READ, e, follow, &t, &j) ||
		    (write && !ab_write_judge(c->guard, AGENTBOX_ACTION_WRITE,
					      &t, &j)))
			return denied(c, e, &j);
		r = ab_fd_lift(open_target(&t, flags, mode));
		if (r >= 0) {
			*fd = r;
			return allowed(c);
		}
		if (r != -EAGAIN)
			return kernel_said(c, -r, "open it");
	}
	return no_rest(c);
}

int32_t agentbox_guard_open(agentbox_guard *guard, uint32_t flags,
			    uint32_t mode, int32_t dirfd, const char *path,
			    size_t n, int32_t *fd,
			    agentbox_decision **decision, agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct end e = { dirfd, path, n, 0 };
	int32_t r = call_begin(&c, decision, &e, NULL);
	int got;

	if (r == 0)
		r = check_open(flags, mode, fd, err);
	if (r == 0)
		r = guarded_open(&c, &e, flags, mode, &got);
	if (r == 0)
		*fd = got;
	return r;
}

/* --- inodes --- */

/* Something done to the inode behind an fd; 0 or -errno. */
typedef int (*inode_fn)(int fd, const void *data);

/*
 * `by_path` is for an inode whose contents may not be opened (mode 0): it
 * takes the O_PATH fd of the judgement by its name in /proc, which leads to
 * that inode only.
 */
static int32_t change_inode(struct call *c, const struct end *e,
			    int32_t action, inode_fn by_fd, inode_fn by_path,
			    const void *data, const char *what)
{
	for (int i = 0; i < MAX_RACES; i++) {
		ab_autotarget struct ab_target t;
		ab_autofd int fd = -1;
		struct ab_path_judgement j;
		struct stat st;
		int r;

		t.fd = -1;
		if (!judge(c, action, e, true, &t, &j))
			return denied(c, e, &j);
		if (t.fd < 0)
			return kernel_said(c, ENOENT, what);
		fd = open_judged(&t, O_RDONLY, &st);
		if (fd == -EAGAIN)
			continue;
		if (fd < 0 && fd != -EACCES)
			return kernel_said(c, -fd, what);
		r = fd >= 0 ? by_fd(fd, data) : by_path(t.fd, data);
		return r < 0 ? kernel_said(c, -r, what) : allowed(c);
	}
	return no_rest(c);
}

static int chmod_fd(int fd, const void *data)
{
	return fchmod(fd, *(const mode_t *)data) < 0 ? -errno : 0;
}

static int chmod_path(int fd, const void *data)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return fchmodat(AT_FDCWD, name, *(const mode_t *)data, 0) < 0 ? -errno :
									0;
}

static int times_fd(int fd, const void *data)
{
	return futimens(fd, data) < 0 ? -errno : 0;
}

static int times_path(int fd, const void *data)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return utimensat(AT_FDCWD, name, data, 0) < 0 ? -errno : 0;
}

int32_t agentbox_guard_chmod(agentbox_guard *guard, int32_t dirfd,
			     const char *path, size_t n, uint32_t mode,
			     agentbox_decision **decision,
			     agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct end e = { dirfd, path, n, 0 };
	mode_t bits = (mode_t)mode;
	int32_t r = call_begin(&c, decision, &e, NULL);

	if (r < 0)
		return r;
	if (mode & ~0777u)
		return ab_error_set(err, AGENTBOX_EINVAL, "mode",
				    "a mode is at most 0777");
	return change_inode(&c, &e, AGENTBOX_ACTION_CHMOD, chmod_fd, chmod_path,
			    &bits, "change its mode");
}

static struct timespec from_ns(int64_t ns)
{
	const int64_t second = 1000000000;
	int64_t rest = ns % second;
	int64_t before = rest < 0; /* ns - rest could be less than there is */

	return (struct timespec){ .tv_sec = ns / second - before,
				  .tv_nsec = rest + before * second };
}

int32_t agentbox_guard_set_times(agentbox_guard *guard, int32_t dirfd,
				 const char *path, size_t n, int64_t access_ns,
				 int64_t modify_ns,
				 agentbox_decision **decision,
				 agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct end e = { dirfd, path, n, 0 };
	struct timespec times[2] = { from_ns(access_ns), from_ns(modify_ns) };
	int32_t r = call_begin(&c, decision, &e, NULL);

	return r < 0 ? r :
		       change_inode(&c, &e, AGENTBOX_ACTION_UTIME, times_fd,
				    times_path, times, "set its times");
}

int32_t agentbox_guard_truncate(agentbox_guard *guard, int32_t dirfd,
				const char *path, size_t n, uint64_t size,
				agentbox_decision **decision,
				agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct end e = { dirfd, path, n, 0 };
	ab_autofd int fd = -1;
	int32_t r = call_begin(&c, decision, &e, NULL);

	if (r < 0)
		return r;
	if (size > INT64_MAX)
		return ab_error_set(err, AGENTBOX_EINVAL, "size",
				    "a file cannot have that size");
	r = guarded_open(&c, &e, AGENTBOX_OPEN_WRITE, 0, &fd);
	if (r == 0 && ftruncate(fd, (off_t)size) < 0)
		return ab_error_sys(err, errno, "", "cannot truncate it");
	return r;
}

/* --- names --- */

/* The directory of a judged name, and the name in it. */
struct place_in {
	int fd; /* owned */
	const char *name;
};

static int open_place(const struct ab_target *t, struct place_in *p)
{
	p->fd = ab_target_open_parent(t, &p->name);
	return p->fd < 0 ? p->fd : 0;
}

/* A lost race for the directory is judged anew. */
static bool is_race(int r)
{
	return r == -ELOOP || r == -EXDEV;
}

static int32_t remove_name(struct call *c, const struct end *e, int flags)
{
	for (int i = 0; i < MAX_RACES; i++) {
		ab_autotarget struct ab_target t;
		struct ab_path_judgement j;
		struct place_in at;
		int r;

		t.fd = -1;
		if (!judge(c, AGENTBOX_ACTION_DELETE, e, false, &t, &j))
			return denied(c, e, &j);
		r = open_place(&t, &at);
		if (is_race(r))
			continue;
		if (r == 0) {
			r = unlinkat(at.fd, at.name, flags) < 0 ? -errno : 0;
			ab_cleanup_fd(&at.fd);
		}
		return r < 0 ? kernel_said(c, -r, "remove it") : allowed(c);
	}
	return no_rest(c);
}

int32_t agentbox_guard_unlink(agentbox_guard *guard, int32_t dirfd,
			      const char *path, size_t n,
			      agentbox_decision **decision,
			      agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct end e = { dirfd, path, n, 0 };
	int32_t r = call_begin(&c, decision, &e, NULL);

	return r < 0 ? r : remove_name(&c, &e, 0);
}

int32_t agentbox_guard_rmdir(agentbox_guard *guard, int32_t dirfd,
			     const char *path, size_t n,
			     agentbox_decision **decision,
			     agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct end e = { dirfd, path, n, 0 };
	int32_t r = call_begin(&c, decision, &e, NULL);

	return r < 0 ? r : remove_name(&c, &e, AT_REMOVEDIR);
}

/* --- mkdir --- */

/* One directory; 0, or -errno. */
static int make_directory(const struct ab_target *t, mode_t mode)
{
	struct place_in at;
	int r = open_place(t, &at);

	if (r < 0)
		return r;
	r = mkdirat(at.fd, at.name, mode) < 0 ? -errno : 0;
	ab_cleanup_fd(&at.fd);
	return r;
}

/*
 * The directories above a target that is not there: each is judged like the
 * target itself. Only those that are missing are made.
 */
static int make_above(struct call *c, const struct ab_target *t, mode_t mode,
		      struct ab_path_judgement *j)
{
	/* of t only: it holds no fd, for nothing is there */
	struct ab_target up = *t;

	for (size_t i = t->in_area; t->path[i]; i++) {
		int r;

		if (t->path[i] != '/' || i == t->in_area)
			continue;
		memcpy(up.path, t->path, i);
		up.path[i] = '\0';
		if (!ab_write_judge(c->guard, AGENTBOX_ACTION_MKDIR, &up, j))
			return -EPERM;
		r = make_directory(&up, mode);
		if (r < 0 && r != -EEXIST)
			return r;
	}
	return 0;
}

static int32_t make_path(struct call *c, const struct end *e, mode_t mode,
			 bool parents)
{
	for (int i = 0; i < MAX_RACES; i++) {
		ab_autotarget struct ab_target t;
		struct ab_path_judgement j;
		int r;

		t.fd = -1;
		if (!judge(c, AGENTBOX_ACTION_MKDIR, e, parents, &t, &j))
			return denied(c, e, &j);
		if (parents && t.fd >= 0 && S_ISDIR(t.st.st_mode))
			return allowed(c);
		r = parents && t.fd < 0 ? make_above(c, &t, mode, &j) : 0;
		if (r == -EPERM && j.verdict != AGENTBOX_VERDICT_ALLOW)
			return denied(c, e, &j);
		if (r == 0)
			r = make_directory(&t, mode);
		if (r == 0)
			return allowed(c);
		if (!is_race(r) && !(r == -EEXIST && parents && t.fd < 0))
			return kernel_said(c, r == -EINVAL ? EEXIST : -r,
					   "make the directory");
	}
	return no_rest(c);
}

int32_t agentbox_guard_mkdir(agentbox_guard *guard, int32_t dirfd,
			     const char *path, size_t n, uint32_t mode,
			     int32_t parents, agentbox_decision **decision,
			     agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct end e = { dirfd, path, n, 0 };
	int32_t r = call_begin(&c, decision, &e, NULL);

	if (r < 0)
		return r;
	if (mode & ~0777u)
		return ab_error_set(err, AGENTBOX_EINVAL, "mode",
				    "a mode is at most 0777");
	return make_path(&c, &e, (mode_t)mode, parents != 0);
}

/* --- two names --- */

/* How the two ends of a call are judged and what is then done. */
struct pair {
	struct end from, to;
	int32_t actions[4]; /* on from, on to, again on from and on to; or 0 */
	int (*act)(const struct place_in *from, const struct place_in *to,
		   unsigned flags);
	unsigned flags;
	const char *what;
};

static int act_on_places(const struct pair *p, const struct ab_target *from,
			 const struct ab_target *to)
{
	struct place_in a = { -1, NULL };
	struct place_in b = { -1, NULL };
	int r = open_place(from, &a);

	if (r == 0)
		r = open_place(to, &b);
	if (r == 0)
		r = p->act(&a, &b, p->flags);
	ab_cleanup_fd(&a.fd);
	ab_cleanup_fd(&b.fd);
	return r;
}

static int32_t change_pair(struct call *c, const struct pair *p)
{
	for (int i = 0; i < MAX_RACES; i++) {
		ab_autotarget struct ab_target a;
		ab_autotarget struct ab_target b;
		struct ab_path_judgement j;
		int r;

		a.fd = b.fd = -1;
		if (!judge(c, p->actions[0], &p->from, false, &a, &j) ||
		    (p->actions[2] &&
		     !ab_write_judge(c->guard, p->actions[2], &a, &j)))
			return denied(c, &p->from, &j);
		if (!judge(c, p->actions[1], &p->to, false, &b, &j) ||
		    (p->actions[3] &&
		     !ab_write_judge(c->guard, p->actions[3], &b, &j)))
			return denied(c, &p->to, &j);
		if (a.fd < 0)
			return kernel_said(c, ENOENT, p->what);
		r = act_on_places(p, &a, &b);
		if (is_race(r) && r != -EXDEV)
			continue;
		return r < 0 ? kernel_said(c, -r, p->what) : allowed(c);
	}
	return no_rest(c);
}

static int rename_places(const struct place_in *from, const struct place_in *to,
			 unsigned flags)
{
	return renameat2(from->fd, from->name, to->fd, to->name, flags) < 0 ?
		       -errno :
		       0;
}

int32_t agentbox_guard_rename(agentbox_guard *guard, int32_t from_dirfd,
			      const char *from, size_t from_n,
			      int32_t to_dirfd, const char *to, size_t to_n,
			      uint32_t flags, agentbox_decision **decision,
			      agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct pair p = {
		.from = { from_dirfd, from, from_n, 0 },
		.to = { to_dirfd, to, to_n, 0 },
		.actions = { AGENTBOX_ACTION_RENAME, AGENTBOX_ACTION_REPLACE },
		.act = rename_places,
		.what = "rename it",
	};
	int32_t r = call_begin(&c, decision, &p.from, &p.to);

	if (r < 0)
		return r;
	if (flags > AGENTBOX_RENAME_EXCHANGE)
		return ab_error_set(err, AGENTBOX_EINVAL, "flags",
				    "NOREPLACE or EXCHANGE, not both");
	if (flags == AGENTBOX_RENAME_NOREPLACE)
		p.flags = RENAME_NOREPLACE;
	if (flags == AGENTBOX_RENAME_EXCHANGE) {
		p.flags = RENAME_EXCHANGE;
		p.actions[2] = AGENTBOX_ACTION_REPLACE;
		p.actions[3] = AGENTBOX_ACTION_RENAME;
	}
	return change_pair(&c, &p);
}

static int link_places(const struct place_in *from, const struct place_in *to,
		       unsigned flags)
{
	struct stat st;

	/* a link that was put there would be linked itself: flags is 0 */
	if (linkat(from->fd, from->name, to->fd, to->name, (int)flags) < 0)
		return -errno;
	if (fstatat(to->fd, to->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode))
		return 0;
	unlinkat(to->fd, to->name, 0);
	return -EBUSY;
}

int32_t agentbox_guard_link(agentbox_guard *guard, int32_t from_dirfd,
			    const char *from, size_t from_n, int32_t to_dirfd,
			    const char *to, size_t to_n,
			    agentbox_decision **decision, agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct pair p = {
		.from = { from_dirfd, from, from_n, 0 },
		.to = { to_dirfd, to, to_n, 0 },
		.actions = { AGENTBOX_ACTION_LINK, AGENTBOX_ACTION_REPLACE },
		.act = link_places,
		.what = "link it",
	};
	int32_t r = call_begin(&c, decision, &p.from, &p.to);

	return r < 0 ? r : change_pair(&c, &p);
}

/* --- symbolic links --- */

/*
 * Does the text, read from the directory of the link, stay in the area? What
 * it meets on the way is not looked at: every use is judged again.
 */
static bool text_stays(const struct ab_target *t, const char *text)
{
	long depth = 0;

	for (const char *p = t->path + t->in_area; *p; p++)
		depth += *p == '/';
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.')
			depth--;
		else if (n && !(n == 1 && p[0] == '.'))
			depth++;
		if (depth < 0)
			return false;
		p += n;
		p += strspn(p, "/");
	}
	return text[0] != '/';
}

static int32_t make_link(struct call *c, const struct end *e, const char *text)
{
	for (int i = 0; i < MAX_RACES; i++) {
		ab_autotarget struct ab_target t;
		struct ab_path_judgement j;
		struct place_in at;
		int r;

		t.fd = -1;
		if (!judge(c, AGENTBOX_ACTION_SYMLINK, e, false, &t, &j))
			return denied(c, e, &j);
		if (!text_stays(&t, text)) {
			t.why = AB_TARGET_ESCAPES;
			ab_write_judge(c->guard, AGENTBOX_ACTION_SYMLINK, &t,
				       &j);
			return denied(c, e, &j);
		}
		r = open_place(&t, &at);
		if (is_race(r))
			continue;
		if (r == 0) {
			r = symlinkat(text, at.fd, at.name) < 0 ? -errno : 0;
			ab_cleanup_fd(&at.fd);
		}
		return r < 0 ? kernel_said(c, -r, "make the link") : allowed(c);
	}
	return no_rest(c);
}

int32_t agentbox_guard_symlink(agentbox_guard *guard, const char *text,
			       size_t text_n, int32_t dirfd, const char *path,
			       size_t n, agentbox_decision **decision,
			       agentbox_error **err)
{
	ab_autocall struct call c = { .guard = guard, .err = err };
	struct end e = { dirfd, path, n, 0 };
	char copy[AB_MAX_PATH];
	int32_t r = call_begin(&c, decision, &e, NULL);

	if (r < 0)
		return r;
	if (!text || text_n == 0 || memchr(text, '\0', text_n))
		return ab_error_set(err, AGENTBOX_EINVAL, "text",
				    "the text of a link is empty or has a NUL");
	if (text_n >= sizeof(copy))
		return ab_error_set(err, AGENTBOX_ELIMIT, "text",
				    "the text of a link has %zu bytes",
				    text_n);
	memcpy(copy, text, text_n);
	copy[text_n] = '\0';
	return make_link(&c, &e, copy);
}
