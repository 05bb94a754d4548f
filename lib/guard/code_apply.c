/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call of an inline program and what it is given: where its arguments begin,
 * what is done with a path that it makes, and each value of a name among them.
 * code_args.c reads them, and code_judge.c judges one call with one value.
 * Refuses to take a text for a data base's because it begins so: where there
 * may be a shell, nothing in it may be for one.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>
#include <strings.h>

/* Path("x").write_text(...): what is done with it stands behind it. */
enum ab_call ab_code_path_method(const struct ab_code *k,
				 struct ab_lexer *behind)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} methods[] = {
		{ "write_text", AB_CALL_WRITE },
		{ "write_bytes", AB_CALL_WRITE },
		{ "touch", AB_CALL_WRITE },      { "mkdir", AB_CALL_WRITE },
		{ "symlink_to", AB_CALL_LINK },
		{ "hardlink_to", AB_CALL_ALIAS },
		{ "unlink", AB_CALL_DELETE },    { "rmdir", AB_CALL_DELETE },
		{ "rglob", AB_CALL_WALK },	 { "glob", AB_CALL_WALK },
		{ "iterdir", AB_CALL_WALK },	 { "walk", AB_CALL_WALK },
		{ "children", AB_CALL_WALK },	 { "each_child", AB_CALL_WALK },
		{ "find", AB_CALL_WALK },	 { "each_entry", AB_CALL_WALK },
		{ "rename", AB_CALL_DELETE },    { "replace", AB_CALL_DELETE },
		{ "rmtree", AB_CALL_REMOVE },	 { "delete", AB_CALL_DELETE },
		{ "write", AB_CALL_WRITE },
	};
	struct ab_lexer x = k->x;
	struct ab_token t, mode;

	/* (home / "x").unlink() closes another one */
	do {
		if (!ab_lexer_next(&x, &t))
			return AB_CALL_READ;
	} while (ab_code_is_sign(k, &t, ')'));
	if (!ab_code_is_sign(k, &t, '.') || !ab_lexer_next(&x, &t))
		return AB_CALL_READ;
	*behind = x;
	for (size_t i = 0; i < AB_ARRAY_LEN(methods); i++) {
		if (ab_code_is_text(k, &t, methods[i].name))
			return methods[i].kind == AB_CALL_WALK &&
					       ab_code_is_narrow_glob(k, x.pos)
				       ? AB_CALL_FIND
				       : (enum ab_call)methods[i].kind;
	}
	/* Path("x").open("a") */
	if (ab_code_is_text(k, &t, "open") && ab_lexer_next(&x, &t) &&
	    ab_lexer_next(&x, &mode) && mode.kind == AB_TOKEN_STRING &&
	    mode.len < 4) {
		for (uint32_t i = 0; i < mode.len; i++) {
			if (memchr("wax+", k->text->text[mode.at + i], 4))
				return AB_CALL_WRITE;
		}
	}
	return AB_CALL_READ;
}

/* The call with each of the lists that the name stands for. */
static void judge_lists(struct ab_code *k, enum ab_call kind, struct ab_args *a)
{
	const struct ab_named *n = a->each;
	struct ab_args *one = ab_check_alloc(k->c, sizeof(*one));
	uint32_t behind = a->which + n->count, from = 0;

	if (!one)
		return;
	while (from < n->count && !k->c->is_broken) {
		uint32_t end = from + 1, at = a->which;

		while (end < n->count && !(n->begins >> end & 1))
			end++;
		*one = *a;
		for (; from < end; from++) {
			if (at < AB_CODE_STRINGS)
				one->words[at++] = n->words[from];
		}
		for (uint32_t i = behind;
		     i < a->count && at < AB_CODE_STRINGS; i++)
			one->words[at++] = a->words[i];
		one->count = at;
		ab_code_judge(k, kind, one);
	}
}

/* The call with each value of the name between what stands beside it. */
static void judge_each(struct ab_code *k, enum ab_call kind, struct ab_args *a)
{
	const struct ab_named *n = a->each;
	struct ab_word *w = &a->words[a->which], tail;
	uint32_t from = a->has_head ? a->head.len : n->words[0].len;

	if (!ab_word_slice(k->c, w, from, n->is_list ? 0 : w->len, &tail))
		return;
	/* the hole that the name made, or that its first value is */
	if ((a->has_head || ab_code_is_hole(&n->words[0])) &&
	    tail.hole_count && !tail.holes[0].at) {
		tail.holes++;
		tail.hole_count--;
	}
	if (n->is_list || a->has_head)
		ab_code_judge(k, kind, a);
	if (n->is_list)
		a->count = a->which + 1;
	for (uint32_t i = 0; i < n->count && !k->c->is_broken; i++) {
		if (ab_code_is_hole(&n->words[i]) && !a->is_command)
			continue;
		*w = a->has_head ? a->head : n->words[i];
		k->last = NULL; /* a text of somebody else */
		if (a->has_head)
			ab_code_append(k, w, &n->words[i]);
		if (tail.len || tail.hole_count)
			ab_code_append(k, w, &tail);
		ab_code_judge(k, kind, a);
	}
}

