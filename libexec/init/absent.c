/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is there no process of the agent in the box now? What appears then, and
 * until a command is begun, is the host's (adopt.c).
 * Spec: proc(5) children and status, pid_namespaces(7).
 */
#include "config.h"

#include "watcher.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A small file of proc(5) as text; false: it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Is this the status of the box's launcher? NSpid: ours first, then its. */
static bool is_launcher(const watcher *w, const char *text)
{
	uint32_t launcher = atomic_load(&w->box->shared->launcher);
	char inside[32];
	const char *at;

	if (!launcher)
		return false;
	at = strstr(text, "\nNSpid:");
	if (!at)
		return false;
	at += strlen("\nNSpid:");
	snprintf(inside, sizeof(inside), "\t%u\n", launcher);
	/* of its line */
	at += strcspn(at, "\n") + 1;
	return !strncmp(at - strlen(inside), inside, strlen(inside));
}

/* All of it has ended, and PID 1 has not taken it away yet. */
static bool is_dead(const char *text)
{
	return strstr(text, "\nState:\tZ") && strstr(text, "\nThreads:\t1\n");
}

/* "123 456 ", all of it. */
static bool read_children(const watcher *w, char *list, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
		 (int)w->box->pid_one, (int)w->box->pid_one);
	return read_text(path, list, size) && strlen(list) < size - 1;
}

/* The launcher, once, and dead ones: all of them are there now. */
static bool are_no_agents(const watcher *w, const char *children)
{
	char path[64], list[1024], text[4096], *rest = list, *pid;
	unsigned launchers = 0;

	snprintf(list, sizeof(list), "%s", children);
	while ((pid = strsep(&rest, " ")) && *pid) {
		snprintf(path, sizeof(path), "/proc/%.16s/status", pid);
		if (!read_text(path, text, sizeof(text)))
			return false;
		if (is_launcher(w, text))
			launchers++;
		else if (!is_dead(text))
			return false;
	}
	return launchers == 1;
}

/*
 * Is there no process of the agent now? Whatever he leaves behind becomes a
 * child of PID 1, which else has one: the launcher, unless he has killed that.
 * proc(5) children; a kernel without it cannot say, and that is no yes.
 *
 * Who ends between the list and its status has given its own children to PID 1
 * in that moment. So the list is read again when all in it are known to be
 * dead, and have no children any more; and as it may skip one when another is
 * taken away meanwhile, each must still be there, and dead, after that.
 *
 * Who has read init_last_begun() before asks for the time since then, and of
 * the command that began last there may be no process yet: so none may be in
 * the making. What has none after that was begun later.
 *
 * The launcher is known by its number. Between the moment in which PID 1 takes
 * a dead one away and the one in which it says so, an agent that has been round
 * all numbers may have a process of that one: so PID 1 may take nobody away
 * meanwhile.
 */
bool init_agent_is_absent(const watcher *w)
{
	const init_shared *shared = w->box->shared;
	uint32_t reaps = atomic_load(&shared->reaps);
	char before[1024], after[1024];

	return !(reaps & 1) && !atomic_load(&shared->in_flight) &&
	       read_children(w, before, sizeof(before)) &&
	       are_no_agents(w, before) &&
	       read_children(w, after, sizeof(after)) &&
	       !strcmp(before, after) && are_no_agents(w, after) &&
	       atomic_load(&shared->reaps) == reaps;
}
