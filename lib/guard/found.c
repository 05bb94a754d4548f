/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What find comes across, and what ls, realpath and locate print: the names
 * are not known, but where it looks and what they are like; so they are words
 * with holes, which what reads or changes them is judged with. Spec: DESIGN.md
 * section 7.
 */
#include "config.h"

#include "guard/found.h"

#include <string.h>

#include "guard/command.h"

/* -iname '.ENV': in small letters, as those that others look for are. */
static bool fold_name(struct ab_check *c, struct ab_word *name)
{
	char *text = ab_check_alloc(c, name->len + 1);

	for (uint32_t i = 0; text && i < name->len; i++) {
		char ch = name->text[i];

		text[i] = ch >= 'A' && ch <= 'Z' ? (char)(ch | 0x20) : ch;
	}
	name->text = text ? text : "";
	name->len = text ? name->len : 0;
	name->map = NULL;
	name->map_count = 0;
	return text;
}

/* What the next -name of find says, from the value *i on; else *name stays.
   True: it says something. */
static bool next_name(struct ab_check *c, const struct ab_use *use,
		      uint32_t *i, struct ab_word *name)
{
	while (*i < use->value_count) {
		const struct ab_value *v = &use->values[(*i)++];
		const struct ab_word *w = &use->words[v->word];

		if (v->at || w->hole_count || !w->len ||
		    (!ab_word_equals(&use->words[v->option], "-name") &&
		     !ab_word_equals(&use->words[v->option], "-iname")) ||
		    ab_is_negated(use, v->option))
			continue;
		return ab_word_slice(c, w, 0, UINT32_MAX, name) &&
		       (use->words[v->option].text[1] != 'i' ||
			fold_name(c, name));
	}
	return false;
}

bool ab_found_name(struct ab_check *c, const struct ab_use *use,
		      struct ab_word *name)
{
	uint32_t i = 0;

	return next_name(c, use, &i, name);
}

/* `-name x -o -name y`: one name does not say it all. */
static bool has_choice(const struct ab_use *use)
{
	for (uint32_t i = 1; i < use->count; i++) {
		if (ab_word_equals(&use->words[i], "-o") ||
		    ab_word_equals(&use->words[i], "-or") ||
		    ab_word_equals(&use->words[i], ","))
			return true;
	}
	return false;
}

bool ab_found_is_pattern(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr("*?[\\", w->text[i], 4))
			return true;
	}
	return false;
}

/* START/NAME: a file that find comes across; is_pattern: NAME is one. */
bool ab_found_file(struct ab_check *c, const struct ab_word *start,
		       const struct ab_word *name, bool is_pattern,
		       struct ab_word *out)
{
	uint32_t count = start->hole_count + is_pattern;
	char *text = ab_check_alloc(c, start->len + name->len + 2);
	struct ab_hole *holes = ab_check_alloc(c, (count + 1) *
							  sizeof(*holes));

	if (!text || !holes)
		return false;
	memcpy(text, start->text, start->len);
	text[start->len] = '/';
	memcpy(text + start->len + 1, name->text, name->len);
	if (start->hole_count)
		memcpy(holes, start->holes,
		       start->hole_count * sizeof(*holes));
	if (is_pattern)
		holes[start->hole_count] = (struct ab_hole){
			.at = start->len + 1, .len = name->len,
			.kind = AB_HOLE_PATTERN, .span = name->span };
	*out = *start;
	out->text = text;
	out->len = start->len + 1 + name->len;
	out->holes = holes;
	out->hole_count = count;
	out->map = NULL;
	out->map_count = 0;
	return true;
}

static bool is_action(const struct ab_word *w)
{
	static const char *const names[] = { "-exec", "-execdir", "-ok",
					     "-okdir", "-delete", "-fprint",
					     "-fprint0", "-fls", "-printf",
					     "-fprintf", "-quit", "-ls" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(w, names[i]))
			return true;
	}
	return false;
}

/* Tests that all files have which one user made. */
static bool is_no_choice(const struct ab_word *option)
{
	static const char *const names[] = { "-type", "-maxdepth", "-mindepth",
					     "-user", "-group", "-uid",
					     "-gid" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(option, names[i]))
			return true;
	}
	return false;
}

/* What narrows down which files find takes: NAME, "" for all, "{}" for some
   of which nobody knows what they are called. */
