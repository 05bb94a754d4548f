/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The box's processes in the host's /proc. What cannot be read is told as
 * such; nothing here judges. Spec: proc(5).
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "verify/internal.h"

/* A process list beyond this is not looked at: unknown, never good. */
#define MAX_PROCESSES 65536
#define MAX_TEXT (16u << 20)
/* More processes above another than a box has limits for are no box's. */
#define MAX_ABOVE 4096
#define MAX_LOOKS 3

char *ab_proc_text(pid_t pid, const char *name, int *sys_errno)
{
	ab_autofd int fd = -1;
	char path[64], *text = NULL;
	size_t n;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	r = fd < 0 ? -errno : ab_fd_slurp(fd, MAX_TEXT, &text, &n);
	*sys_errno = -r;
	return r ? NULL : text;
}

bool ab_proc_line(const char *status, const char *name, char *out, size_t size)
{
	size_t n = strlen(name);

	for (const char *line = status; line && *line;) {
		const char *end = strchrnul(line, '\n');

		if (strncmp(line, name, n) == 0 && line[n] == ':') {
			const char *at = line + n + 1;

			at += strspn(at, " \t");
			n = (size_t)(end - at);
			if (at > end || n >= size)
				return false;
			memcpy(out, at, n);
			out[n] = '\0';
			return true;
		}
		line = *end ? end + 1 : NULL;
	}
	return false;
}

uint64_t ab_proc_namespace(pid_t pid, const char *name, int *sys_errno)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	*sys_errno = 0;
	if (stat(path, &st) == 0)
		return st.st_ino;
	*sys_errno = errno;
	return 0;
}

