/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands of editors and of tools that have commands of their own, a line
 * each: the files that ed(1) and ex(1) write and read (what they give to a
 * shell, rules deny whatever it is), what dc, gnuplot, gdb and radare2 give to
 * one, and cmake's scripts. Refuses to follow the
 * variables of these tools and the patterns before a command of ex.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#include "guard/command.h"

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r';
}

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

static uint32_t skip_blanks(const struct ab_word *text, uint32_t at,
			    uint32_t end)
{
	while (at < end && is_blank(text->text[at]))
		at++;
	return at;
}

static void run_slice(struct ab_check *c, const struct ab_word *text,
		      uint32_t at, uint32_t end)
{
	struct ab_word w;

	while (end > at && is_blank(text->text[end - 1]))
		end--;
	if (end > at && ab_word_slice(c, text, at, end - at, &w))
		ab_check_script(c, &w, true, NULL, 0, NULL);
}

/* --- ed and ex ----------------------------------------------------------- */

/* Commands with the name of a file, from their shortest form on; `%` of vim
   and other editors stands for the file that is open. */
static const struct {
	const char *name;
	uint8_t least, role;
} commands[] = {
	{ "write", 1, AB_ROLE_WRITE },	  { "W", 1, AB_ROLE_WRITE },
	{ "wq", 2, AB_ROLE_WRITE },	  { "saveas", 3, AB_ROLE_WRITE },
	{ "update", 2, AB_ROLE_WRITE },	  { "xit", 1, AB_ROLE_WRITE },
	{ "exit", 3, AB_ROLE_WRITE },	  { "redir", 4, AB_ROLE_WRITE },
	{ "mksession", 3, AB_ROLE_WRITE }, { "mkexrc", 2, AB_ROLE_WRITE },
	{ "mkvimrc", 3, AB_ROLE_WRITE },  { "mkview", 5, AB_ROLE_WRITE },
	{ "wundo", 5, AB_ROLE_WRITE },	  { "wviminfo", 2, AB_ROLE_WRITE },
	{ "wshada", 3, AB_ROLE_WRITE },	  { "file", 1, AB_ROLE_WRITE },
	{ "hardcopy", 2, AB_ROLE_WRITE }, { "read", 1, AB_ROLE_READ },
	{ "edit", 1, AB_ROLE_READ },	  { "E", 1, AB_ROLE_READ },
	{ "split", 2, AB_ROLE_READ },	  { "vsplit", 2, AB_ROLE_READ },
	{ "tabedit", 4, AB_ROLE_READ },	  { "tabnew", 6, AB_ROLE_READ },
	{ "view", 3, AB_ROLE_READ },	  { "source", 2, AB_ROLE_RUN },
};

/* Words before a command that say how it is done. */
static bool is_modifier(const char *s, uint32_t n)
{
	static const char *const names[] = {
		"silent", "sil",  "noautocmd", "noa", "keepalt", "keepa",
		"lockmarks", "loc", "confirm", "conf", "verbose", "verb",
		"keepjumps", "keepj", "vertical", "vert", "bufdo", "windo",
		"tabdo",  "argdo", "unsilent", "hide", "sandbox", "noswapfile",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == n && !memcmp(names[i], s, n))
			return true;
	}
	return false;
}

/* Behind 1,$ and %, '<,'> and .+3: where the name of the command begins. */
static uint32_t skip_range(const struct ab_word *text, uint32_t at,
			   uint32_t end)
{
	while (at < end) {
		char ch = text->text[at];

		if (ch == '\'' && at + 1 < end)
			at += 2;
		else if (is_blank(ch) || memchr(":%.,;$+-*<>", ch, 11) ||
			 (ch >= '0' && ch <= '9'))
			at++;
		else
			break;
	}
	return at;
}

