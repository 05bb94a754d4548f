/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that go through a directory and take away what they find there:
 * `for f in os.listdir("."): if f.endswith(".pyc"): os.remove(f)` is no more
 * than find with a -name. Control flow is not followed, so that counts for
 * the plainest shape only: a test of the name for each removal, and nothing
 * that turns a test around or goes past it.
 */
#include "config.h"

#include "base/key.h"
#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_TESTS 16
#define MAX_SIGNS 64 /* that are looked at, of one kind */
#define MAX_LOOPS 4  /* over one name */
#define MAX_NAMES 4  /* of which one may be what a walk came across */
#define MAX_WORDS 64 /* where such a name stands; and hits that are none */
#define MAX_HITS 512
#define MAX_LINE 200
#define MAX_AHEAD 48 /* bytes of a call before the pattern: fnmatch(name, */

static bool is_letter(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_';
}

static uint32_t skip_blanks(const struct ab_word *text, uint32_t at)
{
	while (at < text->len && memchr(" \t", text->text[at], 2))
		at++;
	return at;
}

/* Where the string that begins there ends; 0: it is none, or not as it stands.
 */
static uint32_t string_end(const struct ab_word *text, uint32_t at)
{
	const char *s = text->text;
	char quote;

	if (at >= text->len || !memchr("\"'", s[at], 2))
		return 0;
	quote = s[at++];
	while (at < text->len && s[at] != quote) {
		if (memchr("$#{\\\n%@", s[at++], 7))
			return 0;
	}
	return at < text->len ? at + 1 : 0;
}

bool ab_code_is_literal_call(const struct ab_word *text, uint32_t at,
			     uint32_t len)
{
	const char *s = text->text;
	uint32_t i = skip_blanks(text, at + len);

	/* const { rmSync } = ... */
	if (i < text->len && s[i] == '}' && at &&
	    memchr("{ ", s[at - 1], 2)) {
		i = skip_blanks(text, i + 1);
		return i < text->len && s[i] == '=';
	}
	/* f"...", "a" "b" and "a" + x are none */
	if (i >= text->len || s[i] != '(' || text->hole_count)
		return false;
	i = string_end(text, skip_blanks(text, i + 1));
	if (!i)
		return false;
	i = skip_blanks(text, i);
	if (i >= text->len)
		return false;
	if (s[i] == ',') {
		/* an option behind it, and no more names */
		i = skip_blanks(text, i + 1);
		return (i < text->len && s[i] == '{') ||
		       (text->len - i > 6 && !memcmp(s + i, "ignore", 6)) ||
		       string_end(text, i);
	}
	return s[i] == ')';
}

/* `or True`, but not the option of a call: ignore_errors=True. */
static bool has_constant(const struct ab_word *text, const char *name)
{
	const char *s = text->text, *end = s + text->len, *at = s;
	size_t n = strlen(name);

	for (; (at = memmem(at, (size_t)(end - at), name, n)); at += n) {
		if (at - s < 2 || at[-1] != '=' || !is_letter(at[-2]))
			return true;
	}
	return false;
}

/* Something besides may decide: what is said of one test may not hold. */
/* x ? a : b; but ruby's file?(x) is a name. */
static bool has_choice(const struct ab_code *k, const struct ab_word *text)
{
	const char *s = text->text, *end = s + text->len, *at = s;

	for (; (at = memchr(at, '?', (size_t)(end - at))); at++) {
		if (k->lang != AB_RUBY || at == s || !is_letter(at[-1]) ||
		    at + 1 == end || !memchr("( )\n", at[1], 4))
			return true;
	}
	return false;
}

/* The line without its blanks is that. */
static bool is_line(const char *s, uint32_t len, const char *text)
{
	while (len && memchr(" \t", *s, 2)) {
		s++;
		len--;
	}
	while (len && memchr(" \t\r", s[len - 1], 3))
		len--;
	return strlen(text) == len && !memcmp(s, text, len);
}

static uint32_t whole_line(const struct ab_word *text, uint32_t at)
{
	return at + (uint32_t)ab_seek(text->text + at, text->len - at, '\n');
}

/* python: `dirs[:] = [d for d in dirs if ...]`, `if x: continue` in one line or
   two. Where what only leaves something out ends, from where a line begins. */
