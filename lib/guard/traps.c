/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that `trap` keeps: they run when the shell ends or a signal comes,
 * with what the variables and the directory are by then. So they are judged
 * where they are set, after each change to a directory that is not plainly
 * the worktree's, when a variable of theirs is set to something else, at
 * `exit`, and at the end. What does nothing without a variable that nothing
 * has set yet, `rm "$x"`, is judged without that word till then; all else in
 * the text, and any other use of such a variable, is judged as it stands.
 * What it does to the shell is done between any two commands from there on, and
 * no longer counts where it is the last that the shell does.
 *
 * What refuses to be known: at which command a signal comes, and where a
 * command fails under `set -e`.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

#define MAX_TRAPS 16
#define MAX_NAMES 8 /* of one trap, that are followed */
#define MAX_CALLS 3 /* of functions by functions, that are looked through */
#define MAX_WAITING 4096 /* bytes of a text that waits for variables */
#define MAX_WAITED 32 /* places in it where one stands */

/* A variable in it, and its value when it was looked at. */
struct trap_name {
	uint32_t at, len;
	bool is_set;
	bool was_set; /* when the trap was */
	bool is_left; /* judged without it */
	/* kept as long as the run; NULL: not known, and where it came from,
	   for the word of that does not stay */
	const struct ab_word *value;
	const void *origin;
};

/* How a trap goes on. */
enum course {
	COURSE_OVER,   /* of EXIT, or it ends with `exit` itself */
	COURSE_ASKED,  /* of a signal that asks for the end: that is what the
			  sender wants, but for the text itself */
	COURSE_ON
};

struct ab_trap {
	struct ab_trap *next;
	struct ab_word text;
	enum course course, otherwise; /* than behind its own `exit` */
	uint32_t defined; /* functions and aliases, when that was looked at */
	/* the same with the bodies of functions for their names */
	struct ab_word open;
	struct trap_name names[MAX_NAMES];
	uint32_t name_count;
	uint32_t depth;
	bool can_wait; /* for its variables */
	bool is_inner; /* one that a trap set */
	bool is_unseen; /* a function ended with what was not judged */
	bool is_sub;	     /* set in a subshell, and lost with it */
	bool is_told;	     /* where that ends */
};

static enum ab_shell_when when_of(enum course course)
{
	return course == COURSE_ON ? AB_SHELL_LATER : AB_SHELL_LAST;
}

static bool is_name_byte(char ch, bool is_first)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       ch == '_' || (!is_first && ch >= '0' && ch <= '9');
}

/* The name of the variable that begins at that `$`, or none. */
static uint32_t name_at(const struct ab_word *w, uint32_t at, uint32_t *from)
{
	uint32_t n = 0;

	*from = at + 1;
	if (*from < w->len && w->text[*from] == '{')
		++*from;
	while (*from + n < w->len && is_name_byte(w->text[*from + n], !n))
		n++;
	return n;
}

static const struct ab_word *value_of(struct ab_check *c, const char *name,
				      uint32_t len)
{
	bool is_exported;

	return ab_shell_get(c->run, name, len, &is_exported);
}

static void look(struct ab_check *c, const char *text, struct trap_name *n)
{
	const struct ab_word *w = value_of(c, text + n->at, n->len);
	bool is_unknown = w && !w->len && w->hole_count;

	n->is_set = w && ab_shell_said(c->run, text + n->at, n->len) !=
				AB_SHELL_UNSAID;
	n->value = is_unknown ? NULL : w;
	n->origin = is_unknown ? w->holes->origin : NULL;
}

/* `$?` and `$$`: the shell's own. */
static bool is_special(const struct ab_word *w, uint32_t at)
{
	return at + 1 < w->len && memchr("?$#", w->text[at + 1], 3);
}

static bool begins(const struct ab_word *w, uint32_t at, uint32_t end,
		   const char *text)
{
	size_t n = strlen(text);

	return end - at >= n && !memcmp(w->text + at, text, n);
}