/* Path("x").symlink_to("y"): where it leads stands behind it. */
static enum ab_call path_link(struct ab_code *k, const struct ab_args *a,
			      enum ab_call kind, const struct ab_lexer *behind)
{
	struct ab_args *to = ab_check_alloc(k->c, sizeof(*to));

	k->x = *behind;
	if (!to)
		return AB_CALL_WRITE;
	*to = (struct ab_args){ 0 };
	ab_code_read_args(k, to);
	if (a->count && to->count)
		ab_link_make(k->c, &to->words[0], &a->words[0],
			     kind == AB_CALL_LINK);
	return AB_CALL_WRITE;
}

/* execlp(), execve() and the like of exec(3), posix_spawn(3), and python's. */
static bool has_own_name(const struct ab_code *k, const struct ab_token *t)
{
	const char *name = k->text->text + t->at;

	if (t->len > 6 && !memcmp(name, "posix_", 6))
		return true;
	if (t->len > 4 && !memcmp(name, "exec", 4))
		return k->lang == AB_PY || memchr("lv", name[4], 2);
	return k->lang == AB_PY && t->len > 5 && !memcmp(name, "spawn", 5);
}

/* c: execlp("x", "x", "y", (char *)0): what ends the words is none of them. */
static void drop_end(struct ab_code *k, const struct ab_token *t,
		     struct ab_args *a)
{
	const char *name = k->text->text + t->at;
	uint32_t ends = t->len == 6 && name[5] == 'e' ? 2 : 1;

	if (k->lang != AB_OTHER || t->len < 5 || memcmp(name, "execl", 5) != 0)
		return;
	while (ends-- && a->count > 1 &&
	       ab_code_is_hole(&a->words[a->count - 1]))
		a->count--;
}

/* execv("/bin/x", ["x", ...]) and the like: how the program is to call itself
   is no word of what it is told. By another name than its own, or of a call
   that may be another one, it may be a word after all, and is judged as that,
   too. */
static void drop_own_name(struct ab_code *k, const struct ab_token *t,
			  struct ab_args *a)
{
	const struct ab_word *w = a->words;
	bool has_own, is_same;
	uint32_t base;

	drop_end(k, t, a);
	if (!(k->lang & (AB_PY | AB_PERL | AB_OTHER)) || a->count < 2 ||
	    a->each)
		return;
	base = ab_name_base(w);
	has_own = has_own_name(k, t);
	is_same = w->len - base == w[1].len &&
		  !memcmp(w->text + base, w[1].text, w[1].len);
	/* go: syscall.Exec("/bin/x", []string{"x"}, env) */
	if (!has_own && !(is_same && k->lang == AB_OTHER))
		return;
	if (!has_own || !is_same)
		ab_code_judge(k, AB_CALL_SHELL, a);
	a->count--;
	memmove(&a->words[1], &a->words[2],
		(a->count - 1) * sizeof(a->words[0]));
}

/* The second argument is the list of words. */
static bool takes_list(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "spawn", "spawnSync", "execFile",
					     "execFileSync", "pcntl_exec" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_code_is_text(k, t, names[i]))
			return true;
	}
	return false;
}

/* (0, x.exec)(...), promisify(exec)(...), method(:system).call(...): to what
   it is called with. */
static void skip_closers(struct ab_code *k)
{
	struct ab_lexer x = k->x, behind;
	struct ab_token t;

	for (uint32_t i = 0; i < 8 && ab_lexer_next(&x, &t) &&
			     ab_code_is_sign(k, &t, ')'); i++) {
		behind = x;
		if (!ab_lexer_next(&x, &t))
			return;
		if (k->lang == AB_RUBY && ab_code_is_sign(k, &t, '.') &&
		    ab_lexer_next(&x, &t) && ab_code_is_text(k, &t, "call")) {
			behind = x;
			(void)ab_lexer_next(&x, &t);
		}
		if (ab_code_is_sign(k, &t, '(')) {
			k->x = behind;
			return;
		}
		x = behind;
	}
}

/* One command for a shell, at most; a `;` ends the statement. */
static bool is_simple(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr("|&`$\n<>", w->text[i], 7) ||
		    (w->text[i] == ';' && i + 1 < w->len))
			return false;
	}
	return !w->hole_count;
}

