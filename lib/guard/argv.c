/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options and operands of a command, by the grammar of its program: bundles,
 * glued values, abbreviations, `--`, subcommands. What the grammar does not
 * know is an option without a value.
 */
#include "config.h"

#include "guard/check.h"
#include "guard/command.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/key.h"

/* Words that are looked through for a subcommand behind an unknown option. */
#define LOOK_AHEAD 16

bool ab_word_slice(struct ab_check *c, const struct ab_word *w, uint32_t at,
		   uint32_t len, struct ab_word *out)
{
	if (at > w->len)
		at = w->len;
	if (len > w->len - at)
		len = w->len - at;
	*out = *w;
	out->text = w->text + at;
	out->len = len;
	out->span = ab_word_span(w, at, len);
	out->map = NULL;
	out->map_count = 0;
	if (len == w->len) {
		c->whole = w;
		return true;
	}
	out->hole_count = 0;
	if (!w->hole_count)
		return true;
	struct ab_hole *holes =
		ab_check_alloc(c, w->hole_count * sizeof(*holes));

	if (!holes)
		return false;
	for (uint32_t i = 0; i < w->hole_count; i++) {
		struct ab_hole h = w->holes[i];

		if (h.at + h.len < at || h.at > at + len ||
		    (h.at < at && h.at + h.len == at))
			continue;
		uint32_t from = h.at > at ? h.at - at : 0;
		uint32_t end = h.at + h.len > at + len ? len
						       : h.at + h.len - at;

		h.at = from;
		h.len = end > from ? end - from : 0;
		holes[out->hole_count++] = h;
	}
	out->holes = holes;
	return true;
}

/* --- reading ------------------------------------------------------------ */

struct scan {
	struct ab_check *c;
	struct ab_use *use;
	uint32_t i; /* the word at hand */
	uint32_t doubt; /* the last word with one that is not in the table */
	bool takes_equals; /* -x=VALUE */
	bool is_ended;
};

static bool is_long(const struct ab_program *p)
{
	return p->style == AB_STYLE_LONG || p->style == AB_STYLE_FIRST;
}

static const struct ab_option *options_of(const struct scan *s, uint32_t *n)
{
	const struct ab_program *p = s->use->program;

	*n = p->option_count;
	return p->option_count ? s->c->pack->options + p->option : NULL;
}

static void add_value(struct scan *s, uint8_t group, uint32_t option,
		      uint32_t word, uint32_t at)
{
	struct ab_use *u = s->use;

	u->options |= UINT64_C(1) << group;
	if (word >= u->count)
		return;
	u->values[u->value_count++] = (struct ab_value){
		.group = group, .word = word, .at = at, .option = option
	};
	if (at && at < u->words[word].len)
		u->heads |= ab_head_bit(u->words[word].text[at]);
}

/* The next option from i on that a word may name; n: none. */
static inline uint32_t next_option(const struct scan *s,
				   const struct ab_word *w, uint32_t len,
				   uint32_t i, uint32_t n)
{
	const struct ab_pack *pack = s->c->pack;
	const struct ab_program *p = s->use->program;
	const unsigned char *keys = pack->keys, *hit;
	unsigned char key;

	/* -name may be written --name in the long style */
	if (i >= n || (w->text[1] == '-' && is_long(p)))
		return i;
	if (len >= 4) {
		key = ab_option_key(w->text);
	} else if (len == 2 && w->text[1] && w->text[1] != '-') {
		keys = pack->letters; /* nothing abbreviates it */
		key = (unsigned char)w->text[1];
	} else {
		return i;
	}
	keys += p->option;
	hit = memchr(keys + i, key, n - i);
	return hit ? (uint32_t)(hit - keys) : n;
}

