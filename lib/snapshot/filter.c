/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The verdict on a name, see filter.h. What is hidden from the source goes
 * first. Then every form of the name (fold.h) is looked up in the rules
 * (match.h), each rule asks its place (place.h), the strongest wins; then the
 * host's patterns and the tree's. It refuses to keep what it cannot judge.
 * Nothing here allocates while judging.
 */
#include "config.h"

#include "snapshot/filter.h"

#include <string.h>

#include "base/alloc.h"
#include "path/glob.h"
#include "snapshot/internal.h"

/* Low bits of a mark; the high ones are place.h's. */
#define MARK_PASSAGE 0x3u /* 1: an include is needed; 2: a forced one */
#define MARK_REASON_SHIFT 2 /* why the directory was left out */
#define MARK_REASON 0x1fu

/* Nobody's program decorates a name so often: it hides one. */
#define FORMS_MAX 32

static const char *const reason_names[AB_OUT_REASONS] = {
	[AB_KEPT] = "kept",
	[AB_OUT_NAME] = "name",
	[AB_OUT_HOST] = "exclude",
	[AB_OUT_TREE] = "ignore-file",
	[AB_OUT_ENCODING] = "name-encoding",
	[AB_OUT_STRUCTURE] = "structure",
	[AB_OUT_CONTENT] = "content",
	[AB_OUT_ALIAS] = "alias",
	[AB_OUT_LINK] = "symlink",
	[AB_OUT_SPECIAL] = "special",
	[AB_OUT_MOUNT] = "mount",
	[AB_OUT_SIZE] = "size",
	[AB_OUT_DEPTH] = "depth",
	[AB_OUT_RACED] = "raced",
	[AB_OUT_TORN] = "torn",
	[AB_OUT_UNREADABLE] = "unreadable",
	[AB_OUT_COLLISION] = "collision",
	[AB_OUT_HIDDEN] = "hidden",
};

const char *ab_left_out_name(enum ab_left_out reason)
{
	return (unsigned)reason < AB_OUT_REASONS ? reason_names[reason]
						 : "unknown";
}

size_t ab_filter_rule_count(void)
{
	return ab_name_rule_count;
}

const char *ab_filter_rule(size_t i, char *tier)
{
	if (i >= ab_name_rule_count)
		return NULL;
	*tier = ab_name_rules[i].tier;
	return ab_name_rules[i].pattern;
}

/* What is known while one name is judged. */
struct judge {
	const ab_filter *filter;
	ab_place place;
	const struct ab_name_rule *best;
	const struct ab_name_rule *wanted; /* tier A */
	bool is_written; /* the form is the name as it was written */
	unsigned steps;	 /* forms looked at */
	uint32_t mark;	  /* place.h's, of a directory */
};

static int rank(const struct ab_name_rule *rule)
{
	static const char order[] = "CBSX";
	const char *at = rule ? strchr(order, rule->tier) : NULL;

	return at ? (int)(at - order) + 1 + (rule->is_required ? 8 : 0) : 0;
}

static bool is_about(const struct ab_name_rule *rule, bool is_directory)
{
	size_t n = strlen(rule->pattern);
	size_t last_len;
	const char *last = ab_match_last(rule->pattern, &last_len);

	return !is_directory || rule->is_required || last[0] == '.' ||
	       rule->pattern[n - 1] == '/';
}