static uint32_t leaves_out(const struct ab_word *text, uint32_t at)
{
	static const char skip[] = "continue";
	const uint32_t size = sizeof(skip) - 1;
	const char *s = text->text;
	uint32_t from = skip_blanks(text, at), end = whole_line(text, at);
	uint32_t n = from, next;

	if (memchr(s + from, ';', end - from) ||
	    memchr(s + from, '#', end - from))
		return 0;
	while (n < end && is_letter(s[n]))
		n++;
	if (n > from && end - n > 6 && !memcmp(s + n, "[:] = ", 6))
		return end;
	if (end - from < 6 || memcmp(s + from, "if ", 3) != 0)
		return 0;
	if (s[end - 1] == ':' && end < text->len) {
		next = whole_line(text, end + 1);
		return is_line(s + end + 1, next - end - 1, skip) ? next : 0;
	}
	if (end - from < size + 5 || memcmp(s + end - size, skip, size) != 0)
		return 0;
	for (n = end - size; s[n - 1] == ' '; n--)
		;
	return s[n - 1] == ':' ? end : 0;
}

/* The program without the lines that only leave something out. */
static bool what_decides(struct ab_code *k, struct ab_word *out)
{
	char *text;

	*out = *k->text;
	if (k->lang != AB_PY || !memchr(out->text, '\n', out->len) ||
	    !(ab_code_has_name(k, "continue") ||
	      memmem(out->text, out->len, "[:] = ", 6)))
		return true;
	text = ab_check_alloc(k->c, out->len);
	if (!text)
		return false;
	memcpy(text, out->text, out->len);
	for (uint32_t at = 0, end; at < out->len; at = end + 1) {
		end = leaves_out(out, at);
		if (end)
			memset(text + at, ' ', end - at);
		else
			end = whole_line(out, at);
	}
	out->text = text;
	return true;
}

static bool has_turns(struct ab_code *k)
{
	static const char *const names[] = { "not",  "unless",	"continue",
					     "next", "else",	"or",
					     "reject", "elsif",
					     "elif" };
	struct ab_word text;

	if (!what_decides(k, &text))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_code_text_has(&text, names[i]))
			return true;
	}
	return has_constant(&text, "True") || has_constant(&text, "False") ||
	       memchr(text.text, '!', text.len) || has_choice(k, &text) ||
	       memmem(text.text, text.len, "||", 2) ||
	       memmem(text.text, text.len, ">=", 2) || text.hole_count;
}

/* `.git`, `*git`, `.gi`: a repository's directory has it too. */
static bool takes_git(const char *s, uint32_t len)
{
	static const char name[] = ".git";
	uint32_t n = sizeof(name) - 1;

	while (len && *s == '*') {
		s++;
		len--;
	}
	while (len && s[len - 1] == '*')
		len--;
	return len <= n && (!memcmp(s, name, len) ||
			    !memcmp(s, name + n - len, len));
}

/* `.pyc`, `*.orig`, `test_`: not what any name has. */
static bool is_telling(const char *s, uint32_t len)
{
	uint32_t letters = 0;

	if (len > 3 && !memcmp(s, "**/", 3)) {
		s += 3;
		len -= 3;
	}
	if (takes_git(s, len))
		return false;
	for (uint32_t i = 0; i < len; i++) {
		if (memchr("[]|(){}^,/", s[i], 10))
			return false;
		letters += is_letter(s[i]);
	}
	return letters > 1 || (letters && memchr(s, '.', len));
}

/* With slashes in it: such a name below directories that are not hidden; or all
   that one of them has, which is named. */
static bool is_telling_path(const char *s, uint32_t len)
{
	const char *slash = memrchr(s, '/', len), *end = s + len;
	bool is_named = false;

	if (!slash)
		return is_telling(s, len);
	for (const char *p = s; p < slash;) {
		uint32_t n = (uint32_t)ab_seek(p, (size_t)(end - p), '/');

		if (!n || *p == '.')
			return false;
		is_named |= p == s && !memchr(s, '*', n);
		for (uint32_t i = 0; i < n; i++) {
			if (memchr("[]|(){}^,?\\$", p[i], 12))
				return false;
		}
		p += n + 1;
	}
	s = slash + 1;
	return is_telling(s, (uint32_t)(end - s)) ||
	       (is_named && end - s == 1 && *s == '*');
}