static void what_is_found(struct ab_check *c, const struct ab_use *use,
			  struct ab_word *name)
{
	const struct ab_word some = { .text = "{}", .len = 2,
				      .span = use->words[0].span };

	name->len = 0;
	if (ab_found_name(c, use, name)) {
		/* -name '*' is none */
		if (ab_word_equals(name, "*"))
			name->len = 0;
		return;
	}
	/* -type f is no choice; whatever else there is may be one */
	for (uint32_t i = 0; i < use->value_count && !name->len; i++) {
		const struct ab_word *o = &use->words[use->values[i].option];

		if (!is_no_choice(o) && !is_action(o))
			*name = some;
	}
	for (uint32_t i = 1; i < use->count && !name->len; i++) {
		if (ab_word_equals(&use->words[i], "-empty"))
			*name = some;
	}
}

/* What is searched for from the root may be /etc's: most files that have a
   name of their own, and are the system's secrets, are there. */
static bool is_in_etc(struct ab_check *c, const struct ab_word *start,
		      const struct ab_word *name, struct ab_word *out)
{
	struct ab_word etc = { .text = "etc", .len = 3, .span = name->span };

	return name->len && ab_path_classes(c, start) & AB_CLASS(ROOT) &&
	       ab_found_file(c, start, &etc, false, out) &&
	       ab_found_file(c, out, name, ab_found_is_pattern(name), out);
}

/* ... or one of these below the home, which no other place gives away. */
static bool is_in_home(struct ab_check *c, const struct ab_word *start,
		       const struct ab_word *name, struct ab_word *out)
{
	static const char *const files[] = {
		".aws/credentials", ".docker/config.json", ".kube/config",
		".config/gh/hosts.yml", ".cargo/credentials.toml",
		".config/gcloud/application_default_credentials.json"
	};
	const struct ab_known_path *home = &c->place->home;
	const uint64_t wide = AB_CLASS(ROOT) | AB_CLASS(HOME);
	struct ab_word at = { .text = home->text, .len = home->len,
			      .span = name->span };

	if (!name->len || !home->text ||
	    !(ab_path_classes(c, start) & wide))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(files); i++) {
		struct ab_word file = { .text = files[i],
					.len = (uint32_t)strlen(files[i]),
					.span = name->span };

		if (file.len > name->len &&
		    files[i][file.len - name->len - 1] == '/' &&
		    !memcmp(files[i] + file.len - name->len, name->text,
			    name->len))
			return ab_found_file(c, &at, &file, false, out);
	}
	return false;
}

bool ab_found_is_full(struct ab_check *c, const struct ab_word *word,
		      uint32_t n)
{
	if (AB_LIKELY(n < AB_MAX_STARTS))
		return false;
	ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, word);
	return true;
}

/* What is found of the name from there on. */
void ab_found_add(struct ab_check *c, const struct ab_word *start,
		      const struct ab_word *name,
		      struct ab_word out[AB_MAX_STARTS], uint32_t *n)
{
	out[*n] = *start;
	if (!name->len ||
	    ab_found_file(c, start, name, ab_found_is_pattern(name), &out[*n]))
		++*n;
	if (*n < AB_MAX_STARTS && is_in_etc(c, start, name, &out[*n]))
		++*n;
	if (*n < AB_MAX_STARTS && is_in_home(c, start, name, &out[*n]))
		++*n;
}

/* What find takes, a word for each place where it starts; their number. */
uint32_t ab_found_files(struct ab_check *c, const struct ab_use *use,
			    struct ab_word out[AB_MAX_STARTS])
{
	struct ab_word here = { .text = ".", .len = 1,
				.span = use->words[0].span };
	const bool is_any = has_choice(use);
	const uint32_t starts = ab_find_starts(use);
	uint32_t n = 0, i = 0, next = 0;
	struct ab_word name;

	what_is_found(c, use, &name);
	do {
		i = 0;
		if (is_any && !next_name(c, use, &next, &name) && n)
			break;
		do {
			if (ab_found_is_full(c, use->words, n))
				return n;
			ab_found_add(c, i < starts ?
					     &use->words[use->operands[i]] :
					     &here,
				     &name, out, &n);
		} while (++i < starts);
	} while (is_any && next < use->value_count);
	return n;
}

