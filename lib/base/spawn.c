/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one place that starts a process, and the host's half of the helper
 * contract. It refuses a helper that others could have written, one of
 * another build, and one that does not say hello in time; what it refuses is
 * dead and reaped before it returns. Nothing is cached: two opens cost one
 * hundredth of the spawn, and a forked host has nothing stale.
 * Spec: DESIGN.md section 2, spawn.h.
 */
#include "config.h"

#include "base/spawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/processor.h"
#include "wire/codec.h"
#include "wire/helper.h"
#include "wire/message.h"

#define FIRST_FD 10 /* above every fd number the helper is given */
#define HELLO_SIZE 1024
#define KILL_WAIT_MS 5000
#define MAX_PROGRAM (16u << 20)

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* linux/memfd.h, 6.3 */
#endif

/* A helper program that was judged, and the directory it was found in. */
typedef struct program {
	const char *name;	/* borrowed */
	char dir[AB_MAX_PATH];	/* for messages */
	int dirfd, fd;		/* owned, O_PATH */
	struct stat st;
	cpu_set_t processors;	/* the caller's; argv says so */
} program;

static void program_end(program *p)
{
	ab_cleanup_fd(&p->dirfd);
	ab_cleanup_fd(&p->fd);
	p->dirfd = -1;
	p->fd = -1;
}

/* --- finding and judging ------------------------------------------------ */

static int32_t refuse_trust(const program *p, const char *what,
			    const struct stat *st, agentbox_error **err)
{
	return ab_error_set(err, AGENTBOX_EHELPER, NULL,
			    "%s '%s' in '%s' is not trusted: uid %u, mode "
			    "%04o; it must belong to root or the caller and "
			    "be writable by nobody else", what, p->name,
			    p->dir, (unsigned)st->st_uid,
			    (unsigned)(st->st_mode & 07777));
}

/* No memory, fds or processes left: not the helper's fault. */
static bool is_shortage(int sys_errno)
{
	return sys_errno == ENOMEM || sys_errno == EAGAIN ||
	       sys_errno == EMFILE || sys_errno == ENFILE;
}

/* What helps, if we know it: to install what is there would not. */
static const char *what_to_do(int sys_errno)
{
	switch (sys_errno) {
	case ENOENT:
	case ENOTDIR:
		return "; install it or set another helper directory";
	case EACCES:
		return "; let the caller search the directory";
	}
	return "";
}

static int32_t refuse_open(const program *p, int sys_errno,
			   agentbox_error **err)
{
	if (is_shortage(sys_errno))
		return ab_error_sys(err, sys_errno, NULL,
				    "cannot open helper '%s'", p->name);
	return ab_error_sys_code(err, AGENTBOX_EHELPER, sys_errno, NULL,
				 "cannot open helper '%s' in '%s'%s", p->name,
				 p->dir, what_to_do(sys_errno));
}

static int32_t open_program(program *p, agentbox_error **err)
{
	struct stat dir_st;

	p->dirfd = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->dirfd < 0)
		return refuse_open(p, errno, err);
	if (fstat(p->dirfd, &dir_st))
		return refuse_open(p, errno, err);
	if (!ab_fd_is_trusted(&dir_st))
		return refuse_trust(p, "the directory of helper", &dir_st,
				    err);
	/* a link would be judged here and followed, perhaps moved, at exec */
	p->fd = openat(p->dirfd, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (p->fd < 0)
		return refuse_open(p, errno, err);
	if (fstat(p->fd, &p->st))
		return refuse_open(p, errno, err);
	if (!S_ISREG(p->st.st_mode))
		return ab_error_set(err, AGENTBOX_EHELPER, NULL,
				    "helper '%s' in '%s' is not a regular "
				    "file", p->name, p->dir);
	if (!ab_fd_is_trusted(&p->st))
		return refuse_trust(p, "helper", &p->st, err);
	return AGENTBOX_OK;
}

