/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rule blocks of a pack: verdicts, conditions. A condition becomes a clause
 * that hangs where it is looked for: at its programs, at a kind of access to
 * a path, at a variable, at a sink, at a language.
 */
#include "config.h"

#include "guard/pack.h"

#include <string.h>

#include "guard/pack_internal.h"

static const char *const known[AB_KNOWN_COUNT] = {
	[AB_KNOWN_LIMIT] = "parse.limit",
	[AB_KNOWN_UNTERMINATED] = "parse.unterminated",
	[AB_KNOWN_CONTROL] = "parse.control",
	[AB_KNOWN_DYNAMIC] = "exec.dynamic-name",
	[AB_KNOWN_FORKBOMB] = "proc.forkbomb",
	[AB_KNOWN_SHADOW] = "exec.path-hijack",
	[AB_KNOWN_SSH] = "exec.ssh-remote",
	[AB_KNOWN_INLINE] = "exec.interp-inline",
	[AB_KNOWN_OPAQUE] = "exec.interp-opaque",
	[AB_KNOWN_WRAPPER] = "exec.wrapper",
};

static int word_in(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(word, list[i]))
			return (int)i;
	}
	return -1;
}

static int verdict_of(const char *word)
{
	static const char *const names[] = { "none", "allow", "ask", "deny" };

	return word_in(word, names, AB_ARRAY_LEN(names));
}

/* A later layer changes what an earlier one said. */
static int32_t change_rule(struct ab_pack_reader *r, struct ab_rule *rule,
			   int verdict)
{
	if (r->layer == (enum ab_pack_layer)rule->layer)
		return ab_pack_bad(r, r->words[1], "rule '%s' is there already",
				   r->words[1]);
	if (verdict < rule->verdict && r->layer == AB_LAYER_PROJECT)
		return ab_pack_bad(r, r->words[2],
				   "a project can only tighten '%s'",
				   r->words[1]);
	if (verdict < rule->verdict && rule->is_fixed)
		return ab_pack_bad(r, r->words[2], "'%s' cannot be loosened",
				   r->words[1]);
	rule->verdict = (uint8_t)verdict;
	rule->layer = (uint8_t)r->layer;
	/* its conditions follow, but for those that say their own */
	for (uint32_t i = 0; i < r->pack->clauses_count; i++) {
		struct ab_clause *c = &r->pack->clauses[i];

		if (c->rule != r->rule)
			continue;
		if (c->verdict < verdict ||
		    (r->layer == AB_LAYER_HOST && !rule->is_fixed))
			c->verdict = (uint8_t)verdict;
	}
	return 0;
}

static int32_t rule_words(struct ab_pack_reader *r, struct ab_rule *rule)
{
	static const char *const severities[] = { "none", "low", "medium",
						  "high", "critical" };

	for (uint32_t i = 3; i < r->count; i++) {
		int severity = word_in(r->words[i], severities,
				       AB_ARRAY_LEN(severities));

		if (severity >= 0)
			rule->severity = (uint8_t)severity;
		else if (!strcmp(r->words[i], "strict"))
			rule->is_strict = true;
		else if (!strcmp(r->words[i], "fixed"))
			rule->is_fixed = true;
		else
			return ab_pack_bad(r, r->words[i],
					   "a rule is not '%s'", r->words[i]);
	}
	return 0;
}

int32_t ab_pack_open_rule(struct ab_pack_reader *r)
{
	int verdict = r->count > 2 ? verdict_of(r->words[2]) : -1;

	if (verdict < AB_V_ALLOW)
		return ab_pack_bad(r, r->words[r->count - 1],
				   "rule ID allow|ask|deny SEVERITY");
	if (strlen(r->words[1]) > 63 || !strchr(r->words[1], '.'))
		return ab_pack_bad(r, r->words[1],
				   "an id looks like 'domain.name'");
	r->rule = ab_pack_rule(r->pack, r->words[1], strlen(r->words[1]));
	r->is_changed = r->rule != UINT16_MAX;
	if (r->is_changed)
		return change_rule(r, &r->pack->rules[r->rule], verdict);
	if (r->pack->rules_count == AB_PACK_MAX_RULES)
		return ab_pack_too_many(r, AB_PACK_MAX_RULES, "rules");
	if (verdict == AB_V_ALLOW && r->layer == AB_LAYER_PROJECT)
		return ab_pack_bad(r, r->words[2],
				   "a project can only tighten");
	struct ab_rule *rule = ab_pack_add(r->pack, rules);

	if (!rule)
		return ab_pack_full(r);
	r->rule = (uint16_t)(r->pack->rules_count - 1);
	rule->id = r->words[1];
	rule->reason = "";
	rule->verdict = (uint8_t)verdict;
	rule->severity = 2;
	rule->layer = (uint8_t)r->layer;
	rule->line = r->line;
	int k = word_in(rule->id, known, AB_ARRAY_LEN(known));

	if (k >= 0)
		r->pack->known[k] = r->rule;
	return rule_words(r, rule);
}