static void file_word(struct ab_check *c, const struct ab_use *use,
		      enum ab_role_kind role, const struct ab_word *text,
		      uint32_t at, uint32_t end)
{
	const struct ab_known_path *home = &c->place->home;
	struct ab_word w;
	char *all;

	while (end > at && is_blank(text->text[end - 1]))
		end--;
	if (end == at || !ab_word_slice(c, text, at, end - at, &w))
		return;
	if (w.len > 1 && !memcmp(w.text, "~/", 2) && home->text) {
		all = ab_check_alloc(c, home->len + w.len);
		if (!all)
			return;
		memcpy(all, home->text, home->len);
		memcpy(all + home->len, w.text + 1, w.len - 1);
		w = (struct ab_word){ .text = all, .span = w.span,
				      .len = home->len + w.len - 1 };
	}
	ab_check_path(c, use, role, &w);
	if (role == AB_ROLE_RUN)
		ab_file_run(c, use, &w);
}

static enum ab_role_kind ex_role(const char *s, uint32_t n)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(commands); i++) {
		if (n >= commands[i].least && n <= strlen(commands[i].name) &&
		    !memcmp(s, commands[i].name, n))
			return (enum ab_role_kind)commands[i].role;
	}
	return AB_ROLE_LIST;
}

/* One command; a bar ends it, and so the name of a file. */
static void ex_command(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *text, uint32_t at, uint32_t end)
{
	enum ab_role_kind role;
	uint32_t from, n;

	for (;;) {
		at = skip_range(text, at, end);
		for (from = at; at < end && is_letter(text->text[at]);)
			at++;
		n = at - from;
		if (!n || !is_modifier(text->text + from, n))
			break;
		at += at < end && text->text[at] == '!';
	}
	if (!n)
		return;
	role = ex_role(text->text + from, n);
	if (role == AB_ROLE_LIST)
		return;
	at += at < end && text->text[at] == '!';
	at = skip_blanks(text, at, end);
	if (at < end && text->text[at] == '!')
		return;
	/* >> FILE, ++enc=x FILE */
	while (at < end && memchr(">+", text->text[at], 2)) {
		bool is_plus = text->text[at] == '+';

		while (at < end && (is_plus ? !is_blank(text->text[at])
					    : memchr(">!", text->text[at], 2) !=
						      NULL))
			at++;
		at = skip_blanks(text, at, end);
	}
	if (role == AB_ROLE_WRITE && text->text[from] == 'r' &&
	    at < end && memchr("@=", text->text[at], 2))
		return; /* redir @a */
	file_word(c, use, role, text, at, end);
}

void ab_check_ex(struct ab_check *c, const struct ab_use *use,
		 const struct ab_word *text)
{
	for (uint32_t i = 0; i < text->len;) {
		uint32_t end = i;

		while (end < text->len && !memchr("\n|", text->text[end], 2))
			end++;
		ex_command(c, use, text, i, end);
		i = end + 1;
	}
}

/* --- commands for a shell behind a sign or a name ------------------------- */

/* gdb's, by as much of their names as it takes. */
static uint32_t gdb_command(const struct ab_word *text, uint32_t at,
			    uint32_t end)
{
	static const char *const names[] = { "shell ", "she ", "make " };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		uint32_t n = (uint32_t)strlen(names[i]);

		if (end - at > n && !memcmp(text->text + at, names[i], n))
			return *names[i] == 'm' ? at : at + n;
	}
	return end;
}

/* !COMMAND, where a line or a command begins; dc has it anywhere. */
static void check_escapes(struct ab_check *c, const struct ab_word *text,
			  bool is_gdb)
{
	for (uint32_t i = 0; i < text->len;) {
		uint32_t end = i, at;

		while (end < text->len && text->text[end] != '\n')
			end++;
		at = skip_blanks(text, i, end);
		if (is_gdb && at < end && text->text[at] != '!') {
			run_slice(c, text, gdb_command(text, at, end), end);
			at = end;
		}
		while (at < end && text->text[at] != '!')
			at++;
		while (at < end && text->text[at] == '!')
			at++;
		/* dc: !< and != compare */
		if (at < end && !memchr("<>=", text->text[at], 3))
			run_slice(c, text, at, end);
		i = end + 1;
	}
}