/* What begins so is told to a data base. Where there may be a shell, nothing
   behind it may be for one. */
static bool is_statement(const struct ab_code *k, const struct ab_word *w)
{
	static const char *const verbs[] = { "SELECT ", "INSERT ", "UPDATE ",
					     "DELETE ", "CREATE ", "DROP ",
					     "ALTER ",	"PRAGMA ", "REPLACE " };

	for (size_t i = 0; i < AB_ARRAY_LEN(verbs); i++) {
		size_t n = strlen(verbs[i]);

		if (w->len > n && !strncasecmp(w->text, verbs[i], n))
			return (k->lang == AB_JS &&
				!(k->modules & AB_MODULE_COMMANDS)) ||
			       /* go: no Exec has a shell */
			       k->lang == AB_OTHER || is_simple(w);
	}
	return false;
}

/* The same of a graph's; nothing in it may be for a shell. */
static bool is_graph(const struct ab_word *w)
{
	static const char *const verbs[] = { "MATCH (", "MERGE (",
					     "UNWIND ", "RETURN " };

	for (size_t i = 0; i < AB_ARRAY_LEN(verbs); i++) {
		size_t n = strlen(verbs[i]);

		if (w->len > n && !memcmp(w->text, verbs[i], n))
			return is_simple(w);
	}
	return false;
}

/* copytree(src=x, ignore=y, dst="a") */
static bool names_target(const struct ab_code *k, const struct ab_args *a)
{
	const char *s = k->text->text, *end = s + k->x.pos;
	const char *at = s + a->name.at;

	while (k->lang == AB_PY && at < end &&
	       (at = memmem(at, (size_t)(end - at), "dst", 3))) {
		at += 3;
		if (ab_code_next_byte(k->text, (uint32_t)(at - s)) == '=')
			return true;
	}
	return false;
}

/* copy(dst="a", src="b"): the target comes first. */
static bool begins_with_target(const struct ab_code *k,
			       const struct ab_args *a)
{
	const char *s = k->text->text;
	const uint32_t len = k->text->len;
	uint32_t at = a->name.at + a->name.len;

	while (at < len && memchr(" \t\n(", s[at], 4))
		at++;
	return k->lang == AB_PY && len - at > 3 && !memcmp(s + at, "dst", 3) &&
	       ab_code_next_byte(k->text, at + 3) == '=';
}

/* copy(x, "a"): of the name that comes first nothing is known, and what stands
   behind it is not that. copy("a", x, function () {...}): what stands behind
   both is none of them. */
static void put_names(struct ab_code *k, struct ab_args *a)
{
	bool is_target;

	if (a->two && a->two <= a->count && !names_target(k, a)) {
		a->count = a->two - 1;
		if (a->each && a->which >= a->count)
			a->each = NULL;
	}
	is_target = begins_with_target(k, a) && !a->is_second && !a->each;
	if (is_target && a->count == 2) {
		const struct ab_word target = a->words[0];

		a->words[0] = a->words[1];
		a->words[1] = target;
		return;
	}
	if (!(a->is_second || is_target) || !a->count ||
	    a->count == AB_CODE_STRINGS)
		return;
	memmove(a->words + 1, a->words, a->count++ * sizeof(a->words[0]));
	a->words[0] = (struct ab_word){ .text = "", .span = k->text->span };
	ab_code_hole(k, &a->words[0]);
	a->which++;
	a->pair_at++;
}

/* f(...x, "a"), f(data: x, file: "a"): which of them is the first one is not
   said by their places. */
static bool is_out_of_order(const struct ab_code *k, const struct ab_args *a)
{
	const char *s = k->text->text;
	const uint32_t len = k->text->len;
	uint32_t at = a->name.at + a->name.len;

	while (at < len && memchr(" \t\n(", s[at], 4))
		at++;
	if (at < len && memchr(".*", s[at], 2))
		return true;
	while (at < len && ab_code_is_letter(s[at]))
		at++;
	return len - at > 1 && s[at] == ':' && s[at + 1] != ':';
}

/* writeFile(x, "text"): the text is no name. */
static void drop_text(struct ab_code *k, struct ab_args *a)
{
	/* python and R say by names what is what, and perl makes directories
	   by more names than one */
	if (!a->is_second || k->lang == AB_PY || !strcmp(k->name, "r") ||
	    is_out_of_order(k, a) ||
	    (k->lang == AB_PERL && (ab_code_is_text(k, &a->name, "make_path") ||
				    ab_code_is_text(k, &a->name, "mkpath"))))
		return;
	a->count = 0;
	a->each = NULL;
}