/* A command may begin behind it. */
static bool is_opening(char ch)
{
	return ch == ';' || ch == '&' || ch == '|' || ch == '\n' ||
	       ch == '(' || ch == '{';
}

/* The command up to there is one that does nothing to an empty word. */
static bool is_idle_command(const struct ab_word *w, uint32_t end)
{
	static const char *const idle[] = {
		"rm ",	 "rmdir ", "kill ",	   "[ ",	   "[[ ",
		"test ", "exit ",  "return ",	   "docker stop ", "wait ",
		"echo ", "unlink ", "docker rm ", "docker kill ",
	};
	static const char *const before[] = { "if ",   "then ",	 "elif ",
					      "else ", "while ", "until ",
					      "do ",   "! ",	 " " };
	uint32_t at = end;

	while (at && !is_opening(w->text[at - 1]))
		at--;
	for (size_t i = 0; i < AB_ARRAY_LEN(before);) {
		bool is_there = begins(w, at, end, before[i]);

		at += is_there ? (uint32_t)strlen(before[i]) : 0;
		i = is_there ? 0 : i + 1;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(idle); i++) {
		if (begins(w, at, end, idle[i]))
			return true;
	}
	return false;
}

/* `"$x"`, "${x:?}", "${x:-}": a whole word, and not part of a path. From
   *from to *end, quotes and all. */
static bool is_whole_word(const struct ab_word *w, uint32_t at,
			  uint32_t *begin, uint32_t *stop)
{
	const char *s = w->text;
	uint32_t from, end = name_at(w, at, &from);
	bool is_quoted = at && s[at - 1] == '"';

	end += from;
	at -= is_quoted;
	if (s[from - 1] == '{') {
		end += end + 1 < w->len && s[end] == ':';
		end += end + 1 < w->len && memchr("?-", s[end], 2);
		if (end == w->len || s[end++] != '}')
			return false;
	}
	if (is_quoted && (end == w->len || s[end++] != '"'))
		return false;
	*begin = at;
	*stop = end;
	return at && s[at - 1] == ' ' &&
	       (end == w->len || memchr(" \n;&|)", s[end], 6)) &&
	       is_idle_command(w, at);
}

/* The text has the name without a dollar, as `x=/` and `for x in`; but for
   `x=$?`. */
static bool is_set_inside(const struct ab_word *w, const char *name,
			  uint32_t n)
{
	const char *at = w->text, *end = w->text + w->len;

	while ((at = memmem(at, (size_t)(end - at), name, n)) != NULL) {
		char before = at > w->text ? at[-1] : ' ';
		const char *next = at + n;

		at++;
		if (is_name_byte(before, false) || before == '$' ||
		    (next < end && is_name_byte(*next, false)) ||
		    (before == '{' && at - 2 > w->text && at[-3] == '$'))
			continue;
		if (end - next < 4 || memcmp(next, "=$?", 3) != 0 ||
		    is_name_byte(next[3], false))
			return true;
	}
	return false;
}

/*
 * Without its variables it would do nothing to them, so it can wait for them:
 * a signal may come, or `set -e` end the shell, before they are set.
 * `rm -rf "$x"/a` would not.
 */
static bool can_wait(const struct ab_word *w)
{
	uint32_t from, begin, end, n, count = 0;

	if (w->hole_count || w->len >= MAX_WAITING)
		return false;
	for (uint32_t i = 0; i < w->len; i++) {
		if (w->text[i] == '`' || w->text[i] == '\\')
			return false;
		if (w->text[i] != '$' || is_special(w, i))
			continue;
		n = name_at(w, i, &from);
		if (!n || ++count > MAX_WAITED ||
		    !is_whole_word(w, i, &begin, &end) ||
		    is_set_inside(w, w->text + from, n))
			return false;
	}
	return true;
}