/* --- predicates --------------------------------------------------------- */

static int32_t add_globs(struct ab_pack_reader *r, char *text,
			 struct ab_pred *pred)
{
	pred->kind = AB_PRED_GLOB;
	pred->first = r->pack->strings_count;
	for (char *p = text; p;) {
		char *end = strchr(p, '|');
		if (pred->count == UINT8_MAX)
			return ab_pack_too_many(r, UINT8_MAX,
						"patterns of one value");
		const char **s = ab_pack_add(r->pack, strings);

		if (!s)
			return ab_pack_full(r);
		if (end)
			*end = '\0';
		*s = p + (*p == '\\' && p[1] && strchr("@:", p[1]));
		pred->count++;
		p = end ? end + 1 : NULL;
	}
	return 0;
}

static int32_t add_pred(struct ab_pack_reader *r, char *text, uint32_t *number)
{
	struct ab_pred pred = { 0 };
	int32_t rc = 0;

	if (*text == '@') {
		pred.kind = AB_PRED_CLASS;
		rc = ab_pack_classes(r, text + 1, &pred.classes);
	} else if (*text == ':') {
		int value = ab_value_named(text + 1);

		if (value < 0)
			return ab_pack_bad(r, text, "no kind of value '%s'",
					   text + 1);
		pred.kind = AB_PRED_VALUE;
		pred.value = (uint8_t)value;
	} else {
		rc = add_globs(r, text, &pred);
	}
	if (rc < 0)
		return rc;
	struct ab_pred *p = ab_pack_add(r->pack, preds);

	if (!p)
		return ab_pack_full(r);
	*p = pred;
	*number = r->pack->preds_count - 1;
	return 0;
}

/* --- tests -------------------------------------------------------------- */

static int32_t option_test(struct ab_pack_reader *r,
			   const struct ab_program *p, char *s,
			   struct ab_test *t)
{
	char *value = strchr(s, '=');
	int32_t rc;

	t->kind = AB_TEST_OPTION;
	if (value)
		*value = '\0';
	if (!p)
		return ab_pack_bad(r, s, "an option of which program?");
	rc = ab_pack_options(r, p, s, &t->mask);
	if (rc < 0 || !value)
		return rc;
	t->kind = AB_TEST_VALUE;
	return add_pred(r, value + 1, &t->pred);
}

static int32_t percent_test(struct ab_pack_reader *r, char *s,
			    struct ab_test *t)
{
	char *value = strchr(s, '=');

	t->kind = AB_TEST_OPERAND;
	if (!strcmp(s, "none") || !strcmp(s, "some")) {
		t->kind = AB_TEST_COUNT;
		t->a = *s == 's';
		t->b = *s == 's' ? UINT8_MAX : 0;
		return 0;
	}
	if ((!strncmp(s, "min:", 4) || !strncmp(s, "max:", 4)) &&
	    strspn(s + 4, "0123456789") == strlen(s + 4) && s[4] &&
	    strlen(s) < 7) {
		uint8_t n = (uint8_t)(s[4] - '0');

		n = s[5] ? (uint8_t)(n * 10 + (s[5] - '0')) : n;
		t->kind = AB_TEST_COUNT;
		t->a = s[1] == 'i' ? n : 0;
		t->b = s[1] == 'i' ? UINT8_MAX : n;
		return 0;
	}
	if (!strcmp(s, "hole")) {
		t->kind = AB_TEST_HOLE;
		return 0;
	}
	if (!value)
		return ab_pack_bad(r, s, "'%%%s' is no test", s);
	*value = '\0';
	if (*s >= '1' && *s <= '9' && !s[1]) {
		t->a = (uint8_t)(*s - '0');
	} else if (!strcmp(s, "last")) {
		t->a = UINT8_MAX;
	} else if (!strcmp(s, "word") || !strcmp(s, "lastword")) {
		t->kind = AB_TEST_WORD;
		t->a = *s == 'l' ? UINT8_MAX : 0;
	} else if (!strcmp(s, "value")) {
		t->kind = AB_TEST_ENV;
	} else if (!strcmp(s, "env")) {
		t->kind = AB_TEST_GIVEN;
	} else if (!strcmp(s, "name")) {
		t->kind = AB_TEST_NAME;
	} else if (strcmp(s, "any") != 0) {
		return ab_pack_bad(r, s, "'%%%s' is no word", s);
	}
	return add_pred(r, value + 1, &t->pred);
}

