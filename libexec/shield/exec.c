/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One exec: which file under which arguments, and what the checks say of it.
 * A file that comes as a descriptor is named by what it is open on. Its
 * environment is not read, nor the text of a script: what that starts is seen
 * when it starts.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/attr.h"
#include "base/limits.h"
#include "state.h"

/* Cut where it is too long: the whole was judged. */
static void join_command(ab_sh *sh, const ab_exec *e, uint32_t *flags)
{
	size_t at = 0, room = sizeof(sh->command) - 1;

	for (size_t i = 0; i < e->count && at < room; i++) {
		size_t n = e->lens[i];

		if (i)
			sh->command[at++] = ' ';
		if (n > room - at) {
			n = room - at;
			*flags |= AB_SHIELD_CUT;
		}
		memcpy(sh->command + at, e->args[i], n);
		at += n;
	}
	sh->command[at] = '\0';
}

/* The N of /proc/self/fd/N and its like, or -1. */
static int descriptor_of(const char *path)
{
	static const char *const dirs[] = { "/proc/self/fd/",
					    "/proc/thread-self/fd/",
					    "/dev/fd/" };
	int fd = -1, end = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(dirs); i++) {
		size_t n = strlen(dirs[i]);

		if (strncmp(path, dirs[i], n) == 0 &&
		    sscanf(path + n, "%9d%n", &fd, &end) == 1 &&
		    path[n + (size_t)end] == '\0')
			return fd;
	}
	return -1;
}

/* What a descriptor is open on takes the place of its name. */
static void name_descriptor(const ab_caller *t,
			    const struct seccomp_notif *notice, ab_exec *e,
			    char *memory, size_t size)
{
	bool at = notice->data.nr == SYS_execveat;
	int fd = at && e->path_len == 0 &&
				 (notice->data.args[4] & AT_EMPTY_PATH)
			 ? (int)notice->data.args[0]
			 : descriptor_of(e->path);
	char name[32];
	ssize_t n;

	if (fd < 0)
		return;
	snprintf(name, sizeof(name), "fd/%d", fd);
	n = ab_caller_link(t, name, memory, size);
	if (n > 0) {
		e->path = memory;
		e->path_len = (size_t)n;
	}
}

static bool is_git(const ab_caller *t)
{
	char exe[AB_MAX_PATH];
	ssize_t n = ab_caller_link(t, "exe", exe, sizeof(exe));

	return n >= 4 && memcmp(exe + n - 4, "/git", 4) == 0 &&
	       ab_caller_is_valid(t);
}

static void judge(const ab_caller *t, ab_exec *e, bool cut,
		  ab_exec_finding *f)
{
	const ab_exec as_read = *e;
	const char *name = e->count ? e->args[0] : NULL;
	size_t len = e->count ? e->lens[0] : 0;

	ab_exec_check(&t->sh->judge, e, f);
	if (f->verdict != AGENTBOX_VERDICT_ALLOW && is_git(t)) {
		*e = as_read;
		if (name) {
			e->args[0] = name;
			e->lens[0] = len;
		}
		e->by_git = true;
		ab_exec_check(&t->sh->judge, e, f);
	}
	if (f->verdict == AGENTBOX_VERDICT_ALLOW && cut)
		ab_exec_find(f, AGENTBOX_VERDICT_ASK, "shield.too-long",
			     "it has more arguments than are read");
}

/* Everything that is read of it. The strings stay until the next one. */
static int read_exec(const ab_caller *t, const struct seccomp_notif *notice,
		     ab_exec *e, uint32_t *flags)
{
	static char cwd[AB_MAX_PATH], file[AB_MAX_PATH];
	bool at = notice->data.nr == SYS_execveat;
	int r = ab_caller_read_exec(t, notice->data.args[at],
				    notice->data.args[1 + at], e, flags);
	ssize_t n = 0;

	if (r)
		return r;
	name_descriptor(t, notice, e, file, sizeof(file));
	/* a third of the work; what has no argument names nothing in it */
	if (e->count > 1)
		n = ab_caller_link(t, "cwd", cwd, sizeof(cwd));
	e->cwd_len = n > 0 ? (size_t)n : 0;
	e->cwd = e->cwd_len && cwd[0] == '/' ? cwd : NULL;
	return ab_caller_is_valid(t) ? 0 : -ESRCH;
}

void ab_sh_look_at_exec(ab_sh *sh, const struct seccomp_notif *notice,
			ab_shield_record *m, ab_exec_finding *f)
{
	const ab_caller t = { sh, (pid_t)notice->pid, notice->id };
	ab_exec e;
	int r = read_exec(&t, notice, &e, &m->flags);
	bool cut = m->flags & AB_SHIELD_CUT;

	sh->command[0] = '\0';
	m->object = m->command = sh->command;
	if (r) {
		m->flags |= AB_SHIELD_UNREAD;
		ab_exec_find(f, AGENTBOX_VERDICT_ASK, "shield.unread",
			     "what it executes cannot be read");
		return;
	}
	/* the judge puts the file's name in the place of argv[0] */
	join_command(sh, &e, &m->flags);
	judge(&t, &e, cut, f);
	m->object = e.path;
}