/* Behind a test: nothing that is made of its answer but `and`. */
static bool ends_test(const struct ab_word *text, uint32_t at)
{
	const char *s = text->text;

	do {
		at = skip_blanks(text, at);
	} while (at < text->len && s[at] == ')' && ++at);
	return at >= text->len || memchr(":]\n;", s[at], 4) ||
	       (text->len - at > 4 && !memcmp(s + at, "and ", 4));
}

/* Where the bracket is that ends the strings in the one at `at`, when each of
   them tells; or 0. */
static uint32_t strings_end(const struct ab_word *text, uint32_t at)
{
	const char *s = text->text;
	uint32_t stop;

	do {
		at = skip_blanks(text, at + 1);
		stop = string_end(text, at);
		if (!stop || !is_telling(s + at + 1, stop - at - 2))
			return 0;
		at = skip_blanks(text, stop);
	} while (at < text->len && s[at] == ',');
	return at < text->len && memchr(")]}", s[at], 3) ? at : 0;
}

/* endswith((".pyc", ".pyo")): one of them. at: behind the outer parenthesis. */
static uint32_t tells_strings(const struct ab_word *text, uint32_t at)
{
	at = strings_end(text, at);
	return at && text->len - at > 1 &&
			       !memcmp(text->text + at, "))", 2) &&
			       ends_test(text, at + 2) ?
		       at + 2 : 0;
}

/* The string of the call, whose name ends at `at`; where the call ends, or 0.
 */
static uint32_t tells_string(const struct ab_word *text, uint32_t at)
{
	const char *s = text->text;
	uint32_t end = at + MAX_AHEAD < text->len ? at + MAX_AHEAD : text->len;
	uint32_t stop;

	if (at < text->len && s[at] == '(')
		return tells_strings(text, at);
	while (at < end && !memchr("\"')\n;", s[at], 5))
		at++;
	stop = string_end(text, at);
	if (!stop || !is_telling(s + at + 1, stop - at - 2))
		return 0;
	stop = skip_blanks(text, stop);
	return stop < text->len && s[stop] == ')' ? stop + 1 : 0;
}

static uint32_t line_end(const struct ab_word *text, uint32_t at)
{
	uint32_t end = at + MAX_LINE < text->len ? at + MAX_LINE : text->len;

	while (at < end && text->text[at] != '\n')
		at++;
	return at;
}

static bool is_walker(const char *s, uint32_t len)
{
	static const char *const names[] = { "walk",	"fwalk",   "glob",
					     "iglob",	"rglob",   "listdir",
					     "scandir", "iterdir" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == len && !memcmp(s, names[i], len))
			return true;
	}
	return false;
}

static bool has_walker(const char *s, uint32_t len)
{
	for (uint32_t i = 0, n; i < len; i += n + 1) {
		for (n = 0; i + n < len && is_letter(s[i + n]); n++)
			;
		if (i + n < len && s[i + n] == '(' && is_walker(s + i, n))
			return true;
	}
	return false;
}

/* `for root, dirs, name in os.walk(...)`, `name = glob(...)`. */
static bool is_from_walk(const struct ab_word *text, const char *name,
			 uint32_t len)
{
	const char *s = text->text, *end = s + text->len, *at = s;
	uint32_t i, stop, hits = 0, words = 0;

	for (; (at = memmem(at, (size_t)(end - at), name, len)) &&
	       hits++ < MAX_HITS && words < MAX_WORDS; at += len) {
		i = (uint32_t)(at - s);
		if (i && is_letter(s[i - 1]))
			continue;
		i += len;
		if (i < text->len && is_letter(s[i]))
			continue;
		words++;
		stop = line_end(text, i);
		while (i < stop && s[i] != '=' &&
		       (stop - i < 4 || memcmp(s + i, " in ", 4) != 0) &&
		       (is_letter(s[i]) || memchr(" ,()", s[i], 4)))
			i++;
		if (i < stop && memchr("= ", s[i], 2) &&
		    has_walker(s + i, stop - i))
			return true;
	}
	return false;
}