uint64_t ab_proc_started(pid_t pid)
{
	int sys_errno;
	ab_autofree char *text = ab_proc_text(pid, "stat", &sys_errno);
	const char *at = text ? strrchr(text, ')') : NULL;

	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

pid_t ab_proc_of(int pidfd)
{
	char name[40], pid[32];
	int sys_errno;
	ab_autofree char *text = NULL;

	/* proc_pid_fdinfo(5), pidfd: -1 when it has ended */
	snprintf(name, sizeof(name), "fdinfo/%d", pidfd);
	text = ab_proc_text(getpid(), name, &sys_errno);
	if (!text || !ab_proc_line(text, "Pid", pid, sizeof(pid)))
		return 0;
	return (pid_t)strtol(pid, NULL, 10);
}

bool ab_proc_has_ended(pid_t pid)
{
	int sys_errno;
	ab_autofree char *text = ab_proc_text(pid, "status", &sys_errno);
	char state[32];

	if (!text)
		return ab_proc_is_gone(sys_errno);
	return ab_proc_line(text, "State", state, sizeof(state)) &&
	       (*state == 'Z' || *state == 'X');
}

bool ab_proc_is_gone(int sys_errno)
{
	return sys_errno == ENOENT || sys_errno == ESRCH;
}

/* --- tracers -------------------------------------------------------------- */

/* A number of its status, of a thread as well; -errno: not known. */
static long number_of(pid_t pid, const char *file, const char *name)
{
	int sys_errno;
	ab_autofree char *status = ab_proc_text(pid, file, &sys_errno);
	char line[32];

	if (!status)
		return -(long)sys_errno;
	return ab_proc_line(status, name, line, sizeof(line))
		       ? strtol(line, NULL, 10)
		       : -(long)EPROTO;
}

/* The number may be a thread's. Asked of the kernel and no list: it may have
   been made since there was one. */
static bool descends_from(pid_t thread, pid_t above)
{
	long pid = number_of(thread, "status", "Tgid");

	for (int i = 0; i < MAX_ABOVE && pid > 0; i++) {
		if (pid == above)
			return true;
		pid = number_of((pid_t)pid, "status", "PPid");
	}
	return false;
}

static long tracer_of_thread(void *arg, pid_t pid, const char *thread)
{
	const pid_t below = *(const pid_t *)arg;
	char file[64];
	long tracer = 0;

	snprintf(file, sizeof(file), "task/%.20s/status", thread);
	/* who is on the way up may end meanwhile, and so may the tracer */
	for (int i = 0; i < MAX_LOOKS; i++) {
		tracer = number_of(pid, file, "TracerPid");
		if (tracer <= 0 ||
		    (below > 0 && descends_from((pid_t)tracer, below)))
			return tracer < 0 ? tracer : 0;
	}
	return tracer;
}

long ab_proc_each_thread(pid_t pid,
			 long (*look)(void *arg, pid_t pid, const char *thread),
			 void *arg)
{
	char path[64];
	struct dirent *e;
	long said = 0;
	int error = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -(long)errno;
	while (said == 0 && (e = ab_fd_next(dir, &error))) {
		if (strtol(e->d_name, NULL, 10) <= 0)
			continue;
		said = look(arg, pid, e->d_name);
		if (said < 0 && ab_proc_is_gone((int)-said))
			said = 0;
	}
	if (said == 0 && error)
		said = -(long)error;
	closedir(dir);
	return said;
}

long ab_proc_tracer(pid_t pid, pid_t below)
{
	return ab_proc_each_thread(pid, tracer_of_thread, &below);
}

/* --- all of them ---------------------------------------------------------- */

/* False: there is none any more, or *why there is one and it is not known. */
static bool read_proc(pid_t pid, ab_proc *out, const char **why)
{
	int sys_errno;
	ab_autofree char *text = ab_proc_text(pid, "status", &sys_errno);
	char line[256];
	const char *last;

	if (!text && ab_proc_is_gone(sys_errno))
		return false;
	if (!text || !ab_proc_line(text, "PPid", line, sizeof(line))) {
		*why = "a process is not to be looked at in /proc";
		return false;
	}
	*out = (ab_proc){ .pid = pid, .pid_inside = pid };
	out->parent = (pid_t)strtol(line, NULL, 10);
	if (ab_proc_line(text, "NSpid", line, sizeof(line))) {
		last = strrchr(line, '\t');
		out->pid_inside = (pid_t)strtol(last ? last + 1 : line, NULL,
						10);
	}
	return true;
}

/* Every process there is; a reason why not, or NULL. */
static const char *read_all(ab_proc **out, size_t *count)
{
	DIR *dir = opendir("/proc");
	ab_proc *all = NULL;
	size_t n = 0, room = 0;
	const char *why = NULL;
	struct dirent *e;
	int error = 0;

	if (!dir)
		return "there is no /proc here";
	while (!why && (e = ab_fd_next(dir, &error))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		if (!ab_grow(&all, &room, n + 1, sizeof(*all)))
			why = "no memory";
		else if (n == MAX_PROCESSES)
			why = "too many processes are here";
		else if (read_proc(pid, &all[n], &why))
			n++;
	}
	if (!why && error)
		why = "/proc cannot be read to its end";
	closedir(dir);
	*out = all;
	*count = n;
	return why;
}

static bool is_among(const ab_proc *procs, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++) {
		if (procs[i].pid == pid)
			return true;
	}
	return false;
}

/* What descends from the holder comes to the front, until none is left. */
static size_t sort_below(ab_proc *all, size_t count, pid_t holder)
{
	size_t n = 0;
	bool found;

	do {
		found = false;
		for (size_t i = n; i < count; i++) {
			ab_proc p = all[i];

			if (p.pid != holder && !is_among(all, n, p.parent))
				continue;
			all[i] = all[n];
			all[n++] = p;
			found = true;
		}
	} while (found);
	return n;
}

void ab_proc_find(ab_verify_run *run)
{
	size_t count = 0;

	free(run->procs);
	run->procs = NULL;
	run->proc_count = 0;
	run->procs_why = read_all(&run->procs, &count);
	if (run->procs_why)
		return;
	run->proc_count = sort_below(run->procs, count, run->walls.holder);
	for (size_t i = 0; i < run->proc_count; i++)
		run->procs[i].started = ab_proc_started(run->procs[i].pid);
	if (run->proc_count < 2)
		run->procs_why = "the box's processes are not to be seen in "
				 "/proc (proc(5), hidepid)";
}