/* A value that switches a flag off, or that nobody knows. */
static bool is_off(const struct ab_word *w, uint32_t at)
{
	static const char *const names[] = { "false", "0", "no", "off",
					     "none",  "f", "n" };
	uint32_t n = w->len > at ? w->len - at : 0;

	for (uint32_t i = 0; i < w->hole_count; i++) {
		if (w->holes[i].at + w->holes[i].len >= at)
			return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == n &&
		    !strncasecmp(w->text + at, names[i], n))
			return true;
	}
	return !n;
}

/* --dry-run=false, --hash= and --dry-run false. A value that an option needs
   is what it says: `-o none` is a name. */
static void doubt_value(struct scan *s, const struct ab_option *o,
			const struct ab_word *w, uint32_t eq)
{
	bool has_value = eq < w->len;
	bool is_doubt = false;

	if (has_value && o->arity == 1)
		is_doubt = eq + 1 == w->len;
	else if (has_value)
		is_doubt = is_off(w, eq + 1);
	else if (!o->arity && s->i + 1 < s->use->count)
		is_doubt = ab_word_equals(&s->use->words[s->i + 1], "false");
	if (is_doubt)
		s->use->doubted |= UINT64_C(1) << o->group;
}

/* --no-dry-run, behind --dry-run or before it. */
static void doubt_name(struct scan *s, const struct ab_word *w)
{
	static const char no[] = "--no-";
	uint32_t n, len = (uint32_t)ab_seek(w->text, w->len, '=');
	uint32_t skip = sizeof(no) - 1;
	const struct ab_option *all = options_of(s, &n);

	if (len <= skip || memcmp(w->text, no, skip) != 0)
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (all[i].len == len - skip + 2 &&
		    !memcmp(all[i].name + 2, w->text + skip, len - skip))
			s->use->doubted |= UINT64_C(1) << all[i].group;
	}
}

/* --name or --name=value; also -name of the long style. */
static bool long_option(struct scan *s, const struct ab_word *w, uint32_t dash)
{
	uint32_t len = (uint32_t)ab_seek(w->text, w->len, '='), n, hits = 0;
	const struct ab_option *all = options_of(s, &n), *best = NULL;
	uint64_t mask = 0;

	for (uint32_t i = next_option(s, w, len, 0, n); i < n;
	     i = next_option(s, w, len, i + 1, n)) {
		const struct ab_option *o = &all[i];
		uint32_t skip = 0;

		if (dash == 1 && w->len > 1 && w->text[1] == '-' &&
		    o->name[1] != '-')
			skip = 1;
		if (len - skip > o->len ||
		    (len - skip > 2 && o->third != w->text[skip + 2]) ||
		    !ab_same(w->text + skip, o->name, len - skip))
			continue;
		if (len - skip == o->len) {
			best = o;
			mask = UINT64_C(1) << o->group;
			hits = 1;
			break;
		}
		if (dash == 1 || o->name[1] != '-' || len < 3)
			continue;
		best = o;
		mask |= UINT64_C(1) << o->group;
		hits++;
	}
	if (!best)
		return false;
	/* an ambiguous abbreviation may be any of them */
	s->use->options |= mask;
	doubt_value(s, best, w, len);
	if (len < w->len)
		add_value(s, best->group, s->i, s->i, len + 1);
	else if (best->arity & 1 && s->i + 1 < s->use->count) {
		uint32_t option = s->i++;

		add_value(s, best->group, option, s->i, 0);
		/* bwrap --bind / / */
		if (best->arity == 3 && s->i + 1 < s->use->count)
			add_value(s, best->group, option, ++s->i, 0);
	}
	return hits > 0;
}