/* Where the last component of the n bytes begins. */
static size_t last_component(const char *path, size_t n)
{
	const char *slash = memrchr(path, '/', n);

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/*
 * The components of the pattern before its last, against those above; between
 * them `**` stands for any number of directories.
 */
static bool is_below(const struct ab_name_rule *rule, const ab_place *place)
{
	size_t last_len;
	const char *p = rule->pattern, *path = place->path;
	size_t end = (size_t)(ab_match_last(p, &last_len) - p);
	size_t n = place->parent_len, stars = 0, stars_n = 0;

	while (end > 0) {
		size_t at = last_component(p, --end); /* without the slash */
		size_t dir = last_component(path, n);

		if (end - at == 2 && memcmp(p + at, "**", 2) == 0) {
			stars = at;
			stars_n = n;
		} else if (n > 0 &&
			   ab_glob_match_name(p + at, end - at, path + dir,
					      n - dir, AB_GLOB_FOLD)) {
			n = dir ? dir - 1 : 0;
		} else if (stars && stars_n > 0) {
			/* one directory more is the stars' */
			dir = last_component(path, stars_n);
			n = stars_n = dir ? dir - 1 : 0;
			at = stars;
		} else {
			return false;
		}
		end = at;
	}
	return true;
}

static void hit(void *data, const struct ab_name_rule *rule)
{
	struct judge *j = data;

	if (rule->tier == 'A') {
		/* the allowed suffix is the last, and of a file */
		if (j->is_written && !j->place.is_directory)
			j->wanted = rule;
		return;
	}
	if ((j->filter->profile != AB_FILTER_STRICT && !rule->is_required) ||
	    rank(rule) <= rank(j->best) ||
	    !is_about(rule, j->place.is_directory) ||
	    !is_below(rule, &j->place))
		return;
	if (ab_place_agrees(rule, &j->place))
		j->best = rule;
	else if (j->is_written)
		j->mark |= ab_place_mark(rule, &j->place);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* False: no more, this name has been through too many forms. */
static bool look(struct judge *j, const ab_form *form)
{
	j->place.form = form->text;
	j->place.form_len = form->len;
	ab_match_form(j->filter->match, form->text, form->len, hit, j);
	return ++j->steps < FORMS_MAX;
}

/* Text below secrets/, whatever its name; unless a stronger rule spoke. */
static void look_below(struct judge *j, const ab_form *form)
{
	const struct ab_name_rule *const *rule = j->filter->below;

	if (j->place.is_directory || j->filter->profile != AB_FILTER_STRICT ||
	    j->place.parent_len == 0 || rank(j->best) > 1 || j->wanted)
		return;
	for (; *rule; rule++) {
		j->place.form = form->text;
		j->place.form_len = form->len;
		if (ab_place_below(*rule, &j->place)) {
			j->best = *rule;
			return;
		}
	}
}

/* Every form of the name, until a required rule has it. */
static void look_at_forms(struct judge *j, ab_form *form)
{
	bool has_other = form->text[0] == '.' ||
			 memchr(form->text, '~', form->len);
	bool is_manual = false;
	ab_form other;

	if (form->len && is_digit(form->text[form->len - 1]))
		is_manual = ab_place_is_manual(j->place.path,
					       j->place.parent_len);
	if (has_other)
		other = *form;
	j->is_written = form->is_plain;
	look(j, form);
	look_below(j, form);
	j->is_written = false;
	while (rank(j->best) < 8 && ab_form_next(form, is_manual) &&
	       look(j, form))
		;
	if (!has_other)
		return;
	if (ab_form_temporary_name(&other)) {
		while (look(j, &other) && rank(j->best) < 8 &&
		       ab_form_next(&other, false))
			;
	} else if (ab_form_short_name(&other)) {
		look(j, &other);
	}
}

/* The tier that an include has to overcome; 0: none can. */
static char lifted_by(const ab_pattern *p, char tier)
{
	return tier != 'X' || p->is_forced ? tier : '\0';
}

/* Does the host bring this back? `covers`: also by a directory above. */
static bool is_included(const ab_filter *f, const ab_place *place, char tier,
			bool covers)
{
	for (size_t i = 0; i < f->include.count; i++) {
		const ab_pattern *p = &f->include.list[i];

		if (lifted_by(p, tier) &&
		    (covers ? ab_pattern_covers(p, place->path, place->n,
						place->is_directory, 0)
			    : ab_pattern_matches(p, place->path, place->n,
						 place->is_directory, 0)))
			return true;
	}
	return false;
}

/* What an include must overcome in a passage; 0: this is none. */
static char passage_tier(uint32_t mark)
{
	uint32_t level = mark & MARK_PASSAGE;

	return level == 0 ? '\0' : level == 1 ? 'S' : 'X';
}

static enum ab_left_out passage_reason(uint32_t mark)
{
	uint32_t reason = mark >> MARK_REASON_SHIFT & MARK_REASON;

	return reason > AB_KEPT && reason < AB_OUT_REASONS
		       ? (enum ab_left_out)reason
		       : AB_OUT_NAME;
}

static bool is_passage(const ab_filter *f, const ab_place *place, char tier)
{
	for (size_t i = 0; place->is_directory && i < f->include.count; i++) {
		const ab_pattern *p = &f->include.list[i];

		if (lifted_by(p, tier) &&
		    ab_pattern_leads_below(p, place->path, place->n, 0))
			return true;
	}
	return false;
}

static const ab_pattern *first_match(const ab_patterns *patterns,
				     const ab_place *place)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (ab_pattern_matches(&patterns->list[i], place->path,
				       place->n, place->is_directory,
				       AB_GLOB_FOLD))
			return &patterns->list[i];
	return NULL;
}

static void leave_out(const ab_filter *f, const ab_place *place,
		      ab_filter_verdict *out, enum ab_left_out reason,
		      char tier, const char *rule)
{
	uint32_t before = place->siblings ? place->siblings->mark : 0;

	out->reason = reason;
	out->rule = rule;
	if (tier && passage_tier(before) == 'X')
		tier = 'X';
	if (!tier || !is_passage(f, place, tier))
		return;
	out->is_passage = true;
	out->mark = (tier == 'X' ? 2u : 1u) |
		    (uint32_t)reason << MARK_REASON_SHIFT;
}

/* What the rules of the table say; true: it is left out. */
static bool judge_by_rules(struct judge *j, ab_filter_verdict *out)
{
	const struct ab_name_rule *rule = j->best;
	bool is_below;

	/* the other profile has templates only when the host asks for them,
	   and so has this one where nobody can say that they are clean */
	if (j->wanted && ((j->filter->profile == AB_FILTER_STRICT &&
			   !j->filter->is_unscanned) ||
			  is_included(j->filter, &j->place, 'S', false)))
		rule = j->wanted;
	if (!rule)
		return false;
	out->tier = rule->tier;
	out->rule = rule->pattern;
	if (rule->tier == 'A' || rule->tier == 'C')
		return false;
	if (rule->is_required) {
		leave_out(j->filter, &j->place, out, AB_OUT_NAME, 0,
			  rule->pattern);
		return true;
	}
	is_below = rule->when == AB_WHEN_BELOW;
	if (is_included(j->filter, &j->place, rule->tier, is_below))
		return false;
	out->proof = (enum ab_filter_proof)rule->proof;
	leave_out(j->filter, &j->place, out, AB_OUT_NAME, rule->tier,
		  rule->pattern);
	return true;
}

/* No include leads below it, so tier 0: no passage. */
static bool is_hidden(const ab_filter *f, const ab_place *place,
		      ab_filter_verdict *out)
{
	const ab_pattern *p = first_match(&f->hidden, place);

	if (p)
		leave_out(f, place, out, AB_OUT_HIDDEN, 0, p->text);
	return p != NULL;
}

/* The host's patterns, then the passage it is in, then the tree's own. */
static bool judge_by_patterns(const ab_filter *f,
			      const ab_filter_ignore *ignore,
			      const ab_place *place, ab_filter_verdict *out)
{
	uint32_t mark = place->siblings ? place->siblings->mark : 0;
	const ab_pattern *p;

	if (ignore && (p = first_match(&ignore->patterns, place))) {
		leave_out(f, place, out, AB_OUT_TREE, 0, p->text);
		return true;
	}
	p = first_match(&f->exclude, place);
	if (p && !is_included(f, place, 'S', false)) {
		leave_out(f, place, out, AB_OUT_HOST, 'S', p->text);
		return true;
	}
	if (passage_tier(mark) &&
	    !is_included(f, place, passage_tier(mark), false)) {
		leave_out(f, place, out, passage_reason(mark), 'S',
			  "left-out-above");
		return true;
	}
	return false;
}

static bool is_name(const char *name, size_t n)
{
	return n > 0 && !memchr(name, '/', n) &&
	       !(n == 1 && name[0] == '.') &&
	       !(n == 2 && name[0] == '.' && name[1] == '.');
}

static ab_place place_of(const char *path, size_t n, bool is_directory,
			 const ab_filter_names *siblings)
{
	const char *slash = n ? memrchr(path, '/', n) : NULL;

	return (ab_place){
		.path = path,
		.n = n,
		.parent_len = slash ? (size_t)(slash - path) : 0,
		.is_directory = is_directory,
		.siblings = siblings,
	};
}

void ab_filter_name(const ab_filter *filter, const ab_filter_ignore *ignore,
		    const char *path, size_t n, bool is_directory,
		    const ab_filter_names *siblings, ab_filter_verdict *out)
{
	struct judge j = {
		.filter = filter,
		.place = place_of(path, n, is_directory, siblings),
	};
	const char *name = path + (j.place.parent_len ? j.place.parent_len + 1
						      : 0);
	ab_form form;

	*out = (ab_filter_verdict){
		.reason = AB_OUT_ENCODING, .rule = "name-encoding"};
	if (!is_name(name, (size_t)(path + n - name)) ||
	    ab_form_begin(&form, name, (size_t)(path + n - name)) < 0)
		return;
	look_at_forms(&j, &form);
	if (j.steps >= FORMS_MAX)
		return;
	*out = (ab_filter_verdict){.rule = ""};
	if (is_hidden(filter, &j.place, out) || judge_by_rules(&j, out) ||
	    judge_by_patterns(filter, ignore, &j.place, out))
		return;
	out->reason = AB_KEPT;
	out->mark = j.mark;
}

void ab_filter_begin_content(const ab_filter *filter, ab_content *scanner,
			     enum ab_content_level level, const char *path,
			     size_t n)
{
	ab_content_begin(scanner, level, path, n);
	for (size_t i = 0; i < filter->admit.count; i++) {
		const ab_pattern *p = &filter->admit.list[i];

		/* of tier H one file: a directory of that name is none */
		if (ab_pattern_covers(p, path, n, false, 0) &&
		    (ab_pattern_matches(p, path, n, false, 0) ||
		     ab_content_rule_tier(p->rule) == 'M'))
			ab_content_admit(scanner, p->rule);
	}
}

void ab_filter_listing(const ab_filter *filter, const char *path, size_t n,
		       const ab_filter_names *entries, ab_filter_verdict *out)
{
	/* of siblings only the mark is read here: a passage stays one */
	ab_place place = place_of(path, n, true, entries);
	char tier;
	const char *id = ab_place_listing(entries->mark, entries, &tier);

	*out = (ab_filter_verdict){
		.rule = "", .mark = entries->mark & ~AB_PLACE_MARK};
	if (!id ||
	    (tier != 'X' && (filter->profile != AB_FILTER_STRICT ||
			     is_included(filter, &place, tier, false))))
		return;
	out->tier = tier;
	leave_out(filter, &place, out, AB_OUT_STRUCTURE, tier == 'X' ? 0 : tier,
		  id);
	if (!out->is_passage)
		out->mark = 0;
}
