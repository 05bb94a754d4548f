/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The box's mount table against the plan that its policy makes: nothing is
 * mounted that the plan does not mount, nothing is writable, may hold devices
 * or set-user-ID programs, or hears of the host's mounts that should not, and
 * what the plan hides or protects is hidden and protected. The table is read
 * in the host's /proc. Spec: proc_pid_mountinfo(5), lib/walls/report.c.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "path/lexical.h"
#include "verify/internal.h"

typedef struct mount_row {
	char *at, *options, *tags, *type; /* borrowed from the text */
} mount_row;

/* mountinfo writes blanks and the like as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		bool is_octal = p[0] == '\\' && p[1] >= '0' && p[1] <= '3';

		if (is_octal && p[2] && p[3]) {
			*to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 +
				       (p[3] - '0'));
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/* One line, cut in place. */
static bool cut(char *line, mount_row *m)
{
	char *save = NULL, *rest = strstr(line, " - "), *field = line;

	if (!rest)
		return false;
	*rest = '\0';
	m->type = rest + 3;
	m->type[strcspn(m->type, " ")] = '\0';
	for (int i = 0; i < 6; i++) {
		field = strtok_r(i ? NULL : line, " ", &save);
		if (!field)
			return false;
		if (i == 4)
			m->at = field;
		if (i == 5)
			m->options = field;
	}
	m->tags = save ? save : (char *)"";
	unescape(m->at);
	return true;
}

static bool has_option(const char *options, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = options; *at;) {
		size_t len = strcspn(at, ",");

		if (len == n && strncmp(at, name, n) == 0)
			return true;
		at += len + (at[len] == ',');
	}
	return false;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* Of a minimal /dev and a /proc: libexec/init/dev.c. */
static bool is_usual(const char *at)
{
	static const char *const usual[] = {
		"/",	       "/dev",	      "/dev/null", "/dev/zero",
		"/dev/full",   "/dev/random", "/dev/urandom", "/dev/tty",
		"/dev/pts",    "/dev/shm",    "/dev/mqueue",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(usual); i++) {
		if (!strcmp(usual[i], at))
			return true;
	}
	return false;
}

static bool is_device(const char *at)
{
	return is_usual(at) && strncmp(at, "/dev/", 5) == 0 &&
	       strcmp(at, "/dev/shm") != 0 && strcmp(at, "/dev/mqueue") != 0;
}

/*
 * The step of the plan that a mount is of: the one at that very place, the
 * last one where there are several; else a tree above it, which may bring
 * mounts of its own along. NULL: none.
 */
static const json_t *step_of(const ab_verify_run *run, const char *at)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	const json_t *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *place = text_of(m, "at");
		size_t n = strlen(place);

		if (!strcmp(place, at) ? n >= longest
				       : !strcmp(text_of(m, "kind"), "bind") &&
						 n > longest &&
						 ab_path_is_below(at, place)) {
			best = m;
			longest = n;
		}
	}
	return best;
}

/* Why a mount is not as the plan has it; owned; NULL: it is, or no memory. */
static char *judge(const ab_verify_run *run, const mount_row *m,
		   const char **wall, bool *nomem)
{
	const json_t *step = step_of(run, m->at);
	const char *why = NULL;
	char *text;

	*wall = "mounts";
	if (!step && !is_usual(m->at) && strcmp(m->at, "/proc") != 0) {
		*wall = strncmp(m->at, "/dev/", 5) ? "rootfs" : "devices";
		why = "is no mount of the plan";
	} else if (strstr(m->tags, "master:") || strstr(m->tags, "shared:")) {
		why = "hears of the host's mounts";
	} else if (!strcmp(m->at, "/") && !has_option(m->options, "ro")) {
		*wall = "rootfs";
		why = "is writable";
	} else if (!is_device(m->at) && !has_option(m->options, "nodev")) {
		why = "may hold devices";
	} else if (!is_device(m->at) && !has_option(m->options, "nosuid")) {
		why = "may hold set-user-ID programs";
	} else if (step && !has_option(m->options, "ro") &&
		   (!strcmp(text_of(step, "access"), "read") ||
		    !strcmp(text_of(step, "kind"), "hide"))) {
		*wall = ab_verify_wall_of(step);
		why = "is writable";
	} else if (step && json_is_false(json_object_get(step, "exec")) &&
		   !has_option(m->options, "noexec")) {
		why = "may hold programs to execute";
	}
	if (!why)
		return NULL;
	text = ab_asprintf("%s %s", m->at, why);
	*nomem |= !text;
	return text;
}