/* -abc, -avalue; `from` is 1 behind a dash and 0 for tar's bundle. */
static void short_options(struct scan *s, const struct ab_word *w,
			  uint32_t from)
{
	uint32_t n, last = s->i;
	bool has_sign = false; /* -name=VALUE takes none that follows */
	const struct ab_option *all = options_of(s, &n);
	const unsigned char *letters =
		s->c->pack->letters + s->use->program->option;

	for (uint32_t k = from; k < w->len; k++) {
		const unsigned char *hit =
			n && w->text[k] ? memchr(letters,
						 (unsigned char)w->text[k], n)
					: NULL;
		const struct ab_option *o = hit ? &all[hit - letters] : NULL;

		if (!o) {
			s->use->is_unsure = true;
			has_sign |= w->text[k] == '=';
			s->doubt = has_sign ? 0 : s->i;
			continue;
		}
		s->use->options |= UINT64_C(1) << o->group;
		if (s->takes_equals && from && k + 1 < w->len &&
		    w->text[k + 1] == '=') {
			doubt_value(s, o, w, k + 1);
			if (o->arity)
				add_value(s, o->group, s->i, s->i, k + 2);
			break;
		}
		if (!o->arity)
			continue;
		if (!from) { /* tar: values follow as words, in order */
			add_value(s, o->group, s->i, ++last, 0);
			continue;
		}
		if (k + 1 < w->len || o->arity == 2)
			add_value(s, o->group, s->i, s->i, k + 1);
		else
			add_value(s, o->group, s->i, ++last, 0);
		break;
	}
	s->i = last;
}

static bool is_help(const struct ab_word *w)
{
	return (w->len == 6 && !memcmp(w->text, "--help", 6)) ||
	       (w->len == 9 && !memcmp(w->text, "--version", 9));
}

/*
 * What the table says to ask for help alone. An option before it may take it
 * for its value: `gh release create v1 --notes --help`. It goes behind the
 * table's word for it, since that may be one of another command of the block.
 */
static bool asks_help(const struct scan *s, const struct ab_word *w)
{
	static const char *const names[] = { "-h", "-help", "--help", "help" };
	const struct ab_use *u = s->use;
	uint8_t bits = u->program->help;

	if (u->options || u->is_unsure || u->value_count || s->is_ended ||
	    w->hole_count)
		return false;
	/* kubectl exec pod psql -h db */
	if (u->operand_count > u->base[u->program->depth] &&
	    ab_has_role(u->program, AB_ROLE_WRAP))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (bits & 1u << i && ab_word_equals(w, names[i]))
			return true;
	}
	return false;
}

/* aws s3 rm help: the last word, and of an operation. */
static bool asks_by_word(const struct scan *s, const struct ab_word *w)
{
	return s->i + 1 == s->use->count && s->i <= 3 && asks_help(s, w);
}

static bool is_known(const struct scan *s, const struct ab_word *w)
{
	uint32_t n;
	const struct ab_option *all = options_of(s, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (all[i].len == w->len &&
		    !memcmp(all[i].name, w->text, w->len))
			return true;
	}
	return false;
}

/* +x: any option with a plus that the table has; the first has the value, for
   a word has no more than one (ab_use_read()). */
