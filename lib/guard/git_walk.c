/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads options and operands as gitcli(7) says: short ones in bundles, values
 * glued or in the next word, long ones abbreviated or negated, "--".
 *
 * What git might take for something dangerous is dangerous: an abbreviation
 * is the worst of what it could be, an option that the table lacks is asked
 * about, a word that is not known is an option until "--" came.
 */
#include "config.h"

#include "guard/git_walk.h"

#include <string.h>

#include "guard/pack.h"
#include "shell/shell.h"

/* Flags that make a verdict milder: only a certain match sets them. */
#define MILD                                                                   \
	(FLAG_LIST | FLAG_DRY | FLAG_INDEX | FLAG_PATTERN | FLAG_READ |        \
	 FLAG_LOCAL | FLAG_BRIEF)

void ab_git_found(struct ab_git_walk *walk, enum ab_git_act act, size_t word,
		  size_t begin, size_t end)
{
	const struct ab_git_finding *f = ab_git_finding_of(act);
	enum ab_git_profile profile = walk->context->profile;
	struct ab_git_result *r = walk->result;
	enum ab_git_verdict v = f->verdict;

	/* a dialogue hangs at worst: only who is strict minds */
	if (act == GIT_PATCH &&
	    (walk->context->has_tty || profile != AB_GIT_STRICT))
		return;
	if (v == AB_GIT_DENY && f->relaxes && profile == AB_GIT_RELAXED)
		v = AB_GIT_ASK;
	if (v == AB_GIT_ASK && profile != AB_GIT_DEFAULT &&
	    profile != AB_GIT_RELAXED)
		v = AB_GIT_DENY;
	if (v <= r->verdict)
		return;
	r->verdict = v;
	r->rule = f->rule;
	r->severity = f->severity;
	r->reason = f->reason;
	r->alternative = f->alternative;
	r->word = (uint32_t)word;
	r->env = AB_GIT_NOWHERE;
	r->begin = (uint32_t)begin;
	r->end = (uint32_t)end;
}

void ab_git_found_word(struct ab_git_walk *walk, enum ab_git_act act,
		       size_t word)
{
	ab_git_found(walk, act, word, 0, walk->words[word].len);
}

/* Like strcmp() of the table's name and text, or of their common length. */
static int compare(const char *name, const char *text, size_t len, bool whole)
{
	for (size_t i = 0; i < len; i++) {
		int d = (unsigned char)name[i] - (unsigned char)text[i];

		if (d || !name[i])
			return d ? d : -1;
	}
	return whole ? (unsigned char)name[len] : 0;
}

