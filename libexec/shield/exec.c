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
#include "policy/policy.h"
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

/* What it costs is a third of all of it: where nothing depends on it, it is
   not looked at. */
static const char *find_cwd(void *arg, size_t *len)
{
	static char cwd[AB_MAX_PATH];
	const ab_caller *t = arg;
	ssize_t n = ab_caller_link(t, "cwd", cwd, sizeof(cwd));

	if (n <= 0 || cwd[0] != '/' || !ab_caller_is_valid(t))
		return NULL;
	*len = (size_t)n;
	return cwd;
}

static void judge(const ab_caller *t, ab_exec *e, bool cut,
		  ab_exec_finding *f)
{
	e->find_cwd = find_cwd;
	e->arg = (void *)(uintptr_t)t;
	ab_exec_check(&t->sh->judge, e, f);
	if (f->verdict != AGENTBOX_VERDICT_ALLOW && is_git(t)) {
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
	static char file[AB_MAX_PATH];
	bool at = notice->data.nr == SYS_execveat;
	int r = ab_caller_read_exec(t, notice->data.args[at],
				    notice->data.args[1 + at], e, flags);

	if (r)
		return r;
	name_descriptor(t, notice, e, file, sizeof(file));
	return ab_caller_is_valid(t) ? 0 : -ESRCH;
}

/*
 * Who looks along PATH tries each directory. It is told what the kernel would
 * tell it, not let through: a file that is made meanwhile is not executed.
 */
static int find_file(const ab_caller *t, const struct seccomp_notif *notice,
		     const ab_exec *e, const ab_exec_finding *f)
{
	bool at = notice->data.nr == SYS_execveat;

	if (f->verdict == AGENTBOX_VERDICT_ALLOW ||
	    t->sh->mode == AB_SHIELD_AUDIT)
		return 0;
	return ab_sh_find_file(t, at ? (int)notice->data.args[0] : AT_FDCWD,
			       e->path);
}

int ab_sh_look_at_exec(ab_sh *sh, const struct seccomp_notif *notice,
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
		return 0;
	}
	join_command(sh, &e, &m->flags);
	judge(&t, &e, cut, f);
	m->object = e.path;
	return find_file(&t, notice, &e, f);
}
