/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an answer of agentbox-verify means: by the row that was asked, by the
 * walls that the box was raised with, and by nothing else. Whatever is not one
 * of the answers that a row lists is unknown, or missing where the row is of
 * the filter, whose answers are all listed. Spec: libexec/verify/main.c.
 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/limits.h"
#include "verify/ask.h"

/* "E13" or a name: what the table writes; the kernel's numbers are libc's. */
static bool is_error(const char *name, size_t n, int number)
{
	const char *own = strerrorname_np(number);

	return own && strlen(own) == n && strncmp(own, name, n) == 0;
}

/* The wall that a refusal is of, by "EPERM=seccomp ..."; owned; NULL: none. */
static char *find_wall(const ab_question *item, int number, bool *nomem)
{
	const char *own = strerrorname_np(number);

	for (const char *at = item->refused; *at;) {
		size_t n = strcspn(at, " "), name = strcspn(at, "= ");

		if (name < n && is_error(at, name, number)) {
			char *wall = ab_asprintf("%.*s (%s)",
						 (int)(n - name - 1),
						 at + name + 1, own);

			*nomem = !wall;
			return wall;
		}
		if (name == n && is_error(at, name, number)) {
			char *wall = ab_asprintf("%s (%s)", item->wall, own);

			*nomem = !wall;
			return wall;
		}
		at += n + (at[n] == ' ');
	}
	return NULL;
}

void ab_verify_decode(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		char hex[3] = "";
		unsigned long c = 0;

		if (*p == '%' && p[1] && p[2]) {
			memcpy(hex, p + 1, 2);
			c = strtoul(hex, NULL, 16);
			p += 2;
			*to++ = c ? (char)c : '?';
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/*
 * In a tree of the host that the policy mounts, in a file system that was made
 * for the box, where its own processes listen, or the broker's socket. That
 * nothing else stands in the place of one of these the mount table says.
 */
static bool is_planned(const ab_verify_run *run, const char *path)
{
	static const char *const kinds[] = { "bind", "tmpfs", "broker" };

	for (size_t i = 0; i < AB_ARRAY_LEN(kinds); i++)
		if (ab_verify_step_above(run, kinds[i], path))
			return true;
	return false;
}

/*
 * Is every one of these paths, one to a line, where the plan has it? Then no
 * wall is missing. The list may be cut off (PROBE_MORE of libexec/verify):
 * what does not begin with a slash is not.
 */
static bool is_shown(const ab_verify_run *run, const char *paths)
{
	char path[AB_MAX_PATH];

	for (const char *at = paths; *at;) {
		size_t n = strcspn(at, "\n");

		if (*at != '/' || n >= sizeof(path))
			return false;
		memcpy(path, at, n);
		path[n] = '\0';
		if (!is_planned(run, path))
			return false;
		at += n + (at[n] == '\n');
	}
	return *paths != '\0';
}

/* Is a filter one of the walls that may answer? */
static bool is_of_filter(const ab_question *item)
{
	return !strcmp(item->wall, "seccomp") ||
	       strstr(item->refused, "=seccomp") != NULL;
}

void ab_verify_judge(ab_verify_run *run, const ab_question *item,
		     const char *how, const char *text)
{
	bool asked = (run->walls.expected & item->needs) == item->needs;
	char *result = NULL, *answer = NULL;
	uint32_t verdict = AB_VERDICT_UNKNOWN;
	bool nomem = false;
	int number = 0;

	if (how[0] == 'e' || how[0] == 's')
		number = (int)strtol(how + 1, NULL, 10);
	if (!strcmp(how, "ok")) {
		verdict = asked ? AB_VERDICT_MISSING : AB_VERDICT_WEAKER;
		if (!strcmp(item->wall, "sockets") && is_shown(run, text))
			verdict = AB_VERDICT_WEAKER;
		result = ab_asprintf("it was let%s%s", *text ? ": " : "",
				     text);
		answer = ab_strdup("nothing");
	} else if (how[0] == 'e' && number > 0) {
		answer = find_wall(item, number, &nomem);
		verdict = answer ? AB_VERDICT_PASS : AB_VERDICT_MISSING;
		/* the kernel's own answer means that the filter gave none */
		if (!answer && strcmp(item->wall, "seccomp") != 0)
			verdict = AB_VERDICT_UNKNOWN;
		if (verdict == AB_VERDICT_MISSING && !asked)
			verdict = AB_VERDICT_WEAKER;
		result = ab_asprintf("%s%s%s", strerrordesc_np(number)
				     ? strerrordesc_np(number) : how,
				     *text ? ": " : "", text);
		if (!answer && !nomem)
			answer = ab_strdup(verdict == AB_VERDICT_UNKNOWN
					   ? "not known" : "the kernel itself");
	} else if (how[0] == 's' && number == SIGSYS && is_of_filter(item)) {
		verdict = AB_VERDICT_PASS;
		result = ab_strdup("it was ended by SIGSYS");
		answer = ab_strdup("seccomp (SIGSYS)");
	} else {
		result = ab_asprintf("not to be found out%s%s",
				     *text ? ": " : "", text);
		answer = ab_strdup("not known");
	}
	ab_verify_add(run->report, item->id, item->wall, item->tries, true,
		      verdict, result, answer);
}