/* Steps that must be mounts of their own, else they do not hold. */
static bool is_needed(const char *kind)
{
	return !strcmp(kind, "hide") || !strcmp(kind, "protect") ||
	       !strcmp(kind, "pin");
}

static bool is_mounted(const mount_row *rows, size_t count, const char *at)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(rows[i].at, at))
			return true;
	}
	return false;
}

/* Does it exist in the box at all? What is hidden there need not. */
static void look_for_steps(ab_verify_run *run, const mount_row *rows,
			   size_t count)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	size_t protects = 0;
	bool bad = false;

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *at = text_of(m, "at"), *kind = text_of(m, "kind");
		bool is_hidden = !strcmp(kind, "hide");

		if (!is_needed(kind))
			continue;
		protects += !is_hidden;
		if (is_mounted(rows, count, at))
			continue;
		/* what is optional and was not there is hidden well enough */
		if (is_hidden)
			continue;
		bad = true;
		ab_verify_add(run->report, "mounts.protected",
			      ab_verify_wall_of(m),
			      "look for the mounts of protected paths", true,
			      AB_VERDICT_MISSING,
			      ab_asprintf("%s is not held by a mount", at),
			      ab_strdup("nothing"));
	}
	if (protects && !bad)
		ab_verify_add(run->report, "mounts.protected", "protect",
			      "look for the mounts of protected paths", true,
			      AB_VERDICT_PASS,
			      ab_asprintf("%zu, each held by a mount",
					  protects),
			      ab_strdup("mounts"));
}

static size_t read_rows(char *text, mount_row **out)
{
	size_t count = 0, n = 0;
	char *save = NULL;
	mount_row *rows;

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n++;
	rows = ab_calloc(n + 1, sizeof(*rows));
	*out = rows;
	for (char *line = strtok_r(text, "\n", &save); rows && line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (count < n && cut(line, &rows[count]))
			count++;
	}
	return count;
}

static void look_at_rows(ab_verify_run *run, const mount_row *rows,
			 size_t count)
{
	static const char probe[] = "mounts.table";
	static const char tried[] = "compare the mount table with the plan";
	bool nomem = false, bad = false;

	for (size_t i = 0; i < count; i++) {
		const char *wall;
		char *why = judge(run, &rows[i], &wall, &nomem);

		if (!why)
			continue;
		bad = true;
		ab_verify_add(run->report, probe, wall, tried, true,
			      AB_VERDICT_MISSING, why, ab_strdup("nothing"));
	}
	run->report->nomem |= nomem;
	if (!bad && !nomem)
		ab_verify_add(run->report, probe, "mounts", tried, true,
			      AB_VERDICT_PASS,
			      ab_asprintf("%zu mounts, each as planned", count),
			      ab_strdup("mounts"));
}

void ab_verify_mounts(ab_verify_run *run)
{
	static const char tried[] = "compare the mount table with the plan";
	ab_autofree mount_row *rows = NULL;
	ab_autofree char *text = NULL;
	int sys_errno = 0;
	size_t count;

	/* a tier without a tree of its own has the host's */
	if (!(run->walls.expected & AB_WALL_ROOTFS)) {
		ab_verify_add(run->report, "mounts.table", "mounts", tried,
			      true, AB_VERDICT_WEAKER,
			      ab_strdup("the host's own mounts"),
			      ab_strdup("landlock alone, where there is one"));
		return;
	}
	text = ab_proc_text(run->prober, "mountinfo", &sys_errno);
	count = text ? read_rows(text, &rows) : 0;
	if (!count) {
		ab_verify_add(run->report, "mounts.table", "mounts", tried,
			      true, AB_VERDICT_UNKNOWN,
			      ab_strdup("not to be found out"),
			      ab_strdup(sys_errno ? strerrordesc_np(sys_errno)
						  : "no memory"));
		return;
	}
	look_at_rows(run, rows, count);
	look_for_steps(run, rows, count);
}