static void plus_option(struct scan *s)
{
	uint32_t n;
	const struct ab_option *all = options_of(s, &n);
	bool has_value = false;

	/* bash +o NAME */
	for (uint32_t i = 0; i < n; i++) {
		const struct ab_word *w = &s->use->words[s->i];

		if (all[i].len == 2 && all[i].arity == 1 && w->len == 2 &&
		    !memcmp(all[i].name, w->text, 2)) {
			add_value(s, all[i].group, s->i, s->i + 1, 0);
			s->i++;
			return;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (all[i].name[0] != '+')
			continue;
		s->use->options |= UINT64_C(1) << all[i].group;
		if (!has_value)
			add_value(s, all[i].group, s->i, s->i, 1);
		has_value = true;
	}
}

#define MAX_BEFORE 64 /* words that are looked at for the `!` of a test */

bool ab_is_negated(const struct ab_use *use, uint32_t word)
{
	uint32_t end = word > MAX_BEFORE ? word - MAX_BEFORE : 1;
	bool is_group = true; /* a `!` here is about the test */
	int depth = 0;

	for (uint32_t i = word; i-- > end;) {
		const struct ab_word *w = &use->words[i];

		if (is_group && (ab_word_equals(w, "!") ||
				 ab_word_equals(w, "-not")))
			return true;
		depth += ab_word_equals(w, ")") - ab_word_equals(w, "(");
		/* in what this one opened, or beside it */
		is_group = depth < 0 && ab_word_equals(w, "(");
		if (is_group)
			depth = 0;
	}
	return false;
}

/* gem yank x --version 1.0: it has a value, and asks for nothing. */
static bool has_release(const struct scan *s, const struct ab_word *w)
{
	const struct ab_word *next = &s->use->words[s->i + 1];

	return w->len == 9 && s->i + 1 < s->use->count &&
	       !(next->len && *next->text == '-');
}

/* The word before is an option that nobody knows, and may take this one. */
static bool may_be_value(const struct scan *s)
{
	return s->doubt && s->doubt + 1 == s->i;
}

/* find . -exec sh -c x --help \;: it may be a word of what is run. */
static bool has_begun(const struct scan *s)
{
	const struct ab_use *u = s->use;
	const struct ab_program *p = u->program;

	return (p->is_wrapper || p->role_kinds >> AB_ROLE_CODE & 1) &&
	       (u->value_count || u->operand_count > u->base[p->depth]);
}

/* pwsh -EnC: it takes its options in whatever letters. */
static bool folded_option(struct scan *s, const struct ab_word *w)
{
	struct ab_word low = *w;
	char *text = s->use->program->style == AB_STYLE_FIRST
			     ? ab_check_alloc(s->c, w->len + 1) : NULL;

	for (uint32_t i = 0; text && i < w->len; i++)
		text[i] = w->text[i] >= 'A' && w->text[i] <= 'Z'
				  ? (char)(w->text[i] | 0x20) : w->text[i];
	low.text = text;
	return text && long_option(s, &low, 1);
}

static void option_word(struct scan *s, const struct ab_word *w)
{
	const struct ab_program *p = s->use->program;
	uint32_t option = s->i;

	if (AB_UNLIKELY(p->help & ~AB_HELP_WORD) && asks_help(s, w)) {
		s->use->is_help = true;
		return;
	}
	/* to what is part of the shell it is one as the first word only */
	if (is_help(w) && !may_be_value(s) && !p->keeps_help &&
	    !is_known(s, w) && (!p->is_builtin || s->i == 1) &&
	    !has_release(s, w) && !has_begun(s)) {
		s->use->is_help = true;
		return;
	}
	if (*w->text == '+') {
		plus_option(s);
		return;
	}
	if (is_long(p)) {
		uint64_t before = s->use->options;
		uint32_t values = s->use->value_count;

		if (!long_option(s, w, 1) && !folded_option(s, w)) {
			if (p->style != AB_STYLE_FIRST && w->text[1] != '-')
				short_options(s, w, 1);
			else if (!memchr(w->text, '=', w->len))
				s->doubt = s->i;
		}
		/* what is left out does not narrow down what is taken */
		if (p->is_names && ab_is_negated(s->use, option))
			s->use->options = before;
		if (p->is_names && s->use->value_count > values &&
		    ab_is_pruned(s->use, option)) {
			s->use->options = before;
			s->use->value_count = values;
		}
		return;
	}
	if (w->len > 1 && w->text[1] == '-') {
		doubt_name(s, w);
		if (!long_option(s, w, 2) && !memchr(w->text, '=', w->len)) {
			s->use->is_unsure = true;
			s->doubt = s->i;
		}
		return;
	}
	short_options(s, w, 1);
}

/* Its bytes are all known, or what a default makes likely; `pub${x}lish`: or
   what is left where nobody set the variable. */
static bool is_said(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		if (!h->len && w->len && !h->origin &&
		    (h->kind == AB_HOLE_BYTES || h->kind == AB_HOLE_FIELDS))
			continue;
		if (h->kind != AB_HOLE_LIKELY || !h->len || h->origin)
			return false;
	}
	return true;
}

