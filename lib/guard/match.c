/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditions of rules against a command: tests, accesses to paths, flows of
 * bytes, assignments. And the report of what was found.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "base/alloc.h"
#include "base/key.h"
#include "guard/command.h"
#include "guard/path.h"

/* --- reports ------------------------------------------------------------ */

/* In its strict profile git has no questions, whoever asks them. */
static bool is_strict_git(const struct ab_check *c)
{
	const struct ab_program *p = c->use ? c->use->program : NULL;

	return c->place->is_git_strict &&
	       (c->place->is_all_git || c->is_for_git || (p && p->is_git));
}

static void report(struct ab_check *c, uint16_t number, uint8_t verdict,
		   const struct ab_word *word)
{
	const struct ab_rule *rule = &c->pack->rules[number];
	struct ab_shell_found found = {
		.rule = rule->id,
		.reason = rule->reason,
		.alternative = rule->alternative,
		.number = number,
		.verdict = verdict,
		.severity = rule->severity,
		.chain = c->chain,
	};
	bool is_dump = false;

	if (rule->verdict == AB_V_ALLOW || verdict == AB_V_ALLOW)
		return; /* a host switched it off */
	if (verdict == AB_V_ASK && c->is_excused)
		return;
	if (AB_UNLIKELY(c->chain && c->chain->is_image) && rule->is_machine)
		return;
	/* what a credential rule saw goes where the output goes */
	if (!strncmp(rule->id, "cred.", 5)) {
		is_dump = !strcmp(rule->id, "cred.env-dump");
		c->out_taint |= is_dump ? AB_TAINT_ENV : AB_TAINT_CRED;
	}
	if (verdict == AB_V_ASK &&
	    ((c->is_strict && rule->is_strict) || is_strict_git(c)))
		found.verdict = AB_V_DENY;
	if (ab_check_is_part(c) && found.verdict != AB_V_DENY)
		return;
	if (c->use) {
		found.words = c->use->words;
		found.count = c->use->count;
	}
	if (word)
		found.span = word->span;
	else if (c->use && c->use->count) {
		found.span.begin = c->use->words[0].span.begin;
		found.span.end = c->use->words[c->use->count - 1].span.end;
	}
	if (found.span.end <= found.span.begin && c->command)
		found.span = c->command->span;
	if (!(is_dump && !word && ab_dump_hold(c, &found)) &&
	    !ab_defined_defer(c, &found))
		c->report(c->user, &found);
}

void ab_check_clause(struct ab_check *c, const struct ab_clause *clause,
		     const struct ab_word *word)
{
	report(c, clause->rule, clause->verdict, word);
}

void ab_check_known(struct ab_check *c, enum ab_known known, uint8_t verdict,
		    const struct ab_word *word)
{
	uint16_t number = c->pack->known[known];

	if (number == UINT16_MAX) {
		c->is_broken = true; /* a pack without it: fail closed */
		return;
	}
	report(c, number, verdict, word);
}

/* --- predicates --------------------------------------------------------- */

/* The first byte from `i` on that what stands behind a star can begin with. */
static inline size_t next_place(const char *behind, const char *text, size_t i,
				size_t n)
{
	const char *hit;

	if (*behind == '?' || *behind == '*' || i >= n)
		return i;
	hit = memchr(text + i, *behind, n - i);
	return hit ? (size_t)(hit - text) : n;
}