/* ../libexec/agentbox beside the shared object this code is in. */
static bool dir_beside_library(char out[AB_MAX_PATH])
{
	/* data of our own: a function could resolve to the program's PLT */
	static const char anchor = 0;
	const char *slash;
	Dl_info info;
	int n;

	if (!dladdr(&anchor, &info) || !info.dli_fname ||
	    info.dli_fname[0] != '/')
		return false;
	slash = strrchr(info.dli_fname, '/');
	n = snprintf(out, AB_MAX_PATH, "%.*s/../libexec/agentbox",
		     (int)(slash - info.dli_fname), info.dli_fname);
	return n > 0 && n < AB_MAX_PATH;
}

static int32_t open_in(program *p, const char *dir, agentbox_error **err)
{
	int n = snprintf(p->dir, sizeof(p->dir), "%s", dir);

	if (n < 0 || (size_t)n >= sizeof(p->dir))
		return refuse_open(p, ENAMETOOLONG, err);
	return open_program(p, err);
}

static int32_t find_program(const agentbox_context *context, program *p,
			    agentbox_error **err)
{
	const char *dir = context ? ab_context_helper_dir(context) : NULL;
	ab_auto(agentbox_error) *first = NULL, *second = NULL;
	char beside[AB_MAX_PATH];
	int32_t r;

	if (dir)
		return open_in(p, dir, err);
	r = open_in(p, AB_PKGLIBEXECDIR, &first);
	if (r == AGENTBOX_OK)
		return r;
	/* only a missing one may be looked for elsewhere */
	if (agentbox_error_get_errno(first) != ENOENT ||
	    !dir_beside_library(beside))
		return ab_error_move(err, &first);
	program_end(p);
	r = open_in(p, beside, &second);
	if (r == AGENTBOX_OK)
		return r;
	/* one that is there and is no good is what the caller has to know */
	if (!second || agentbox_error_get_errno(second) == ENOENT)
		return ab_error_move(err, &first);
	return ab_error_move(err, &second);
}

/* --- for a box ----------------------------------------------------------- */

/* The judged file, open for reading: by its name, if that still is it. */
static int reopen(const program *p)
{
	ab_autofd int fd = ab_fd_lift(openat(
		p->dirfd, p->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (st.st_dev != p->st.st_dev || st.st_ino != p->st.st_ino)
		return -ESTALE;
	return ab_steal_fd(&fd);
}

/* sysctl vm.memfd_noexec: a kernel that knows the flag wants to be told. */
static int memfd_of(const char *name, const char *bytes, size_t n)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	ab_autofd int fd = memfd_create(name, flags | MFD_EXEC);
	int r;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	fd = ab_fd_lift(fd);
	if (fd < 0)
		return -errno;
	r = ab_fd_write_full(fd, bytes, n);
	if (r)
		return r;
	if (fchmod(fd, 0111) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW |
					   F_SEAL_WRITE))
		return -errno;
	return ab_steal_fd(&fd);
}

int32_t ab_helper_open_program(agentbox_context *context, const char *name,
			       int *memfd, agentbox_error **err)
{
	program p = {.name = name, .dirfd = -1, .fd = -1};
	ab_autofree char *bytes = NULL;
	ab_autofd int fd = -1;
	size_t n = 0;
	int32_t rc = find_program(context, &p, err);
	int r;

	if (rc == 0) {
		fd = reopen(&p);
		r = fd < 0 ? fd : ab_fd_slurp(fd, MAX_PROGRAM, &bytes, &n);
		if (r == 0)
			r = memfd_of(name, bytes, n);
		if (r < 0)
			rc = refuse_open(&p, -r, err);
		else
			*memfd = r;
	}
	program_end(&p);
	return rc;
}

int32_t ab_helper_find(const agentbox_context *context, const char *name,
		       char path[AB_MAX_PATH], agentbox_error **err)
{
	program p = { .name = name, .fd = -1, .dirfd = -1 };
	int32_t r = find_program(context, &p, err);

	if (r == AGENTBOX_OK &&
	    (size_t)snprintf(path, AB_MAX_PATH, "%s/%s", p.dir, name) >=
		    AB_MAX_PATH)
		r = refuse_open(&p, ENAMETOOLONG, err);
	program_end(&p);
	return r;
}

/* --- starting ----------------------------------------------------------- */

