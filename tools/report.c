/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walls, limits and plans as tables. A wall that is missing and a limit that
 * is soft stand out; nothing is left away that would look weaker. Shapes:
 * agentbox_sandbox(3).
 */
#include "config.h"

#include "report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "tool.h"

#define COLUMN 18

/* One row; `body` is taken. */
static void row(enum text_color color, const char *name, char *body)
{
	char *label = text_format("  %s", name);

	if (label && body)
		text_item(stderr, COLUMN, color, label, body);
	free(label);
	free(body);
}

static void notes(const json_t *o)
{
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(o, "notes"), i, v)
		if (json_is_string(v))
			row(TEXT_PLAIN, "note", strdup(json_string_value(v)));
}

static void wall(const char *name, const json_t *w)
{
	bool stands = is_true(w, "standing"), hard = is_true(w, "hard");
	const char *note = text_of(w, "note");

	if (stands)
		row(hard ? TEXT_GOOD : TEXT_WARN, name,
		    text_format("stands, %s%s%s%s%s", hard ? "hard" : "soft",
				*text_of(w, "holder") ? ", held by " : "",
				text_of(w, "holder"), *note ? ": " : "",
				note));
	else
		row(TEXT_WARN, name, text_format("missing%s%s",
						 *note ? ": " : "", note));
}

void report_weaker(const json_t *o)
{
	const json_t *list = json_object_get(o, "weaker");
	json_t *w;
	size_t i;

	if (json_array_size(list))
		text_item(stderr, 0, TEXT_BOLD, "weaker here", "");
	json_array_foreach(list, i, w) {
		row(TEXT_WARN, text_of(w, "wall"), text_format(
			"%s%s%s", text_of(w, "what"),
			*text_of(w, "why") ? "; " : "", text_of(w, "why")));
		if (*text_of(w, "fix"))
			row(TEXT_PLAIN, "", text_format("to fix it: %s",
							text_of(w, "fix")));
	}
}

char *report_weaker_line(const json_t *o)
{
	const json_t *list = json_object_get(o, "weaker");
	char *line = NULL;
	json_t *w;
	size_t i;

	json_array_foreach(list, i, w) {
		if (!strcmp(text_of(w, "wall"), "limits.disk"))
			continue;
		char *grown = text_format("%s%s%s", line ? line : "",
					  line ? ", " : "",
					  text_of(w, "wall"));
		free(line);
		line = grown;
	}
	return line;
}

static bool is_of(const json_t *noted, const char *kind)
{
	return !strcmp(text_of(noted, "kind"), kind);
}

void report_not_hidden(const json_t *walls, const json_t *places)
{
	json_t *place, *note;
	size_t i, j;

	json_array_foreach(places, i, place) {
		const char *name = json_string_value(place);

		json_array_foreach(json_object_get(walls, "noted"), j, note)
			if (name && is_of(note, "skipped") &&
			    !strcmp(text_of(note, "object"), name))
				text_warning("--hide: there is no '%s' in the "
					     "box: nothing is hidden", name);
	}
	json_array_foreach(json_object_get(walls, "noted"), j, note)
		if (json_array_size(places) && is_of(note, "left-out"))
			text_warning("--hide: more places were not there than "
				     "could be told");
}

void report_read_only(const json_t *walls)
{
	json_t *note;
	size_t i;

	json_array_foreach(json_object_get(walls, "noted"), i, note)
		if (is_of(note, "read-only"))
			text_warning("%s", text_of(note, "note"));
}

void report_walls(const json_t *walls)
{
	const char *key;
	json_t *w;

	text_item(stderr, 0, TEXT_BOLD, "walls", "");
	json_object_foreach(json_object_get(walls, "walls"), key, w)
		wall(key, w);
	notes(walls);
	report_weaker(walls);
}

