/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `find -name X -prune -o ... -exec`: what X names is left alone. That is so
 * of a plain shape only, and all else is taken for what find takes: without an
 * action of its own find prints what it cuts off as well, an action before
 * the cut is done to it, and -depth (which -delete is) cuts nothing off.
 */
#include "config.h"

#include "guard/check.h"

#define MAX_WORDS 128

static bool is_one_of(const struct ab_word *w, const char *const *names)
{
	for (; *names && !w->hole_count; names++) {
		if (ab_word_equals(w, *names))
			return true;
	}
	return false;
}

static bool is_or(const struct ab_word *w)
{
	static const char *const names[] = { "-o", "-or", NULL };

	return is_one_of(w, names);
}

static bool is_joint(const struct ab_word *w)
{
	static const char *const names[] = { "-a", "-and", "(", ")", NULL };

	return is_or(w) || is_one_of(w, names);
}

static bool is_prune(const struct ab_word *w)
{
	return !w->hole_count && w->len == 6 && !memcmp(w->text, "-prune", 6);
}

/* Behind these stands a value. */
static bool is_test(const struct ab_word *w)
{
	static const char *const names[] = { "-name",	   "-iname",
					     "-path",	   "-ipath",
					     "-wholename", "-iwholename",
					     "-type",	   "-maxdepth",
					     NULL };

	return is_one_of(w, names);
}

static bool is_plain(const struct ab_word *w)
{
	static const char *const names[] = { "-xdev", "-mount", NULL };

	return is_joint(w) || is_prune(w) || is_one_of(w, names);
}

/* With one of these nothing is printed that nobody says. */
static bool is_action(const struct ab_word *w)
{
	static const char *const names[] = { "-exec",	 "-execdir", "-ok",
					     "-okdir",	 "-print",   "-print0",
					     "-printf",	 "-fprint",  "-fprint0",
					     "-fprintf", "-ls",	     "-fls",
					     NULL };

	return is_one_of(w, names);
}

/* Without a -prune there is nothing else to look at. */
static bool has_prune(const struct ab_use *use)
{
	for (uint32_t i = 1; i < use->count; i++) {
		if (is_prune(&use->words[i]))
			return true;
	}
	return false;
}

/* Where the expression begins. */
static uint32_t first_test(const struct ab_use *use)
{
	static const char *const names[] = { "-H", "-L", "-P", NULL };
	uint32_t i = 1;

	while (i < use->count && is_one_of(&use->words[i], names))
		i++;
	while (i < use->count &&
	       (!use->words[i].len || !memchr("-(!,", *use->words[i].text, 4)))
		i++;
	return i;
}

uint32_t ab_find_starts(const struct ab_use *use)
{
	uint32_t end = first_test(use), n = 0;

	while (n < use->operand_count && use->operands[n] < end)
		n++;
	return n;
}

/* What is not known of it may be other words of the expression. */
static bool may_be_more(const struct ab_use *use, uint32_t i)
{
	const struct ab_word *w = &use->words[i];

	for (uint32_t k = 0; k < w->hole_count; k++)
		if (w->holes[k].kind == AB_HOLE_FIELDS)
			return true;
	return w->hole_count && !w->holes->at && !w->holes->len &&
	       !is_test(&use->words[i - 1]);
}

/* Where what find runs ends: those words are none of its own. */
static uint32_t past_command(const struct ab_use *use, uint32_t i)
{
	static const char *const names[] = { "-exec", "-execdir", "-ok",
					     "-okdir", NULL };
	static const char *const ends[] = { ";", "+", NULL };

	if (is_one_of(&use->words[i], names))
		while (i + 1 < use->count && !is_one_of(&use->words[i], ends))
			i++;
	return i;
}

/* Nothing is cut off, or a `,` begins another list for all; or it may. What
   is not known of where it begins counts as names of directories. */
static bool cuts_nothing(const struct ab_use *use)
{
	static const char *const names[] = { "-depth", "-d", "-delete", ",",
					     NULL };
	uint32_t first = first_test(use);

	for (uint32_t i = 1; i < use->count; i = past_command(use, i) + 1) {
		if (is_one_of(&use->words[i], names) ||
		    (i >= first && may_be_more(use, i)))
			return true;
	}
	return false;
}

/* -mindepth 0 and 1: nothing but the start itself is passed by. */
static bool is_shallow(const struct ab_use *use, uint32_t i)
{
	static const char *const names[] = { "-mindepth", NULL };
	static const char *const depths[] = { "0", "1", NULL };

	return is_one_of(&use->words[i], names) && i + 1 < use->count &&
	       is_one_of(&use->words[i + 1], depths);
}

/* The -prune behind the test, all before it plain; 0: there is none. *open:
   the groups that it is in. */