/* The first option of the set that is not below text. */
static inline size_t lower_bound(const struct ab_git_set *set, const char *text,
				 size_t len)
{
	size_t low = 0;
	size_t high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(set->options[middle].name, text, len, false) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct ab_git_option *find_exact(const struct ab_git_command *c,
					      const char *text, size_t len)
{
	for (size_t i = 0; i < AB_GIT_SETS && c->sets[i]; i++) {
		const struct ab_git_set *set = c->sets[i];
		size_t at = lower_bound(set, text, len);

		/* of names with this beginning the shortest comes first */
		if (at < set->count &&
		    compare(set->options[at].name, text, len, true) == 0)
			return &set->options[at];
	}
	return NULL;
}

/* Every option that this may abbreviate. */
struct matches {
	const struct ab_git_option *one; /* when distinct is 1 */
	size_t distinct;
	bool is_mixed; /* some take the next word, some do not */
};

typedef void (*option_fn)(struct ab_git_walk *walk,
			  const struct ab_git_option *o, size_t word,
			  size_t value);

static void each_prefix(struct ab_git_walk *walk, const char *text, size_t len,
			struct matches *m, option_fn fn, size_t word,
			size_t value)
{
	const struct ab_git_command *c = walk->command;

	for (size_t i = 0; i < AB_GIT_SETS && c->sets[i]; i++) {
		const struct ab_git_set *set = c->sets[i];
		size_t at = lower_bound(set, text, len);

		for (; at < set->count; at++) {
			const struct ab_git_option *o = &set->options[at];

			if (compare(o->name, text, len, false) != 0)
				break;
			if (o->name[0] == '-')
				continue;
			if (m->one && strcmp(m->one->name, o->name) == 0)
				continue;
			if (m->one && (m->one->arg == ARG_NEED) !=
					      (o->arg == ARG_NEED))
				m->is_mixed = true;
			m->one = o;
			m->distinct++;
			if (fn)
				fn(walk, o, word, value);
		}
	}
}

/* What an option means by itself; value: where its glued value begins. */
static void apply_worst(struct ab_git_walk *walk, const struct ab_git_option *o,
			size_t word, size_t value)
{
	ab_git_found_word(walk, o->act, word);
	walk->flags |= o->flag & ~(unsigned)MILD;
	if (value && o->arg != ARG_NONE)
		ab_git_judge_value(walk, o->value, word, value);
}

static void apply(struct ab_git_walk *walk, const struct ab_git_option *o,
		  size_t word, size_t begin, size_t end)
{
	ab_git_found(walk, o->act, word, begin, end);
	walk->flags |= o->flag;
}

/* The value is the next word: returns the index behind it. */
static size_t next_value(struct ab_git_walk *walk,
			 const struct ab_git_option *o, size_t word)
{
	if (word + 1 >= walk->count)
		return word + 1;
	if (ab_git_may_split(&walk->words[word + 1]))
		ab_git_found_word(walk, GIT_DYNAMIC, word + 1);
	ab_git_judge_value(walk, o->value, word + 1, 0);
	return word + 2;
}

static void unknown_option(struct ab_git_walk *walk, size_t word)
{
	if (!(walk->command->flags & (COMMAND_ECHO | COMMAND_LENIENT)))
		ab_git_found_word(walk, GIT_UNKNOWN_OPTION, word);
}

static bool has_no(const char *name, size_t len)
{
	return len > 3 && memcmp(name, "no-", 3) == 0;
}

/* "--no-x" of a known x, "--x" of a known no-x: neither takes a value. */
static bool negation(struct ab_git_walk *walk, const char *name, size_t len)
{
	char buffer[64] = "no-";
	const struct ab_git_option *o;

	if (has_no(name, len)) {
		o = find_exact(walk->command, name + 3, len - 3);
		if (o && o->name[0] != '-') {
			walk->flags &= ~(unsigned)(o->flag & MILD);
			return true;
		}
	}
	if (len >= sizeof(buffer) - 3)
		return false;
	memcpy(buffer + 3, name, len);
	return find_exact(walk->command, buffer, len + 3) != NULL;
}

static void clear_mild(struct ab_git_walk *walk, const struct ab_git_option *o,
		       size_t word, size_t value)
{
	(void)word;
	(void)value;
	walk->flags &= ~(unsigned)(o->flag & MILD);
}

static size_t abbreviation(struct ab_git_walk *walk, const char *name,
			   size_t len, size_t word, size_t value)
{
	struct matches m = {NULL, 0, false};
	struct matches negated = {NULL, 0, false};
	char buffer[64] = "no-";

	each_prefix(walk, name, len, &m, apply_worst, word, value);
	if (has_no(name, len))
		each_prefix(walk, name + 3, len - 3, &negated, clear_mild, word,
			    value);
	else if (len < sizeof(buffer) - 3) {
		memcpy(buffer + 3, name, len);
		each_prefix(walk, buffer, len + 3, &negated, NULL, word, value);
	}
	if (!m.distinct && !negated.distinct) {
		unknown_option(walk, word);
		return word + 1;
	}
	if (m.is_mixed || (negated.distinct && m.one && m.one->arg == ARG_NEED))
		ab_git_found_word(walk, GIT_UNKNOWN_OPTION, word);
	if (m.distinct == 1 && !negated.distinct) {
		walk->flags |= m.one->flag;
		if (m.one->arg == ARG_NEED && !value)
			return next_value(walk, m.one, word);
	}
	return word + 1;
}

/* "--name", "--name=value": returns the index of the word to go on with. */
static size_t long_option(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];
	const char *name = w->text + 2;
	const char *equal = memchr(name, '=', w->len - 2);
	size_t value = equal ? (size_t)(equal - w->text) + 1 : 0;
	size_t end = equal ? value - 1 : w->len;
	size_t unsure = ab_git_unread_from(w, 0);
	const struct ab_git_option *o;
	struct matches m = {NULL, 0, false};

	if (unsure <= end) {
		/* any option with this beginning */
		if (unsure > 3)
			each_prefix(walk, name, unsure - 2, &m, apply_worst,
				    word, value);
		ab_git_found_word(walk, GIT_DYNAMIC, word);
		return word + 1;
	}
	o = end > 2 ? find_exact(walk->command, name, end - 2) : NULL;
	if (o && o->name[0] != '-') {
		apply(walk, o, word, 0, end);
		if (value && o->arg != ARG_NONE)
			ab_git_judge_value(walk, o->value, word, value);
		return o->arg == ARG_NEED && !value ? next_value(walk, o, word)
						    : word + 1;
	}
	if (end == 2) {
		unknown_option(walk, word);
		return word + 1;
	}
	if (negation(walk, name, end - 2))
		return word + 1;
	return abbreviation(walk, name, end - 2, word, value);
}