/* What is said of more names than one, or of a name and what goes there. */
static void see_places(struct ab_code *k, enum ab_call kind, struct ab_args *a)
{
	const char next = ab_code_next_byte(k->text, a->name.at + a->name.len);

	/* submit(shutil.copy, "a", "b"): who calls it with which of them is
	   not said by their places */
	if (next && memchr(",)]", next, 3))
		return;
	switch (kind) {
	case AB_CALL_WRITE:
		drop_text(k, a);
		break;
	case AB_CALL_COPY:
	case AB_CALL_RENAME:
	case AB_CALL_LINK:
	case AB_CALL_ALIAS:
	case AB_CALL_FETCH:
		put_names(k, a);
		break;
	default:
		break;
	}
}

void ab_code_apply(struct ab_code *k, struct ab_args *a, enum ab_call kind,
		   const struct ab_token *t)
{
	struct ab_lexer behind = k->x;
	bool is_method = ab_code_is_sign(k, &k->before, '.') ||
			 ab_code_is_sign(k, &k->before, '>');

	skip_closers(k);
	a->name = *t;
	a->is_run = ab_code_is_run(k, t);
	a->is_handed = (kind == AB_CALL_REMOVE || kind == AB_CALL_DELETE) &&
		       k->lang & (AB_PY | AB_JS) &&
		       ab_code_next_byte(k->text, t->at + t->len) == ',';
	/* from pathlib import Path: what follows is nothing of it */
	if (!a->is_run && ab_code_is_path_type(k, t))
		return;
	k->has_removed |= kind == AB_CALL_REMOVE && a->is_run;
	a->is_fed = a->is_computed = a->is_fetched = false;
	a->takes_list = k->lang & (AB_JS | AB_PHP) && takes_list(k, t);
	a->is_command = kind == AB_CALL_SHELL ? ab_code_is_command(k, t) :
			kind == AB_CALL_CODE  ? ab_code_is_code(k, t) :
						false;
	if (kind == AB_CALL_SHELL || kind == AB_CALL_CODE)
		(void)ab_code_fetches(k);
	if (a->is_run)
		ab_code_see_first(k, a);
	a->is_taken_away = kind == AB_CALL_REMOVE || kind == AB_CALL_DELETE ||
			   kind == AB_CALL_WALK;
	ab_code_read_args(k, a);
	if ((kind == AB_CALL_REMOVE || kind == AB_CALL_DELETE) && a->is_run &&
	    !k->has_unseen && ab_code_is_unseen(k, a, behind))
		k->has_unseen = k->has_removed = true;
	k->has_removed |= kind == AB_CALL_SHELL && a->count > 1 &&
			  ab_word_equals(&a->words[0], "rm");
	if (ab_code_is_path_type(k, t))
		kind = ab_code_path_method(k, &behind);
	if (ab_code_is_path_type(k, t) &&
	    (kind == AB_CALL_LINK || kind == AB_CALL_ALIAS))
		kind = path_link(k, a, kind, &behind);
	a->is_home |= ab_code_is_text(k, t, "expanduser") ||
		     ab_code_is_text(k, t, "expand_path") ||
		     ab_code_is_text(k, t, "delete-directory") ||
		     ab_code_is_text(k, t, "delete-file") ||
		     (kind == AB_CALL_GLOB && k->lang == AB_PERL) ||
		     /* R's, where the others take it as it is */
		     (kind == AB_CALL_DELETE && k->lang == AB_OTHER);
	see_places(k, kind, a);
	if (kind == AB_CALL_SHELL) {
		ab_code_note_handed(k, t, a);
		drop_own_name(k, t, a);
	}
	/* neo4j: session.run("MATCH (n) RETURN n") */
	if (kind == AB_CALL_SHELL && a->count == 1 && !a->each && is_method &&
	    k->lang == AB_PY && !a->is_command && is_graph(&a->words[0]))
		return;
	/* $db->exec("..."), db.exec("..."); no base has an execSync */
	if (kind == AB_CALL_SHELL && a->count && !a->each && is_method &&
	    (((k->lang & (AB_RUBY | AB_PHP | AB_JS)) &&
	      ab_code_is_text(k, t, "exec")) ||
	     (k->lang == AB_OTHER && ab_code_is_text(k, t, "Exec")))) {
		ab_check_text(k->c, "sql", &a->words[0]);
		if (is_statement(k, &a->words[0]))
			return;
	}
	if (AB_UNLIKELY(a->each && a->pair)) {
		ab_code_judge_pair(k, kind, a);
		return;
	}
	if (a->each && ab_code_has_lists(a->each)) {
		judge_lists(k, kind, a);
		if (!a->each->is_any)
			return;
	}
	if (a->each)
		judge_each(k, kind, a);
	else
		ab_code_judge(k, kind, a);
}