/* 4294967296 as "4GiB" where it is exact, as policies spell it. */
static char *quantity(const char *name, long long n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t u = 0;

	if (!strcmp(name, "memory") || !strcmp(name, "disk")) {
		while (n && n % 1024 == 0 && u + 1 < 5) {
			n /= 1024;
			u++;
		}
		return text_format("%lld%s", n, units[u]);
	}
	if (!strcmp(name, "cpus") && n % 1000 == 0)
		return text_format("%lld", n / 1000);
	if (!strcmp(name, "cpus"))
		return text_format("%lldm", n);
	if (!strcmp(name, "wall") && n % 3600000 == 0)
		return text_format("%lldh", n / 3600000);
	if (!strcmp(name, "wall") && n % 60000 == 0)
		return text_format("%lldm", n / 60000);
	if (!strcmp(name, "wall") && n % 1000 == 0)
		return text_format("%llds", n / 1000);
	if (!strcmp(name, "wall"))
		return text_format("%lldms", n);
	return text_format("%lld", n);
}

static void limit(const char *name, const json_t *l)
{
	json_t *requested = json_object_get(l, "requested");
	bool hard = is_true(l, "hard");
	const char *note = text_of(l, "note"), *scope = text_of(l, "scope");
	bool is_place = !strcmp(scope, "private"); /* agentbox_walls(3) */
	char *much = json_is_integer(requested)
		     ? quantity(name, json_integer_value(requested))
		     : NULL;

	if (!much)
		row(TEXT_WARN, name, strdup("no limit asked for"));
	else if (!strcmp(text_of(l, "mechanism"), "none"))
		row(TEXT_BAD, name, text_format("%s, nothing holds it%s%s",
						much, *note ? ": " : "",
						note));
	else
		row(hard ? TEXT_GOOD : TEXT_WARN, name,
		    text_format("%s, %s, by %s %s%s%s%s", much,
				hard ? "hard" : "soft",
				text_of(l, "mechanism"),
				is_place ? "in what is " : "per ", scope,
				*note ? ": " : "", note));
	free(much);
}

void report_limits(const json_t *limits)
{
	const char *key;
	json_t *l;

	text_item(stderr, 0, TEXT_BOLD, "limits", "");
	json_object_foreach((json_t *)limits, key, l)
		limit(key, l);
}

/* "write /workspace from /home/ada/shop, exec" */
static void mount(const json_t *m)
{
	const char *access = text_of(m, "access");
	const char *from = text_of(m, "from"), *at = text_of(m, "at");
	bool same = !strcmp(from, at);

	row(!strcmp(access, "write") ? TEXT_WARN : TEXT_PLAIN,
	    *access && !strcmp(text_of(m, "kind"), "bind") ? access
	    : text_of(m, "kind"),
	    text_format("%s%s%s%s", at, *from && !same ? " from " : "",
			same ? "" : from,
			json_is_false(json_object_get(m, "exec"))
			? ", noexec" : ""));
}

void report_plan(const json_t *plan)
{
	json_t *v, *namespaces = json_object_get(plan, "namespaces");
	char *list = strdup("");
	size_t i;

	row(TEXT_BOLD, "tier", strdup(text_of(plan, "tier")));
	json_array_foreach(namespaces, i, v) {
		char *grown = text_format("%s%s%s", list ? list : "",
					  i ? ", " : "",
					  json_string_value(v));
		free(list);
		list = grown;
	}
	row(TEXT_BOLD, "namespaces", list);
	row(TEXT_BOLD, "landlock", text_format(
		"level %lld, %zu rules", (long long)json_integer_value(
			json_object_get(plan, "landlock_abi")),
		json_array_size(json_object_get(plan, "landlock_rules"))));
	text_item(stderr, 0, TEXT_BOLD, "tree, in order", "");
	json_array_foreach(json_object_get(plan, "mounts"), i, v)
		mount(v);
	report_limits(json_object_get(plan, "limits"));
	if (json_array_size(json_object_get(plan, "notes")))
		text_item(stderr, 0, TEXT_BOLD, "notes", "");
	notes(plan);
	report_weaker(plan);
}