static uint32_t prune_of(const struct ab_use *use, uint32_t test, int *open)
{
	bool is_met = false;

	for (uint32_t i = first_test(use); i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (is_prune(w) && is_met)
			return i;
		if (is_test(w) || is_shallow(use, i)) {
			is_met |= i == test;
			i++;
		} else if (!is_plain(w)) {
			return 0;
		} else if (w->len == 1) {
			*open += *w->text == '(' ? 1 : -1;
		}
	}
	return 0;
}

/* An action that is surely no value of a test before it. */
static bool has_action(const struct ab_use *use, uint32_t i)
{
	for (; i < use->count; i++) {
		const struct ab_word *before = &use->words[i - 1];

		if (is_action(&use->words[i]) &&
		    (is_joint(before) || (before->len && *before->text != '-')))
			return true;
	}
	return false;
}

bool ab_is_pruned(const struct ab_use *use, uint32_t test)
{
	int open = 0;
	uint32_t i;

	if (use->count > MAX_WORDS || !has_prune(use) || cuts_nothing(use))
		return false;
	i = prune_of(use, test, &open);
	if (!i)
		return false;
	while (++i < use->count && open > 0 && use->words[i].len == 1 &&
	       *use->words[i].text == ')')
		open--;
	return open == 0 && i < use->count && is_or(&use->words[i]) &&
	       has_action(use, i + 1);
}

/* --- alternatives ------------------------------------------------------- */

#define MAX_GROUPS 16

/* Of a group: the list at hand, and those before it, take by a test. */
struct group {
	bool is_narrow, all_narrow, is_not;
};

/* -size +0, -mtime -9999, -newermt 1970-01-01: whatever was made. */
static bool takes_all(const struct ab_word *test, const struct ab_word *value)
{
	static const char *const ages[] = { "-mtime", "-atime", "-ctime",
					    NULL };
	const char *s = value->text;
	uint32_t n = value->len, digits = 1;

	if (value->hole_count || n < 2)
		return false;
	while (digits < n && s[digits] >= '0' && s[digits] <= '9')
		digits++;
	if (ab_word_equals(test, "-size"))
		return *s == '+' && s[1] == '0' && digits == 2;
	if (ab_word_equals(test, "-newermt"))
		return digits == 4 && *s < '2';
	return is_one_of(test, ages) &&
	       ((*s == '-' && digits == n && n > 3) || ab_word_equals(value,
								      "+0"));
}

/* What a test says by which find takes only some. */
static bool is_narrowing(const struct ab_use *use, uint32_t i)
{
	static const char *const names[] = { "-name",	   "-iname",
					     "-path",	   "-ipath",
					     "-wholename", "-iwholename",
					     "-regex",	   "-iregex",
					     "-lname",	   "-ilname", NULL };
	static const char *const others[] = { "-mtime",	   "-mmin",  "-atime",
					      "-amin",	   "-ctime", "-cmin",
					      "-newer",	   "-newermt",
					      "-size",	   "-empty",
					      "-perm",	   "-links", "-inum",
					      "-samefile", "-nouser", NULL };
	const struct ab_word *w = &use->words[i];

	if (is_one_of(w, names))
		return i + 1 < use->count && !ab_value_is_any_name(w + 1);
	/* a link that leads nowhere; any other kind there are many of */
	if (ab_word_equals(w, "-xtype"))
		return i + 1 < use->count && ab_word_equals(w + 1, "l");
	return is_one_of(w, others) &&
	       !(i + 1 < use->count && takes_all(w, w + 1));
}

/* Behind these stands a value, which is no word of the expression. */
static bool takes_value(const struct ab_word *w)
{
	static const char *const names[] = {
		"-regex", "-iregex",  "-iwholename", "-mtime",	  "-mmin",
		"-atime", "-amin",    "-ctime",	     "-cmin",	  "-newer",
		"-size",  "-user",    "-group",	     "-perm",	  "-links",
		"-inum",  "-newermt", "-samefile",   "-lname",	  "-ilname",
		"-xtype",
		"-uid",	  "-gid",     "-fstype",     "-mindepth", "-printf",
		"-fprint", "-fls",    "-fprint0",    "-regextype", NULL
	};

	return is_test(w) || is_one_of(w, names);
}

static const char *const removers[] = { "rm",	"shred", "unlink",   "rmdir",
					"wipe", "srm",	 "truncate", NULL };

/* Without the directory that the program is in. */
static struct ab_word base_of(const struct ab_word *w)
{
	struct ab_word name = *w;
	const char *slash = memrchr(name.text, '/', name.len);

	if (slash) {
		name.len -= (uint32_t)(slash + 1 - name.text);
		name.text = slash + 1;
	}
	return name;
}

/* A script in which one of them is a word. */
static bool has_remover(const struct ab_word *text)
{
	static const char ends[] = " \t\n;&|()\"'`/{}";
	struct ab_word part = { 0 };

	for (uint32_t i = 0; i < text->len; i += part.len + 1) {
		part.text = text->text + i;
		part.len = 0;
		while (i + part.len < text->len &&
		       !memchr(ends, part.text[part.len], sizeof(ends) - 1))
			part.len++;
		if (is_one_of(&part, removers))
			return true;
	}
	return false;
}