static inline bool takes(const char *pattern, const char *text, size_t n)
{
	const char *star = NULL;
	size_t i = 0, back = 0;

	while (i < n) {
		if (*pattern == '*') {
			star = ++pattern;
			if (!*star)
				return true;
			i = back = next_place(star, text, i, n);
		} else if (*pattern && (*pattern == '?' ||
					*pattern == text[i])) {
			pattern++;
			i++;
		} else if (star) {
			pattern = star;
			i = back = next_place(star, text, back + 1, n);
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool holds(struct ab_check *c, const struct ab_pred *pred,
		  const struct ab_word *w)
{
	switch ((enum ab_pred_kind)pred->kind) {
	case AB_PRED_CLASS:
		return ab_path_classes(c, w) & pred->classes;
	case AB_PRED_VALUE:
		return ab_value_check(c, pred->value, w);
	case AB_PRED_GLOB:
		break;
	}
	for (uint32_t i = 0; i < pred->count; i++) {
		if (takes(c->pack->strings[pred->first + i], w->text, w->len))
			return true;
	}
	return false;
}

/* Most globs fail by how the word begins. */
static inline bool pred_holds(struct ab_check *c, const struct ab_pred *pred,
			      const struct ab_word *w)
{
	if (pred->kind == AB_PRED_GLOB && pred->heads &&
	    (!w->len || !(pred->heads & ab_head_bit(*w->text))))
		return false;
	return holds(c, pred, w);
}

/* The same of w from byte `at` on; a glob needs no word for that. */
static bool part_holds(struct ab_check *c, const struct ab_pred *pred,
		       const struct ab_word *w, uint32_t at)
{
	struct ab_word part = { .text = w->text + at, .len = w->len - at };

	if (pred->kind != AB_PRED_GLOB &&
	    !ab_word_slice(c, w, at, UINT32_MAX, &part))
		return false;
	return pred_holds(c, pred, &part);
}

/* --- tests -------------------------------------------------------------- */

/* Tests of one find that are looked at so closely. */
#define MAX_LEFT_OUT 8

/* find: what is asked about, it leaves alone. A test with a `!` narrows down
   nothing, either. */
static bool is_left_out(const struct ab_use *use, const struct ab_pred *pred,
			const struct ab_value *v)
{
	return pred->kind == AB_PRED_VALUE && ab_value_is_in_git(pred->value) ?
		       ab_find_spares_git(use) :
		       ab_find_leaves_out(use, v->option);
}

static bool any_value(struct ab_check *c, const struct ab_use *use,
		      const struct ab_test *t)
{
	const struct ab_pred *pred = &c->pack->preds[t->pred];
	bool is_find = use->program->is_names;
	uint32_t left = MAX_LEFT_OUT;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];

		if ((t->mask & (UINT64_C(1) << v->group)) &&
		    !(t->is_not && is_find &&
		      (use->is_open || ab_is_negated(use, v->option))) &&
		    part_holds(c, pred, w, v->at < w->len ? v->at : w->len) &&
		    !(is_find && left && left-- && is_left_out(use, pred, v)))
			return true;
	}
	return false;
}

static bool is_glob(const struct ab_pack *pack, const struct ab_pred *pred,
		    const char *text)
{
	return pred->kind == AB_PRED_GLOB && pred->count == 1 &&
	       !strcmp(pack->strings[pred->first], text);
}

/* virsh --connect URI undefine x: with and without it. */
static bool may_skip(const struct ab_use *use, const struct ab_test *t,
		     uint32_t k)
{
	return AB_UNLIKELY(use->doubtful) && !t->is_not && k < 64 &&
	       use->doubtful >> k & 1;
}

/* Words one after the other from the first operand; `**` skips. */
static bool words_from(struct ab_check *c, const struct ab_use *use,
		       const struct ab_test *t, uint32_t base)
{
	uint32_t i = 0, k = base, star = UINT32_MAX, back = 0;

	while (i < t->count) {
		const struct ab_pred *pred = &c->pack->preds[t->pred + i];

		if (is_glob(c->pack, pred, "**")) {
			star = ++i;
			back = k;
		} else if (k < use->operand_count &&
			   pred_holds(c, pred,
				      &use->words[use->operands[k]])) {
			i++;
			k++;
		} else if (star != UINT32_MAX && back < use->operand_count) {
			i = star;
			k = ++back;
		} else if (may_skip(use, t, k)) {
			k++;
		} else {
			return false;
		}
	}
	return true;
}

static bool words_hold(struct ab_check *c, const struct ab_use *use,
		       const struct ab_test *t, uint32_t base)
{
	return words_from(c, use, t, base) ||
	       (may_skip(use, t, base) && words_from(c, use, t, base + 1));
}

static bool operand_holds(struct ab_check *c, const struct ab_use *use,
			  const struct ab_test *t, uint32_t base)
{
	const struct ab_pred *pred = &c->pack->preds[t->pred];
	uint32_t n = use->operand_count - base;

	if (t->a == UINT8_MAX)
		return n &&
		       pred_holds(c, pred,
				  &use->words[use->operands[base + n - 1]]);
	if (t->a)
		return n >= t->a &&
		       pred_holds(c, pred,
				  &use->words[use->operands[base + t->a - 1]]);
	for (uint32_t i = base; i < use->operand_count; i++) {
		if (pred_holds(c, pred, &use->words[use->operands[i]]))
			return true;
	}
	return false;
}

static bool word_holds(struct ab_check *c, const struct ab_use *use,
		       const struct ab_test *t)
{
	const struct ab_pred *pred = &c->pack->preds[t->pred];
	uint32_t from = t->a ? use->count - 1 : 1;

	for (uint32_t i = from; i && i < use->count; i++) {
		if (pred_holds(c, pred, &use->words[i]))
			return true;
	}
	return false;
}

/* What stands around the command hands the environment on as it is; a shell
   may begin with other values (*is_shell). */
static bool keeps_env(const struct ab_chain *chain, bool *is_shell)
{
	static const char *const names[] = { "sh", "bash", "bundle/exec",
					     "bundler/exec", "time",
					     "timeout", "nice" };
	bool is_known = true;

	for (; chain && is_known; chain = chain->up) {
		is_known = false;
		for (size_t i = 0; i < AB_ARRAY_LEN(names) && !is_known; i++) {
			is_known = !strcmp(chain->name, names[i]);
			*is_shell |= is_known && i < 2;
		}
	}
	return is_known;
}

/* It says which database, whatever the environment's name is. */
static bool overrides(const char *name, uint32_t len, const char *pair,
		      uint32_t pair_len)
{
	static const char *const parts[] = { "DATABASE", "DB_", "PGHOST",
					     "PGSERVICE", "PGPORT", "MYSQL_" };

	for (size_t i = 0; i < AB_ARRAY_LEN(parts); i++) {
		if (memmem(name, len, parts[i], strlen(parts[i])))
			return true;
	}
	return len == pair_len && !memcmp(name, pair, len);
}

/* The text has set what says which one. */
static bool has_database(struct ab_check *c)
{
	static const char *const names[] = { "DATABASE_URL", "PGDATABASE",
					     "PGHOST",	     "PGHOSTADDR",
					     "PGSERVICE",    "PGPORT",
					     "MYSQL_HOST" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_shell_get(c->run, names[i], strlen(names[i]), NULL))
			return true;
	}
	return false;
}

