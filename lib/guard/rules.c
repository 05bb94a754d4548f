/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packs that come from outside, and the rules of a policy document. A rule of
 * a policy is a command as people write it ("rm -rf *"); it is written out as
 * a condition of a pack here, so that there is one language and one matcher.
 */
#include "config.h"

#include "guard/rules.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "guard/shell.h"
#include "policy/policy.h"

#define MAX_ADDED 8

struct added {
	enum ab_pack_layer layer;
	char *name, *text;
	size_t len;
};

struct agentbox_rules {
	struct added items[MAX_ADDED];
	size_t count;
};

int32_t agentbox_rules_new(agentbox_rules **rules, agentbox_error **err)
{
	agentbox_rules *r;

	if (!rules)
		return ab_error_set(err, AGENTBOX_EINVAL, "rules",
				    "rules must not be NULL");
	r = ab_new(agentbox_rules);
	if (!r)
		return ab_error_nomem(err);
	*rules = r;
	return 0;
}

void agentbox_rules_free(agentbox_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->items[i].name);
		free(rules->items[i].text);
	}
	free(rules);
}

const char *agentbox_rules_get_builtin(size_t *n)
{
	if (n)
		*n = ab_base_rules_len;
	return ab_base_rules;
}

/* The built-in pack and what was added, the host's before the project's. */
static int32_t read_all(struct ab_pack *pack, const agentbox_rules *rules,
			enum ab_pack_layer upto, agentbox_error **err)
{
	int32_t r = ab_pack_read(pack, AB_LAYER_BASE, "builtin", ab_base_rules,
				 ab_base_rules_len, err);

	for (int layer = AB_LAYER_HOST; rules && layer <= (int)upto; layer++) {
		for (size_t i = 0; r == 0 && i < rules->count; i++) {
			const struct added *a = &rules->items[i];

			if ((int)a->layer == layer)
				r = ab_pack_read(pack, a->layer, a->name,
						 a->text, a->len, err);
		}
	}
	return r;
}

int32_t agentbox_rules_add(agentbox_rules *rules, int32_t layer,
			   const char *name, const char *text, size_t n,
			   agentbox_error **err)
{
	struct added *a;
	int32_t r;

	if (!rules || !name || (!text && n) ||
	    (layer != AGENTBOX_RULES_HOST && layer != AGENTBOX_RULES_PROJECT))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "rules, a name, a text and a layer are "
				    "needed");
	if (rules->count == MAX_ADDED)
		return ab_error_set(err, AGENTBOX_ELIMIT, name,
				    "at most %d packs", MAX_ADDED);
	/* before anything is copied: the length may be wrong */
	if (n > AB_PACK_MAX_BYTES)
		return ab_error_set(err, AGENTBOX_ELIMIT, name,
				    "a pack has at most %u bytes",
				    AB_PACK_MAX_BYTES);
	a = &rules->items[rules->count];
	a->layer = layer == AGENTBOX_RULES_HOST ? AB_LAYER_HOST
						: AB_LAYER_PROJECT;
	a->name = ab_strdup(name);
	a->text = ab_memdup0(text ? text : "", n);
	a->len = n;
	struct ab_pack *pack = ab_pack_new();

	rules->count++;
	r = a->name && a->text && pack ? 0 : ab_error_nomem(err);
	if (r == 0)
		r = read_all(pack, rules, AB_LAYER_PROJECT, err);
	if (r == 0)
		r = ab_pack_verify(pack, a->layer, name, err);
	ab_pack_free(pack);
	if (r < 0) {
		rules->count--;
		free(a->name);
		free(a->text);
		*a = (struct added){ 0 };
	}
	return r;
}

/* --- the policy's own rules ---------------------------------------------- */

struct writer {
	char *text; /* owned */
	size_t len, room;
	bool is_full, has_no_memory;
};

static void put(struct writer *w, const char *s, size_t n)
{
	size_t need;

	if (w->is_full || !ab_add_size(w->len, n, &need) ||
	    need > AB_PACK_MAX_BYTES) {
		w->is_full = true;
		return;
	}
	if (!ab_grow(&w->text, &w->room, need, 1)) {
		w->is_full = w->has_no_memory = true;
		return;
	}
	memcpy(w->text + w->len, s, n);
	w->len = need;
}

static void puts_(struct writer *w, const char *s)
{
	put(w, s, strlen(s));
}

/* One line of it: other control bytes become blanks. */
static void put_line(struct writer *w, const char *what, const char *s)
{
	if (!s || !*s)
		return;
	puts_(w, "\t");
	puts_(w, what);
	puts_(w, " ");
	for (; *s; s++)
		put(w, (unsigned char)*s < 0x20 ? " " : s, 1);
	puts_(w, "\n");
}

/* A word of a pack, in quotes: what a quoted word may hold is kept. */
static void put_word(struct writer *w, const char *before, const char *s,
		     size_t n)
{
	puts_(w, " \"");
	puts_(w, before);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"' || s[i] == '\\')
			puts_(w, "\\");
		put(w, (unsigned char)s[i] < 0x20 ? " " : s + i, 1);
	}
	puts_(w, "\"");
}

static bool knows(const struct ab_pack *pack, const struct ab_program *p,
		  const char *s, size_t n)
{
	for (uint32_t i = 0; p && i < p->option_count; i++) {
		const struct ab_option *o = &pack->options[p->option + i];

		if (o->len == n && !memcmp(o->name, s, n))
			return true;
	}
	return false;
}

