/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words that a role of a program means, of those that argv.c has read: an
 * operand, the value of an option, what stands behind a key, or a file that
 * the program reads by a name of its own. Spec: agentbox-rules(5).
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

static void each_operand(struct ab_check *c, const struct ab_use *use,
			 const struct ab_role *role, uint32_t from,
			 uint32_t end, ab_role_fn *fn)
{
	uint32_t base = use->base[use->program->depth];

	for (uint32_t i = base + from; i < base + end; i++)
		fn(c, use, role, &use->words[use->operands[i]]);
}

/* @FILE or name=@FILE, and what kind of file it is: ;type=text/plain */
static bool slice_at(struct ab_check *c, const struct ab_role *role,
		     const struct ab_word *w, uint32_t at,
		     struct ab_word *value)
{
	const char *sign = role->text ? role->text : "@";
	const char *hit = memmem(w->text + at, w->len - at, sign,
				 strlen(sign));

	if (!hit)
		return false;
	at = (uint32_t)(hit - w->text) + (uint32_t)strlen(sign);
	return ab_word_slice(c, w, at,
			     (uint32_t)ab_seek(w->text + at, w->len - at,
					       ';'),
			     value);
}

/* Of name=@a,"b" each, as curl -F has it. */
static void each_file(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role, const struct ab_word *w,
		      ab_role_fn *fn)
{
	uint32_t at = 0, n;
	struct ab_word one;

	fn(c, use, role, w);
	if (AB_LIKELY(!memchr(w->text, ',', w->len) &&
		      !memchr(w->text, '"', w->len)))
		return;
	for (; at < w->len; at += n + 1) {
		n = (uint32_t)ab_seek(w->text + at, w->len - at, ',');
		bool is_quoted = n > 1 && w->text[at] == '"' &&
				 w->text[at + n - 1] == '"';

		if (ab_word_slice(c, w, at + is_quoted,
				  n - 2 * (uint32_t)is_quoted, &one))
			fn(c, use, role, &one);
	}
}

static void each_at(struct ab_check *c, const struct ab_use *use,
		    const struct ab_role *role, ab_role_fn *fn)
{
	struct ab_word value;

	for (uint32_t i = use->base[use->program->depth];
	     i < use->operand_count; i++) {
		if (slice_at(c, role, &use->words[use->operands[i]], 0,
			     &value))
			each_file(c, use, role, &value, fn);
	}
}

static void each_value(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role, ab_role_fn *fn)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];
		uint32_t at = v->at;
		struct ab_word value;

		if (!(role->mask & (UINT64_C(1) << v->group)))
			continue;
		if (role->select == AB_SEL_AT) {
			if (at < w->len && slice_at(c, role, w, at, &value))
				each_file(c, use, role, &value, fn);
		} else if (ab_word_slice(c, w, at, w->len, &value)) {
			fn(c, use, role, &value);
		}
	}
}

static void each_key(struct ab_check *c, const struct ab_use *use,
		     const struct ab_role *role, ab_role_fn *fn)
{
	uint32_t n = (uint32_t)strlen(role->text);
	bool is_prefix = n && role->text[n - 1] == '*';

	n -= is_prefix;
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];
		uint32_t at = n;
		struct ab_word value;

		if (w->len <= n || memcmp(w->text, role->text, n) != 0)
			continue;
		while (is_prefix && at + 1 < w->len && w->text[at] != '=')
			at++;
		if (w->text[at] == '=' &&
		    ab_word_slice(c, w, at + 1, w->len, &value))
			fn(c, use, role, &value);
	}
}

/* x-1.0.tgz, which a package manager takes for a file. */
static bool is_package_file(const struct ab_word *w)
{
	static const char *const ends[] = { ".tgz", ".tar.gz", ".whl",
					    ".zip", ".tar.bz2", ".gem" };

	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		size_t n = strlen(ends[i]);

		if (w->len > n && !memcmp(w->text + w->len - n, ends[i], n))
			return !memchr(w->text, ':', w->len);
	}
	return false;
}

bool ab_has_path(const struct ab_use *use)
{
	uint32_t base = use->base[use->program->depth];

	for (uint32_t i = base; i < use->operand_count; i++) {
		const struct ab_word *w = &use->words[use->operands[i]];

		if (w->hole_count || (w->len && memchr("./~", *w->text, 3)) ||
		    (w->len > 5 && !memcmp(w->text, "file:", 5)) ||
		    (*w->text != '@' && memchr(w->text, '/', w->len) &&
		     !memchr(w->text, ':', w->len)) || is_package_file(w))
			return true;
	}
	return false;
}