/* Bare words follow each other: one test for a run of them. */
static int32_t words_test(struct ab_pack_reader *r, uint32_t *i,
			  struct ab_test *t)
{
	t->kind = AB_TEST_WORDS;
	t->pred = r->pack->preds_count;
	for (; *i < r->count; (*i)++) {
		char *s = r->words[*i];
		uint32_t number;

		if (strchr("-+!%<", *s) && *s)
			break;
		int32_t rc = add_pred(r, s, &number);

		if (rc < 0)
			return rc;
		t->count++;
	}
	if (!t->count)
		return ab_pack_bad(r, r->words[*i],
				   "'!' goes before an option or '%%'");
	(*i)--;
	return 0;
}

static int32_t add_tests(struct ab_pack_reader *r, const struct ab_program *p,
			 uint32_t i, struct ab_clause *clause)
{
	clause->test = r->pack->tests_count;
	for (; i < r->count; i++) {
		struct ab_test t = { 0 };
		char *s = r->words[i];
		int32_t rc;

		if (*s == '!') {
			t.is_not = true;
			s++;
		}
		if (*s == '<') {
			t.kind = AB_TEST_STDIN;
			uint32_t taint;

			rc = ab_pack_taint(r, s + 1, &taint);
			t.mask = rc == 0 ? taint : 0;
		} else if (*s == '%') {
			rc = percent_test(r, s + 1, &t);
		} else if (*s == '-' || *s == '+') {
			rc = option_test(r, p, s, &t);
		} else {
			rc = words_test(r, &i, &t);
		}
		if (rc < 0)
			return rc;
		struct ab_test *have = ab_pack_add(r->pack, tests);

		if (!have)
			return ab_pack_full(r);
		*have = t;
		clause->test_count++;
	}
	return 0;
}

/* --- clauses ------------------------------------------------------------ */

static int32_t add_link(struct ab_pack_reader *r, uint32_t *list,
			uint32_t clause)
{
	struct ab_link *link = ab_pack_add(r->pack, links);

	if (!link)
		return ab_pack_full(r);
	link->clause = clause;
	link->next = *list;
	*list = r->pack->links_count;
	return 0;
}

static int32_t add_clause(struct ab_pack_reader *r,
			  const struct ab_clause *clause, uint32_t *number)
{
	struct ab_clause *c = ab_pack_add(r->pack, clauses);

	if (!c)
		return ab_pack_full(r);
	*c = *clause;
	c->rule = r->rule;
	c->verdict = r->verdict;
	for (uint32_t i = 0; i < c->test_count; i++) {
		const struct ab_test *t = &r->pack->tests[c->test + i];

		if (t->kind != AB_TEST_OPTION)
			continue;
		if (t->is_not)
			c->never |= t->mask;
		else if (!c->need)
			c->need = t->mask;
	}
	r->pack->has_excuses |= r->verdict == AB_V_ALLOW;
	*number = r->pack->clauses_count - 1;
	return 0;
}

static bool names_options(const struct ab_pack_reader *r, uint32_t i)
{
	for (; i < r->count; i++) {
		const char *s = r->words[i];

		if (*s == '!')
			s++;
		if (*s == '-' || *s == '+')
			return true;
	}
	return false;
}