/* gnuplot: '<cmd' and '|cmd' are commands, and so is a line behind a `!`. */
static void check_gnuplot(struct ab_check *c, const struct ab_word *text)
{
	bool is_begin = true;

	for (uint32_t i = 0; i < text->len; i++) {
		char ch = text->text[i];
		const char *from = text->text + i + 1;
		const char *end = NULL;

		if (ch == '"' || ch == '\'')
			end = memchr(from, ch, text->len - i - 1);
		else if (ch == '!' && is_begin)
			end = from + ab_seek(from, text->len - i - 1, '\n');
		if (end) {
			uint32_t stop = (uint32_t)(end - text->text);

			if (ch == '!')
				run_slice(c, text, i + 1, stop);
			else if (stop > i + 1 && memchr("<|", *from, 2))
				run_slice(c, text, i + 2, stop);
			i = stop;
			ch = stop < text->len ? text->text[stop] : '\n';
		}
		is_begin = memchr("\n;", ch, 2) != NULL ||
			   (is_begin && is_blank(ch));
	}
}

void ab_check_escapes(struct ab_check *c, const char *lang,
		      const struct ab_word *text)
{
	if (!strcmp(lang, "gnuplot"))
		check_gnuplot(c, text);
	else
		check_escapes(c, text, !strcmp(lang, "gdb"));
}

/* --- cmake ---------------------------------------------------------------- */

/* A script, and how many bytes of its calls are yet read: what looks like a
   call in a comment may begin before another one, so each is read alone. */
struct cmake {
	struct ab_check *c;
	const struct ab_use *use;
	const struct ab_word *text;
	uint64_t left;
};

/* The next word in the brackets of a call, without its quotes. */
static bool cmake_word(struct cmake *m, uint32_t *at, struct ab_word *w)
{
	static const char blanks[] = " \t\r\n";
	const struct ab_word *text = m->text;
	const char *s = text->text;
	uint32_t from, begin = *at;

	while (*at < text->len && memchr(blanks, s[*at], 4))
		++*at;
	if (*at >= text->len || s[*at] == ')')
		return false;
	if (s[*at] == '"') {
		from = ++*at;
		while (*at < text->len && s[*at] != '"')
			++*at;
	} else {
		from = *at;
		while (*at < text->len && !memchr(" \t\r\n)", s[*at], 5))
			++*at;
	}
	if (*at - begin > m->left) {
		m->left = 0;
		return false;
	}
	m->left -= *at - begin;
	if (!ab_word_slice(m->c, text, from, *at - from, w))
		return false;
	*at += *at < text->len && s[*at] == '"';
	return true;
}

/* $ENV{HOME}/x; false: it has a variable of which nothing is known. */
static bool cmake_home(struct cmake *m, struct ab_word *w)
{
	static const char mark[] = "$ENV{HOME}";
	const struct ab_known_path *home = &m->c->place->home;
	uint32_t n = sizeof(mark) - 1;
	char *text;

	if (!memchr(w->text, '$', w->len))
		return true;
	if (w->len < n || memcmp(w->text, mark, n) != 0 || !home->text ||
	    memchr(w->text + n, '$', w->len - n))
		return false;
	text = ab_check_alloc(m->c, home->len + w->len);
	if (!text)
		return false;
	memcpy(text, home->text, home->len);
	memcpy(text + home->len, w->text + n, w->len - n);
	*w = (struct ab_word){ .text = text, .span = w->span,
			       .len = home->len + w->len - n };
	return true;
}

static bool is_keyword(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if ((w->text[i] < 'A' || w->text[i] > 'Z') && w->text[i] != '_')
			return false;
	}
	return w->len > 3;
}

#define MAX_WORDS 64