static bool is_among(const char *text, const struct trap_name *names,
		     uint32_t count, uint32_t at, uint32_t len)
{
	for (uint32_t i = 0; i < count; i++) {
		if (names[i].len == len &&
		    !memcmp(text + names[i].at, text + at, len))
			return true;
	}
	return false;
}

/* A variable in it is to be followed. */
static void add_name(struct ab_check *c, struct ab_trap *t, uint32_t at,
		     uint32_t len)
{
	const char *text = t->open.text;

	t->names[t->name_count] = (struct trap_name){ .at = at, .len = len };
	look(c, text, &t->names[t->name_count]);
	t->names[t->name_count++].was_set =
		ab_shell_said(c->run, text + at, len) == AB_SHELL_SAID;
}

static void find_names(struct ab_check *c, struct ab_trap *t)
{
	const struct ab_word *w = &t->open;
	struct trap_name inside[MAX_NAMES];
	uint32_t from, n, inside_count = 0;

	t->name_count = 0;
	t->can_wait = can_wait(w);
	for (uint32_t i = 0; i + 1 < w->len; i++) {
		n = w->text[i] == '$' ? name_at(w, i, &from) : 0;
		if (!n || is_among(w->text, t->names, t->name_count, from, n) ||
		    is_among(w->text, inside, inside_count, from, n))
			continue;
		if (t->name_count == MAX_NAMES || inside_count == MAX_NAMES) {
			t->can_wait = false;
			c->is_exporting = true;
			return;
		}
		/* rc=$?; exit $rc */
		if (!is_set_inside(w, w->text + from, n)) {
			add_name(c, t, from, n);
			continue;
		}
		inside[inside_count++] =
			(struct trap_name){ .at = from, .len = n };
		if (w->text != t->text.text)
			c->is_exporting = true; /* what calls it is not all */
	}
}

/* One of them has no value. */
static bool is_early(const struct ab_trap *t)
{
	for (uint32_t i = 0; i < t->name_count; i++) {
		if (!t->names[i].is_set)
			return true;
	}
	return false;
}

/* The text, where it stays. */
static bool keep(struct ab_check *c, const struct ab_word *w,
		 struct ab_word *out)
{
	char *text = ab_arena_high(c->high, (size_t)w->len + 1);
	struct ab_hole *holes = ab_arena_high(
		c->high, (size_t)(w->hole_count + 1) * sizeof(*holes));

	if (!text || !holes)
		return false;
	memcpy(text, w->text, w->len);
	for (uint32_t i = 0; i < w->hole_count; i++)
		holes[i] = w->holes[i];
	*out = (struct ab_word){ .text = text, .len = w->len,
				 .holes = holes, .hole_count = w->hole_count,
				 .span = w->span };
	return true;
}

/* The name at that place calls a function of the text, with words that are
   plain; *end is behind them. */
static const struct ab_shell_function *
call_at(struct ab_check *c, const struct ab_word *w, uint32_t at, uint32_t *end)
{
	const struct ab_shell_function *f;
	uint32_t n = 0, i;

	while (at + n < w->len &&
	       (is_name_byte(w->text[at + n], !n) ||
		(n && w->text[at + n] == '-')))
		n++;
	f = n ? ab_shell_function(c->run, w->text + at, n) : NULL;
	for (i = at + n; i < w->len && !memchr(";&|\n)", w->text[i], 5); i++) {
		if (!is_name_byte(w->text[i], false) &&
		    !memchr(" $?.", w->text[i], 4))
			return NULL;
	}
	*end = i;
	return f && f->text && memchr(f->text, '{', f->text_len) &&
	       !memmem(f->text, f->text_len, "<<", 2) ? f : NULL;
}

/* The text with the bodies of functions where it calls them, one deep: what
   they use is what it uses. It is the text itself where there are none. */