/* Of a leading star START, and of one at the end the name. */
static bool spell_path(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *path, const struct ab_word *name,
		       struct ab_word *out)
{
	struct ab_word here = { .text = ".", .len = 1, .span = path->span };
	struct ab_word start = use->operand_count ?
				       use->words[use->operands[0]] : here;
	struct ab_word rest = *path;
	uint32_t n = path->len;

	if (n > 2 && path->text[1] == '/' && memchr("*.", *path->text, 2)) {
		/* as find prints it, which is seen from where it runs */
		if (*path->text == '.')
			start = here;
		rest.text += 2;
		rest.len -= 2;
	} else if (*path->text == '/') {
		start.len = start.hole_count = 0;
		rest.text++;
		rest.len--;
	} else if (*path->text != '*') {
		start = here;
	}
	if (!name->len || rest.len < 2 ||
	    memcmp(rest.text + rest.len - 2, "/*", 2) != 0)
		return ab_found_file(c, &start, &rest, true, out);
	rest.len -= 2;
	return ab_found_file(c, &start, &rest, ab_found_is_pattern(&rest),
			     out) &&
	       ab_found_file(c, out, name, ab_found_is_pattern(name), out);
}

/* A regular expression for a whole path as a pattern: ".*[.]env" is "*[.]env";
   false: it is more than that. */
static bool regex_path(struct ab_check *c, struct ab_word *path)
{
	char *text = ab_check_alloc(c, path->len + 1);
	bool is_set = false;
	uint32_t n = 0;

	for (uint32_t i = 0; text && i < path->len; i++) {
		char ch = path->text[i];
		bool has_next = i + 1 < path->len;

		is_set = ch == '[' || (is_set && ch != ']');
		if (is_set)
			;
		else if (ch == '.' && has_next && path->text[i + 1] == '*')
			ch = path->text[++i];
		else if (ch == '.')
			ch = '?';
		else if (ch == '\\' && has_next &&
			 memchr("./-_", path->text[i + 1], 4))
			ch = path->text[++i];
		else if (memchr("\\*+?(){}|^$", ch, 11))
			return false;
		text[n++] = ch;
	}
	path->text = text ? text : "";
	path->len = n;
	path->map = NULL;
	path->map_count = 0;
	return text && n;
}

/* The path that a test of find's takes, as a pattern. */
static bool path_of_test(struct ab_check *c, const struct ab_word *test,
			 const struct ab_word *w, struct ab_word *path)
{
	bool is_regex = ab_word_equals(test, "-regex") ||
			ab_word_equals(test, "-iregex");

	if (!is_regex && !ab_word_equals(test, "-path") &&
	    !ab_word_equals(test, "-ipath") &&
	    !ab_word_equals(test, "-wholename"))
		return false;
	return ab_word_slice(c, w, 0, UINT32_MAX, path) &&
	       (!is_regex || regex_path(c, path)) &&
	       (test->text[1] != 'i' || fold_name(c, path));
}

bool ab_found_is_special(struct ab_check *c, const struct ab_word *w)
{
	bool was_reading = c->is_reading;
	uint64_t classes;

	c->is_reading = true;
	classes = ab_path_classes(c, w);
	c->is_reading = was_reading;
	return (classes & AB_CLASS(GIT)) || classes >> AB_CLASS_COMPUTED;
}

uint32_t ab_found_paths(struct ab_check *c, const struct ab_use *use,
			struct ab_word out[AB_MAX_STARTS])
{
	struct ab_word name = { .len = 0 }, path;
	bool is_first = true;
	uint32_t n = 0;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];

		if (v->at || w->hole_count || !w->len ||
		    !path_of_test(c, &use->words[v->option], w, &path) ||
		    ab_is_negated(use, v->option))
			continue;
		if (is_first && has_choice(use))
			break;
		if (is_first)
			ab_found_name(c, use, &name);
		is_first = false;
		if (ab_found_is_full(c, use->words, n) ||
		    !spell_path(c, use, &path, &name, &out[n]))
			break;
		n += ab_found_is_special(c, &out[n]);
	}
	return n;
}

/* ls -a: without it no name has a dot in front. */
static bool lists_hidden(const struct ab_use *use)
{
	for (uint32_t i = 1; use->program->is_listed && i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (w->len > 1 && w->text[0] == '-' && w->text[1] != '-' &&
		    (memchr(w->text, 'a', w->len) ||
		     memchr(w->text, 'A', w->len)))
			return true;
	}
	return false;
}