/* The subcommand that an operand names, or NULL. */
static const struct ab_program *sub_of(const struct scan *s,
				       const struct ab_word *w)
{
	const struct ab_program *p = s->use->program;
	AB_UNINITIALIZED char name[128];

	/* only the first word of a level names a subcommand */
	if (s->use->operand_count != s->use->base[p->depth] ||
	    !is_said(w) || w->len > 60 ||
	    p->name_len + w->len + 1 > sizeof(name) || p->depth >= 6)
		return NULL;
	memcpy(name, p->name, p->name_len);
	name[p->name_len] = '/';
	memcpy(name + p->name_len + 1, w->text, w->len);
	return ab_pack_program(s->c->pack, name, p->name_len + 1 + w->len);
}

/* Is a subcommand yet to come, behind options and what may be their values? */
static bool sub_follows(const struct scan *s)
{
	const struct ab_use *u = s->use;
	uint32_t end = u->count - s->i > LOOK_AHEAD ? s->i + LOOK_AHEAD
						    : u->count;
	bool may_be_value = false;

	for (uint32_t i = s->i + 1; i < end; i++) {
		const struct ab_word *w = &u->words[i];
		bool is_option = w->len > 1 && *w->text == '-';

		if (!is_option && sub_of(s, w))
			return true;
		if (!is_option && !may_be_value)
			return false;
		may_be_value = is_option;
	}
	return end < u->count;
}

/* NAME=value before the command of env, sudo... */
static bool is_assignment(const struct ab_word *w)
{
	uint32_t n = 0;

	while (n < w->len && (w->text[n] == '_' ||
			      (w->text[n] >= 'A' && w->text[n] <= 'Z') ||
			      (w->text[n] >= 'a' && w->text[n] <= 'z') ||
			      (n && w->text[n] >= '0' && w->text[n] <= '9') ||
			      (n && w->text[n] == '%')))
		n++;
	return n && n < w->len && w->text[n] == '=';
}

/* env bash -c 'A=1 x': the words of the command that it runs. */
static bool is_inner(const struct ab_use *u)
{
	return u->program->style == AB_STYLE_POSIX && u->operand_count &&
	       !u->program->is_builtin;
}

static void operand(struct scan *s, const struct ab_word *w)
{
	struct ab_use *u = s->use;
	const struct ab_program *sub =
		u->program->has_subs && !s->is_ended ? sub_of(s, w) : NULL;

	if (u->program->has_env && is_assignment(w) && !is_inner(u)) {
		const char *eq = memchr(w->text, '=', w->len);
		struct ab_word value;
		uint32_t n = (uint32_t)(eq - w->text);

		if (ab_word_slice(s->c, w, n + 1, w->len, &value))
			ab_check_env(s->c, w->text, n, &value);
		if (!u->program->is_builtin)
			return;
	}
	/* npm --unknown VALUE run x; and no word of aws --debug s3 rb x */
	if (!sub && may_be_value(s) && !s->is_ended && u->program->has_subs &&
	    sub_follows(s))
		return;
	if (AB_UNLIKELY(may_be_value(s)) && u->operand_count < 64)
		u->doubtful |= UINT64_C(1) << u->operand_count;
	if (AB_UNLIKELY(u->program->help & AB_HELP_WORD) && !w->hole_count &&
	    asks_by_word(s, w))
		u->is_help = true;
	u->operands[u->operand_count++] = s->i;
	if (sub) {
		u->program = sub;
		u->base[sub->depth] = u->operand_count;
		return;
	}
	if (u->program->has_subs)
		return;
	if (u->program->style == AB_STYLE_POSIX ||
	    (u->program->style == AB_STYLE_SECOND && u->operand_count > 1) ||
	    /* or the value of an option that nobody knows */
	    (u->program->style == AB_STYLE_FIRST &&
	     !(s->doubt && s->doubt + 1 == s->i)))
		s->is_ended = true;
}