/* What is behind `for x in`. */
static bool is_walked(const struct ab_word *text, uint32_t at)
{
	const char *s = text->text;
	uint32_t end = line_end(text, at), count = 0;

	if (at >= end || memchr("[({\"'", s[at], 5))
		return false;
	for (uint32_t n; at < end && s[at] != ':' && count < MAX_NAMES;
	     at += n + 1) {
		if (end - at > 3 && (!memcmp(s + at, "if ", 3) ||
				     !memcmp(s + at, "for ", 4)))
			return false;
		for (n = 0; at + n < end && is_letter(s[at + n]); n++)
			;
		if (!n)
			continue;
		if (is_walker(s + at, n) || is_from_walk(text, s + at, n))
			return true;
		count++;
		if (at + n < end && s[at + n] == ':')
			return false;
	}
	return false;
}

/* `x = "abc"` too, or too many of its letters to look at each. */
static bool is_set(const struct ab_word *text, const char *name, uint32_t len)
{
	const char *s = text->text, *end = s + text->len, *at = s;
	uint32_t i, hits = 0;

	for (; (at = memmem(at, (size_t)(end - at), name, len)); at += len) {
		i = (uint32_t)(at - s);
		if (++hits > MAX_HITS)
			return true;
		if (i && is_letter(s[i - 1]))
			continue;
		i = skip_blanks(text, i + len);
		if (text->len - i > 1 && s[i] == '=' && s[i + 1] != '=')
			return true;
	}
	return false;
}

/* `for x in`: what is asked of x is asked of what the walk came across. */
static bool is_of_loop(const struct ab_word *text, const char *name,
		       uint32_t len)
{
	const char *at = text->text, *end = at + text->len;
	uint32_t count = 0;

	if (!len || is_set(text, name, len))
		return false;
	while ((at = memmem(at, (size_t)(end - at), "for ", 4))) {
		at += 4;
		if ((size_t)(end - at) <= len + 4 || memcmp(at, name, len) ||
		    memcmp(at + len, " in ", 4) != 0)
			continue;
		if (++count > MAX_LOOPS ||
		    !is_walked(text, (uint32_t)(at + len + 4 - text->text)))
			return false;
	}
	return count > 0;
}

/* What follows the pattern: `, name)`. */
static uint32_t ends_match(const struct ab_word *text, uint32_t at)
{
	static const char *const ends[] = { ".name)", ".suffix)", ")" };
	const char *s = text->text;
	uint32_t from, n;

	if (at >= text->len || s[at] != ',')
		return 0;
	from = at = skip_blanks(text, at + 1);
	while (at < text->len && is_letter(s[at]))
		at++;
	if (!is_of_loop(text, s + from, at - from))
		return 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		n = (uint32_t)strlen(ends[i]);
		if (text->len - at >= n && !memcmp(s + at, ends[i], n) &&
		    ends_test(text, at + n))
			return at + n;
	}
	return 0;
}

/* re.match(r".*\.pyc$", name): where the call ends, or 0. */
static uint32_t tells_pattern(const struct ab_word *text, uint32_t at)
{
	const char *s = text->text;
	char quote, plain[8];
	uint32_t n = 0, kept = 0;

	at += at < text->len && s[at] == 'r';
	if (at >= text->len || !memchr("\"'", s[at], 2))
		return 0;
	quote = s[at++];
	if (text->len - at > 2 && !memcmp(s + at, ".*", 2))
		at += 2;
	for (; at < text->len && s[at] != quote; at++) {
		if (memchr("[]|(){}*+?\n", s[at], 11))
			return 0;
		n += is_letter(s[at]) && s[at - 1] != '\\';
		if (!memchr("\\^$.", s[at], 4) && kept < sizeof(plain) - 1)
			plain[kept++] = s[at];
	}
	plain[kept] = '\0';
	return n > 1 && at < text->len && !strstr("git", plain) ?
		       ends_match(text, at + 1) : 0;
}

/* in (".pyc", ".pyo"): where what stands in brackets at `at` ends, when each
   of it tells; or 0. */