static void open_calls(struct ab_check *c, const struct ab_word *w,
		       struct ab_word *out)
{
	char *text = NULL;
	uint32_t n = 0, end = 0;
	bool is_first = true; /* of a command */

	*out = *w;
	for (uint32_t i = 0; i < w->len && !w->hole_count; i++) {
		const struct ab_shell_function *f =
			is_first && w->text[i] != ' ' ? call_at(c, w, i, &end)
						      : NULL;
		const char *body;

		if (f) {
			body = memchr(f->text, '{', f->text_len);
			if (!text)
				text = ab_arena_high(c->high, MAX_WAITING);
			if (!text || n + f->text_len + w->len >= MAX_WAITING)
				return;
			if (!n)
				memcpy(text, w->text, n = i);
			memcpy(text + n, body,
			       (size_t)(f->text + f->text_len - body));
			n += (uint32_t)(f->text + f->text_len - body);
			i = end;
		}
		if (i < w->len && text)
			text[n++] = w->text[i];
		is_first = i < w->len &&
			   (is_opening(w->text[i]) ||
			    (is_first && w->text[i] == ' '));
	}
	if (text)
		*out = (struct ab_word){ .text = text, .len = n,
					 .span = w->span };
}

/* What mktemp made: it is judged the same wherever the shell is. */
static bool is_new_temp(const struct trap_name *n)
{
	const struct ab_stream *s = n->origin;

	return s && s->taint == AB_TAINT_TEMP;
}

/*
 * A variable that a trap is judged without: it has no value yet; or it had
 * one when the trap was set, and that is gone with its function; or it has
 * none where the trap is not set, either: `x=$(mktemp) && trap 'rm "$x"' EXIT`.
 * What it was till then was judged.
 */
static bool is_left_out(struct ab_check *c, const struct ab_trap *t,
			const struct trap_name *n, bool is_end)
{
	enum ab_shell_said said =
		ab_shell_said(c->run, t->open.text + n->at, n->len);

	if (!t->can_wait)
		return false;
	if (!n->was_set || t->is_unseen)
		return !is_end && !n->is_set;
	return !n->is_set ||
	       (said == AB_SHELL_PERHAPS && is_new_temp(n));
}

static const struct trap_name *name_of(const struct ab_trap *t,
				       const char *name, uint32_t len)
{
	for (uint32_t i = 0; i < t->name_count; i++) {
		const struct trap_name *n = &t->names[i];

		if (n->len == len && !memcmp(t->open.text + n->at, name, len))
			return n;
	}
	return NULL;
}

/* The text without the words of variables that are left out. */
static const struct ab_word *without(struct ab_check *c,
				     const struct ab_trap *t)
{
	struct ab_word *out = ab_check_alloc(c, sizeof(*out));
	char *text = ab_arena_high(c->high, t->open.len + 1);
	uint32_t from, begin, end, len;

	if (!out || !text) {
		c->is_broken = true;
		return &t->text;
	}
	memcpy(text, t->open.text, t->open.len);
	*out = t->open;
	out->text = text;
	for (uint32_t i = 0; i < t->open.len; i++) {
		const struct trap_name *n;

		len = text[i] == '$' ? name_at(&t->open, i, &from) : 0;
		n = len ? name_of(t, text + from, len) : NULL;
		if (!n || !n->is_left ||
		    !is_whole_word(&t->open, i, &begin, &end))
			continue;
		memset(text + begin, ' ', end - begin);
		memcpy(text + begin, "''", 2);
	}
	return out;
}

/* What it does to the shell is done at each time, or when all is over. */
static void run_text(struct ab_check *c, const struct ab_word *text,
		     enum ab_shell_when when)
{
	c->when = when;
	ab_check_script(c, text, false, NULL, 0, "trap");
	c->when = AB_SHELL_NOW;
}