/* The command surely runs with that NAME=VALUE, and nothing else says
   otherwise. */
static bool given_holds(struct ab_check *c, const struct ab_use *use,
			const struct ab_test *t)
{
	const struct ab_pred *pred = &c->pack->preds[t->pred];
	const char *pair = c->pack->strings[pred->first];
	const char *eq = strchr(pair, '=');
	uint32_t len = eq ? (uint32_t)(eq - pair) : 0;
	const struct ab_word *value = NULL;

	bool is_shell = false;

	if (!len || !keeps_env(c->chain, &is_shell) || has_database(c))
		return false;
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];
		const char *sign = memchr(w->text, '=', w->len);

		if ((w->len && *w->text == '-') || w->hole_count ||
		    (sign && overrides(w->text, (uint32_t)(sign - w->text),
				       pair, len)))
			return false;
	}
	for (uint32_t i = 0; i < c->assign_count; i++) {
		const struct ab_shell_assign *a = &c->assigns[i];

		if (a->name_len == len && !memcmp(a->name, pair, len))
			value = a->value_count ? &a->values[0] : NULL;
		else if (overrides(a->name, a->name_len, pair, len))
			return false;
	}
	if (!value && !is_shell && ab_shell_is_exported(c->run, pair, len))
		value = ab_shell_get(c->run, pair, len, NULL);
	return value && ab_word_equals(value, eq + 1);
}