/* What the child gets; every number is FIRST_FD or more. */
typedef struct gift {
	int null_fd, control_fd, plan_fd;
} gift;

/* An owned fd out of the reach of the child's dup2() targets. */
static int raise_fd(int *fd)
{
	int raised;

	if (*fd < 0 || *fd >= FIRST_FD)
		return 0;
	raised = ab_fd_dup_from(*fd, FIRST_FD);
	if (raised < 0)
		return raised;
	close(*fd);
	*fd = raised;
	return 0;
}

static int fill_attr(posix_spawnattr_t *attr)
{
	sigset_t all, none;
	int r;

	sigfillset(&all);
	sigemptyset(&none);
	r = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID |
						   POSIX_SPAWN_SETSIGDEF |
						   POSIX_SPAWN_SETSIGMASK);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attr, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attr, &none);
	return r;
}

static int fill_actions(posix_spawn_file_actions_t *fa, const gift *g)
{
	const int from[] = {g->null_fd, g->null_fd, g->null_fd, g->control_fd,
			    g->plan_fd};
	int r = 0;

	_Static_assert(AB_ARRAY_LEN(from) == AB_HELPER_FIRST_FREE_FD,
		       "0 up to the first free fd, in order");
	for (int to = 0; r == 0 && to < AB_HELPER_FIRST_FREE_FD; to++)
		r = posix_spawn_file_actions_adddup2(fa, from[to], to);
	return r;
}

/*
 * Without /proc: by name, in the very directory that was judged, when the
 * name still leads to the file that was judged. The helper then starts with
 * that directory as its working directory.
 */
static int spawn_by_name(pid_t *pid, const program *p,
			 posix_spawn_file_actions_t *fa,
			 const posix_spawnattr_t *attr, char *const argv[])
{
	char *const envp[] = {NULL};
	struct stat st;
	int r;

	if (fstatat(p->dirfd, p->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	if (st.st_dev != p->st.st_dev || st.st_ino != p->st.st_ino)
		return ESTALE;
	r = posix_spawn_file_actions_addfchdir_np(fa, p->dirfd);
	if (r)
		return r;
	return posix_spawn(pid, p->name, fa, attr, argv, envp);
}

/* 0 or errno, as posix_spawn(3) gives it. */
static int spawn_with(pid_t *pid, const program *p,
		      posix_spawn_file_actions_t *fa,
		      const posix_spawnattr_t *attr)
{
	char processors[AB_PROCESSORS_TEXT];
	char *const argv[] = {(char *)(uintptr_t)p->name, processors, NULL};
	char *const envp[] = {NULL};
	char path[32];
	int r;

	ab_processor_print(&p->processors, processors);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->fd);
	r = posix_spawn(pid, path, fa, attr, argv, envp);
	if (r == ENOENT || r == ENOTDIR)
		r = spawn_by_name(pid, p, fa, attr, argv);
	return r;
}

static int spawn(pid_t *pid, const program *p, const gift *g)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	int r = posix_spawnattr_init(&attr);

	if (r)
		return r;
	r = posix_spawn_file_actions_init(&fa);
	if (r) {
		posix_spawnattr_destroy(&attr);
		return r;
	}
	r = fill_attr(&attr);
	if (r == 0)
		r = fill_actions(&fa, g);
	if (r == 0)
		r = spawn_with(pid, p, &fa, &attr);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&attr);
	return r;
}

static int32_t refuse_start(const program *p, int sys_errno,
			    agentbox_error **err)
{
	/* EINVAL, EBADF: RLIMIT_NOFILE is below FIRST_FD, or a bad plan_fd */
	if (is_shortage(sys_errno) || sys_errno == EINVAL ||
	    sys_errno == EBADF)
		return ab_error_sys(err, sys_errno, NULL,
				    "cannot start helper '%s'", p->name);
	return ab_error_sys_code(err, AGENTBOX_EHELPER, sys_errno, NULL,
				 "cannot start helper '%s' in '%s'", p->name,
				 p->dir);
}