static void judge(struct ab_check *c, struct ab_trap *t, bool is_end)
{
	bool is_any_left = false;

	for (uint32_t i = 0; i < t->name_count; i++) {
		struct trap_name *n = &t->names[i];

		look(c, t->open.text, n);
		n->is_left = is_left_out(c, t, n, is_end);
		is_any_left |= n->is_left;
	}
	run_text(c, is_any_left ? without(c, t) : &t->text,
		 is_end ? AB_SHELL_LAST : when_of(t->course));
}

/* The same is kept already: a script may set it many times. */
static bool has_trap(const struct ab_check *c, const struct ab_word *w,
		     bool is_sub, bool is_told, uint32_t depth,
		     uint32_t *count)
{
	for (const struct ab_trap *t = c->traps; t; t = t->next) {
		++*count;
		if (t->is_sub == is_sub && t->is_told == is_told &&
		    t->depth <= depth &&
		    !w->hole_count && !t->text.hole_count &&
		    t->text.len == w->len &&
		    !memcmp(t->text.text, w->text, w->len))
			return true;
	}
	return false;
}

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\n';
}

static bool has_any(const char *s, uint32_t n, const char *const *what,
		    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (memmem(s, n, what[i], strlen(what[i])))
			return true;
	}
	return false;
}

/* The last command of it is a plain `exit`, which nothing leads past: what it
   does is over then. Where quotes and comments are, or words of other commands,
   it may be no command; with two words it does nothing. */
static bool ends_shell(const struct ab_check *c, const char *s, uint32_t n)
{
	static const char *const past[] = { "<<", "#", "\\", "return", "break",
					    "continue" };
	uint32_t at, end;

	while (n && (is_blank(s[n - 1]) || s[n - 1] == ';'))
		n--;
	for (at = n; at && s[at - 1] != ';' && s[at - 1] != '\n'; at--) {
		if (!is_name_byte(s[at - 1], false) &&
		    !memchr(" \t$?", s[at - 1], 4))
			return false;
	}
	while (at < n && is_blank(s[at]))
		at++;
	if (n - at < 4 || memcmp(s + at, "exit", 4) != 0 ||
	    (n - at > 4 && !is_blank(s[at + 4])) ||
	    has_any(s, n, past, AB_ARRAY_LEN(past)) ||
	    ab_shell_function(c->run, "exit", 4) ||
	    ab_shell_has_aliases(c->run))
		return false;
	for (end = at + 4; end < n && is_blank(s[end]); end++)
		;
	for (; end < n; end++) {
		if (is_blank(s[end]))
			return false;
	}
	while (at && is_blank(s[at - 1]))
		at--;
	return !at || !memchr("&|", s[at - 1], 2);
}

/* The text is one call of a function whose body ends the shell. */
static bool is_ending_call(struct ab_check *c, const struct ab_word *w)
{
	uint32_t end = 0;
	const struct ab_shell_function *f = call_at(c, w, 0, &end);
	const char *body;

	if (!f || end != w->len || f->is_perhaps)
		return false;
	body = memchr(f->text, '{', f->text_len);
	return body && f->text[f->text_len - 1] == '}' &&
	       ends_shell(c, body + 1,
			  (uint32_t)(f->text + f->text_len - body) - 2);
}

static bool is_one_of(const struct ab_word *w, const char *const *names,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (ab_word_equals(w, names[i]))
			return true;
	}
	return false;
}

/* It goes no further, as far as the functions and aliases of now say. */
static bool is_over(struct ab_check *c, const struct ab_word *w)
{
	return !w->hole_count &&
	       (ends_shell(c, w->text, w->len) || is_ending_call(c, w));
}

/* What the signals alone say of it. */
static enum course course_of(const struct ab_word *signals, uint32_t count)
{
	static const char *const last[] = { "EXIT", "0" };
	static const char *const asking[] = {
		"SIGINT", "INT", "2", "SIGTERM", "TERM", "15", "SIGHUP", "HUP",
		"1", "SIGQUIT", "QUIT", "3", "SIGPIPE", "PIPE", "13",
	};
	enum course course = COURSE_OVER;

