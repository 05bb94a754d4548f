/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an agent must not do, tried for real in the box. A line is made of
 * facts: the error the kernel gave, what the host finds afterwards, and the
 * walls report of this very box. Nothing is assumed to have been refused.
 */
#include "demo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct attempt {
	const char *tried;
	char verb[16], what[4096];
	/* did it get through, as the host sees it? NULL: as the box says */
	bool (*happened)(struct demo *d);
	/* walls of the report, any of which should stop it */
	const char *walls[3];
};

/* An error, a wall, what that means when this wall stands. */
struct answer {
	const char *verb, *error, *wall, *words;
};

static const struct answer answers[] = {
	{ "read", "ENOENT", "rootfs", "rootfs: not in the box" },
	{ "list", "ENOENT", "rootfs", "rootfs: not in the box" },
	{ "write", "ENOENT", "rootfs", "rootfs: not in the box" },
	{ "write", "EROFS", "rootfs", "rootfs: read-only mount" },
	{ "plant", "EROFS", "mountns", "protected: read-only mount" },
	{ "", "EACCES", "landlock", "landlock" },
	{ "tcp", "ECONNREFUSED", "netns", "netns: a loopback of its own" },
	{ "udp", "ENETUNREACH", "netns", "netns: no route" },
	{ "tcp", "EPERM", "seccomp", "seccomp: no sockets" },
	{ "udp", "EPERM", "seccomp", "seccomp: no sockets" },
	{ "trace", "ESRCH", "pidns", "pidns: not in the box" },
	{ "trace", "EPERM", "pidns", "init is not dumpable" },
	{ "trace", "EPERM", "landlock", "landlock" },
	{ "mount", "EPERM", "seccomp", "seccomp" },
	{ "namespaces", "EPERM", "seccomp", "seccomp" },
};

static const char *explain(const struct demo *d, const struct attempt *a,
			   const char *error, const char *detail)
{
	/* the intruder found out who says no to mount(2) */
	if (strcmp(a->verb, "mount") == 0 && strcmp(detail, "caps") == 0 &&
	    wall_stands(d, "caps"))
		return "caps: none in the box";
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const struct answer *w = &answers[i];

		if ((!*w->verb || strcmp(w->verb, a->verb) == 0) &&
		    strcmp(w->error, error) == 0 && wall_stands(d, w->wall))
			return w->words;
	}
	return NULL;
}

/* Who holds the limit on processes, and whether it is hard. */
static const char *explain_limit(const struct demo *d, char *text, size_t size)
{
	const json_t *pids = json_object_get(d->limits, "pids");
	const char *by = json_string_value(json_object_get(pids, "mechanism"));

	snprintf(text, size, "limits: pids %d, %s", DEMO_PIDS, by ? by : "?");
	return text;
}

static bool should_stand(const struct demo *d, const struct attempt *a)
{
	if (strcmp(a->verb, "fork") == 0)
		return json_is_true(json_object_get(
			json_object_get(d->limits, "pids"), "hard"));
	for (size_t i = 0; i < 3 && a->walls[i]; i++) {
		if (wall_stands(d, a->walls[i]))
			return true;
	}
	return false;
}

static void show(struct demo *d, const struct attempt *a, const char *what,
		 const char *wall, bool through)
{
	const bool failed = through && should_stand(d, a);

	cell(TINT_GOOD, false, 33, "  %s", a->tried);
	if (!through) {
		cell(TINT_GOOD, false, 17, "%s", what);
		cell(TINT_GOOD, true, 0, "%s", wall);
	} else if (failed) {
		d->failures++;
		cell(TINT_BAD, true, 17, "NOT STOPPED");
		cell(TINT_BAD, true, 0, "%s", "a wall that stands let it by");
	} else {
		cell(TINT_WARN, true, 17, "not stopped");
		cell(TINT_WARN, true, 0, "no %s here, see above",
		     strcmp(a->verb, "fork") == 0 ? "hard limit" : a->walls[0]);
	}
	line_end();
}

/* Whatever protects: a name that appeared is moved away and reported. */
static bool was_quarantined(struct demo *d)
{
	agentbox_event *event = NULL;
	bool seen = false;

	agentbox_sandbox_dispatch(d->box, NULL);
	while (agentbox_sandbox_next_event(d->box, &event, NULL) == 0) {
		seen |= strcmp(agentbox_event_get_kind(event),
			       "quarantined") == 0;
		agentbox_event_free(event);
	}
	return seen;
}