static bool name_holds(struct ab_check *c, const struct ab_use *use,
		       const struct ab_test *t)
{
	const struct ab_word *w = use->count ? &use->words[0] : NULL;
	const char *slash = w ? memrchr(w->text, '/', w->len) : NULL;
	uint32_t at = slash ? (uint32_t)(slash - w->text) + 1 : 0;

	return w && part_holds(c, &c->pack->preds[t->pred], w, at);
}

static bool any_hole(const struct ab_use *use, uint32_t base)
{
	for (uint32_t i = base; i < use->operand_count; i++) {
		const struct ab_word *w = &use->words[use->operands[i]];

		for (uint32_t k = 0; k < w->hole_count; k++) {
			if (w->holes[k].kind != AB_HOLE_PATTERN &&
			    w->holes[k].kind != AB_HOLE_HOME &&
			    w->holes[k].kind != AB_HOLE_PROC)
				return true;
		}
	}
	return false;
}

static inline bool test_holds(struct ab_check *c, const struct ab_use *use,
			      const struct ab_test *t, uint32_t base)
{
	uint32_t n = use->operand_count - base;

	switch ((enum ab_test_kind)t->kind) {
	case AB_TEST_OPTION:
		/* a test beside the removal does not narrow it */
		if (t->is_not)
			return (ab_sure_options(use) & t->mask) &&
			       !use->is_open;
		return use->options & t->mask;
	case AB_TEST_VALUE:
		return any_value(c, use, t);
	case AB_TEST_WORDS:
		return words_hold(c, use, t, base);
	case AB_TEST_OPERAND:
		return operand_holds(c, use, t, base);
	case AB_TEST_WORD:
		return word_holds(c, use, t);
	case AB_TEST_COUNT:
		return n >= t->a && (t->b == UINT8_MAX || n <= t->b);
	case AB_TEST_STDIN:
		return use->in_taint & t->mask;
	case AB_TEST_HOLE:
		return any_hole(use, base);
	case AB_TEST_ENV:
		return use->env_value &&
		       pred_holds(c, &c->pack->preds[t->pred],
				  use->env_value);
	case AB_TEST_GIVEN:
		return given_holds(c, use, t);
	case AB_TEST_NAME:
		return name_holds(c, use, t);
	}
	return false;
}

bool ab_all_hold(struct ab_check *c, const struct ab_use *use, uint32_t test,
		 uint32_t count, uint32_t base)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_test *t = &c->pack->tests[test + i];

		if (test_holds(c, use, t, base) == t->is_not)
			return false;
	}
	return true;
}

/* No word begins like what the clause is about. */
static inline bool begins_otherwise(struct ab_use *use,
				    const struct ab_link *link)
{
	if (link->heads && !(use->heads & link->heads))
		return true;
	if (!link->starts)
		return false;
	if (!use->starts)
		use->starts = ab_use_starts(use);
	return !(use->starts & link->starts);
}

void ab_check_clauses(struct ab_check *c, struct ab_use *use)
{
	const struct ab_program *p = use->program;

	for (;;) {
		/* one lies behind the other */
		const struct ab_link *link =
			p->links ? &c->pack->links[p->links - 1] : NULL;

		for (; link; link = link->next ? link + 1 : NULL) {
			/* most fail by their options */
			if ((link->yes && !(use->options & link->yes)) ||
			    ((ab_sure_options(use) & link->no) &&
			     !use->is_open) ||
			    (link->needs_hole && !use->has_hole) ||
			    begins_otherwise(use, link))
				continue;
			if (ab_all_hold(c, use, link->test, link->test_count,
					use->base[p->depth]))
				ab_check_clause(
					c, &c->pack->clauses[link->clause],
					NULL);
		}
		if (!p->parent)
			break;
		p = &c->pack->programs[p->parent - 1];
	}
}

/* --- paths, flows, assignments ------------------------------------------ */

static const struct ab_use no_use;

/* The bit of what the program's name begins with; 0: it has none. */
static uint64_t name_head(const struct ab_use *use)
{
	const struct ab_word *w = use && use->count ? use->words : NULL;

	if (AB_LIKELY(use && use->name_head))
		return use->name_head;
	const char *slash = w ? memrchr(w->text, '/', w->len) : NULL;
	uint32_t at = slash ? (uint32_t)(slash - w->text) + 1 : 0;

	return w && at < w->len ? ab_head_bit(w->text[at]) : 0;
}