/* execute_process(COMMAND a b COMMAND c OUTPUT_VARIABLE x) */
static void cmake_process(struct cmake *m, uint32_t at)
{
	struct ab_check *c = m->c;
	struct ab_word *words = ab_check_alloc(c, MAX_WORDS * sizeof(*words));
	uint32_t count = 0;
	bool is_command = false, is_more = words != NULL;
	struct ab_word w;

	while (is_more) {
		is_more = cmake_word(m, &at, &w);
		if (is_more && !is_keyword(&w)) {
			(void)cmake_home(m, &w);
			if (is_command && count < MAX_WORDS)
				words[count++] = w;
			continue;
		}
		if (count == MAX_WORDS)
			ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, m->text);
		if (count)
			ab_check_words(c, words, count, 0, NULL, false);
		count = 0;
		is_command = is_more && ab_word_equals(&w, "COMMAND");
	}
}

/* file(WRITE FILE "text" ...), file(DOWNLOAD URL FILE): what is in FILE. */
static void cmake_save(struct cmake *m, const struct ab_word *verb, uint32_t at)
{
	bool is_fetched = ab_word_equals(verb, "DOWNLOAD");
	struct ab_word path, text;

	if ((!is_fetched && !ab_word_equals(verb, "WRITE") &&
	     !ab_word_equals(verb, "APPEND")) ||
	    !cmake_word(m, &at, &path) || !cmake_word(m, &at, &text))
		return;
	if (is_fetched)
		path = text;
	if (!cmake_home(m, &path))
		return;
	if (is_fetched)
		ab_file_save(m->c, &path, AB_TAINT_REMOTE, NULL, false);
	else
		ab_file_add(m->c, &path, 0, &text);
}

/* file(REMOVE_RECURSE a b), file(WRITE a "text") */
static void cmake_file(struct cmake *m, uint32_t at)
{
	static const struct {
		const char *name;
		uint8_t role, most; /* how many words are names; 0: all */
	} verbs[] = {
		{ "REMOVE_RECURSE", AB_ROLE_REMOVE, 0 },
		{ "REMOVE", AB_ROLE_DELETE, 0 },
		{ "WRITE", AB_ROLE_WRITE, 1 },
		{ "APPEND", AB_ROLE_WRITE, 1 },
		{ "TOUCH", AB_ROLE_WRITE, 0 },
		{ "MAKE_DIRECTORY", AB_ROLE_WRITE, 0 },
		{ "RENAME", AB_ROLE_WRITE, 2 },
		{ "READ", AB_ROLE_READ, 1 },
		{ "STRINGS", AB_ROLE_READ, 1 },
	};
	struct ab_word verb, w;
	uint32_t from;

	if (!cmake_word(m, &at, &verb))
		return;
	from = at;
	for (size_t i = 0; i < AB_ARRAY_LEN(verbs); i++) {
		if (!ab_word_equals(&verb, verbs[i].name))
			continue;
		for (uint32_t k = 1; (!verbs[i].most || k <= verbs[i].most) &&
				     cmake_word(m, &at, &w);
		     k++) {
			if (cmake_home(m, &w))
				ab_check_path(m->c, m->use,
					      (enum ab_role_kind)verbs[i].role,
					      &w);
		}
		break;
	}
	cmake_save(m, &verb, from);
}

void ab_check_cmake(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *text)
{
	/* what is run may be a file of those */
	static const char *const calls[] = { "file", "execute_process",
					     "add_custom_target",
					     "add_custom_command",
					     "add_test" };
	struct cmake m = { c, use, text, (uint64_t)text->len * 8 + 4096 };

	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		const char *at = text->text, *end = at + text->len;
		size_t n = strlen(calls[i]);

		while ((at = memmem(at, (size_t)(end - at), calls[i], n))) {
			const char *from = at;

			at += n;
			if (from > text->text &&
			    (is_letter(from[-1]) || from[-1] == '_'))
				continue;
			while (at < end && is_blank(*at))
				at++;
			if (at == end || *at != '(')
				continue;
			if (!i)
				cmake_file(&m, (uint32_t)(at - text->text) + 1);
			else
				cmake_process(&m,
					      (uint32_t)(at - text->text) + 1);
		}
	}
	if (!m.left)
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, text);
}