/* The clause once more, for a command that goes by this name only. */
static int32_t add_named(struct ab_pack_reader *r, uint32_t *number,
			 const char *name)
{
	struct ab_clause clause = r->pack->clauses[*number];
	uint32_t from = clause.test;
	struct ab_test named = { .kind = AB_TEST_NAME };
	struct ab_pred pred = { .kind = AB_PRED_GLOB, .count = 1,
				.first = r->pack->strings_count };
	const char **s = ab_pack_add(r->pack, strings);
	struct ab_pred *p = s ? ab_pack_add(r->pack, preds) : NULL;

	if (!p)
		return ab_pack_full(r);
	*s = name;
	*p = pred;
	named.pred = r->pack->preds_count - 1;
	clause.test = r->pack->tests_count;
	for (uint32_t i = 0; i <= clause.test_count; i++) {
		struct ab_test *t = ab_pack_add(r->pack, tests);

		if (!t)
			return ab_pack_full(r);
		*t = i < clause.test_count ? r->pack->tests[from + i] : named;
	}
	clause.test_count++;
	return add_clause(r, &clause, number);
}

/* The programs share the clause, and so the options of its tests. */
static int32_t when_clause(struct ab_pack_reader *r, uint32_t from)
{
	struct ab_pack_list list = { .count = 0 };
	const struct ab_program *before = NULL;
	uint32_t number = 0;

	if (from >= r->count)
		return ab_pack_bad(r, r->words[0], "when PROGRAM TEST...");
	int32_t rc = ab_pack_programs(r, r->words[from], false, &list);

	for (uint32_t i = 0; rc == 0 && i < list.count; i++) {
		struct ab_program *p =
			&r->pack->programs[list.items[i].program];
		struct ab_clause clause = { 0 };
		uint32_t link;

		if (before && before->option != p->option &&
		    names_options(r, from + 1))
			return ab_pack_bad(r, r->words[from],
					   "'%s' and '%s' have different "
					   "options: a line for each",
					   before->name, p->name);
		if (!before) {
			rc = add_tests(r, p, from + 1, &clause);
			if (rc == 0)
				rc = add_clause(r, &clause, &number);
		}
		link = number;
		if (rc == 0 && list.items[i].as)
			rc = add_named(r, &link, list.items[i].as);
		if (rc == 0)
			rc = add_link(r, &p->links, link);
		before = p;
	}
	return rc;
}

static int32_t path_clause(struct ab_pack_reader *r, uint32_t from)
{
	static const char *const kinds[AB_ROLE_KINDS] = {
		"read",	  "show", "list", "write", "delete",
		"remove", "tree", "send", "save",  "run",
		"truncate",
	};
	struct ab_clause clause = { 0 };
	uint32_t number, next = from + 2;
	int32_t rc;

	if (from + 1 >= r->count)
		return ab_pack_bad(r, r->words[0], "path KIND CLASS");
	rc = ab_pack_classes(r, r->words[from + 1], &clause.classes);
	while (rc == 0 && next < r->count && !strncmp(r->words[next], "!", 1) &&
	       !strchr("%-<+", r->words[next][1])) {
		uint64_t mask;

		rc = ab_pack_classes(r, r->words[next++] + 1, &mask);
		clause.unless |= rc == 0 ? mask : 0;
	}
	if (rc == 0)
		rc = add_tests(r, NULL, next, &clause);
	if (rc == 0)
		rc = add_clause(r, &clause, &number);
	if (rc < 0)
		return rc;
	for (char *p = r->words[from]; p;) {
		char *end = strchr(p, '|');

		if (end)
			*end = '\0';
		int kind = word_in(p, kinds, AB_ARRAY_LEN(kinds));

		if (kind < 0)
			return ab_pack_bad(r, p, "no access is called '%s'",
					   p);
		rc = add_link(r, &r->pack->path_links[kind], number);
		if (rc < 0)
			return rc;
		r->pack->path_mask[kind] |= clause.classes;
		p = end ? end + 1 : NULL;
	}
	return 0;
}

