/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One exec: which file under which arguments, and what the checks say of it.
 * A file is named by what its descriptor is open on and its links lead to. Its
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

/* Where programs are installed and nobody of the box makes a link: there a
   name is what it says. */
static bool is_installed(const char *path)
{
	static const char *const dirs[] = { "/usr/", "/bin/", "/sbin/",
					    "/lib/", "/lib64/" };

	for (size_t i = 0; i < AB_ARRAY_LEN(dirs); i++)
		if (strncmp(path, dirs[i], strlen(dirs[i])) == 0)
			return !strstr(path, "/..");
	return false;
}

/*
 * The file that a descriptor is open on, or that a link leads to, takes the
 * place of the name. What leads nowhere keeps it: the kernel says so, too, but
 * of a descriptor whose directory is gone.
 */
static int name_file(const ab_caller *t, const struct seccomp_notif *notice,
		     ab_exec *e, char *memory, size_t size)
{
	bool at = notice->data.nr == SYS_execveat;
	ssize_t n;

	if (is_installed(e->path))
		return 0;
	n = ab_sh_follow(t, at ? (int)notice->data.args[0] : AT_FDCWD,
			 e->path, memory, size);
	if (n > 0) {
		e->path = memory;
		e->path_len = (size_t)n;
	}
	return n < 0 ? (int)n : 0;
}

static bool is_git(const ab_caller *t)
{
	char exe[AB_MAX_PATH];
	ssize_t n = ab_caller_link(t, "exe", exe, sizeof(exe));

	return n >= 4 && memcmp(exe + n - 4, "/git", 4) == 0;
}

static const char *find_cwd(void *arg, size_t *len)
{
	const ab_caller *t = arg;
	const char *cwd;
	ssize_t n = ab_caller_cwd(t, &cwd);

	if (n <= 0 || cwd[0] != '/')
		return NULL;
	*len = (size_t)n;
	return cwd;
}

/* The program and what kinds of arguments it has. */
static uint32_t shape_of(const ab_exec *e)
{
	const char *slash = memrchr(e->path, '/', e->path_len);
	const char *name = slash ? slash + 1 : e->path;
	uint32_t h = (uint32_t)e->count;

	while (*name)
		h = h * 33 + (uint8_t)*name++;
	for (size_t i = 1; i < e->count && i < 8; i++)
		h = h * 33 + (e->args[i][0] == '-') +
		    2 * (e->args[i][0] == '/');
	return h;
}

/*
 * The working directory is a third of all that an exec costs: where nothing
 * depends on it, it is not looked at. Where that was needed the last time it
 * is looked at first, and all is judged once instead of twice. What is said is
 * the same either way.
 */
static void judge_place(const ab_caller *t, ab_exec *e, ab_exec_finding *f)
{
	uint32_t shape = shape_of(e);
	ab_sh_shape *last = &t->sh->shapes[shape % AB_SHAPES];
	void *arg = (void *)(uintptr_t)t;

	if (last->shape == shape && last->uses) {
		last->uses--;
		e->cwd = find_cwd(arg, &e->cwd_len);
	} else {
		e->find_cwd = find_cwd;
		e->arg = arg;
	}
	ab_exec_check(&t->sh->judge, e, f);
	if (e->arg && !e->find_cwd)
		*last = (ab_sh_shape){ shape, AB_SHAPE_USES };
}

/* All that was read of it, and which file that is. */
static ab_sh_words words_of(const ab_sh *sh, const ab_exec *e)
{
	return (ab_sh_words){ e->path, sh->bytes, e->path_len, sh->used };
}

/* The very same was let through before, and at this place if that mattered. */
static bool is_known(const ab_caller *t, const ab_exec *e)
{
	const ab_sh_words w = words_of(t->sh, e);
	size_t known_len = 0, n = 0;
	const char *known = ab_sh_memo_find(&t->sh->memo, &w, &known_len);
	const char *cwd;

	if (!known || !known_len)
		return known;
	cwd = find_cwd((void *)(uintptr_t)t, &n);
	return cwd && n == known_len && memcmp(cwd, known, n) == 0;
}

/* Not what was let through although nobody knew where it is. */
static void remember(const ab_caller *t, const ab_exec *e)
{
	const ab_sh_words w = words_of(t->sh, e);

	if (e->cwd)
		ab_sh_memo_keep(&t->sh->memo, &w, e->cwd, e->cwd_len);
	else if (e->find_cwd)
		ab_sh_memo_keep(&t->sh->memo, &w, "", 0);
}

static void judge(const ab_caller *t, ab_exec *e, bool cut,
		  ab_exec_finding *f)
{
	if (!cut && is_known(t, e)) {
		*f = (ab_exec_finding){ .verdict = AGENTBOX_VERDICT_ALLOW };
		return;
	}
	judge_place(t, e, f);
	if (f->verdict == AGENTBOX_VERDICT_ALLOW && !cut)
		remember(t, e);
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

	return r ? r : name_file(t, notice, e, file, sizeof(file));
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

int ab_sh_look_at_exec(const ab_caller *t, const struct seccomp_notif *notice,
		       ab_shield_record *m, ab_exec_finding *f)
{
	ab_sh *sh = t->sh;
	ab_exec e;
	int r = read_exec(t, notice, &e, &m->flags);
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
	judge(t, &e, cut, f);
	m->object = e.path;
	return find_file(t, notice, &e, f);
}
