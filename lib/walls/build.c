/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Growing a plan: owned memory, steps, rules, notes. Decides nothing; see
 * internal.h for the sticky out-of-memory rule.
 */
#include "config.h"

#include "walls/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "path/lexical.h"

bool ab_build_grow(ab_build *b, void *array, size_t count, size_t size)
{
	void *p;

	if (count != 0 && (count & (count - 1)) != 0)
		return true;
	memcpy(&p, array, sizeof(p));
	p = ab_realloc(p, count ? 2 * count : 1, size);
	if (!p) {
		b->nomem = true;
		return false;
	}
	memcpy(array, &p, sizeof(p));
	return true;
}

char *ab_build_own(ab_build *b, char *taken)
{
	if (!taken) {
		b->nomem = true;
		return NULL;
	}
	if (!ab_build_grow(b, &b->owned, b->owned_count, sizeof(*b->owned))) {
		free(taken);
		return NULL;
	}
	b->owned[b->owned_count++] = taken;
	return taken;
}

char *ab_build_str(ab_build *b, const char *s)
{
	return ab_build_own(b, ab_strdup(s));
}

char *ab_build_join(ab_build *b, const char *base, const char *rest)
{
	char path[AB_MAX_PATH];

	if (!base || !rest) {
		b->nomem = true;
		return NULL;
	}
	/* both came through checked paths; one that overflows is not usable */
	if (ab_path_join(base, rest, path, sizeof(path)) < 0) {
		b->nomem = true;
		return NULL;
	}
	return ab_build_str(b, path);
}

ab_plan_step *ab_build_step(ab_build *b, uint32_t kind, uint32_t flags,
			    const char *target)
{
	ab_plan_step *step = &b->scratch_step;

	if (ab_build_grow(b, &b->plan.steps, b->plan.step_count, sizeof(*step)))
		step = &b->plan.steps[b->plan.step_count++];
	memset(step, 0, sizeof(*step));
	step->kind = kind;
	step->flags = flags;
	step->source = "";
	step->target = target;
	if (!target)
		b->nomem = true;
	return step;
}

/* '/' sorts before every other byte, so /a, /a/b, /a-b keep their order. */
int ab_path_order(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	if (*a == *b)
		return 0;
	if (*a == '/')
		return *b ? -1 : 1;
	if (*b == '/')
		return *a ? 1 : -1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

void ab_build_view(ab_build *b, const ab_view *view)
{
	if (ab_build_grow(b, &b->views, b->view_count, sizeof(*view)))
		b->views[b->view_count++] = *view;
}

void ab_build_rule(ab_build *b, const char *path, uint64_t access)
{
	if (!path) {
		b->nomem = true;
		return;
	}
	if (access != 0 &&
	    ab_build_grow(b, &b->plan.rules, b->plan.rule_count,
			  sizeof(*b->plan.rules)))
		b->plan.rules[b->plan.rule_count++] = (ab_plan_rule){
			.path = path, .access = access
		};
}

void ab_build_rlimit(ab_build *b, uint32_t resource, uint64_t value)
{
	if (ab_build_grow(b, &b->plan.rlimits, b->plan.rlimit_count,
			  sizeof(*b->plan.rlimits)))
		b->plan.rlimits[b->plan.rlimit_count++] = (ab_plan_rlimit){
			.resource = resource, .soft = value, .hard = value
		};
}

void ab_build_watch(ab_build *b, const char *pattern)
{
	if (!pattern)
		b->nomem = true;
	else if (ab_build_grow(b, &b->plan.watches, b->plan.watch_count,
			       sizeof(*b->plan.watches)))
		b->plan.watches[b->plan.watch_count++] = (ab_plan_watch){
			.pattern = pattern
		};
}

void ab_build_pin(ab_build *b, int fd)
{
	if (ab_build_grow(b, &b->out->path_fds, b->out->path_fd_count,
			  sizeof(*b->out->path_fds)))
		b->out->path_fds[b->out->path_fd_count++] = fd;
	else
		close(fd);
}

void ab_build_cgroup(ab_build *b, const char *path)
{
	char *copy = ab_strdup(path);

	if (copy && ab_build_grow(b, &b->out->cgroups, b->out->cgroup_count,
				  sizeof(*b->out->cgroups))) {
		b->out->cgroups[b->out->cgroup_count++] = copy;
		return;
	}
	free(copy);
	b->nomem = true;
}

json_t *ab_build_text(const char *s)
{
	char text[4 * AB_MAX_PATH];
	json_t *plain = json_string(s);
	size_t used = 0;
	bool high = false;

	for (const char *p = s; *p && !high; p++)
		high = (unsigned char)*p >= 0x80;
	if (plain || !high)
		return plain;
	for (; *s && used + 5 < sizeof(text); s++) {
		unsigned c = (unsigned char)*s;

		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 c < 0x80 ? "%c" : "\\x%02x", c);
	}
	return json_stringn(text, used);
}

void ab_build_note(ab_build *b, const char *fmt, ...)
{
	char text[AB_MAX_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (json_array_append_new(b->out->notes, ab_build_text(text)) != 0)
		b->nomem = true;
}

/* Among the notes as well, where people look. */
static bool add_noted(ab_compiled *c, const char *kind, const char *object,
		      const char *text)
{
	json_t *note = ab_build_text(text);
	json_t *o = json_pack("{s:s, s:o, s:O}", "kind", kind, "object",
			      ab_build_text(object), "note", note);
	bool good = json_array_append(c->notes, note) == 0 &&
		    json_array_append_new(c->noted, o) == 0;

	json_decref(note);
	return good;
}

void ab_build_note_of(ab_build *b, const char *kind, const char *object,
		      const char *fmt, ...)
{
	char text[AB_MAX_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!add_noted(b->out, kind, object, text))
		b->nomem = true;
}

/* "skipped\tmounts[26]\t/opt/x" */
static bool take_skipped(ab_compiled *c, const char *line)
{
	char text[AB_MAX_PATH + AB_MAX_ERROR_TEXT];
	size_t n = strcspn(line, "\t");

	if (!line[n])
		return false;
	snprintf(text, sizeof(text), "%.*s %s: not there, skipped", (int)n,
		 line, line + n + 1);
	return add_noted(c, "skipped", line + n + 1, text);
}

bool ab_walls_take_notes(ab_compiled *compiled, const char *lines)
{
	static const char skipped[] = "skipped\t";
	bool good = compiled->notes && compiled->noted;

	while (*lines && good) {
		size_t n = strcspn(lines, "\n");
		ab_autofree char *line = ab_memdup0(lines, n);

		if (line && !strncmp(line, skipped, sizeof(skipped) - 1))
			good = take_skipped(compiled,
					    line + sizeof(skipped) - 1);
		else if (line && !strcmp(line, "left-out"))
			good = add_noted(compiled, line, "", "more was noted "
					 "than could be told");
		else
			good = line && json_array_append_new(
					       compiled->notes,
					       ab_build_text(line)) == 0;
		lines += n + (lines[n] == '\n');
	}
	return good;
}

void ab_build_end(ab_build *b)
{
	for (size_t i = 0; i < b->owned_count; i++)
		free(b->owned[i]);
	free(b->owned);
	free(b->views);
	free(b->plan.steps);
	free(b->plan.rules);
	free(b->plan.rlimits);
	free(b->plan.watches);
	free(b->plan.cgroups);
	free(b->plan.gateway_ports);
	if (b->workspace.fd >= 0)
		close(b->workspace.fd);
}