static uint32_t tells_one_of(const struct ab_word *text, uint32_t at)
{
	at = strings_end(text, at);
	return at && ends_test(text, at + 1) ? at + 1 : 0;
}

/* x == "__pycache__", p.suffix == ".pyc", splitext(f)[1] == ".pyc", x in
   ("a", "b"): where the string ends, or 0. at: behind the sign. */
static uint32_t tells_equal(const struct ab_word *text, uint32_t sign,
			    uint32_t at)
{
	static const char *const ends[] = { ".suffix", ".name", ")[1]",
					    ")[-1]" };
	const char *s = text->text;
	uint32_t from, to = sign, stop;

	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		uint32_t n = (uint32_t)strlen(ends[i]);

		if (to > n && !memcmp(s + to - n, ends[i], n)) {
			to -= n;
			break;
		}
	}
	for (from = to; from && is_letter(s[from - 1]); from--)
		;
	if (!is_of_loop(text, s + from, to - from))
		return 0;
	if (to != sign && s[to] == ')' &&
	    (from < 9 || memcmp(s + from - 9, "splitext(", 9) != 0))
		return 0;
	if (at < text->len && s[sign + 1] == 'i')
		return memchr("([{", s[at], 3) ? tells_one_of(text, at) : 0;
	stop = string_end(text, at);
	return stop && is_telling(s + at + 1, stop - at - 2) &&
			       ends_test(text, stop) ?
		       stop : 0;
}

/* `if /\.bak$/`: the expression that begins at `at`; where it ends, or 0. */
static uint32_t tells_regex(const struct ab_word *text, uint32_t at)
{
	const char *s = text->text;
	uint32_t n = 0;

	for (; at < text->len && s[at] != '/' && s[at] != '\n'; at++) {
		if (memchr("[]|(){}*+?", s[at], 10))
			return 0;
		n += is_letter(s[at]) && s[at - 1] != '\\';
	}
	return n > 1 && at < text->len && s[at] == '/' ? at + 1 : 0;
}

/* `if not x.endswith(y): continue`: where what is done only to the others ends,
   as far as it is looked at; 0: that is not what stands there. */
static uint32_t goes_on(const struct ab_word *text, uint32_t from, uint32_t at,
			uint32_t end)
{
	static const char no[] = "if not ";
	const char *s = text->text;
	uint32_t indent = skip_blanks(text, from), stop, begin, n;
	const uint32_t size = sizeof(no) - 1, deep = indent - from;

	if (at - indent <= size || memcmp(s + indent, no, size) != 0 ||
	    memchr(s + indent + size, ' ', at - indent - size))
		return 0;
	stop = leaves_out(text, from);
	end = skip_blanks(text, end);
	if (!stop || end >= stop || s[end] != ':')
		return 0;
	for (begin = stop; stop < text->len && stop - begin < MAX_LINE;) {
		from = stop + 1;
		stop = whole_line(text, from);
		n = skip_blanks(text, from);
		if (n < stop && n - from < deep)
			return from;
	}
	return stop;
}

/* What is asked from `at` to `end` is about a removal in the same statement,
   or all that the next line is. */
static bool is_about(const struct ab_code *k, uint32_t at, uint32_t end)
{
	const char *s = k->text->text;
	uint32_t len = k->text->len, from = at, to = end, rest = end;
	struct ab_word part;

	while (from && at - from < MAX_LINE && !memchr("\n;", s[from - 1], 2))
		from--;
	to = k->lang == AB_PY ? goes_on(k->text, from, at, end) : 0;
	if (to)
		return ab_word_slice(k->c, k->text, end, to - end, &part) &&
		       ab_code_count_removals(k, &part);
	to = end;
	while (rest < len && memchr(" \t):{", s[rest], 5))
		rest++;
	if (rest < len && s[rest] == '\n')
		to = rest + 1;
	while (to < len && to - end < MAX_LINE && !memchr("\n;", s[to], 2))
		to++;
	return ab_word_slice(k->c, k->text, from, to - from, &part) &&
	       ab_code_count_removals(k, &part);
}