static size_t digits(const struct ab_word *w, size_t at)
{
	size_t end = at;

	while (end < w->len && w->text[end] >= '0' && w->text[end] <= '9')
		end++;
	return end - at;
}

/* "-abc", "-n5", "-mtext". */
static size_t short_options(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];
	size_t unsure = ab_git_unread_from(w, 0);
	const struct ab_git_option *o;

	for (size_t at = 1; at < w->len; at++) {
		char name[2] = {'-', w->text[at]};
		size_t number = digits(w, at);

		if (unsure <= at)
			break;
		o = name[1] ? find_exact(walk->command, name, 2) : NULL;
		if (!o && number && find_exact(walk->command, "-#", 2)) {
			at += number - 1;
			continue;
		}
		if (!o || name[1] == '#') {
			unknown_option(walk, word);
			return word + 1;
		}
		apply(walk, o, word, at, at + 1);
		if (o->arg == ARG_NONE)
			continue;
		if (at + 1 < w->len || unsure <= w->len) {
			ab_git_judge_value(walk, o->value, word, at + 1);
			return word + 1;
		}
		return o->arg == ARG_NEED ? next_value(walk, o, word)
					  : word + 1;
	}
	if (unsure <= w->len)
		ab_git_found_word(walk, GIT_DYNAMIC, word);
	return word + 1;
}

/* Could a word with holes still be a verb, by what is known of it? */
static bool may_be_verb(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++)
		if ((w->text[i] < 'a' || w->text[i] > 'z') &&
		    w->text[i] != '-')
			return false;
	return w->hole_count > 0;
}

/* The first operand of a command with verbs: true when it is one. */
static bool take_verb(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];
	const struct ab_git_command *base = walk->command;
	const struct ab_git_command *verb = NULL;

	if (ab_git_unread_from(w, 0) > w->len)
		verb = ab_git_verb_find(base, w->text, w->len);
	walk->has_verb = true;
	if (verb && !walk->has_dashes && !w->hole_count) {
		walk->command = verb;
		walk->flags |= verb->preset;
		ab_git_start(walk, word);
		return true;
	}
	/* after "--" it is no verb, or one: the worse of both */
	if (verb)
		ab_git_found_word(walk, verb->act, word);
	ab_git_found_word(walk, base->act, word);
	ab_git_found_word(walk, base->other, word);
	if (may_be_verb(w))
		ab_git_found_word(walk, GIT_DYNAMIC, word);
	return false;
}

static void operand(struct ab_git_walk *walk, size_t word)
{
	if ((walk->command->flags & COMMAND_VERBS) && !walk->has_verb &&
	    take_verb(walk, word))
		return;
	if (walk->first == AB_GIT_NO_WORD)
		walk->first = word;
	ab_git_judge_operand(walk, word);
	walk->operands++;
	if (walk->has_dashes)
		walk->after++;
	if (walk->command->flags & COMMAND_STOP)
		walk->is_ended = true;
}

/* What the options of a command could do that nobody wrote. */
enum reach { REACH_NOTHING, REACH_SOME, REACH_RUNS };

static bool is_harmless(const struct ab_git_option *o)
{
	return (o->act == GIT_OK || o->act == GIT_EVAL) &&
	       (o->value == VALUE_ANY || o->value == VALUE_PATTERNS);
}

static enum reach reach_of(const struct ab_git_walk *walk)
{
	const struct ab_git_command *c = walk->command;
	bool is_plain = c->act == GIT_OK && c->operands == OPERANDS_ANY &&
			!(c->flags & COMMAND_VERBS);

	for (size_t i = 0; i < AB_GIT_SETS && c->sets[i]; i++) {
		const struct ab_git_set *set = c->sets[i];

		for (size_t k = 0; k < set->count; k++) {
			uint8_t act = set->options[k].act;

			if (act == GIT_PAGER || act == GIT_REMOTE)
				return REACH_RUNS;
			is_plain = is_plain && is_harmless(&set->options[k]);
		}
	}
	/* cat-file -t: git takes no second option of that kind */
	if (c->operands == OPERANDS_ANY && (walk->flags & FLAG_READ))
		is_plain = true;
	return is_plain ? REACH_NOTHING : REACH_SOME;
}

/* Files of a list that is read, and not of all that there are, which are too
   many: `git ls-files -d | xargs git rm`. */
static bool is_part(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_stream *s = w->holes[i].origin;

		if (!s || s->taint & AB_TAINT_TREE ||
		    (s->kind != AB_STREAM_PIPE &&
		     s->kind != AB_STREAM_REDIRECT))
			return false;
	}
	return true;
}

