/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One program, from its start to the end of all that it started. What it
 * prints goes from the pipe into a memfd without passing our memory, and no
 * further than a value may; of its errors one line is kept. Who gets nothing
 * of it and when: provider.h. Spec: fork(2), splice(2), prctl(2).
 */
#include "config.h"

#include "provider.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/fd.h"
#include "wire/broker.h"
#include "wire/helper.h"

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define LINE_MAX_BYTES 200
/* The time of what is killed to be gone. */
#define END_MS 2000
/* A value, a line end that is no part of it, and what is too much. */
#define TAKE_MAX (AB_BROKER_MAX_VALUE + 2)

typedef struct run {
	pid_t pid;
	int pidfd, out_fd, err_fd, value_fd;
	size_t taken;
	char line[LINE_MAX_BYTES + 1];
	size_t line_len;
	bool line_is_whole, has_ended, is_late;
	int status;
} run;

/* --- in the new process --------------------------------------------------- */

static _Noreturn void cannot(const char *what)
{
	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
	_exit(127);
}

/* What programs ask for, and nothing of the host's own environment. */
static char **make_environment(void)
{
	static char home[AB_MAX_PATH + 8], user[300], name[300], place[64];
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	static char language[] = "LANG=C.UTF-8";
	static char *env[7];
	const struct passwd *pw = getpwuid(geteuid());
	size_t n = 0;
	struct stat st;

	env[n++] = path;
	env[n++] = language;
	if (pw) {
		snprintf(home, sizeof(home), "HOME=%s", pw->pw_dir);
		snprintf(user, sizeof(user), "USER=%s", pw->pw_name);
		snprintf(name, sizeof(name), "LOGNAME=%s", pw->pw_name);
		env[n++] = home;
		env[n++] = user;
		env[n++] = name;
	}
	snprintf(place, sizeof(place), "XDG_RUNTIME_DIR=/run/user/%u",
		 (unsigned)geteuid());
	if (lstat(strchr(place, '/'), &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_uid == geteuid())
		env[n++] = place;
	return env;
}

/* With 0 the kernel would start the program of core_pattern, where that is a
   pipe, and hand it the memory with the secret; with 1 it does neither:
   core(5), lib/walls/limits.c. Who may have no 1 has 0. */
static int forbid_core_dumps(void)
{
	struct rlimit none = { 1, 1 };

	if (setrlimit(RLIMIT_CORE, &none) == 0)
		return 0;
	none.rlim_cur = none.rlim_max = 0;
	return setrlimit(RLIMIT_CORE, &none);
}

static _Noreturn void become(const char *path, const char *const *argv,
			     char **env, pid_t parent, int out, int err)
{
	signal(SIGPIPE, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(127);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(127);
	/* without other rights than ours, so that we can end it */
	if (setpgid(0, 0) || forbid_core_dumps() || chdir("/") ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_close_range, 3, ~0u, 0))
		cannot("agentbox-provider");
	umask(077);
	execve(path, (char **)(uintptr_t)argv, env);
	cannot(path);
}

/* --- ending --------------------------------------------------------------- */

/* Those that are ours: what a process leaves when it ends becomes ours, too. */
static void kill_children(void)
{
	char path[64], text[4096], *at = text, *end;
	ab_autofd int fd = -1;
	ssize_t n;
	long pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children",
		 (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : ab_fd_read_full(fd, text, sizeof(text));
	/* each with a space behind it: the last number may be half a number */
	while (n > 0 && text[n - 1] != ' ')
		n--;
	if (n <= 0)
		return;
	text[n - 1] = '\0';
	for (; (pid = strtol(at, &end, 10)) > 0; at = end)
		(void)kill((pid_t)pid, SIGKILL);
}

/*
 * All that the program started; the waiting is for processes that die. Its
 * group has its number, which is somebody else's once it was waited for.
 */
static void end_all(run *r)
{
	uint64_t until = ab_clock_deadline(END_MS);
	pid_t pid;
	int status;

	do {
		if (r->pid > 0 && !r->has_ended)
			(void)kill(-r->pid, SIGKILL);
		kill_children();
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == r->pid && !r->has_ended) {
				r->has_ended = true;
				r->status = status;
			}
		if (pid < 0)
			return;
		(void)poll(NULL, 0, 1);
	} while (ab_clock_left_ms(until) > 0);
}

/* --- what it prints ------------------------------------------------------- */

/* false: nothing more comes. */
static bool take_value(run *r)
{
	loff_t at = (loff_t)r->taken;
	ssize_t n;

	if (r->taken >= TAKE_MAX)
		return false;
	n = splice(r->out_fd, NULL, r->value_fd, &at, TAKE_MAX - r->taken,
		   SPLICE_F_NONBLOCK);
	if (n > 0)
		r->taken += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool take_errors(run *r)
{
	char some[4096];
	ssize_t n = read(r->err_fd, some, sizeof(some));

	for (ssize_t i = 0; i < n && !r->line_is_whole; i++) {
		if (some[i] == '\n' && !r->line_len)
			continue;
		r->line_is_whole = some[i] == '\n' ||
				   r->line_len == LINE_MAX_BYTES;
		if (!r->line_is_whole)
			r->line[r->line_len++] = some[i] >= ' ' &&
						 some[i] <= '~' ? some[i] : '?';
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* What had been written when the last writer was killed. */
static void take_rest(run *r)
{
	struct pollfd p[] = { { r->out_fd, POLLIN, 0 },
			      { r->err_fd, POLLIN, 0 } };

	while (p[0].fd >= 0 && poll(&p[0], 1, 0) > 0)
		if (!take_value(r))
			p[0].fd = -1;
	/* of errors one bufferful is enough */
	if (poll(&p[1], 1, 0) > 0)
		(void)take_errors(r);
}

/* Until it has ended, its time is over or it has printed too much. */
static void watch(run *r, uint64_t until, int host_pidfd)
{
	struct pollfd p[] = { { r->pidfd, POLLIN, 0 },
			      { r->out_fd, POLLIN, 0 },
			      { r->err_fd, POLLIN, 0 },
			      { AB_HELPER_CONTROL_FD, POLLIN, 0 },
			      { host_pidfd, POLLIN, 0 } };

	for (;;) {
		int n = ab_fd_poll_many(p, AB_ARRAY_LEN(p),
					ab_clock_left_ms(until));

		/* the host says nothing: what can be read there is its end */
		if (n < 0 || p[3].revents || p[4].revents) {
			end_all(r);
			_exit(1);
		}
		r->is_late = n == 0;
		if (n == 0 || p[0].revents || r->taken >= TAKE_MAX)
			return;
		if (p[1].revents && !take_value(r))
			p[1].fd = -1;
		if (p[2].revents && !take_errors(r))
			p[2].fd = -1;
	}
}

/* --- what became of it ---------------------------------------------------- */

static bool refuse(const run *r, char why[WHY_SIZE], const char *what)
{
	snprintf(why, WHY_SIZE, "%s%s%s", what, r->line_len ? ": " : "",
		 r->line);
	return false;
}

static bool judge(const run *r, unsigned timeout_ms, char why[WHY_SIZE])
{
	char what[64];

	if (r->is_late) {
		snprintf(what, sizeof(what), "did not end within %u s",
			 timeout_ms / 1000);
		return refuse(r, why, what);
	}
	if (r->taken >= TAKE_MAX)
		return refuse(r, why, "printed more than 64 KiB");
	if (!r->has_ended)
		return refuse(r, why, "cannot be waited for");
	if (WIFSIGNALED(r->status))
		snprintf(what, sizeof(what), "was ended by signal %d",
			 WTERMSIG(r->status));
	else
		snprintf(what, sizeof(what), "exit status %d",
			 WEXITSTATUS(r->status));
	return r->status == 0 || refuse(r, why, what);
}

/* One line end is the program's, not the value's. */
static bool finish_value(const run *r, char why[WHY_SIZE])
{
	size_t n = r->taken;
	char last = 0;

	if (n && pread(r->value_fd, &last, 1, (off_t)n - 1) != 1)
		return refuse(r, why, "its value cannot be read");
	n -= last == '\n';
	if (n == 0)
		return refuse(r, why, "printed nothing");
	if (n > AB_BROKER_MAX_VALUE)
		return refuse(r, why, "printed more than 64 KiB");
	if (ftruncate(r->value_fd, (off_t)n) ||
	    fcntl(r->value_fd, F_ADD_SEALS, SEALS))
		return refuse(r, why, "its value cannot be sealed");
	return true;
}

static bool start(run *r, const char *path, const char *const *argv)
{
	char **env = make_environment();
	pid_t self = getpid();
	int out[2], err[2];

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) ||
	    pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		return false;
	r->out_fd = out[0];
	r->err_fd = err[0];
	r->value_fd = memfd_create("agentbox-secret",
				   MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (r->value_fd < 0 || ab_fd_set_nonblock(out[0], 1) ||
	    ab_fd_set_nonblock(err[0], 1))
		return false;
	r->pid = fork();
	if (r->pid == 0)
		become(path, argv, env, self, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	if (r->pid < 0)
		return false;
	r->pidfd = pidfd_open(r->pid, 0);
	if (r->pidfd < 0)
		end_all(r);
	return r->pidfd >= 0;
}

int provider_run(const char *path, const char *const *argv,
		 unsigned timeout_ms, int host_pidfd, char why[WHY_SIZE])
{
	uint64_t until = ab_clock_deadline(timeout_ms);
	run r = { .pidfd = -1 };

	if (!start(&r, path, argv)) {
		snprintf(why, WHY_SIZE, "cannot be started: %s",
			 strerror(errno));
		return -1;
	}
	watch(&r, until, host_pidfd);
	end_all(&r);
	take_rest(&r);
	return judge(&r, timeout_ms, why) && finish_value(&r, why)
		       ? r.value_fd : -1;
}