/* `run file:Makefile` says nothing where the text has put no such file
   anywhere, and no rule is about such a name there. */
static inline bool is_idle(struct ab_check *c, const struct ab_role *role)
{
	struct ab_word w;

	if (role->select != AB_SEL_FILE || role->kind != AB_ROLE_RUN)
		return false;
	w = (struct ab_word){ .text = role->text,
			      .len = (uint32_t)strlen(role->text) };
	/* the name of another one may be made of it */
	if (c->has_files && (memchr(w.text, '*', w.len) ||
			     memchr(w.text, '%', w.len)))
		return false;
	return ab_file_is_untold(c, &w) &&
	       (!c->pack->path_links[AB_ROLE_RUN] || ab_path_is_near(c, &w));
}

/* file:%.py: the first operand, a module, stands for the %. */
static bool put_module(struct ab_check *c, const struct ab_use *use,
		       struct ab_word *w)
{
	uint32_t base = use->base[use->program->depth], at, n = 0, i = 0;
	const char *sign = memchr(w->text, '%', w->len);
	const struct ab_word *module;
	struct ab_word name;
	char *text;

	if (!sign)
		return true;
	if (use->operand_count == base)
		return false;
	module = &use->words[use->operands[base]];
	text = ab_check_alloc(c, (size_t)w->len + module->len);
	if (!text || module->hole_count)
		return false;
	at = (uint32_t)(sign - w->text);
	memcpy(text, w->text, at);
	n = at;
	/* main:app, as servers have it */
	for (uint32_t j = 0; j < module->len && module->text[j] != ':'; j++)
		text[n++] = module->text[j] == '.' ? '/' : module->text[j];
	memcpy(text + n, sign + 1, w->len - at - 1);
	w->text = text;
	w->len = n + w->len - at - 1;
	w->span = module->span;
	name = *w;
	return ab_file_is_written(c, w) ||
	       ab_file_next_module(c, &name, &i, w);
}

static void here(struct ab_check *c, const struct ab_use *use,
		 const struct ab_role *role, ab_role_fn *fn)
{
	const char *name = role->select == AB_SEL_FILE ? role->text : ".";
	struct ab_word w = { .text = name, .len = (uint32_t)strlen(name),
			     .span = use->words[0].span };

	if (role->select == AB_SEL_FILE && memchr(name, '*', w.len))
		ab_file_named(c, use, role, name, fn);
	else if (role->select != AB_SEL_FILE || put_module(c, use, &w))
		fn(c, use, role, &w);
}

/* A=x for the command alone, or for all that the shell starts. */
static void given(struct ab_check *c, const struct ab_use *use,
		  const struct ab_role *role, ab_role_fn *fn)
{
	size_t n = strlen(role->text);
	const struct ab_word *value =
		c->run ? ab_shell_get(c->run, role->text, n, NULL) : NULL;

	for (uint32_t i = 0; i < c->assign_count; i++) {
		const struct ab_shell_assign *a = &c->assigns[i];

		if (a->name_len == n && a->value_count == 1 &&
		    !memcmp(a->name, role->text, n))
			value = a->values;
	}
	if (value && value->len)
		fn(c, use, role, value);
}

void ab_role_each(struct ab_check *c, const struct ab_use *use,
		  const struct ab_role *role, ab_role_fn *fn)
{
	uint32_t n = use->operand_count - use->base[use->program->depth];

	switch ((enum ab_select)role->select) {
	case AB_SEL_HERE:
	case AB_SEL_FILE:
		if (!is_idle(c, role))
			here(c, use, role, fn);
		break;
	case AB_SEL_NTH:
		if (n >= role->a)
			each_operand(c, use, role, role->a - 1, role->a, fn);
		break;
	case AB_SEL_FROM:
		if (n >= role->a)
			each_operand(c, use, role, role->a - 1, n, fn);
		break;
	case AB_SEL_LAST:
		if (n)
			each_operand(c, use, role, n - 1, n, fn);
		break;
	case AB_SEL_BUT_LAST:
		if (n)
			each_operand(c, use, role, 0, n - 1, fn);
		break;
	case AB_SEL_AT:
		if (role->a)
			each_at(c, use, role, fn);
		else
			each_value(c, use, role, fn);
		break;
	case AB_SEL_OPTION:
		each_value(c, use, role, fn);
		break;
	case AB_SEL_KEY:
		each_key(c, use, role, fn);
		break;
	case AB_SEL_ENV:
		/* other files than those of the text are the worktree's */
		if (c->has_files)
			given(c, use, role, fn);
		break;
	case AB_SEL_NONE:
	case AB_SEL_UNTIL:
		break;
	}
}