static bool knows_bundle(const struct ab_pack *pack,
			 const struct ab_program *p, const char *s, size_t n)
{
	if (n < 3 || s[1] == '-')
		return false;
	for (size_t i = 1; i < n; i++) {
		char one[2] = { '-', s[i] };

		if (!knows(pack, p, one, 2))
			return false;
	}
	return true;
}

static void put_option(struct writer *w, const struct ab_pack *pack,
		       const struct ab_program *p, const char *s, size_t n)
{
	const char *eq = memchr(s, '=', n);
	size_t name = eq ? (size_t)(eq - s) : n;

	if (knows(pack, p, s, name)) {
		put_word(w, "", s, n);
	} else if (knows_bundle(pack, p, s, n)) {
		for (size_t i = 1; i < n; i++) {
			char one[2] = { '-', s[i] };

			put_word(w, "", one, 2);
		}
	} else {
		put_word(w, "%word=", s, n);
	}
}

/* "rm -rf *" as the words of a `when`. `git` goes in front of git's rules. */
static void put_pattern(struct writer *w, const struct ab_pack *pack,
			const char *pattern, bool is_git)
{
	const struct ab_program *p = NULL;
	bool is_first = true;

	puts_(w, "\twhen");
	if (is_git && strncmp(pattern, "git ", 4) != 0 &&
	    strcmp(pattern, "git") != 0) {
		put_word(w, "", "git", 3);
		p = ab_pack_program(pack, "git", 3);
		is_first = false;
	}
	while (*pattern) {
		size_t n = strcspn(pattern, " \t");

		if (n && is_first)
			p = ab_pack_program(pack, pattern, n);
		if (n && !is_first && *pattern == '-' && n > 1)
			put_option(w, pack, p, pattern, n);
		else if (n && (is_first || pattern[n] ||
			       !(n == 1 && *pattern == '*')))
			put_word(w, "", pattern, n);
		is_first = is_first && !n;
		pattern += n;
		pattern += strspn(pattern, " \t");
	}
	puts_(w, "\n");
}

static const char *text_of(const json_t *rule, const char *key)
{
	return json_string_value(json_object_get(rule, key));
}

static void put_rule(struct writer *w, const struct ab_pack *pack,
		     const json_t *rule, bool is_git)
{
	const char *id = text_of(rule, "id");
	const char *pattern = text_of(rule, "pattern");
	const char *verdict = text_of(rule, "verdict");
	bool is_known = id && ab_pack_rule(pack, id, strlen(id)) != UINT16_MAX;
	bool is_all = pattern && !strcmp(pattern, "*");

	if (!id || !pattern || !verdict)
		return;
	puts_(w, "rule ");
	if (!(is_known && is_all) && (is_known || !strchr(id, '.')))
		puts_(w, is_git ? "policy-git." : "policy.");
	puts_(w, id);
	puts_(w, " ");
	puts_(w, verdict);
	puts_(w, " medium\n");
	put_line(w, "reason", text_of(rule, "reason")
				      ? text_of(rule, "reason")
				      : "the policy says so");
	put_line(w, "advice", text_of(rule, "alternative"));
	if (!is_all)
		put_pattern(w, pack, pattern, is_git);
}

static int32_t read_section(struct ab_pack *pack,
			    const agentbox_policy *policy, const char *key,
			    bool is_git, bool *is_strict,
			    agentbox_error **err)
{
	const json_t *section = ab_policy_section(policy, key);
	const json_t *rules = json_object_get(section, "rules");
	const char *profile = text_of(section, "profile");
	struct writer w = { 0 };
	size_t i;
	json_t *rule;
	int32_t r = 0;

	*is_strict = profile && !strcmp(profile, "strict");
	json_array_foreach(rules, i, rule)
		put_rule(&w, pack, rule, is_git);
	if (w.has_no_memory)
		r = ab_error_nomem(err);
	else if (w.is_full)
		r = ab_error_set(err, AGENTBOX_ELIMIT, key, "too many rules");
	else if (w.len)
		r = ab_pack_read(pack, AB_LAYER_HOST,
				 is_git ? "policy git.rules"
					: "policy commands.rules",
				 w.text, w.len, err);
	free(w.text);
	return r;
}

int32_t ab_guard_rules_init(struct ab_guard_rules *out,
			    const agentbox_policy *policy,
			    const agentbox_rules *rules, agentbox_error **err)
{
	int32_t r;

	*out = (struct ab_guard_rules){ .is_strict = true,
					.is_git_strict = true };
	out->pack = ab_pack_new();
	if (!out->pack)
		return ab_error_nomem(err);
	r = read_all(out->pack, rules, AB_LAYER_HOST, err);
	if (r == 0)
		r = read_section(out->pack, policy, "/commands", false,
				 &out->is_strict, err);
	if (r == 0)
		r = read_section(out->pack, policy, "/git", true,
				 &out->is_git_strict, err);
	for (size_t i = 0; r == 0 && rules && i < rules->count; i++) {
		const struct added *a = &rules->items[i];

		if (a->layer == AB_LAYER_PROJECT)
			r = ab_pack_read(out->pack, a->layer, a->name, a->text,
					 a->len, err);
	}
	return r;
}

void ab_guard_rules_end(struct ab_guard_rules *rules)
{
	ab_pack_free(rules->pack);
	rules->pack = NULL;
}