static bool has_plus(const struct scan *s)
{
	uint32_t n;
	const struct ab_option *all = options_of(s, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (all[i].name[0] == '+')
			return true;
	}
	return false;
}

/* `su -`, `env - CMD`: where the table has that option. */
static bool is_lone_dash(const struct scan *s, const struct ab_word *w)
{
	uint32_t n;
	const struct ab_option *all = options_of(s, &n);

	for (uint32_t i = 0; i < n && w->len == 1; i++) {
		if (all[i].len == 1 && all[i].name[0] == *w->text)
			return true;
	}
	return false;
}

/* -, + as options of their own. */
static bool lone_dash(struct scan *s, const struct ab_word *w)
{
	uint32_t n;
	const struct ab_option *all = options_of(s, &n);

	for (uint32_t i = 0; i < n && w->len == 1; i++) {
		if (all[i].len == 1 && all[i].name[0] == *w->text) {
			s->use->options |= UINT64_C(1) << all[i].group;
			return true;
		}
	}
	return false;
}

/* onchange a b -- CMD: of what has an option of that name, its value. */
static void end_options(struct scan *s)
{
	uint32_t n;
	const struct ab_option *all = options_of(s, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (all[i].len == 2 && all[i].arity == 1 &&
		    !memcmp(all[i].name, "--", 2))
			add_value(s, all[i].group, s->i, s->i + 1, 0);
	}
	/* find -- / -delete */
	s->is_ended = s->use->program->style != AB_STYLE_LONG;
}

/* ${X:---dry-run} is another option where X is set: nothing is excused by
   it. */
static void likely_option(struct scan *s, const struct ab_word *w)
{
	uint64_t before = s->use->options;
	bool was_help = s->use->is_help;

	option_word(s, w);
	if (w->holes->at < 2 || w->holes->at < ab_seek(w->text, w->len, '=')) {
		s->use->doubted |= s->use->options & ~before;
		s->use->is_help = was_help;
	}
}

static void one_word(struct scan *s, const struct ab_word *w)
{
	const struct ab_program *p = s->use->program;

	if (w->len > 1 && *w->text != '-' && *w->text != '+' &&
	    p->style != AB_STYLE_TAR) {
		operand(s, w);
		return;
	}
	bool is_option = (w->len > 1 || is_lone_dash(s, w)) && w->len &&
			 (*w->text == '-' ||
			  (*w->text == '+' && has_plus(s))) &&
			 (!w->hole_count || w->holes[0].at || is_said(w));

	if (s->is_ended || p->style == AB_STYLE_PLAIN || !is_option) {
		bool first = !s->use->operand_count && s->i == 1;

		if (p->style == AB_STYLE_TAR && first && !is_option &&
		    w->len && memchr("cxturAd", w->text[0], 7) &&
		    !memchr(w->text, '.', w->len))
			short_options(s, w, 0);
		else
			operand(s, w);
		return;
	}
	if (w->len == 1 && lone_dash(s, w))
		return;
	if (w->len == 2 && *w->text == '-' && w->text[1] == '-') {
		if (!w->hole_count)
			end_options(s);
		return;
	}
	if (AB_UNLIKELY(w->hole_count))
		likely_option(s, w);
	else
		option_word(s, w);
}

/* What the next word is that does not begin like an option: an operand and
   nothing else. *is_rest: whatever it begins with. */
static inline bool takes_plainly(const struct scan *s, bool *is_rest)
{
	const struct ab_program *p = s->use->program;

	*is_rest = false;
	if (p->has_env || p->style == AB_STYLE_TAR ||
	    (s->doubt && s->doubt == s->i) ||
	    (p->help & AB_HELP_WORD && s->i < 4) ||
	    (p->has_subs && !s->is_ended &&
	     s->use->operand_count == s->use->base[p->depth]))
		return false;
	*is_rest = s->is_ended || p->style == AB_STYLE_PLAIN;
	return *is_rest ||
	       (p->style != AB_STYLE_POSIX && p->style != AB_STYLE_SECOND &&
		p->style != AB_STYLE_FIRST);
}