/* Start the judged program; *control receives the host's end, owned. */
static int32_t launch(const program *p, int plan_fd, pid_t *pid, int *control,
		      agentbox_error **err)
{
	ab_autofd int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	ab_autofd int plan = -1, ours = -1, theirs = -1;
	int pair[2];
	gift g;
	int r;

	if (null_fd < 0 && is_shortage(errno))
		return ab_error_sys(err, errno, NULL, "cannot open /dev/null");
	/* what was asked for is there, what starts it is not */
	if (null_fd < 0)
		return ab_error_sys_code(err, AGENTBOX_EHELPER, errno, NULL,
					 "cannot open /dev/null, which helpers "
					 "have as their streams; give this "
					 "place a /dev");
	r = ab_fd_seqpacket_pair(pair);
	if (r)
		return refuse_start(p, -r, err);
	ours = pair[0];
	theirs = pair[1];
	if (plan_fd >= 0) {
		plan = ab_fd_dup_from(plan_fd, FIRST_FD);
		if (plan < 0)
			return refuse_start(p, -plan, err);
	}
	r = raise_fd(&null_fd);
	if (r == 0)
		r = raise_fd(&theirs);
	if (r)
		return refuse_start(p, -r, err);
	g.null_fd = null_fd;
	g.control_fd = theirs;
	g.plan_fd = plan >= 0 ? plan : null_fd;
	r = spawn(pid, p, &g);
	if (r)
		return refuse_start(p, r, err);
	*control = ab_steal_fd(&ours);
	return AGENTBOX_OK;
}

/* --- ending ------------------------------------------------------------- */

/* Reap when it is our child and nobody else did; 1 when `si` tells how. */
static int reap(int pidfd, siginfo_t *si)
{
	memset(si, 0, sizeof(*si));
	if (waitid(P_PIDFD, (id_t)pidfd, si, WEXITED | WNOHANG))
		return 0;
	return si->si_pid != 0;
}