/* ls, ls . */
static bool lists_here(const struct ab_use *use)
{
	const struct ab_word *w = use->operand_count ?
					  &use->words[use->operands[0]] : NULL;

	return !w || (use->operand_count == 1 && (ab_word_equals(w, ".") ||
						  ab_word_equals(w, "./")));
}

bool ab_found_is_elsewhere(struct ab_check *c, const struct ab_use *use)
{
	const uint64_t own = AB_CLASS(ANY) | AB_CLASS(INSIDE) |
			     AB_CLASS(SUBDIR) | AB_CLASS(WORKTREE) |
			     AB_CLASS(TEMP);

	return use->program->is_listed && c->cwd && !c->cwd->hole_count &&
	       c->cwd->text != c->place->cwd.text && lists_here(use) &&
	       ab_path_classes(c, c->cwd) & ~own;
}

bool ab_found_is_any(const struct ab_word *w)
{
	return w->hole_count == 1 && w->holes->kind == AB_HOLE_PATTERN &&
	       w->len == 3 && !memcmp(w->text, "./*", 3);
}

bool ab_found_is_hidden(const struct ab_word *w)
{
	return w->hole_count == 1 && w->holes->kind == AB_HOLE_PATTERN &&
	       w->len == 4 && !memcmp(w->text, "./.*", 4);
}

bool ab_found_are_files(struct ab_check *c, const struct ab_use *use)
{
	bool are = use->operand_count > 0;

	for (uint32_t i = 0; i < use->operand_count; i++) {
		const struct ab_word *w = &use->words[use->operands[i]];
		const struct ab_hole *h =
			w->hole_count ? &w->holes[w->hole_count - 1] : NULL;

		are &= h && h->kind == AB_HOLE_PATTERN &&
		       h->at + h->len > ab_name_base(w);
	}
	return are || ab_found_is_elsewhere(c, use);
}

/* What ls, realpath and locate print, as far as their operands say. */
uint32_t ab_found_named(struct ab_check *c, const struct ab_use *use,
			    struct ab_word out[AB_MAX_STARTS])
{
	struct ab_word root = { .text = "/", .len = 1,
				.span = use->words[0].span };
	const struct ab_word hidden = { .text = ".*", .len = 2,
					.span = root.span };
	const struct ab_word any = { .text = "*", .len = 1,
				     .span = root.span };
	struct ab_word here = { .text = ".", .len = 1, .span = root.span };
	bool is_elsewhere = ab_found_is_elsewhere(c, use);
	uint32_t n = 0;

	if (AB_UNLIKELY(is_elsewhere))
		n += ab_found_file(c, &here, &any, true, &out[n]);
	if (lists_here(use) && lists_hidden(use)) {
		/* of them all those that are hidden may be secrets */
		if (!is_elsewhere)
			out[n++] = here;
		n += ab_found_file(c, &here, &hidden, true, &out[n]);
	}
	for (uint32_t i = 0; !is_elsewhere && i < use->operand_count &&
			     n < AB_MAX_STARTS; i++) {
		const struct ab_word *w = &use->words[use->operands[i]];

		if (use->program->is_listed)
			out[n++] = *w;
		else if (w->len)
			ab_found_add(c, &root, w, out, &n);
	}
	return n;
}

/* -maxdepth 1 -type f: files right below the start, and never the start. */
bool ab_found_is_flat(const struct ab_use *use)
{
	bool is_near = false, is_file = false;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_word *o = &use->words[use->values[i].option];
		const struct ab_word *w = &use->words[use->values[i].word];

		if (ab_word_equals(o, "-maxdepth")) {
			is_near = ab_word_equals(w, "1");
			if (!is_near)
				return false;
		}
		is_file |= ab_word_equals(o, "-type") && ab_word_equals(w, "f");
	}
	for (uint32_t i = 1; i < use->count; i++) {
		static const char *const others[] = { "!", "-not", "-o", "-or",
						      "," };

		for (size_t k = 0; k < AB_ARRAY_LEN(others); k++) {
			if (ab_word_equals(&use->words[i], others[k]))
				return false;
		}
	}
	return is_near && is_file;
}