/* -exec sh -c TEXT: where a shell is run its words are texts that may be. */
static bool runs_remover(const struct ab_use *use, uint32_t i)
{
	static const char *const shells[] = { "sh",  "bash", "dash", "ash",
					      "ksh", "zsh",  NULL };
	static const char *const wrappers[] = { "sudo", "env", "nice",
						"doas", "busybox", NULL };
	struct ab_word name = base_of(&use->words[i]);
	uint32_t end = past_command(use, i - 1);

	while (is_one_of(&name, wrappers) && i + 1 < end)
		name = base_of(&use->words[++i]);
	if (is_one_of(&name, removers))
		return true;
	if (!is_one_of(&name, shells))
		return false;
	while (++i < end) {
		if (has_remover(&use->words[i]))
			return true;
	}
	return false;
}

static bool removes(const struct ab_use *use, uint32_t i)
{
	static const char *const all[] = { "-delete", NULL };
	static const char *const runs[] = { "-exec", "-execdir", "-ok",
					    "-okdir", NULL };
	const struct ab_word *w = &use->words[i];

	return is_one_of(w, all) || (is_one_of(w, runs) &&
				     i + 1 < use->count &&
				     runs_remover(use, i + 1));
}

/* Some group or list around the action has a test before it. */
static bool is_guarded(const struct group *all, uint32_t depth)
{
	for (uint32_t i = 0; i <= depth; i++) {
		if (all[i].is_narrow)
			return true;
	}
	return false;
}

static void end_list(struct group *g)
{
	g->all_narrow &= g->is_narrow;
	g->is_narrow = false;
}

/* Without one of these words nothing is removed, and most finds have none:
   -delete, -exec and its kind, or groups, of which there can be too many. */
static bool may_remove(const struct ab_use *use)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len && (*w->text == '(' ||
			       (*w->text == '-' && w->len > 2 &&
				memchr("deo", w->text[1], 3))))
			return true;
	}
	return false;
}

bool ab_find_is_open(const struct ab_use *use)
{
	struct group all[MAX_GROUPS] = { { .all_narrow = true } };
	uint32_t depth = 0;
	bool is_not = false;

	if (!may_remove(use))
		return false;
	for (uint32_t i = first_test(use); i < use->count; i++) {
		const struct ab_word *w = &use->words[i];
		struct group *g = &all[depth];

		if (ab_word_equals(w, "!") || ab_word_equals(w, "-not")) {
			is_not = !is_not;
			continue;
		}
		if (removes(use, i) && !is_guarded(all, depth))
			return true;
		if (is_or(w)) {
			end_list(g);
		} else if (ab_word_equals(w, "(")) {
			if (++depth == MAX_GROUPS)
				return true;
			all[depth] = (struct group){ .all_narrow = true,
						     .is_not = is_not };
		} else if (ab_word_equals(w, ")") && depth) {
			end_list(g);
			all[--depth].is_narrow |= g->all_narrow && !g->is_not;
		} else if (!is_not && is_narrowing(use, i)) {
			g->is_narrow = true;
		}
		if (!is_one_of(w, (const char *const[]){ "-a", "-and", NULL }))
			is_not = false;
		i = past_command(use, i) + takes_value(w);
	}
	return false;
}

static bool is_not(const struct ab_use *use, uint32_t i)
{
	static const char *const names[] = { "!", "-not", NULL };

	return is_one_of(&use->words[i], names);
}

bool ab_find_leaves_out(const struct ab_use *use, uint32_t test)
{
	static const char *const names[] = { "-regex", "-iregex", NULL };
	int depth = 0;

	if (use->count > MAX_WORDS || test < 2 || !is_not(use, test - 1) ||
	    is_not(use, test - 2))
		return false;
	if (!is_test(&use->words[test]) &&
	    !is_one_of(&use->words[test], names))
		return false;
	for (uint32_t i = first_test(use); i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		depth += ab_word_equals(w, "(") - ab_word_equals(w, ")");
		if (i == test ? depth : i < test && removes(use, i))
			return false;
		if (!depth && (is_or(w) || ab_word_equals(w, ",")))
			return false;
		i = past_command(use, i) + takes_value(w);
	}
	return true;
}

#define MAX_TRIES 4

bool ab_find_spares_git(const struct ab_use *use)
{
	static const char inside[] = "./.git/HEAD";
	uint32_t tries = 0;

	for (uint32_t i = 2; i + 1 < use->count && i < MAX_WORDS; i++) {
		const struct ab_word *w = &use->words[i + 1];

		if (!is_not(use, i - 1) || w->hole_count ||
		    !ab_pattern_may_take(w->text, w->len, inside,
					 sizeof(inside) - 1, false))
			continue;
		if (ab_find_leaves_out(use, i))
			return true;
		if (++tries == MAX_TRIES)
			break;
	}
	return false;
}
