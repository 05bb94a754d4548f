/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The forms of the write guard that act on what a path leads to: a file that
 * is opened, an inode that is changed. Refuses to follow a link that was not
 * judged, to block, to open what is no file or directory. Spec: guard/act.h.
 */
#include "config.h"

#include "guard/act.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "path/resolve.h"

/* --- beginning and ending --- */

void ab_act_end(struct ab_act *c)
{
	agentbox_decision_free(c->own);
}

static int32_t check_end(const struct ab_act_path *e, const char *what,
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
int32_t ab_act_begin(struct ab_act *c, agentbox_decision **decision,
		     const struct ab_act_path *from, struct ab_act_path *to)
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
	if (r == 0)
		r = ab_decision_check_input(c->decision, from->path, c->err);
	if (r == 0 && to)
		r = ab_decision_check_input(c->decision, to->path, c->err);
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

int32_t ab_act_denied(struct ab_act *c, const struct ab_act_path *e,
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

int32_t ab_act_allowed(struct ab_act *c)
{
	ab_decision_end(c->decision, AGENTBOX_VERDICT_ALLOW);
	return 0;
}

int32_t ab_act_kernel_said(struct ab_act *c, int error, const char *what)
{
	ab_act_allowed(c);
	if (error == EEXIST || error == ENOTEMPTY)
		return ab_error_sys_code(c->err, AGENTBOX_EEXIST, error, "",
					 "cannot %s", what);
	return ab_error_sys(c->err, error, "", "cannot %s", what);
}

int32_t ab_act_done(struct ab_act *c, int r, const char *what)
{
	return r < 0 ? ab_act_kernel_said(c, -r, what) : ab_act_allowed(c);
}

int32_t ab_act_no_rest(struct ab_act *c)
{
	ab_act_allowed(c);
	return ab_error_set(c->err, AGENTBOX_EBUSY, "",
			    "the path was changed by others again and again");
}

bool ab_act_judge(struct ab_act *c, int32_t action, const struct ab_act_path *e,
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

static int32_t guarded_open(struct ab_act *c, const struct ab_act_path *e,
			    uint32_t flags, uint32_t mode, int *fd)
{
	bool write = flags & AGENTBOX_OPEN_WRITE;
	bool follow = !(flags &
			(AGENTBOX_OPEN_NOFOLLOW | AGENTBOX_OPEN_EXCLUSIVE));

	for (int i = 0; i < AB_ACT_RACES; i++) {
		ab_autotarget struct ab_target t;
		struct ab_path_judgement j;
		int r;

		t.fd = -1;
		if (!ab_act_judge(c, AGENTBOX_ACTION_READ, e, follow, &t, &j) ||
		    (write && !ab_write_judge(c->guard, AGENTBOX_ACTION_WRITE,
					      &t, &j)))
			return ab_act_denied(c, e, &j);
		r = ab_fd_lift(open_target(&t, flags, mode));
		if (r >= 0) {
			*fd = r;
			return ab_act_allowed(c);
		}
		if (r != -EAGAIN)
			return ab_act_kernel_said(c, -r, "open it");
	}
	return ab_act_no_rest(c);
}

int32_t agentbox_guard_open(agentbox_guard *guard, uint32_t flags,
			    uint32_t mode, int32_t dirfd, const char *path,
			    size_t n, int32_t *fd,
			    agentbox_decision **decision, agentbox_error **err)
{
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct ab_act_path e = { dirfd, path, n, 0 };
	int32_t r = ab_act_begin(&c, decision, &e, NULL);
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
static int32_t change_inode(struct ab_act *c, const struct ab_act_path *e,
			    int32_t action, inode_fn by_fd, inode_fn by_path,
			    const void *data, const char *what)
{
	for (int i = 0; i < AB_ACT_RACES; i++) {
		ab_autotarget struct ab_target t;
		ab_autofd int fd = -1;
		struct ab_path_judgement j;
		struct stat st;
		int r;

		t.fd = -1;
		if (!ab_act_judge(c, action, e, true, &t, &j))
			return ab_act_denied(c, e, &j);
		if (t.fd < 0)
			return ab_act_kernel_said(c, ENOENT, what);
		fd = open_judged(&t, O_RDONLY, &st);
		if (fd == -EAGAIN)
			continue;
		if (fd < 0 && fd != -EACCES)
			return ab_act_kernel_said(c, -fd, what);
		r = fd >= 0 ? by_fd(fd, data) : by_path(t.fd, data);
		return ab_act_done(c, r, what);
	}
	return ab_act_no_rest(c);
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
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct ab_act_path e = { dirfd, path, n, 0 };
	mode_t bits = (mode_t)mode;
	int32_t r = ab_act_begin(&c, decision, &e, NULL);

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
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct ab_act_path e = { dirfd, path, n, 0 };
	struct timespec times[2] = { from_ns(access_ns), from_ns(modify_ns) };
	int32_t r = ab_act_begin(&c, decision, &e, NULL);

	return r < 0 ? r :
		       change_inode(&c, &e, AGENTBOX_ACTION_UTIME, times_fd,
				    times_path, times, "set its times");
}

int32_t agentbox_guard_truncate(agentbox_guard *guard, int32_t dirfd,
				const char *path, size_t n, uint64_t size,
				agentbox_decision **decision,
				agentbox_error **err)
{
	ab_autoact struct ab_act c = { .guard = guard, .err = err };
	struct ab_act_path e = { dirfd, path, n, 0 };
	ab_autofd int fd = -1;
	int32_t r = ab_act_begin(&c, decision, &e, NULL);

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