/* Dead and reaped; how it ended when that can be known. */
static int end_by_pidfd(int pidfd, int64_t timeout_ms, siginfo_t *si)
{
	if (ab_fd_poll(pidfd, POLLIN, timeout_ms) <= 0) {
		(void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
		(void)ab_fd_poll(pidfd, POLLIN, KILL_WAIT_MS);
	}
	return reap(pidfd, si);
}

void ab_helper_stop(ab_helper *helper, int64_t timeout_ms)
{
	int saved = errno;
	siginfo_t si;

	/* a zeroed or stopped one owns no fds: 0 is the host's stdin */
	if (!helper || helper->pid <= 0)
		return;
	ab_cleanup_fd(&helper->control_fd);
	if (helper->pidfd >= 0)
		(void)end_by_pidfd(helper->pidfd, timeout_ms, &si);
	ab_cleanup_fd(&helper->pidfd);
	helper->control_fd = -1;
	helper->pidfd = -1;
	helper->pid = 0;
	errno = saved;
}

/* --- hello -------------------------------------------------------------- */

/* ETOOMANYREFS: unix(7), the descriptors in flight of a whole user. */
static int32_t refuse_unsaid(const ab_launch *p, ab_reader *r,
			     agentbox_error **err)
{
	int32_t sys_errno = ab_get_i32(r);
	const char *scheduling = ab_get_str(r);

	if (!ab_reader_done(r) || sys_errno <= 0)
		sys_errno = EPROTO;
	else if (scheduling[0])
		return ab_error_sys_code(err, AGENTBOX_EHELPER, sys_errno,
					 NULL, "helper '%s' in '%s' would run "
					 "before others as this program does, "
					 "and cannot change its %.64s",
					 p->name, p->dir, scheduling);
	return ab_error_sys_code(err, AGENTBOX_EHELPER, sys_errno, NULL,
				 "helper '%s' in '%s' cannot say hello%s",
				 p->name, p->dir, sys_errno == ETOOMANYREFS ?
				 "; raise the hard limit of open files, or end "
				 "whoever of this user keeps descriptors in "
				 "flight" : "");
}

/* The receiver has judged framing and fd count; this judges the words. */
static int32_t judge_hello(const ab_launch *p, const void *m, size_t n,
			   agentbox_error **err)
{
	const char *build_id, *name;
	uint32_t kind;
	ab_reader r;

	ab_reader_init(&r, m, n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	if (kind == AB_MSG_NO_HELLO)
		return refuse_unsaid(p, &r, err);
	build_id = ab_get_str(&r);
	if (r.bad || kind != AB_MSG_HELLO)
		return ab_error_set(err, AGENTBOX_EHELPER, NULL,
				    "helper '%s' in '%s' said something else "
				    "than hello", p->name, p->dir);
	if (strcmp(build_id, agentbox_build_id()) != 0)
		return ab_error_set(err, AGENTBOX_EHELPER, NULL,
				    "helper '%s' is of another build ('%.64s' "
				    "in '%s', the library is '%s'); reinstall "
				    "or pass a matching helper directory",
				    p->name, build_id, p->dir,
				    agentbox_build_id());
	name = ab_get_str(&r);
	if (!ab_reader_done(&r) || strcmp(name, p->name) != 0)
		return ab_error_set(err, AGENTBOX_EHELPER, NULL,
				    "helper '%s' in '%s' calls itself '%.64s'; "
				    "reinstall it", p->name, p->dir, name);
	return AGENTBOX_OK;
}

static int32_t receive_hello(const ab_launch *p, int control, int *pidfd,
			     agentbox_error **err)
{
	uint8_t message[HELLO_SIZE];
	ab_autofd int fd = -1;
	size_t count = 0;
	ssize_t n;
	int32_t r;

	n = ab_message_recv(control, message, sizeof(message), &fd, 1, &count,
			    MSG_DONTWAIT);
	if (n == -EAGAIN)
		return AGENTBOX_EAGAIN;
	if (n == 0)
		return AGENTBOX_ECLOSED;
	if (n < 0)
		return ab_error_sys_code(err, AGENTBOX_EHELPER, (int)-n, NULL,
					 "no proper hello from helper '%s' in "
					 "'%s'", p->name, p->dir);
	r = judge_hello(p, message, (size_t)n, err);
	if (r)
		return r;
	/* signal 0 changes nothing; EBADF is the answer for any other fd */
	if (count != 1 ||
	    (pidfd_send_signal(fd, 0, NULL, 0) && errno == EBADF))
		return ab_error_set(err, AGENTBOX_EHELPER, NULL,
				    "helper '%s' in '%s' sent no pidfd with "
				    "its hello", p->name, p->dir);
	*pidfd = ab_steal_fd(&fd);
	return AGENTBOX_OK;
}

/* ECLOSED, without an error made, when the helper ended. */
static int32_t await_hello(const ab_launch *p, int control, int watch,
			   int64_t timeout_ms, int *pidfd,
			   agentbox_error **err)
{
	uint64_t deadline = 0;
	int32_t r;

	if (timeout_ms >= 0)
		deadline = ab_clock_boot_ns() + (uint64_t)timeout_ms * 1000000;
	do {
		struct pollfd fds[] = {{.fd = control, .events = POLLIN},
				       {.fd = watch, .events = POLLIN}};
		int n = ab_fd_poll_many(fds, AB_ARRAY_LEN(fds),
					ab_clock_left_ms(deadline));

		if (n < 0)
			return ab_error_sys(err, -n, NULL,
					    "cannot wait for helper '%s'",
					    p->name);
		if (n == 0)
			return ab_error_set(err, AGENTBOX_EHELPER, NULL,
					    "helper '%s' in '%s' did not say "
					    "hello within %lld ms", p->name,
					    p->dir, (long long)timeout_ms);
		r = receive_hello(p, control, pidfd, err);
		if (r == AGENTBOX_EAGAIN && fds[1].revents)
			return AGENTBOX_ECLOSED;
	} while (r == AGENTBOX_EAGAIN);
	return r;
}

/* The helper closed its socket or is gone: say how it ended, if we know. */
static int32_t refuse_ended(const ab_launch *p, bool is_known,
			    const siginfo_t *si, agentbox_error **err)
{
	if (!is_known)
		return ab_error_set(err, AGENTBOX_EHELPER, NULL,
				    "helper '%s' in '%s' ended before its "
				    "hello", p->name, p->dir);
	return ab_error_set(err, AGENTBOX_EHELPER, NULL,
			    "helper '%s' in '%s' ended before its hello "
			    "(%s %d)", p->name, p->dir,
			    si->si_code == CLD_EXITED ? "exit status" :
							"signal",
			    si->si_status);
}

/*
 * A process that was refused: the socket first, it may be waiting there. 1
 * when `si` tells how it ended.
 */
static int discard(ab_launch *l, int64_t timeout_ms, siginfo_t *si)
{
	int known = 0;

	close(ab_steal_fd(&l->control_fd));
	/* without a pidfd it was gone and reaped before we could look */
	if (l->watch_fd >= 0)
		known = end_by_pidfd(l->watch_fd, timeout_ms, si);
	ab_cleanup_fd(&l->watch_fd);
	l->watch_fd = -1;
	l->pid = 0;
	return known;
}

static int32_t check_start(const char *name, const void *out,
			   agentbox_error **err)
{
	if (!name || !*name || strchr(name, '/') || !out)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "a helper has a plain name");
	return AGENTBOX_OK;
}

/* Both work at once: it begins, and the caller goes on. */
static int32_t part(ab_launch *l, const program *p, agentbox_error **err)
{
	int r = ab_processor_push(l->pid, &p->processors);

	if (r == 0)
		return AGENTBOX_OK;
	ab_helper_cancel(l, 0);
	return refuse_start(p, -r, err);
}

int32_t ab_helper_launch(agentbox_context *context, const char *name,
			 int plan_fd, ab_launch *out, agentbox_error **err)
{
	program p = {.name = name, .dirfd = -1, .fd = -1};
	ab_autofd int control = -1;
	pid_t pid = -1;
	int raised;
	int32_t r = check_start(name, out, err);

	if (r)
		return r;
	ab_processor_get(&p.processors);
	r = find_program(context, &p, err);
	if (r == AGENTBOX_OK) {
		raised = raise_fd(&p.fd);
		if (raised == 0)
			raised = raise_fd(&p.dirfd);
		r = raised ? refuse_start(&p, -raised, err) :
			     launch(&p, plan_fd, &pid, &control, err);
	}
	program_end(&p);
	if (r)
		return r;
	out->name = name;
	memcpy(out->dir, p.dir, sizeof(out->dir));
	out->pid = pid;
	out->control_fd = ab_steal_fd(&control);
	/*
	 * Of our own child, at once: a number that a careless host reaped and
	 * the kernel gave to another within these microseconds is not feared.
	 */
	out->watch_fd = ab_fd_lift(pidfd_open(pid, 0));
	return part(out, &p, err);
}

int32_t ab_helper_greet(ab_launch *l, int64_t timeout_ms, ab_helper *out,
			agentbox_error **err)
{
	ab_autofd int pidfd = -1;
	siginfo_t si;
	int known;
	int32_t r = await_hello(l, l->control_fd, l->watch_fd, timeout_ms,
				&pidfd, err);

	if (r == AGENTBOX_OK) {
		out->control_fd = ab_steal_fd(&l->control_fd);
		out->pidfd = ab_steal_fd(&pidfd);
		out->pid = l->pid;
		ab_cleanup_fd(&l->watch_fd);
		l->watch_fd = -1;
		l->pid = 0;
		return r;
	}
	known = discard(l, r == AGENTBOX_ECLOSED ? 200 : 0, &si);
	if (r == AGENTBOX_ECLOSED)
		return refuse_ended(l, known, &si, err);
	return r;
}

void ab_helper_cancel(ab_launch *l, int64_t timeout_ms)
{
	int saved = errno;
	siginfo_t si;

	if (l->pid > 0)
		(void)discard(l, timeout_ms, &si);
	errno = saved;
}

int32_t ab_helper_start(agentbox_context *context, const char *name,
			int plan_fd, int64_t timeout_ms, ab_helper *out,
			agentbox_error **err)
{
	ab_launch l;
	int32_t r = check_start(name, out, err);

	if (!r)
		r = ab_helper_launch(context, name, plan_fd, &l, err);
	return r ? r : ab_helper_greet(&l, timeout_ms, out, err);
}