	for (uint32_t i = 0; i < count; i++) {
		if (is_one_of(&signals[i], last, AB_ARRAY_LEN(last)))
			continue;
		if (!is_one_of(&signals[i], asking, AB_ARRAY_LEN(asking)))
			return COURSE_ON;
		course = COURSE_ASKED;
	}
	return course;
}

/* What a trap runs is no command behind which it runs again. */
static bool is_in_trap(const struct ab_check *c)
{
	const struct ab_chain *k = c->chain;

	while (k && strcmp(k->name, "trap") != 0)
		k = k->up;
	return k;
}

/* It is kept, for later; true: it is not to be judged yet. */
static bool keep_trap(struct ab_check *c, const struct ab_word *w,
		      enum course course, enum course otherwise)
{
	bool is_sub = c->flags & (AB_SHELL_SUBSHELL | AB_SHELL_DEFINITION);
	/* a body that nobody calls has no end */
	bool is_told = !(c->flags & AB_SHELL_DEFINITION);
	uint32_t depth = c->command ? c->command->place.depth : 0, count = 0;
	struct ab_trap *trap;

	if (c->is_reading || c->is_probe || c->is_again ||
	    has_trap(c, w, is_sub, is_told, depth, &count))
		return false;
	trap = ab_arena_high(c->high, sizeof(*trap));
	if (count == MAX_TRAPS || !trap || !keep(c, w, &trap->text)) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, w);
		return false;
	}
	trap->next = c->traps;
	trap->depth = depth;
	trap->course = course;
	trap->otherwise = otherwise;
	trap->defined = ab_shell_definitions(c->run);
	trap->is_sub = is_sub;
	trap->is_told = is_told;
	trap->is_unseen = false;
	trap->is_inner = is_in_trap(c);
	open_calls(c, &trap->text, &trap->open);
	find_names(c, trap);
	if (ab_defined_reaches(c, trap->open.text, trap->open.len,
			       MAX_CALLS))
		c->is_exporting = true;
	c->traps = trap;
	if (!is_told || !trap->can_wait || !is_early(trap))
		return false;
	judge(c, trap, false);
	return true;
}

void ab_trap_set(struct ab_check *c, const struct ab_word *words,
		 uint32_t count)
{
	enum course otherwise = course_of(words + 1, count - 1);
	enum course course = is_over(c, words) ? COURSE_OVER : otherwise;

	/* `trap '' INT` and `trap - INT` run nothing */
	if ((!words->len && !words->hole_count) || ab_word_equals(words, "-"))
		return;
	if (!keep_trap(c, words, course, otherwise))
		run_text(c, words, when_of(course));
}

/* It is a trap of the shell at hand. */
static bool is_own(const struct ab_check *c, const struct ab_trap *t,
		   uint32_t depth)
{
	bool is_sub = c->flags & (AB_SHELL_SUBSHELL | AB_SHELL_DEFINITION);

	return t->is_sub == is_sub && (!is_sub || depth >= t->depth);
}

static bool is_same(const struct ab_word *a, const struct ab_word *b)
{
	return a == b ||
	       (a && b && !a->hole_count && !b->hole_count &&
		a->len == b->len && !memcmp(a->text, b->text, a->len));
}

/* A variable in it has another value than when this was asked last. */
static bool has_changed(struct ab_check *c, struct ab_trap *t)
{
	bool has = false;

	for (uint32_t i = 0; i < t->name_count; i++) {
		struct trap_name *n = &t->names[i];
		const struct trap_name was = *n;

		look(c, t->open.text, n);
		has |= was.is_set != n->is_set || was.origin != n->origin ||
		       !is_same(was.value, n->value);
	}
	return has;
}