/* Words from which on the tests of a command are remembered. */
#define MANY_WORDS 64

struct ab_held *ab_held_new(struct ab_check *c, uint32_t count)
{
	size_t size = sizeof(struct ab_held) + c->pack->links_count;
	struct ab_held *held;

	if (AB_LIKELY(count <= MANY_WORDS))
		return NULL;
	held = ab_check_alloc(c, size);
	if (held)
		memset(held, 0, size);
	return held;
}

static bool link_holds(struct ab_check *c, const struct ab_use *use,
		       const struct ab_link *link)
{
	const struct ab_clause *clause = &c->pack->clauses[link->clause];
	uint8_t *held = use && use->held
				? use->held->links + (link - c->pack->links)
				: NULL;

	if (AB_LIKELY(!held))
		return ab_tests_hold(c, use ? use : &no_use, clause, 0);
	if (!*held)
		*held = ab_tests_hold(c, use, clause, 0) ? AB_HELD_YES
							 : AB_HELD_NO;
	return *held == AB_HELD_YES;
}

static void check_link(struct ab_check *c, const struct ab_use *use,
		       const struct ab_link *link, const struct ab_word *w,
		       uint64_t classes)
{
	if (!(classes & link->yes) || (classes & link->no) ||
	    (link->heads && !(name_head(use) & link->heads)))
		return;
	if (link_holds(c, use, link))
		ab_check_clause(c, &c->pack->clauses[link->clause], w);
}

/* The links of a list lie one behind the other; few want these classes. */
static void check_links(struct ab_check *c, const struct ab_use *use,
			enum ab_role_kind kind, const struct ab_word *w,
			uint64_t classes, uint64_t some)
{
	const struct ab_pack *pack = c->pack;
	uint32_t first = pack->path_links[kind] - 1;
	uint64_t hits = 0;

	for (; some; some &= some - 1)
		hits |= pack->path_hits[kind][__builtin_ctzll(some)];
	for (uint32_t i = 0; i < pack->path_counts[kind]; i += 64) {
		for (uint64_t left = hits; left; left &= left - 1) {
			uint32_t n = i + (uint32_t)__builtin_ctzll(left);

			if (n < pack->path_counts[kind])
				check_link(c, use, &pack->links[first + n], w,
					   classes);
		}
	}
}

static inline void check_access(struct ab_check *c, const struct ab_use *use,
				enum ab_role_kind kind,
				const struct ab_word *w, uint64_t classes)
{
	uint64_t some = classes & c->pack->path_mask[kind];
	uint64_t heads = c->pack->path_heads[kind];

	/* what any path is wanted for, few programs do */
	if (heads && (some & AB_CLASS(ANY)) && !(name_head(use) & heads))
		some &= ~AB_CLASS(ANY);
	if (AB_UNLIKELY(some))
		check_links(c, use, kind, w, classes, some);
}

static void check_path(struct ab_check *c, const struct ab_use *use,
		       enum ab_role_kind kind, const struct ab_word *w)
{
	bool is_show = kind == AB_ROLE_SHOW; /* which is a read, too */

	if (!c->pack->path_links[kind] &&
	    !(is_show && c->pack->path_links[AB_ROLE_READ]))
		return;
	void *mark = c->scratch->low;
	uint64_t classes = ab_path_classes(c, w);

	check_access(c, use, kind, w, classes);
	if (is_show)
		check_access(c, use, AB_ROLE_READ, w, classes);
	ab_arena_release(c->scratch, mark);
}

/* os.symlink("/etc", "x"); os.remove("x/passwd"): one command that goes
   through what it made. */
static AB_COLD void check_linked(struct ab_check *c, const struct ab_use *use,
				 enum ab_role_kind kind,
				 const struct ab_word *w)
{
	c->is_linked = true;
	do {
		c->has_link_choice = false;
		check_path(c, use, kind, w);
		if (++c->link_choice == AB_MAX_LINK_CHOICES &&
		    c->has_link_choice) {
			ab_links_give_up(c);
			break;
		}
	} while (c->has_link_choice);
	c->is_linked = c->has_link_choice = false;
	c->link_choice = 0;
}