/* python3 -Imtwine upload: -Im twine upload. What stands behind -c is no option
   any more. */
static AB_COLD void split_module(struct ab_check *c, struct ab_use *use)
{
	const struct ab_word *w = use->words + 1;
	const struct ab_word *end = use->words + use->count;
	struct ab_word *all;
	uint32_t at = 0, k = 1;

	for (; w < end && w->len > 1 && *w->text == '-' && !at; w++) {
		for (k = 1; k < w->len && !memchr("mcWX-", w->text[k], 5); k++)
			;
		if (k < w->len && w->text[k] == 'm')
			at = k + 1;
		if (k < w->len && w->text[k] == 'c')
			return;
		w += k + 1 == w->len && memchr("WX", w->text[k], 2);
	}
	if (!at || at == w[-1].len)
		return;
	k = (uint32_t)(w - use->words);
	all = ab_check_alloc(c, (use->count + 1) * sizeof(*all));
	if (!all || !ab_word_slice(c, &w[-1], 0, at, &all[k - 1]) ||
	    !ab_word_slice(c, &w[-1], at, w[-1].len, &all[k]))
		return;
	memcpy(all, use->words, (k - 1) * sizeof(*all));
	memcpy(all + k + 1, w, (size_t)(end - w) * sizeof(*all));
	use->words = all;
	use->count++;
}

bool ab_use_read(struct ab_check *c, const struct ab_program *p,
		 const struct ab_word *words, uint32_t count,
		 struct ab_use *use)
{
	struct scan s = { .c = c, .use = use,
			  .takes_equals = p->takes_equals };
	bool is_plain, is_rest;

	use->program = p;
	use->words = words;
	use->count = count;
	if (AB_UNLIKELY(p->has_modules)) {
		split_module(c, use);
		words = use->words;
		count = use->count;
	}
	/* an operand or a value of each word, and one of tar's bundle */
	use->values = ab_check_alloc(c, (count + 1) *
						(2 * sizeof(*use->values) +
						 sizeof(uint32_t)));
	if (!use->values)
		return false;
	use->operands = (uint32_t *)(void *)(use->values + 2 * (count + 1));
	uint64_t heads = 0;
	uint32_t holes = 0;

	for (const struct ab_word *w = words + 1; w < words + count; w++) {
		holes |= w->hole_count;
		if (w->len)
			heads |= ab_head_bit(*w->text);
	}
	use->heads = heads;
	use->has_hole = holes != 0;
	is_plain = is_rest = false;
	if (count > 1)
		is_plain = takes_plainly(&s, &is_rest);
	for (s.i = 1; s.i < count; s.i++) {
		const struct ab_word *w = &words[s.i];

		if (is_rest || (is_plain && w->len > 1 && *w->text != '-' &&
				*w->text != '+')) {
			use->operands[use->operand_count++] = s.i;
			continue;
		}
		one_word(&s, w);
		if (s.i + 1 < count)
			is_plain = takes_plainly(&s, &is_rest);
	}
	use->is_open = p->is_names && ab_find_is_open(use);
	return true;
}

bool ab_use_has_letter(const struct ab_use *use, char letter)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len > 1 && *w->text == '-' &&
		    memchr(w->text, letter, w->len))
			return true;
	}
	return false;
}

bool ab_use_has_word(const struct ab_use *use, const char *text)
{
	uint32_t i = 1;

	while (i < use->count && !ab_word_equals(&use->words[i], text))
		i++;
	return i < use->count;
}

uint64_t ab_use_starts(struct ab_use *use)
{
	uint64_t starts = 0;

	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len)
			starts |= ab_start_bit(w->text, w->len);
	}
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];

		if (v->at && v->at < w->len)
			starts |= ab_start_bit(w->text + v->at,
					       w->len - v->at);
	}
	return starts;
}