/* A word that git may take for an option, or for more words than one, and that
   could be one that does harm. */
static bool is_risky(const struct ab_git_walk *walk, const struct ab_word *w)
{
	bool may_split = ab_git_may_split(w);
	bool may_be_option = ab_git_may_be_option(w);

	if (!w->hole_count)
		return false;
	/* "HEAD~${n:-1}" is one word, whatever n is */
	if (ab_git_is_guess(w) &&
	    (!w->is_quoted || ab_git_hole_at(w, 0) || *w->text == '-'))
		return true;
	/* "$A"..HEAD: an option would have the end of a range, too */
	if ((walk->command->flags & COMMAND_RANGES) && ab_git_is_range(w))
		may_be_option = false;
	/* of two words none is one: judge_moved() */
	if (walk->command->operands == OPERANDS_MOVE)
		may_be_option = false;
	if (!may_split && !may_be_option)
		return false;
	switch (reach_of(walk)) {
	case REACH_NOTHING:
		return false;
	case REACH_SOME:
		return !ab_git_is_told(walk, w) ||
		       (walk->command->operands == OPERANDS_REMOVE &&
			!is_part(w));
	case REACH_RUNS:
		break;
	}
	return true;
}

/* `git add "$f"`: where nothing else is named or acts by itself, nothing comes
   of an option but a dialogue, which only who is strict minds. It is last: if
   it were "--", those behind it would be no options. */
static bool is_idle_alone(const struct ab_git_walk *walk,
			  const struct ab_word *w)
{
	if (walk->context->profile == AB_GIT_STRICT ||
	    w + 1 != walk->words + walk->count || walk->operands ||
	    (walk->flags & (FLAG_RECURSE | FLAG_PATTERN)) ||
	    ab_git_is_guess(w) || ab_git_may_split(w))
		return false;
	switch (walk->command->operands) {
	case OPERANDS_INSIDE:
	case OPERANDS_GREP:
		return true;
	case OPERANDS_BRANCH:
	case OPERANDS_TAG:
		return walk->flags & FLAG_LIST;
	case OPERANDS_RESTORE:
		return walk->flags & FLAG_INDEX;
	default:
		return false;
	}
}

/*
 * The command, or its verb, is words[word]. "-h", alone, and "--help", first,
 * print and do nothing else.
 */
void ab_git_start(struct ab_git_walk *walk, size_t word)
{
	enum ab_git_act act = walk->command->act;
	size_t next = word + 1;

	walk->at = word;
	walk->is_help = next < walk->count &&
			(ab_git_is(&walk->words[next], "--help") ||
			 (next + 1 == walk->count &&
			  ab_git_is(&walk->words[next], "-h")));
	if (walk->is_help) {
		if (ab_git_finding_of(act)->verdict == AB_GIT_DENY)
			ab_git_found_word(walk, GIT_HELP_DENIED, word);
	} else if (walk->has_verb || !(walk->command->flags & COMMAND_VERBS)) {
		ab_git_found_word(walk, act, word);
	}
}

void ab_git_walk_words(struct ab_git_walk *walk, size_t from)
{
	size_t i = from;
	bool has_end = false;

	while (i < walk->count && !walk->is_help) {
		const struct ab_word *w = &walk->words[i];

		if ((!walk->is_ended || (has_end && !walk->has_dashes)) &&
		    ab_git_is(w, "--")) {
			walk->is_ended = true;
			walk->has_dashes = true;
			i++;
			continue;
		}
		if (!walk->is_ended && ab_git_is(w, "--end-of-options")) {
			walk->is_ended = has_end = true;
			i++;
			continue;
		}
		if (!walk->is_ended && is_risky(walk, w) &&
		    !is_idle_alone(walk, w))
			ab_git_found_word(walk, GIT_DYNAMIC, i);
		if (walk->is_ended || w->len < 1 || w->text[0] != '-' ||
		    ab_git_may_be_option(w) ||
		    (w->len == 1 && !w->hole_count)) {
			operand(walk, i);
			i++;
		} else if (w->len > 1 && w->text[1] == '-') {
			i = long_option(walk, i);
		} else {
			i = short_options(walk, i);
		}
	}
	if (walk->is_help)
		return;
	if ((walk->command->flags & COMMAND_VERBS) && !walk->has_verb)
		ab_git_found_word(walk, walk->command->act, from - 1);
	if (walk->command->flags & COMMAND_PRINTS)
		ab_git_judge_shown(walk);
	ab_git_judge_end(walk);
}