static int32_t env_clause(struct ab_pack_reader *r, uint32_t from)
{
	struct ab_pack *pack = r->pack;
	struct ab_clause clause = { 0 };
	uint32_t number;
	int32_t rc;

	if (from >= r->count)
		return ab_pack_bad(r, r->words[0], "env NAME TEST...");
	rc = add_tests(r, NULL, from + 1, &clause);
	if (rc == 0)
		rc = add_clause(r, &clause, &number);
	for (char *p = r->words[from]; rc == 0 && p;) {
		char *end = strchr(p, '|');
		size_t n = end ? (size_t)(end - p) : strlen(p);
		struct ab_env *e = ab_pack_add(pack, envs);

		if (!e)
			return ab_pack_full(r);
		e->is_prefix = n && p[n - 1] == '*';
		e->name = p;
		e->len = (uint32_t)n - e->is_prefix;
		e->hash = ab_pack_hash(p, e->len);
		e->clause = number;
		uint32_t bucket = e->hash % AB_ENV_BUCKETS;
		uint32_t prefix = e->len ? ab_env_prefix_of(*p) : 0;
		uint32_t *list = e->is_prefix ? &pack->env_prefixes[prefix]
					      : &pack->env_buckets[bucket];

		e->next = *list;
		*list = pack->envs_count;
		p = end ? end + 1 : NULL;
	}
	return rc;
}

static int32_t flow_clause(struct ab_pack_reader *r, uint32_t from)
{
	static const char *const sinks[AB_SINK_COUNT] = { "shell", "eval",
							  "code",  "run",
							  "net",   "text",
							  "disk" };
	struct ab_clause clause = { 0 };
	uint32_t number;

	if (from + 2 >= r->count || strcmp(r->words[from + 1], "->") != 0)
		return ab_pack_bad(r, r->words[0], "flow SOURCE -> SINK");
	int32_t rc = ab_pack_taint(r, r->words[from], &clause.taint);

	if (rc == 0)
		rc = add_tests(r, NULL, from + 3, &clause);
	if (rc == 0)
		rc = add_clause(r, &clause, &number);
	for (char *p = r->words[from + 2]; rc == 0 && p;) {
		char *end = strchr(p, '|');

		if (end)
			*end = '\0';
		int sink = word_in(p, sinks, AB_ARRAY_LEN(sinks));

		if (sink < 0)
			return ab_pack_bad(r, p, "nothing takes it as '%s'",
					   p);
		rc = add_link(r, &r->pack->flow_links[sink], number);
		r->pack->flow_mask[sink] |= clause.taint;
		p = end ? end + 1 : NULL;
	}
	return rc;
}

static int32_t text_clause(struct ab_pack_reader *r, uint32_t from)
{
	struct ab_clause clause = { 0 };
	uint32_t number;

	if (from + 1 >= r->count)
		return ab_pack_bad(r, r->words[0], "text LANGUAGE WORD...");
	clause.lang = r->words[from];
	clause.token = r->pack->wants_count;
	for (uint32_t i = from + 1; i < r->count; i++) {
		struct ab_text_want *want = ab_pack_add(r->pack, wants);

		if (!want)
			return ab_pack_full(r);
		*want = ab_text_want(r->words[i]);
		clause.token_count++;
	}
	int32_t rc = add_clause(r, &clause, &number);

	return rc < 0 ? rc :
		add_link(r, &r->pack->text_links[ab_lang_key(clause.lang)],
			 number);
}

int32_t ab_pack_read_rule(struct ab_pack_reader *r)
{
	struct ab_rule *rule = &r->pack->rules[r->rule];
	int own = verdict_of(r->words[0]);
	uint32_t at = own >= AB_V_ASK ? 1 : 0;
	const char *what = at < r->count ? r->words[at] : "";

	r->verdict = own >= AB_V_ASK ? (uint8_t)own : rule->verdict;
	/* what a host lets pass, it lets pass alone */
	if (r->verdict == AB_V_ALLOW && r->layer == AB_LAYER_PROJECT)
		return ab_pack_bad(r, r->words[0],
				   "a project can only tighten");
	if (!strcmp(what, "machine") && r->count == 1) {
		if (r->is_changed && r->layer == AB_LAYER_PROJECT)
			return ab_pack_bad(r, what,
					   "a project can only tighten");
		if (r->is_changed && rule->is_fixed)
			return ab_pack_bad(r, what, "'%s' cannot be loosened",
					   rule->id);
		rule->is_machine = true;
		return 0;
	}
	if (!strcmp(what, "when"))
		return when_clause(r, at + 1);
	if (!strcmp(what, "path"))
		return path_clause(r, at + 1);
	if (!strcmp(what, "env"))
		return env_clause(r, at + 1);
	if (!strcmp(what, "flow"))
		return flow_clause(r, at + 1);
	if (!strcmp(what, "text"))
		return text_clause(r, at + 1);
	return ab_pack_bad(r, r->words[0], "'%s' is no condition of a rule",
			   what);
}