bool ab_found_are_inside(struct ab_check *c, const struct ab_use *use)
{
	const uint64_t own = AB_CLASS(ANY) | AB_CLASS(INSIDE) |
			     AB_CLASS(SUBDIR) | AB_CLASS(WORKTREE);
	struct ab_word here = { .text = ".", .len = 1,
				.span = use->words[0].span };
	uint32_t i = 0;

	do {
		if (ab_path_classes(c, i < use->operand_count ?
					       &use->words[use->operands[i]] :
					       &here) & ~own)
			return false;
	} while (++i < use->operand_count);
	return true;
}

bool ab_found_is_inside(struct ab_check *c, const struct ab_use *use)
{
	static const char *const wide[] = { "-L", "-follow", "-H",
					    "-files0-from" };

	for (uint32_t k = 1; k < use->count; k++) {
		const struct ab_word *w = &use->words[k];

		if (!w->len || *w->text != '-')
			continue;
		if (is_action(w) && !ab_word_equals(w, "-quit"))
			return false;
		for (size_t n = 0; n < AB_ARRAY_LEN(wide); n++) {
			if (ab_word_equals(w, wide[n]))
				return false;
		}
	}
	return ab_found_are_inside(c, use);
}

/* Not what any name has. */
static bool is_telling(const struct ab_word *name)
{
	uint32_t letters = 0;

	/* -path -name -o: what stands there may be no name of a -name */
	if (!name->len || *name->text == '-' ||
	    memchr(name->text, '[', name->len))
		return false;
	for (uint32_t k = 0; k < name->len; k++)
		letters += !memchr("*?].!^-\\", name->text[k], 8);
	return letters > 1;
}

/* `-path x -prune -o -name y -print`: between any two -o stands a name, or what
   is not printed since something else is said to be. */
static bool is_named_each(const struct ab_use *use)
{
	const bool is_silent = !ab_use_has_word(use, "(") &&
			       (ab_use_has_word(use, "-print") ||
				ab_use_has_word(use, "-print0"));
	bool is_named = false, is_told = false;

	for (uint32_t k = 1; k < use->count; k++) {
		const struct ab_word *w = &use->words[k];

		is_told |= ab_word_equals(w, "-print") ||
			   ab_word_equals(w, "-print0");
		if (ab_word_equals(w, "-o") || ab_word_equals(w, "-or")) {
			if (!is_named && !(is_silent && !is_told &&
					   ab_word_equals(w - 1, "-prune")))
				return false;
			is_named = is_told = false;
		}
		if ((ab_word_equals(w, "-name") ||
		     ab_word_equals(w, "-iname")) &&
		    k + 1 < use->count) {
			k++;
			is_named |= !use->words[k].hole_count &&
				    is_telling(&use->words[k]);
		}
	}
	return is_named;
}

/* `find packages -name dist`: below the project's own directories, by a name,
   and nothing but the names is printed. */
bool ab_found_is_narrow(struct ab_check *c, const struct ab_use *use)
{
	static const char *const wide[] = { "!", "-not", "," };
	struct ab_word name;

	if (!ab_found_name(c, use, &name) || !is_telling(&name))
		return false;
	for (uint32_t k = 1; k < use->count; k++) {
		for (size_t n = 0; n < AB_ARRAY_LEN(wide); n++) {
			if (ab_word_equals(&use->words[k], wide[n]))
				return false;
		}
	}
	return (!has_choice(use) || is_named_each(use)) &&
	       ab_found_is_inside(c, use);
}

bool ab_found_has_patterns(const struct ab_use *use)
{
	uint32_t i = 1;

	if (!ab_word_equals(&use->words[0], "echo") &&
	    !ab_word_equals(&use->words[0], "printf"))
		return false;
	while (i < use->count &&
	       !(use->words[i].hole_count &&
		 use->words[i].holes->kind == AB_HOLE_PATTERN))
		i++;
	return i < use->count;
}

uint32_t ab_found_patterns(struct ab_check *c, const struct ab_use *use,
			   struct ab_word out[AB_MAX_STARTS])
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (!w->hole_count || w->holes->kind != AB_HOLE_PATTERN ||
		    !ab_found_is_special(c, w))
			continue;
		if (ab_found_is_full(c, use->words, n))
			break;
		out[n++] = *w;
	}
	return n;
}