void ab_check_path(struct ab_check *c, const struct ab_use *use,
		   enum ab_role_kind kind, const struct ab_word *w)
{
	check_path(c, use, kind, w);
	if (AB_UNLIKELY(c->links && c->is_one_pass && !c->is_linked))
		check_linked(c, use, kind, w);
}

void ab_check_flow(struct ab_check *c, const struct ab_use *use,
		   enum ab_sink sink, uint32_t taint, const struct ab_word *w)
{
	uint32_t at = c->pack->flow_links[sink];

	if (!(taint & c->pack->flow_mask[sink]))
		return;
	while (at) {
		const struct ab_link *link = &c->pack->links[at - 1];
		const struct ab_clause *clause =
			&c->pack->clauses[link->clause];

		at = link->next;
		if ((taint & clause->taint) && link_holds(c, use, link))
			ab_check_clause(c, clause, w);
	}
}

static void found_env(struct ab_check *c, const struct ab_clause *clause,
		      const struct ab_word *value)
{
	AB_UNINITIALIZED struct ab_use use;

	ab_clear(&use, sizeof(use));
	use.env_value = value;
	if (ab_tests_hold(c, &use, clause, 0))
		ab_check_clause(c, clause, value);
}

static void env_entry(struct ab_check *c, uint32_t at, const char *name,
		      uint32_t len, uint32_t hash,
		      const struct ab_word *value)
{
	while (at) {
		const struct ab_env *e = &c->pack->envs[at - 1];

		at = e->next;
		if (e->is_prefix ? len < e->len : e->hash != hash ||
						  len != e->len)
			continue;
		if (ab_same(e->name, name, e->len))
			found_env(c, &c->pack->clauses[e->clause], value);
	}
}

static bool is_named(const char *const *names, size_t count, const char *name,
		     uint32_t len)
{
	for (size_t i = 0; i < count; i++) {
		if (names[i][0] == *name && strlen(names[i]) == len &&
		    ab_same(names[i], name, len))
			return true;
	}
	return false;
}

/* A variable whose value somebody runs as a command. */
static bool is_command_variable(const char *name, uint32_t len)
{
	static const char *const names[] = {
		"PAGER", "MANPAGER", "EDITOR", "VISUAL", "LESSOPEN",
		"LESSCLOSE", "BROWSER", "FCEDIT", "SUDO_EDITOR",
		"RSYNC_RSH", "GH_PAGER", "GH_EDITOR", "GLAB_PAGER",
		"AWS_PAGER", "BAT_PAGER", "DELTA_PAGER", "PSQL_PAGER",
		"PSQL_EDITOR", "SYSTEMD_PAGER", "SYSTEMD_EDITOR",
		"KUBE_EDITOR", "OC_EDITOR", "HGEDITOR", "SVN_EDITOR",
		"SVN_SSH", "CVS_RSH", "BORG_RSH", "SOPS_EDITOR",
		"FZF_DEFAULT_COMMAND", "FZF_CTRL_T_COMMAND",
		"FZF_ALT_C_COMMAND", "SKIM_DEFAULT_COMMAND",
	};

	/* most names end otherwise */
	if (!len || !memchr("RLNETDH", name[len - 1], 7))
		return false;
	/* CARGO_TARGET_<triple>_RUNNER */
	if (len > 20 && name[0] == 'C' && !memcmp(name, "CARGO_TARGET_", 13))
		return !memcmp(name + len - 7, "_RUNNER", 7) ||
		       !memcmp(name + len - 7, "_LINKER", 7);
	return is_named(names, AB_ARRAY_LEN(names), name, len);
}

/* The same, and mostly the name of a compiler, wherever that may be: what make
   has rules with (make(1), Variables Used by Implicit Rules). */
static bool is_compiler_variable(const char *name, uint32_t len,
				 const struct ab_word *value)
{
	static const char *const names[] = {
		"CC", "LD", "AR", "AS", "RM", "CXX", "CPP", "LEX", "YACC",
		"MAKE", "HOSTCC", "INSTALL", "RUSTC_WRAPPER",
	};

	if (value->hole_count || len < 2 || len > 13 ||
	    !memchr(value->text, ' ', value->len))
		return false;
	return is_named(names, AB_ARRAY_LEN(names), name, len);
}