/* `kill -INT $$`: the shell itself may be what gets it. */
static bool may_signal(const struct ab_check *c)
{
	uint32_t i = 0;

	while (i < c->argc && !ab_word_equals(&c->argv[i], "kill"))
		i++;
	for (; i < c->argc; i++) {
		if (c->argv[i].hole_count)
			return true;
	}
	return false;
}

/* What ended it, or what it called that did, may be another by now. */
static bool goes_on(struct ab_check *c, struct ab_trap *t)
{
	uint32_t defined = ab_shell_definitions(c->run);

	if (AB_LIKELY(t->course == t->otherwise || t->defined == defined))
		return false;
	t->defined = defined;
	if (t->text.len < MAX_WAITING && is_over(c, &t->text))
		return false;
	t->course = t->otherwise;
	return t->course == COURSE_ON;
}

void ab_traps_wake(struct ab_check *c)
{
	uint32_t depth = c->command ? c->command->place.depth : 0;
	bool is_inside = is_in_trap(c);
	bool is_sent = !is_inside && may_signal(c);

	for (struct ab_trap *t = c->traps; t; t = t->next) {
		bool is_due = is_sent && t->course == COURSE_ASKED;

		is_due |= goes_on(c, t);
		/* what a trap does to itself on its way */
		if (is_inside && !t->is_inner)
			continue;
		if (is_due)
			t->course = COURSE_ON;
		if (is_due || (t->name_count && is_own(c, t, depth) &&
				 has_changed(c, t)))
			judge(c, t, false);
	}
}

/* TRAPUSR1() { ...; }, chpwd() { ...; }: zsh's way to set one. */
static void set_by_name(struct ab_check *c, const struct ab_shell_function *f)
{
	const char *signal = *f->name == 'T' ? f->name + 4 :
			     *f->name == 'z' ? "EXIT" : "DEBUG";
	struct ab_word words[2] = {
		{ .text = f->name, .len = f->name_len, .span = f->span },
		{ .text = signal, .len = (uint32_t)strlen(signal),
		  .span = f->span },
	};

	for (const char *s = signal; *s; s++) {
		if (is_name_byte(*s, true) && (*s < 'A' || *s > 'Z'))
			return;
	}
	ab_trap_set(c, words, 2);
}

void ab_traps_define(struct ab_check *c, const struct ab_shell_function *f)
{
	for (struct ab_trap *t = c->traps; t && !is_in_trap(c); t = t->next) {
		bool is_due = goes_on(c, t);

		if (t->course != COURSE_ON || t->text.len >= MAX_WAITING ||
		    (!is_due && !memmem(t->text.text, t->text.len, f->name,
					f->name_len)))
			continue;
		open_calls(c, &t->text, &t->open);
		find_names(c, t);
		judge(c, t, false);
	}
	if (ab_is_trap_name(f))
		set_by_name(c, f);
}

void ab_traps_leave(struct ab_check *c)
{
	for (struct ab_trap *t = c->traps; t; t = t->next) {
		struct trap_name was[MAX_NAMES];

		memcpy(was, t->names, sizeof(was));
		t->is_unseen |= has_changed(c, t);
		memcpy(t->names, was, sizeof(was));
	}
}

void ab_traps_run(struct ab_check *c, bool is_end)
{
	uint32_t depth = c->command ? c->command->place.depth : 0;

	for (struct ab_trap *t = c->traps; t && !is_in_trap(c); t = t->next) {
		if (is_own(c, t, depth))
			judge(c, t, is_end);
	}
}

void ab_traps_end(struct ab_check *c, uint32_t depth)
{
	bool is_sub = c->flags & AB_SHELL_SUBSHELL;

	for (struct ab_trap **at = &c->traps, *t; (t = *at) != NULL;) {
		if (t->is_sub == is_sub && t->is_told && t->depth >= depth)
			judge(c, t, true);
		if (is_sub && t->is_sub && t->depth >= depth)
			*at = t->next;
		else
			at = &t->next;
	}
}