/* It is asked, and not only looked at. */
static bool is_asked(const struct ab_code *k, uint32_t at)
{
	static const char *const words[] = { "if ", "if(", "filter(", "select",
					     "grep" };
	const char *s = k->text->text;
	uint32_t from = at;

	while (from && at - from < MAX_LINE && !memchr("\n;", s[from - 1], 2))
		from--;
	/* a comment asks nothing */
	if (memchr(s + from, '#', at - from) ||
	    memmem(s + from, at - from, "//", 2))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (memmem(s + from, at - from, words[i], strlen(words[i])))
			return true;
	}
	return false;
}

/* Where what a sign begins ends, when it tells names apart; or 0. */
static uint32_t tells(const struct ab_word *text, uint32_t at,
		      const char *sign, uint32_t n)
{
	if (sign[n - 1] == '/')
		return tells_regex(text, at + n);
	if (*sign == ' ')
		return tells_equal(text, at, at + n);
	return *sign == 'r' ? tells_pattern(text, at + n) :
			      tells_string(text, at + n);
}

static uint32_t count_tests(const struct ab_code *k)
{
	static const char *const signs[] = { "endswith(",   "endsWith(",
					     "end_with?(",  "startswith(",
					     "startsWith(", "fnmatch(",
					     "glob(",	    "re.match(",
					     "re.search(",  "re.fullmatch(",
					     " == ",	    " in ",
					     "if /",	    "=~ /",
					     "=~/" };
	const struct ab_word *text = k->text;
	const char *end = text->text + text->len, *hit;
	uint32_t count = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(signs) && count < MAX_TESTS; i++) {
		uint32_t n = (uint32_t)strlen(signs[i]);
		bool is_regex = signs[i][n - 1] == '/';
		uint32_t looked = 0;

		if (is_regex && !(k->lang & (AB_PERL | AB_RUBY)))
			continue;
		for (hit = text->text;
		     (hit = memmem(hit, (size_t)(end - hit), signs[i], n)) &&
		     count < MAX_TESTS && looked++ < MAX_SIGNS; hit++) {
			uint32_t at = (uint32_t)(hit - text->text);
			uint32_t stop = tells(text, at, signs[i], n);

			/* a glob() asks itself */
			if (stop && (*hit == 'g' ||
				     ((is_regex || is_asked(k, at)) &&
				      is_about(k, at, stop))))
				count++;
		}
	}
	return count;
}

/* Names tell which of what it goes through the program takes away. */
static bool is_narrow(struct ab_code *k)
{
	if (!k->narrows)
		k->narrows = !has_turns(k) && count_tests(k) >= k->removals
				     ? 1 : 2;
	return k->narrows == 1;
}

bool ab_code_is_narrow_entry(struct ab_code *k, enum ab_call kind,
			     const struct ab_word *w)
{
	return (kind == AB_CALL_DELETE || kind == AB_CALL_REMOVE) &&
	       w->len && w->text[w->len - 1] == '*' && w->hole_count == 1 &&
	       w->holes->kind == AB_HOLE_PATTERN &&
	       (w->len == 1 || w->text[w->len - 2] == '/') && is_narrow(k);
}

bool ab_code_is_narrow_glob(const struct ab_code *k, uint32_t at)
{
	const struct ab_word *text = k->text;
	uint32_t stop;

	if (at >= text->len || text->text[at] != '(')
		return false;
	at = skip_blanks(text, at + 1);
	stop = string_end(text, at);
	return stop && is_telling_path(text->text + at + 1, stop - at - 2);
}

void ab_code_narrow_walk(struct ab_code *k, struct ab_word *w, bool is_glob)
{
	static const char name[] = "/*.x";
	uint32_t n = sizeof(name) - 1;
	struct ab_hole *hole;
	char *text;

	if (!w->len || w->hole_count || !(is_glob || is_narrow(k)))
		return;
	text = ab_check_alloc(k->c, w->len + n);
	hole = ab_check_alloc(k->c, sizeof(*hole));
	if (!text || !hole)
		return;
	memcpy(text, w->text, w->len);
	memcpy(text + w->len, name, n);
	*hole = (struct ab_hole){ .at = w->len + 1, .len = n - 1,
				  .kind = AB_HOLE_PATTERN, .span = w->span };
	w->text = text;
	w->len += n;
	w->holes = hole;
	w->hole_count = 1;
	w->map = NULL;
	w->map_count = 0;
}