/* a[$(...)]: what arithmetic runs when it comes across the value. */
static bool has_subscript(const struct ab_word *value)
{
	const char *s = value->text, *end = s + value->len;

	while ((s = memchr(s, '[', (size_t)(end - s)))) {
		const char *stop = memchr(s, ']', (size_t)(end - s));
		char before = s > value->text ? s[-1] : ' ';
		bool is_name = (before >= 'a' && before <= 'z') ||
			       (before >= 'A' && before <= 'Z') ||
			       before == '_';

		if (!stop)
			return false;
		if (is_name && (memmem(s, (size_t)(stop - s), "$(", 2) ||
				memchr(s, '`', (size_t)(stop - s))))
			return true;
		s++;
	}
	return false;
}

#define MAX_IN_PROMPT 16

/* The commands in a prompt, which is text around them. */
static void check_prompt(struct ab_check *c, const struct ab_word *value)
{
	const char *s = value->text;
	uint32_t found = 0;

	for (uint32_t i = 0; i < value->len && found < MAX_IN_PROMPT; i++) {
		uint32_t from = i + 1, end = from, depth = 1;
		struct ab_word text;

		if (s[i] == '`') {
			while (end < value->len && s[end] != '`')
				end++;
		} else if (s[i] == '$' && from < value->len &&
			   s[from] == '(') {
			for (end = ++from; end < value->len; end++) {
				depth += s[end] == '(';
				depth -= s[end] == ')';
				if (!depth)
					break;
			}
		} else {
			continue;
		}
		if (ab_word_slice(c, value, from, end - from, &text))
			ab_check_script(c, &text, true, NULL, 0, NULL);
		found++;
		i = end;
	}
}

/* The value is text now and a command later. */
static void check_late_value(struct ab_check *c, const char *name,
			     uint32_t len, const struct ab_word *value)
{
	struct ab_word text;
	uint32_t from = 0;

	if (is_command_variable(name, len) ||
	    is_compiler_variable(name, len, value)) {
		/* lesspipe: |CMD, ||CMD, |-CMD */
		while (from < value->len &&
		       memchr("|- ", value->text[from], 3))
			from++;
		if (ab_word_slice(c, value, from, UINT32_MAX, &text) &&
		    text.len)
			ab_check_script(c, &text, true, NULL, 0, NULL);
		return;
	}
	if (len == 3 && !memcmp(name, "PS", 2)) {
		check_prompt(c, value);
		return;
	}
	if (has_subscript(value))
		ab_check_script(c, value, false, NULL, 0, NULL);
}

void ab_check_env(struct ab_check *c, const char *name, uint32_t len,
		  const struct ab_word *value)
{
	if (value->len && c->run)
		check_late_value(c, name, len, value);
	uint32_t hash = ab_pack_hash(name, len);

	env_entry(c, c->pack->env_buckets[hash % AB_ENV_BUCKETS], name, len,
		  hash, value);
	env_entry(c, c->pack->env_prefixes[0], name, len, hash, value);
	if (len)
		env_entry(c, c->pack->env_prefixes[ab_env_prefix_of(*name)],
			  name, len, hash, value);
	if (len > 4 && !memcmp(name, "GIT", 3))
		ab_check_git_assign(c, name, len, value);
}

uint32_t ab_holes_taint(const struct ab_word *w)
{
	uint32_t taint = 0;

	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		if (h->kind == AB_HOLE_PATTERN || h->kind == AB_HOLE_HOME ||
		    (h->kind == AB_HOLE_LIKELY && !h->origin))
			continue;
		uint32_t bits = ab_hole_taint(h);

		if (h->is_cut)
			bits &= ~(uint32_t)AB_TAINT_FOUND;
		if (!h->origin)
			bits = AB_TAINT_VAR;
		else if (!bits)
			bits = AB_TAINT_FILE;
		taint |= bits;
	}
	return taint;
}