static void attempt(struct demo *d, const struct attempt *a)
{
	const char *argv[] = { "./intruder", a->verb, a->what, NULL };
	struct outcome out;
	char limit[64], error[32] = "", detail[256] = "", what[300];
	const char *wall;
	bool through;

	if (!demo_run(d, argv, &out) ||
	    sscanf(out.text, "%31s %255s", error, detail) < 1) {
		cell(TINT_BAD, false, 33, "  %s", a->tried);
		cell(TINT_BAD, true, 0, "was not tried: status %d", out.status);
		line_end();
		d->failures++;
		return;
	}
	/* the host looks for itself where it can */
	through = strcmp(error, "OK") == 0;
	if (a->happened && (through || a->happened(d)))
		through = a->happened(d);
	snprintf(what, sizeof(what), "%s", error);
	wall = explain(d, a, error, detail);
	if (strcmp(a->verb, "fork") == 0) {
		snprintf(what, sizeof(what), "%s after %s", error, detail);
		wall = explain_limit(d, limit, sizeof(limit));
		agentbox_sandbox_kill_all(d->box, NULL);
	} else if (!through && strcmp(error, "OK") == 0) {
		/* it was made and is gone again before the command's end */
		bool moved = was_quarantined(d);

		snprintf(what, sizeof(what), moved ? "moved away" : "undone");
		wall = moved ? "agentbox-init: quarantine" : NULL;
	}
	show(d, a, what, wall ? wall : "refused, nobody knows by whom",
	     through);
}

static bool wrote_outside(struct demo *d)
{
	return facts_entries(d->outside) != 0;
}

static bool planted_hook(struct demo *d)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/.git/hooks", d->tree);
	return facts_entries(path) != 0;
}

static bool planted_envrc(struct demo *d)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/.envrc", d->tree);
	return access(path, F_OK) == 0;
}

static bool was_called(struct demo *d)
{
	int fd = accept(d->listener, NULL, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The real thing: the ~/.ssh of whoever runs this, or ~ when there is none. */
static const char *ssh_directory(char *out, size_t size)
{
	const struct passwd *me = getpwuid(getuid());

	snprintf(out, size, "%s/.ssh", me ? me->pw_dir : "/root");
	if (access(out, F_OK) == 0)
		return "ls ~/.ssh";
	out[strlen(out) - 5] = '\0';
	return "ls ~";
}

void attacks(struct demo *d)
{
	struct attempt list[] = {
		{ "read a secret of the host", "read", "", NULL,
		  { "rootfs", "landlock" } },
		{ "", "list", "", NULL, { "rootfs", "landlock" } },
		{ "write a file outside", "write", "", wrote_outside,
		  { "rootfs", "landlock" } },
		{ "plant .git/hooks/pre-commit", "plant",
		  "../.git/hooks/pre-commit", planted_hook, { "mountns" } },
		{ "plant .envrc (there was none)", "plant", "../.envrc",
		  planted_envrc, { "mountns" } },
		{ "reach a service on 127.0.0.1", "tcp", "", was_called,
		  { "netns", "seccomp" } },
		{ "reach an address outside", "udp", "192.0.2.1", NULL,
		  { "netns", "seccomp" } },
		{ "fork bomb", "fork", "", NULL, { "cgroup" } },
		{ "ptrace this program", "trace", "", NULL,
		  { "pidns", "landlock" } },
		{ wall_stands(d, "pidns") ? "ptrace the box's own init" :
					    "ptrace process 1", "trace", "1", NULL,
		  { "caps", "landlock" } },
		{ "mount a file system", "mount", "", NULL,
		  { "seccomp", "caps" } },
		{ "make namespaces of its own", "namespaces", "", NULL,
		  { "seccomp" } },
	};

	snprintf(list[0].what, sizeof(list[0].what), "%s", d->secret);
	list[1].tried = ssh_directory(list[1].what, sizeof(list[1].what));
	snprintf(list[2].what, sizeof(list[2].what), "%.4000s/owned",
		 d->outside);
	snprintf(list[5].what, sizeof(list[5].what), "%d", d->port);
	/* four times the limit is enough to see that there is none */
	snprintf(list[7].what, sizeof(list[7].what), "%d", 4 * DEMO_PIDS);
	snprintf(list[8].what, sizeof(list[8].what), "%d", (int)getpid());
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		attempt(d, &list[i]);
}
